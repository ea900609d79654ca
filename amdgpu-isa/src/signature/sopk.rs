//! SOPK: a scalar register and a 16-bit immediate.

use super::signatures;

// Scalar ALU with an immediate.
signatures! {
    s_movk_i32         [sdst I32, imm_signed I32] [];
    s_cmovk_i32        [sdst_rw I32, imm_signed I32] [SCC_R CONDITIONAL];
    s_cmpk_eq_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (eq i32);
    s_cmpk_lg_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (lg i32);
    s_cmpk_gt_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (gt i32);
    s_cmpk_ge_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (ge i32);
    s_cmpk_lt_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (lt i32);
    s_cmpk_le_i32      [sdst_r I32, imm_signed I32] [SCC_W] compare (le i32);
    s_cmpk_eq_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (eq u32);
    s_cmpk_lg_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (lg u32);
    s_cmpk_gt_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (gt u32);
    s_cmpk_ge_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (ge u32);
    s_cmpk_lt_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (lt u32);
    s_cmpk_le_u32      [sdst_r I32, imm_hex I32] [SCC_W] compare (le u32);
    s_addk_i32         [sdst_rw I32, imm_signed I32] [SCC_W];
    s_mulk_i32         [sdst_rw I32, imm_signed I32] [];
    s_cbranch_i_fork   [sdst_r I64, target I32] [EXEC_R EXEC_W INDIRECT];
    s_getreg_b32       [sdst I32, hwreg I32] [MODE_R];
    s_setreg_b32       [hwreg I32, sdst_r I32] [MODE_W];
    s_setreg_imm32_b32 [hwreg I32, literal I32] [MODE_W];
    s_call_b64         [sdst I64, target I32] [];
}
