//! SOPC: scalar comparisons into SCC (Vega ISA, section 12.4).

use crate::encoding::table::rows;

rows! {
    /// Scalar comparisons.
    SOPC of sopc;
    0   s_cmp_eq_i32     ALL [];
    1   s_cmp_lg_i32     ALL [];
    2   s_cmp_gt_i32     ALL [];
    3   s_cmp_ge_i32     ALL [];
    4   s_cmp_lt_i32     ALL [];
    5   s_cmp_le_i32     ALL [];
    6   s_cmp_eq_u32     ALL [];
    7   s_cmp_lg_u32     ALL [];
    8   s_cmp_gt_u32     ALL [];
    9   s_cmp_ge_u32     ALL [];
    10  s_cmp_lt_u32     ALL [];
    11  s_cmp_le_u32     ALL [];
    12  s_bitcmp0_b32    ALL [];
    13  s_bitcmp1_b32    ALL [];
    14  s_bitcmp0_b64    ALL [];
    15  s_bitcmp1_b64    ALL [];
    16  s_setvskip       ALL [];
    17  s_set_gpr_idx_on ALL [];
    18  s_cmp_eq_u64     ALL [];
    19  s_cmp_lg_u64     ALL [];
}
