//! SOPC: scalar comparisons.

use crate::signature::signatures;
pub(crate) use crate::signature::sopc::*;

signatures! {
    s_cmp_lt_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (lt f32);
    s_cmp_eq_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (eq f32);
    s_cmp_le_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (le f32);
    s_cmp_gt_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (gt f32);
    s_cmp_lg_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (lg f32);
    s_cmp_ge_f32  [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (ge f32);
    s_cmp_o_f32   [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (o f32);
    s_cmp_u_f32   [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (u f32);
    s_cmp_nge_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (nge f32);
    s_cmp_nlg_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (nlg f32);
    s_cmp_ngt_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (ngt f32);
    s_cmp_nle_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (nle f32);
    s_cmp_neq_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (neq f32);
    s_cmp_nlt_f32 [ssrc0 F32, ssrc1 F32] [SCC_W MODE_R] compare (nlt f32);
    s_cmp_lt_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (lt f16);
    s_cmp_eq_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (eq f16);
    s_cmp_le_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (le f16);
    s_cmp_gt_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (gt f16);
    s_cmp_lg_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (lg f16);
    s_cmp_ge_f16  [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (ge f16);
    s_cmp_o_f16   [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (o f16);
    s_cmp_u_f16   [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (u f16);
    s_cmp_nge_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (nge f16);
    s_cmp_nlg_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (nlg f16);
    s_cmp_ngt_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (ngt f16);
    s_cmp_nle_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (nle f16);
    s_cmp_neq_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (neq f16);
    s_cmp_nlt_f16 [ssrc0 I16, ssrc1 I16] [SCC_W MODE_R] compare (nlt f16);
}
