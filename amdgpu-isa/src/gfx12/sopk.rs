//! SOPK: a scalar register and an immediate (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Scalar ALU with an immediate.
    SOPK of rdna::sopk;
    0   s_movk_i32                 ALL [];
    1   s_version                  ALL [];
    2   s_cmovk_i32                ALL [];
    15  s_addk_i32 "s_addk_co_i32" ALL [];
    16  s_mulk_i32                 ALL [];
    17  s_getreg_b32               ALL [];
    18  s_setreg_b32               ALL [];
    19  s_setreg_imm32_b32         ALL [];
    20  s_call_b64                 ALL [];
}
