//! SOP1: one scalar source, one scalar destination (Vega ISA, section 12.3).

use crate::encoding::table::rows;

rows! {
    /// Scalar ALU, one source.
    SOP1 of sop1;
    0   s_mov_b32              ALL [];
    1   s_mov_b64              ALL [];
    2   s_cmov_b32             ALL [];
    3   s_cmov_b64             ALL [];
    4   s_not_b32              ALL [];
    5   s_not_b64              ALL [];
    6   s_wqm_b32              ALL [];
    7   s_wqm_b64              ALL [];
    8   s_brev_b32             ALL [];
    9   s_brev_b64             ALL [];
    10  s_bcnt0_i32_b32        ALL [];
    11  s_bcnt0_i32_b64        ALL [];
    12  s_bcnt1_i32_b32        ALL [];
    13  s_bcnt1_i32_b64        ALL [];
    14  s_ff0_i32_b32          ALL [];
    15  s_ff0_i32_b64          ALL [];
    16  s_ff1_i32_b32          ALL [];
    17  s_ff1_i32_b64          ALL [];
    18  s_flbit_i32_b32        ALL [];
    19  s_flbit_i32_b64        ALL [];
    20  s_flbit_i32            ALL [];
    21  s_flbit_i32_i64        ALL [];
    22  s_sext_i32_i8          ALL [];
    23  s_sext_i32_i16         ALL [];
    24  s_bitset0_b32          ALL [];
    25  s_bitset0_b64          ALL [];
    26  s_bitset1_b32          ALL [];
    27  s_bitset1_b64          ALL [];
    28  s_getpc_b64            ALL [];
    29  s_setpc_b64            ALL [];
    30  s_swappc_b64           ALL [];
    31  s_rfe_b64              ALL [];
    32  s_and_saveexec_b64     ALL [];
    33  s_or_saveexec_b64      ALL [];
    34  s_xor_saveexec_b64     ALL [];
    35  s_andn2_saveexec_b64   ALL [];
    36  s_orn2_saveexec_b64    ALL [];
    37  s_nand_saveexec_b64    ALL [];
    38  s_nor_saveexec_b64     ALL [];
    39  s_xnor_saveexec_b64    ALL [];
    40  s_quadmask_b32         ALL [];
    41  s_quadmask_b64         ALL [];
    42  s_movrels_b32          ALL [];
    43  s_movrels_b64          ALL [];
    44  s_movreld_b32          ALL [];
    45  s_movreld_b64          ALL [];
    46  s_cbranch_join         ALL [];
    48  s_abs_i32              ALL [];
    50  s_set_gpr_idx_idx      ALL [];
    51  s_andn1_saveexec_b64   SINCE_900 [];
    52  s_orn1_saveexec_b64    SINCE_900 [];
    53  s_andn1_wrexec_b64     SINCE_900 [];
    54  s_andn2_wrexec_b64     SINCE_900 [];
    55  s_bitreplicate_b64_b32 SINCE_900 [];
}
