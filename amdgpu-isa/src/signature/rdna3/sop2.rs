//! SOP2: two scalar sources.

use crate::signature::signatures;
pub(crate) use crate::signature::sop2::*;

signatures! {
    s_pack_hl_b32_b16    [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_add_f32            [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_sub_f32            [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_min_f32            [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_max_f32            [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_mul_f32            [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_fmaak_f32          [sdst F32, ssrc0 F32, ssrc1 F32, literal F32] [MODE_R];
    s_fmamk_f32          [sdst F32, ssrc0 F32, literal F32, ssrc1 F32] [MODE_R];
    s_fmac_f32           [sdst_rw F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_cvt_pk_rtz_f16_f32 [sdst I32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_add_f16            [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_sub_f16            [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_min_f16            [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_max_f16            [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_mul_f16            [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_fmac_f16           [sdst_rw F16, ssrc0 F16, ssrc1 F16] [MODE_R];
}
