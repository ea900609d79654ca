//! SOPK: a scalar register and an immediate (RDNA 2 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Scalar ALU with an immediate.
    SOPK of rdna::sopk;
    0   s_movk_i32             ALL [];
    1   s_version              ALL [];
    2   s_cmovk_i32            ALL [];
    3   s_cmpk_eq_i32          ALL [];
    4   s_cmpk_lg_i32          ALL [];
    5   s_cmpk_gt_i32          ALL [];
    6   s_cmpk_ge_i32          ALL [];
    7   s_cmpk_lt_i32          ALL [];
    8   s_cmpk_le_i32          ALL [];
    9   s_cmpk_eq_u32          ALL [];
    10  s_cmpk_lg_u32          ALL [];
    11  s_cmpk_gt_u32          ALL [];
    12  s_cmpk_ge_u32          ALL [];
    13  s_cmpk_lt_u32          ALL [];
    14  s_cmpk_le_u32          ALL [];
    15  s_addk_i32             ALL [];
    16  s_mulk_i32             ALL [];
    18  s_getreg_b32           ALL [];
    19  s_setreg_b32           ALL [];
    21  s_setreg_imm32_b32     ALL [];
    22  s_call_b64             ALL [];
    23  s_waitcnt_vscnt        ALL [];
    24  s_waitcnt_vmcnt        ALL [];
    25  s_waitcnt_expcnt       ALL [];
    26  s_waitcnt_lgkmcnt      ALL [];
    27  s_subvector_loop_begin ALL [];
    28  s_subvector_loop_end   ALL [];
}
