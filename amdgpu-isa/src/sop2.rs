//! SOP2: two scalar sources, one scalar destination (Vega ISA, section 12.1).

use super::table::rows;

rows! {
    /// Scalar ALU, two sources.
    SOP2;
    0   s_add_u32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    1   s_sub_u32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    2   s_add_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    3   s_sub_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    4   s_addc_u32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_R SCC_W];
    5   s_subb_u32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_R SCC_W];
    6   s_min_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    7   s_min_u32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    8   s_max_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    9   s_max_u32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    10  s_cselect_b32     [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_R];
    11  s_cselect_b64     [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_R];
    12  s_and_b32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    13  s_and_b64         [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    14  s_or_b32          [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    15  s_or_b64          [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    16  s_xor_b32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    17  s_xor_b64         [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    18  s_andn2_b32       [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    19  s_andn2_b64       [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    20  s_orn2_b32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    21  s_orn2_b64        [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    22  s_nand_b32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    23  s_nand_b64        [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    24  s_nor_b32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    25  s_nor_b64         [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    26  s_xnor_b32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    27  s_xnor_b64        [sdst I64, ssrc0 I64, ssrc1 I64] ALL [SCC_W];
    28  s_lshl_b32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    29  s_lshl_b64        [sdst I64, ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    30  s_lshr_b32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    31  s_lshr_b64        [sdst I64, ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    32  s_ashr_i32        [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    33  s_ashr_i64        [sdst I64, ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    34  s_bfm_b32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    35  s_bfm_b64         [sdst I64, ssrc0 I32, ssrc1 I32] ALL [];
    36  s_mul_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    37  s_bfe_u32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    38  s_bfe_i32         [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    39  s_bfe_u64         [sdst I64, ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    40  s_bfe_i64         [sdst I64, ssrc0 I64, ssrc1 I32] ALL [SCC_W];
    41  s_cbranch_g_fork  [ssrc0_inline I64, ssrc1_inline I64] ALL [EXEC_R EXEC_W INDIRECT];
    42  s_absdiff_i32     [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    43  s_rfe_restore_b64 [ssrc0 I64, ssrc1 I32] ALL [MODE_W SIDE_EFFECT];
    44  s_mul_hi_u32      [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    45  s_mul_hi_i32      [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    46  s_lshl1_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    47  s_lshl2_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    48  s_lshl3_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    49  s_lshl4_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] ALL [SCC_W];
    50  s_pack_ll_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    51  s_pack_lh_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
    52  s_pack_hh_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] ALL [];
}
