//! VOP2: two vector sources (RDNA 2 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Vector ALU, two sources.
    VOP2 of rdna::vop2;
    0   v_illegal                             ALL [BARE];
    1   v_cndmask_b32                         ALL [E64 SDWA DPP DPP8];
    2   v_dot2c_f32_f16                       WITH_DOTS [DPP DPP8 BARE];
    3   v_add_f32                             ALL [E64 SDWA DPP DPP8];
    4   v_sub_f32                             ALL [E64 SDWA DPP DPP8];
    5   v_subrev_f32                          ALL [E64 SDWA DPP DPP8];
    6   v_mac_legacy_f32                      BEFORE_1030 [E64];
    6   v_fmac_legacy_f32                     V1030 [E64];
    7   v_mul_legacy_f32                      ALL [E64 SDWA DPP DPP8];
    8   v_mul_f32                             ALL [E64 SDWA DPP DPP8];
    9   v_mul_i32_i24                         ALL [E64 SDWA DPP DPP8];
    10  v_mul_hi_i32_i24                      ALL [E64 SDWA DPP DPP8];
    11  v_mul_u32_u24                         ALL [E64 SDWA DPP DPP8];
    12  v_mul_hi_u32_u24                      ALL [E64 SDWA DPP DPP8];
    13  v_dot4c_i32_i8                        WITH_DOTS [DPP DPP8 BARE IDLE_MODS];
    15  v_min_f32                             ALL [E64 SDWA DPP DPP8];
    16  v_max_f32                             ALL [E64 SDWA DPP DPP8];
    17  v_min_i32                             ALL [E64 SDWA DPP DPP8];
    18  v_max_i32                             ALL [E64 SDWA DPP DPP8];
    19  v_min_u32                             ALL [E64 SDWA DPP DPP8];
    20  v_max_u32                             ALL [E64 SDWA DPP DPP8];
    22  v_lshrrev_b32                         ALL [E64 SDWA DPP DPP8];
    24  v_ashrrev_i32                         ALL [E64 SDWA DPP DPP8];
    26  v_lshlrev_b32                         ALL [E64 SDWA DPP DPP8];
    27  v_and_b32                             ALL [E64 SDWA DPP DPP8];
    28  v_or_b32                              ALL [E64 SDWA DPP DPP8];
    29  v_xor_b32                             ALL [E64 SDWA DPP DPP8];
    30  v_xnor_b32                            ALL [E64 SDWA DPP DPP8];
    31  v_mac_f32                             BEFORE_1030 [E64 DPP DPP8];
    32  v_madmk_f32                           BEFORE_1030 [BARE];
    33  v_madak_f32                           BEFORE_1030 [BARE];
    37  v_add_u32 "v_add_nc_u32"              ALL [E64 SDWA DPP DPP8];
    38  v_sub_u32 "v_sub_nc_u32"              ALL [E64 SDWA DPP DPP8];
    39  v_subrev_u32 "v_subrev_nc_u32"        ALL [E64 SDWA DPP DPP8];
    40  v_addc_co_u32 "v_add_co_ci_u32"       ALL [E64 SDWA DPP DPP8];
    41  v_subb_co_u32 "v_sub_co_ci_u32"       ALL [E64 SDWA DPP DPP8];
    42  v_subbrev_co_u32 "v_subrev_co_ci_u32" ALL [E64 SDWA DPP DPP8];
    43  v_fmac_f32                            ALL [E64 DPP DPP8];
    44  v_fmamk_f32                           ALL [BARE];
    45  v_fmaak_f32                           ALL [BARE];
    47  v_cvt_pkrtz_f16_f32                   ALL [E64 SDWA DPP DPP8];
    50  v_add_f16                             ALL [E64 SDWA DPP DPP8];
    51  v_sub_f16                             ALL [E64 SDWA DPP DPP8];
    52  v_subrev_f16                          ALL [E64 SDWA DPP DPP8];
    53  v_mul_f16                             ALL [E64 SDWA DPP DPP8];
    54  v_fmac_f16                            ALL [E64 DPP DPP8];
    55  v_fmamk_f16                           ALL [BARE];
    56  v_fmaak_f16                           ALL [BARE];
    57  v_max_f16                             ALL [E64 SDWA DPP DPP8];
    58  v_min_f16                             ALL [E64 SDWA DPP DPP8];
    59  v_ldexp_f16                           ALL [E64 SDWA DPP DPP8];
    60  v_pk_fmac_f16                         ALL [DPP DPP8 BARE];
}
