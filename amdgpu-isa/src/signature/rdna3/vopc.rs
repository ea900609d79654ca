//! VOPC: vector comparisons.

pub(crate) use crate::signature::rdna::vopc::*;
use crate::signature::signatures;

signatures! {
    v_cmp_class_f16  [vcc_w Lanes, src0 F16, vsrc1 F16] [] numbers (b64 f16 b16 b32);
    v_cmpx_class_f16 [src0 F16, vsrc1 F16] [EXEC_W] numbers (b64 f16 b16 b32);
}
