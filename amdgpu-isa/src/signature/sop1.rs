//! SOP1: one scalar source, one scalar destination.

use super::signatures;

// Scalar ALU, one source.
signatures! {
    s_mov_b32              [sdst I32, ssrc0 I32] [];
    s_mov_b64              [sdst I64, ssrc0 I64] [];
    s_cmov_b32             [sdst_rw I32, ssrc0 I32] [SCC_R CONDITIONAL];
    s_cmov_b64             [sdst_rw I64, ssrc0 I64] [SCC_R CONDITIONAL];
    s_not_b32              [sdst I32, ssrc0 I32] [SCC_W];
    s_not_b64              [sdst I64, ssrc0 I64] [SCC_W];
    s_wqm_b32              [sdst I32, ssrc0 I32] [SCC_W];
    s_wqm_b64              [sdst I64, ssrc0 I64] [SCC_W];
    s_brev_b32             [sdst I32, ssrc0 I32] [];
    s_brev_b64             [sdst I64, ssrc0 I64] [];
    s_bcnt0_i32_b32        [sdst I32, ssrc0 I32] [SCC_W];
    s_bcnt0_i32_b64        [sdst I32, ssrc0 I64] [SCC_W];
    s_bcnt1_i32_b32        [sdst I32, ssrc0 I32] [SCC_W];
    s_bcnt1_i32_b64        [sdst I32, ssrc0 I64] [SCC_W];
    s_ff0_i32_b32          [sdst I32, ssrc0 I32] [];
    s_ff0_i32_b64          [sdst I32, ssrc0 I64] [];
    s_ff1_i32_b32          [sdst I32, ssrc0 I32] [];
    s_ff1_i32_b64          [sdst I32, ssrc0 I64] [];
    s_flbit_i32_b32        [sdst I32, ssrc0 I32] [];
    s_flbit_i32_b64        [sdst I32, ssrc0 I64] [];
    s_flbit_i32            [sdst I32, ssrc0 I32] [];
    s_flbit_i32_i64        [sdst I32, ssrc0 I64] [SIGNED_64];
    s_sext_i32_i8          [sdst I32, ssrc0 I32] [];
    s_sext_i32_i16         [sdst I32, ssrc0 I32] [];
    s_bitset0_b32          [sdst_rw I32, ssrc0 I32] [];
    s_bitset0_b64          [sdst_rw I64, ssrc0 I32] [];
    s_bitset1_b32          [sdst_rw I32, ssrc0 I32] [];
    s_bitset1_b64          [sdst_rw I64, ssrc0 I32] [];
    s_getpc_b64            [sdst I64] [];
    s_setpc_b64            [ssrc0_reg I64] [];
    s_swappc_b64           [sdst I64, ssrc0 I64] [];
    s_rfe_b64              [ssrc0_reg I64] [MODE_W SIDE_EFFECT];
    s_and_saveexec_b64     [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_or_saveexec_b64      [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_xor_saveexec_b64     [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_andn2_saveexec_b64   [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_orn2_saveexec_b64    [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_nand_saveexec_b64    [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_nor_saveexec_b64     [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_xnor_saveexec_b64    [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_quadmask_b32         [sdst I32, ssrc0 I32] [SCC_W];
    s_quadmask_b64         [sdst I64, ssrc0 I64] [SCC_W];
    s_movrels_b32          [sdst I32, ssrc0_reg I32] [M0_R INDIRECT];
    s_movrels_b64          [sdst I64, ssrc0_reg I64] [M0_R INDIRECT];
    s_movreld_b32          [sdst I32, ssrc0 I32] [M0_R CONDITIONAL INDIRECT];
    s_movreld_b64          [sdst I64, ssrc0 I64] [M0_R CONDITIONAL INDIRECT];
    s_cbranch_join         [ssrc0_reg I32] [EXEC_R EXEC_W INDIRECT];
    s_abs_i32              [sdst I32, ssrc0 I32] [SCC_W];
    s_set_gpr_idx_idx      [ssrc0 I32] [M0_R M0_W INDIRECT];
    s_andn1_saveexec_b64   [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_orn1_saveexec_b64    [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_andn1_wrexec_b64     [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_andn2_wrexec_b64     [sdst I64, ssrc0 I64] [SCC_W EXEC_R EXEC_W];
    s_bitreplicate_b64_b32 [sdst I64, ssrc0 I32] [];
}
