//! VOPC: vector comparisons.

pub(crate) use crate::signature::rdna::vopc::*;
use crate::signature::signatures;

signatures! {
    v_cmp_class_f16  [vcc_w Lanes, src0 F16, vsrc1 Exponent16] [SRC_MODS];
    v_cmpx_class_f16 [src0 F16, vsrc1 Exponent16] [EXEC_W SRC_MODS];
}
