//! SOPC: scalar comparisons into SCC.

use super::signatures;

// Scalar comparisons.
signatures! {
    s_cmp_eq_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (eq i32);
    s_cmp_lg_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (lg i32);
    s_cmp_gt_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (gt i32);
    s_cmp_ge_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (ge i32);
    s_cmp_lt_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (lt i32);
    s_cmp_le_i32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (le i32);
    s_cmp_eq_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (eq u32);
    s_cmp_lg_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (lg u32);
    s_cmp_gt_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (gt u32);
    s_cmp_ge_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (ge u32);
    s_cmp_lt_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (lt u32);
    s_cmp_le_u32     [ssrc0 I32, ssrc1 I32] [SCC_W] compare (le u32);
    s_bitcmp0_b32    [ssrc0 I32, ssrc1 I32] [SCC_W];
    s_bitcmp1_b32    [ssrc0 I32, ssrc1 I32] [SCC_W];
    s_bitcmp0_b64    [ssrc0 I64, ssrc1 I32] [SCC_W];
    s_bitcmp1_b64    [ssrc0 I64, ssrc1 I32] [SCC_W];
    s_setvskip       [ssrc0 I32, ssrc1 I32] [MODE_W SIDE_EFFECT];
    s_set_gpr_idx_on [ssrc0 I32, gpr_idx_ssrc1 I32] [M0_W MODE_W INDIRECT];
    s_cmp_eq_u64     [ssrc0 I64, ssrc1 I64] [SCC_W] compare (eq u64);
    s_cmp_lg_u64     [ssrc0 I64, ssrc1 I64] [SCC_W] compare (lg u64);
}
