//! SOPC: scalar comparisons into SCC (Vega ISA, section 12.4).

use super::table::rows;

rows! {
    /// Scalar comparisons.
    SOPC;
    0   s_cmp_eq_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    1   s_cmp_lg_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    2   s_cmp_gt_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    3   s_cmp_ge_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    4   s_cmp_lt_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    5   s_cmp_le_i32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    6   s_cmp_eq_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    7   s_cmp_lg_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    8   s_cmp_gt_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    9   s_cmp_ge_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    10  s_cmp_lt_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    11  s_cmp_le_u32     [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    12  s_bitcmp0_b32    [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    13  s_bitcmp1_b32    [ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    14  s_bitcmp0_b64    [ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    15  s_bitcmp1_b64    [ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    16  s_setvskip       [ssrc0 I32, ssrc1 I32] ALL [MODE_W SIDE_EFFECT];
    17  s_set_gpr_idx_on [ssrc0 I32, gpr_idx_ssrc1 I32] ALL [M0_W MODE_W INDIRECT];
    18  s_cmp_eq_u64     [ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    19  s_cmp_lg_u64     [ssrc0 I64, ssrc1 I64] ALL [SCC_W];
}
