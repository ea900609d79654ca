//! VOP1: one vector source.

pub(crate) use crate::signature::rdna3::vop1::*;
use crate::signature::signatures;

signatures! {
    v_cvt_f32_fp8    [vdst F32, src0 I32] [BYTE_SOURCE NAMES_BYTE CVT] convert (f32 fp8);
    v_cvt_f32_bf8    [vdst F32, src0 I32] [BYTE_SOURCE NAMES_BYTE CVT] convert (f32 bf8);
    v_cvt_pk_f32_fp8 [vdst V2F32, src0 Exponent16] [CVT] convert (f32 fp8 pk);
    v_cvt_pk_f32_bf8 [vdst V2F32, src0 Exponent16] [CVT] convert (f32 bf8 pk);
}
