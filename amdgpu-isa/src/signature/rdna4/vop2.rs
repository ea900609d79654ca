//! VOP2: two vector sources.

pub(crate) use crate::signature::rdna3::vop2::*;
use crate::signature::signatures;

signatures! {
    v_add_f64     [vdst F64, src0 F64, vsrc1 F64] [CLAMP OMOD];
    v_mul_f64     [vdst F64, src0 F64, vsrc1 F64] [CLAMP OMOD];
    v_min_f64     [vdst F64, src0 F64, vsrc1 F64] [CLAMP OMOD];
    v_max_f64     [vdst F64, src0 F64, vsrc1 F64] [CLAMP OMOD];
    v_lshlrev_b64 [vdst I64, src0 I32, vsrc1 I64] [REVERSED];
}
