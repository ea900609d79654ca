//! VOP2: two vector sources.

pub(crate) use crate::signature::rdna::vop2::*;
use crate::signature::signatures;

signatures! {
    v_cvt_pkrtz_f16_f32 [vdst I32, src0 F32, vsrc1 F32] [CLAMP OMOD CVT];
    v_pk_fmac_f16       [vdst_rw I32, src0 V2F16Splat, vsrc1 V2F16Splat] [] numbers (b32 f16 f16 b32);
}
