//! SOP2: two scalar sources, one scalar destination (Vega ISA, section 12.1).

use crate::encoding::table::rows;

rows! {
    /// Scalar ALU, two sources.
    SOP2 of sop2;
    0   s_add_u32         ALL [];
    1   s_sub_u32         ALL [];
    2   s_add_i32         ALL [];
    3   s_sub_i32         ALL [];
    4   s_addc_u32        ALL [];
    5   s_subb_u32        ALL [];
    6   s_min_i32         ALL [];
    7   s_min_u32         ALL [];
    8   s_max_i32         ALL [];
    9   s_max_u32         ALL [];
    10  s_cselect_b32     ALL [];
    11  s_cselect_b64     ALL [];
    12  s_and_b32         ALL [];
    13  s_and_b64         ALL [];
    14  s_or_b32          ALL [];
    15  s_or_b64          ALL [];
    16  s_xor_b32         ALL [];
    17  s_xor_b64         ALL [];
    18  s_andn2_b32       ALL [];
    19  s_andn2_b64       ALL [];
    20  s_orn2_b32        ALL [];
    21  s_orn2_b64        ALL [];
    22  s_nand_b32        ALL [];
    23  s_nand_b64        ALL [];
    24  s_nor_b32         ALL [];
    25  s_nor_b64         ALL [];
    26  s_xnor_b32        ALL [];
    27  s_xnor_b64        ALL [];
    28  s_lshl_b32        ALL [];
    29  s_lshl_b64        ALL [];
    30  s_lshr_b32        ALL [];
    31  s_lshr_b64        ALL [];
    32  s_ashr_i32        ALL [];
    33  s_ashr_i64        ALL [];
    34  s_bfm_b32         ALL [];
    35  s_bfm_b64         ALL [];
    36  s_mul_i32         ALL [];
    37  s_bfe_u32         ALL [];
    38  s_bfe_i32         ALL [];
    39  s_bfe_u64         ALL [];
    40  s_bfe_i64         ALL [];
    41  s_cbranch_g_fork  ALL [];
    42  s_absdiff_i32     ALL [];
    43  s_rfe_restore_b64 ALL [];
    44  s_mul_hi_u32      SINCE_900 [];
    45  s_mul_hi_i32      SINCE_900 [];
    46  s_lshl1_add_u32   SINCE_900 [];
    47  s_lshl2_add_u32   SINCE_900 [];
    48  s_lshl3_add_u32   SINCE_900 [];
    49  s_lshl4_add_u32   SINCE_900 [];
    50  s_pack_ll_b32_b16 SINCE_900 [];
    51  s_pack_lh_b32_b16 SINCE_900 [];
    52  s_pack_hh_b32_b16 SINCE_900 [];
}
