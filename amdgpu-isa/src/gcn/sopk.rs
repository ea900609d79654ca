//! SOPK: a scalar register and a 16-bit immediate (Vega ISA, section 12.2).

use crate::encoding::table::rows;

rows! {
    /// Scalar ALU with an immediate.
    SOPK of sopk;
    0   s_movk_i32         ALL [];
    1   s_cmovk_i32        ALL [];
    2   s_cmpk_eq_i32      ALL [];
    3   s_cmpk_lg_i32      ALL [];
    4   s_cmpk_gt_i32      ALL [];
    5   s_cmpk_ge_i32      ALL [];
    6   s_cmpk_lt_i32      ALL [];
    7   s_cmpk_le_i32      ALL [];
    8   s_cmpk_eq_u32      ALL [];
    9   s_cmpk_lg_u32      ALL [];
    10  s_cmpk_gt_u32      ALL [];
    11  s_cmpk_ge_u32      ALL [];
    12  s_cmpk_lt_u32      ALL [];
    13  s_cmpk_le_u32      ALL [];
    14  s_addk_i32         ALL [];
    15  s_mulk_i32         ALL [];
    16  s_cbranch_i_fork   ALL [];
    17  s_getreg_b32       ALL [];
    18  s_setreg_b32       ALL [];
    20  s_setreg_imm32_b32 ALL [];
    21  s_call_b64         SINCE_900 [];
}
