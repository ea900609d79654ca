//! SOPC: scalar comparisons (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Scalar comparisons.
    SOPC of rdna3::sopc;
    0   s_cmp_eq_i32  ALL [];
    1   s_cmp_lg_i32  ALL [];
    2   s_cmp_gt_i32  ALL [];
    3   s_cmp_ge_i32  ALL [];
    4   s_cmp_lt_i32  ALL [];
    5   s_cmp_le_i32  ALL [];
    6   s_cmp_eq_u32  ALL [];
    7   s_cmp_lg_u32  ALL [];
    8   s_cmp_gt_u32  ALL [];
    9   s_cmp_ge_u32  ALL [];
    10  s_cmp_lt_u32  ALL [];
    11  s_cmp_le_u32  ALL [];
    12  s_bitcmp0_b32 ALL [];
    13  s_bitcmp1_b32 ALL [];
    14  s_bitcmp0_b64 ALL [];
    15  s_bitcmp1_b64 ALL [];
    16  s_cmp_eq_u64  ALL [];
    17  s_cmp_lg_u64  ALL [];
    65  s_cmp_lt_f32  ALL [];
    66  s_cmp_eq_f32  ALL [];
    67  s_cmp_le_f32  ALL [];
    68  s_cmp_gt_f32  ALL [];
    69  s_cmp_lg_f32  ALL [];
    70  s_cmp_ge_f32  ALL [];
    71  s_cmp_o_f32   ALL [];
    72  s_cmp_u_f32   ALL [];
    73  s_cmp_nge_f32 ALL [];
    74  s_cmp_nlg_f32 ALL [];
    75  s_cmp_ngt_f32 ALL [];
    76  s_cmp_nle_f32 ALL [];
    77  s_cmp_neq_f32 ALL [];
    78  s_cmp_nlt_f32 ALL [];
    81  s_cmp_lt_f16  ALL [];
    82  s_cmp_eq_f16  ALL [];
    83  s_cmp_le_f16  ALL [];
    84  s_cmp_gt_f16  ALL [];
    85  s_cmp_lg_f16  ALL [];
    86  s_cmp_ge_f16  ALL [];
    87  s_cmp_o_f16   ALL [];
    88  s_cmp_u_f16   ALL [];
    89  s_cmp_nge_f16 ALL [];
    90  s_cmp_nlg_f16 ALL [];
    91  s_cmp_ngt_f16 ALL [];
    92  s_cmp_nle_f16 ALL [];
    93  s_cmp_neq_f16 ALL [];
    94  s_cmp_nlt_f16 ALL [];
}
