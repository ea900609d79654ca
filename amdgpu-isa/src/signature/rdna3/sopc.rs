//! SOPC: scalar comparisons.

use crate::signature::signatures;
pub(crate) use crate::signature::sopc::*;

signatures! {
    s_cmp_lt_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_eq_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_le_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_gt_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_lg_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_ge_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_o_f32   [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_u_f32   [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_nge_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_nlg_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_ngt_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_nle_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_neq_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_nlt_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R];
    s_cmp_lt_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_eq_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_le_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_gt_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_lg_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_ge_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_o_f16   [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_u_f16   [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_nge_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_nlg_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_ngt_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_nle_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_neq_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
    s_cmp_nlt_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R];
}
