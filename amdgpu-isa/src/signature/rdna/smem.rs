//! SMEM: scalar memory.

use crate::signature::signatures;
pub(crate) use crate::signature::smem::*;

signatures! {
    s_gl1_inv                 [] [SIDE_EFFECT];
    s_get_waveid_in_workgroup [sdata_w I32] [SIDE_EFFECT];
}
