//! SOP2: two scalar sources, one scalar destination.

use super::signatures;

// Scalar ALU, two sources.
signatures! {
    s_add_u32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_sub_u32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_add_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_sub_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_addc_u32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_R SCC_W];
    s_subb_u32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_R SCC_W];
    s_min_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_min_u32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_max_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_max_u32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_cselect_b32     [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_R];
    s_cselect_b64     [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_R];
    s_and_b32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_and_b64         [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_or_b32          [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_or_b64          [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_xor_b32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_xor_b64         [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_andn2_b32       [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_andn2_b64       [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_orn2_b32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_orn2_b64        [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_nand_b32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_nand_b64        [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_nor_b32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_nor_b64         [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_xnor_b32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_xnor_b64        [sdst I64, ssrc0 I64, ssrc1 I64] [SCC_W];
    s_lshl_b32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_lshl_b64        [sdst I64, ssrc0 I64, ssrc1 I32] [SCC_W];
    s_lshr_b32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_lshr_b64        [sdst I64, ssrc0 I64, ssrc1 I32] [SCC_W];
    s_ashr_i32        [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_ashr_i64        [sdst I64, ssrc0 I64, ssrc1 I32] [SCC_W SIGNED_64];
    s_bfm_b32         [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_bfm_b64         [sdst I64, ssrc0 I32, ssrc1 I32] [];
    s_mul_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_bfe_u32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_bfe_i32         [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_bfe_u64         [sdst I64, ssrc0 I64, ssrc1 I32] [SCC_W];
    s_bfe_i64         [sdst I64, ssrc0 I64, ssrc1 I32] [SCC_W SIGNED_64];
    s_cbranch_g_fork  [ssrc0_inline I64, ssrc1_inline I64] [EXEC_R EXEC_W INDIRECT];
    s_absdiff_i32     [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_rfe_restore_b64 [ssrc0 I64, ssrc1 I32] [MODE_W SIDE_EFFECT];
    s_mul_hi_u32      [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_mul_hi_i32      [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_lshl1_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_lshl2_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_lshl3_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_lshl4_add_u32   [sdst I32, ssrc0 I32, ssrc1 I32] [SCC_W];
    s_pack_ll_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_pack_lh_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] [];
    s_pack_hh_b32_b16 [sdst I32, ssrc0 I32, ssrc1 I32] [];
}
