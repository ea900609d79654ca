//! SMEM: scalar memory.

use crate::signature::signatures;
pub(crate) use crate::signature::smem::*;

signatures! {
    s_gl1_inv [] [SIDE_EFFECT];
}
