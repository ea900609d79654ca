//! VOP2: two vector sources (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Vector ALU, two sources.
    VOP2 of rdna4::vop2;
    0  v_illegal                                   ALL [BARE];
    1   v_cndmask_b32                              ALL [E64 DPP DPP8 E64_DPP];
    2   v_add_f64                                  ALL [E64];
    3   v_add_f32                                  ALL [E64 DPP DPP8 E64_DPP];
    4   v_sub_f32                                  ALL [E64 DPP DPP8 E64_DPP];
    5   v_subrev_f32                               ALL [E64 DPP DPP8 E64_DPP];
    6   v_mul_f64                                  ALL [E64];
    7   v_mul_legacy_f32 "v_mul_dx9_zero_f32"      ALL [E64 DPP DPP8 E64_DPP];
    8   v_mul_f32                                  ALL [E64 DPP DPP8 E64_DPP];
    9   v_mul_i32_i24                              ALL [E64 DPP DPP8 E64_DPP];
    10  v_mul_hi_i32_i24                           ALL [E64 DPP DPP8 E64_DPP];
    11  v_mul_u32_u24                              ALL [E64 DPP DPP8 E64_DPP];
    12  v_mul_hi_u32_u24                           ALL [E64 DPP DPP8 E64_DPP];
    13  v_min_f64 "v_min_num_f64"                  ALL [E64];
    14  v_max_f64 "v_max_num_f64"                  ALL [E64];
    17  v_min_i32                                  ALL [E64 DPP DPP8 E64_DPP];
    18  v_max_i32                                  ALL [E64 DPP DPP8 E64_DPP];
    19  v_min_u32                                  ALL [E64 DPP DPP8 E64_DPP];
    20  v_max_u32                                  ALL [E64 DPP DPP8 E64_DPP];
    21  v_min_f32 "v_min_num_f32"                  ALL [E64 DPP DPP8 E64_DPP];
    22  v_max_f32 "v_max_num_f32"                  ALL [E64 DPP DPP8 E64_DPP];
    24  v_lshlrev_b32                              ALL [E64 DPP DPP8 E64_DPP];
    25  v_lshrrev_b32                              ALL [E64 DPP DPP8 E64_DPP];
    26  v_ashrrev_i32                              ALL [E64 DPP DPP8 E64_DPP];
    27  v_and_b32                                  ALL [E64 DPP DPP8 E64_DPP];
    28  v_or_b32                                   ALL [E64 DPP DPP8 E64_DPP];
    29  v_xor_b32                                  ALL [E64 DPP DPP8 E64_DPP];
    30  v_xnor_b32                                 ALL [E64 DPP DPP8 E64_DPP];
    31  v_lshlrev_b64                              ALL [E64];
    32  v_addc_co_u32 "v_add_co_ci_u32"            ALL [E64 DPP DPP8 E64_DPP];
    33  v_subb_co_u32 "v_sub_co_ci_u32"            ALL [E64 DPP DPP8 E64_DPP];
    34  v_subbrev_co_u32 "v_subrev_co_ci_u32"      ALL [E64 DPP DPP8 E64_DPP];
    37  v_add_u32 "v_add_nc_u32"                   ALL [E64 DPP DPP8 E64_DPP];
    38  v_sub_u32 "v_sub_nc_u32"                   ALL [E64 DPP DPP8 E64_DPP];
    39  v_subrev_u32 "v_subrev_nc_u32"             ALL [E64 DPP DPP8 E64_DPP];
    43  v_fmac_f32                                 ALL [E64 DPP DPP8 E64_DPP];
    44  v_fmamk_f32                                ALL [BARE];
    45  v_fmaak_f32                                ALL [BARE];
    47  v_cvt_pkrtz_f16_f32 "v_cvt_pk_rtz_f16_f32" ALL [E64 DPP DPP8 E64_DPP];
    48  v_min_f16 "v_min_num_f16"                  ALL [E64 DPP DPP8 E64_DPP];
    49  v_max_f16 "v_max_num_f16"                  ALL [E64 DPP DPP8 E64_DPP];
    50  v_add_f16                                  ALL [E64 DPP DPP8 E64_DPP];
    51  v_sub_f16                                  ALL [E64 DPP DPP8 E64_DPP];
    52  v_subrev_f16                               ALL [E64 DPP DPP8 E64_DPP];
    53  v_mul_f16                                  ALL [E64 DPP DPP8 E64_DPP];
    54  v_fmac_f16                                 ALL [E64 DPP DPP8 E64_DPP];
    55  v_fmamk_f16                                ALL [BARE];
    56  v_fmaak_f16                                ALL [BARE];
    59  v_ldexp_f16                                ALL [E64 DPP DPP8 E64_DPP];
    60  v_pk_fmac_f16                              ALL [BARE];
}
