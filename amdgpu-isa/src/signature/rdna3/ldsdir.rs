//! LDSDIR: loads of attributes and of LDS.

use crate::signature::signatures;

signatures! {
    lds_param_load  [vdst I32, attr I32] [M0_R];
    lds_direct_load [vdst I32] [M0_R];
}
