//! SOPK: a scalar register and a 16-bit immediate (Vega ISA, section 12.2).

use super::table::rows;

rows! {
    /// Scalar ALU with an immediate.
    SOPK;
    0   s_movk_i32         [sdst I32, imm_signed I32] ALL [];
    1   s_cmovk_i32        [sdst_rw I32, imm_signed I32] ALL [SCC_R CONDITIONAL];
    2   s_cmpk_eq_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    3   s_cmpk_lg_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    4   s_cmpk_gt_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    5   s_cmpk_ge_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    6   s_cmpk_lt_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    7   s_cmpk_le_i32      [sdst_r I32, imm_signed I32] ALL [SCC_W];
    8   s_cmpk_eq_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    9   s_cmpk_lg_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    10  s_cmpk_gt_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    11  s_cmpk_ge_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    12  s_cmpk_lt_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    13  s_cmpk_le_u32      [sdst_r I32, imm_hex I32] ALL [SCC_W];
    14  s_addk_i32         [sdst_rw I32, imm_signed I32] ALL [SCC_W];
    15  s_mulk_i32         [sdst_rw I32, imm_signed I32] ALL [];
    16  s_cbranch_i_fork   [sdst_r I64, target I32] ALL [EXEC_R EXEC_W INDIRECT];
    17  s_getreg_b32       [sdst I32, hwreg I32] ALL [MODE_R];
    18  s_setreg_b32       [hwreg I32, sdst_r I32] ALL [MODE_W];
    20  s_setreg_imm32_b32 [hwreg I32, literal I32] ALL [MODE_W];
    21  s_call_b64         [sdst I64, target I32] ALL [];
}
