//! VOP2: two vector sources.

use crate::signature::signatures;
pub(crate) use crate::signature::vop2::*;

signatures! {
    v_illegal           [] [SIDE_EFFECT];
    v_mac_legacy_f32    [vdst_rw F32, src0 F32, vsrc1 F32] [CLAMP OMOD];
    v_fmac_legacy_f32   [vdst_rw F32, src0 F32, vsrc1 F32] [CLAMP OMOD];
    v_cvt_pkrtz_f16_f32 [vdst F16, src0 F32, vsrc1 F32] [CLAMP OMOD CVT] numbers (b32 f32 f32 b32);
    v_fmac_f16          [vdst_rw F16, src0 F16, vsrc1 F16] [CLAMP OMOD];
    v_fmamk_f16         [vdst F16, src0 F16, literal F16, vsrc1 F16] [];
    v_fmaak_f16         [vdst F16, src0 F16, vsrc1 F16, literal F16] [];
    v_ldexp_f16         [vdst F16, src0 F16, vsrc1 Exponent16] [CLAMP OMOD];
}
