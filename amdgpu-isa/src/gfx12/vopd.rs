//! VOPD: two vector operations in one instruction (RDNA 4 ISA, section 7.8).

use crate::encoding::table::rows;

rows! {
    /// The first operation.
    FIRST of rdna3::vopd;
    0   v_fmac_f32 "v_dual_fmac_f32" ALL [BARE];
    1   v_fmaak_f32 "v_dual_fmaak_f32" ALL [BARE];
    2   v_fmamk_f32 "v_dual_fmamk_f32" ALL [BARE];
    3   v_mul_f32 "v_dual_mul_f32" ALL [BARE];
    4   v_add_f32 "v_dual_add_f32" ALL [BARE];
    5   v_sub_f32 "v_dual_sub_f32" ALL [BARE];
    6   v_subrev_f32 "v_dual_subrev_f32" ALL [BARE];
    7   v_mul_legacy_f32 "v_dual_mul_dx9_zero_f32" ALL [BARE];
    8   v_mov_b32 "v_dual_mov_b32" ALL [BARE];
    9   v_cndmask_b32 "v_dual_cndmask_b32" ALL [BARE];
    10  v_max_f32 "v_dual_max_num_f32" ALL [BARE];
    11  v_min_f32 "v_dual_min_num_f32" ALL [BARE];
    12  v_dot2c_f32_f16 "v_dual_dot2acc_f32_f16" ALL [BARE];
    13  v_dot2c_f32_bf16 "v_dual_dot2acc_f32_bf16" ALL [BARE];
}

rows! {
    /// The second operation.
    SECOND of rdna3::vopd;
    0   v_fmac_f32 "v_dual_fmac_f32" ALL [BARE];
    1   v_fmaak_f32 "v_dual_fmaak_f32" ALL [BARE];
    2   v_fmamk_f32 "v_dual_fmamk_f32" ALL [BARE];
    3   v_mul_f32 "v_dual_mul_f32" ALL [BARE];
    4   v_add_f32 "v_dual_add_f32" ALL [BARE];
    5   v_sub_f32 "v_dual_sub_f32" ALL [BARE];
    6   v_subrev_f32 "v_dual_subrev_f32" ALL [BARE];
    7   v_mul_legacy_f32 "v_dual_mul_dx9_zero_f32" ALL [BARE];
    8   v_mov_b32 "v_dual_mov_b32" ALL [BARE];
    9   v_cndmask_b32 "v_dual_cndmask_b32" ALL [BARE];
    10  v_max_f32 "v_dual_max_num_f32" ALL [BARE];
    11  v_min_f32 "v_dual_min_num_f32" ALL [BARE];
    12  v_dot2c_f32_f16 "v_dual_dot2acc_f32_f16" ALL [BARE];
    13  v_dot2c_f32_bf16 "v_dual_dot2acc_f32_bf16" ALL [BARE];
    16  v_add_u32 "v_dual_add_nc_u32" ALL [BARE];
    17  v_lshlrev_b32 "v_dual_lshlrev_b32" ALL [BARE];
    18  v_and_b32 "v_dual_and_b32" ALL [BARE];
}
