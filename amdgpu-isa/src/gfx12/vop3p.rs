//! VOP3P: packed math, dot products and matrices (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Packed math, dot products and matrices.
    VOP3P of rdna4::vop3p;
    0   v_pk_mad_i16                    ALL [];
    1   v_pk_mul_lo_u16                 ALL [];
    2   v_pk_add_i16                    ALL [];
    3   v_pk_sub_i16                    ALL [];
    4   v_pk_lshlrev_b16                ALL [];
    5   v_pk_lshrrev_b16                ALL [];
    6   v_pk_ashrrev_i16                ALL [];
    7   v_pk_max_i16                    ALL [];
    8   v_pk_min_i16                    ALL [];
    9   v_pk_mad_u16                    ALL [];
    10  v_pk_add_u16                    ALL [];
    11  v_pk_sub_u16                    ALL [];
    12  v_pk_max_u16                    ALL [];
    13  v_pk_min_u16                    ALL [];
    14  v_pk_fma_f16                    ALL [];
    15  v_pk_add_f16                    ALL [];
    16  v_pk_mul_f16                    ALL [];
    19  v_dot2_f32_f16                  ALL [E64_DPP];
    22  v_dot4_i32_iu8                  ALL [];
    23  v_dot4_u32_u8                   ALL [];
    24  v_dot8_i32_iu4                  ALL [];
    25  v_dot8_u32_u4                   ALL [];
    26  v_dot2_f32_bf16                 ALL [E64_DPP];
    27  v_pk_min_f16 "v_pk_min_num_f16" ALL [];
    28  v_pk_max_f16 "v_pk_max_num_f16" ALL [];
    29  v_pk_minimum_f16                ALL [];
    30  v_pk_maximum_f16                ALL [];
    32  v_fma_mix_f32                   ALL [E64_DPP];
    33  v_fma_mixlo_f16                 ALL [E64_DPP];
    34  v_fma_mixhi_f16                 ALL [E64_DPP];
    36  v_dot4_f32_fp8_bf8              ALL [E64_DPP];
    37  v_dot4_f32_bf8_fp8              ALL [E64_DPP];
    38  v_dot4_f32_fp8_fp8              ALL [E64_DPP];
    39  v_dot4_f32_bf8_bf8              ALL [E64_DPP];
    64  v_wmma_f32_16x16x16_f16         ALL [];
    65  v_wmma_f32_16x16x16_bf16        ALL [];
    66  v_wmma_f16_16x16x16_f16         ALL [];
    67  v_wmma_bf16_16x16x16_bf16       ALL [];
    68  v_wmma_i32_16x16x16_iu8         ALL [];
    69  v_wmma_i32_16x16x16_iu4         ALL [];
    70  v_wmma_f32_16x16x16_fp8_fp8     ALL [];
    71  v_wmma_f32_16x16x16_fp8_bf8     ALL [];
    72  v_wmma_f32_16x16x16_bf8_fp8     ALL [];
    73  v_wmma_f32_16x16x16_bf8_bf8     ALL [];
    74  v_wmma_i32_16x16x32_iu4         ALL [];
    80  v_swmmac_f32_16x16x32_f16       ALL [];
    81  v_swmmac_f32_16x16x32_bf16      ALL [];
    82  v_swmmac_f16_16x16x32_f16       ALL [];
    83  v_swmmac_bf16_16x16x32_bf16     ALL [];
    84  v_swmmac_i32_16x16x32_iu8       ALL [];
    85  v_swmmac_i32_16x16x32_iu4       ALL [];
    86  v_swmmac_i32_16x16x64_iu4       ALL [];
    87  v_swmmac_f32_16x16x32_fp8_fp8   ALL [];
    88  v_swmmac_f32_16x16x32_fp8_bf8   ALL [];
    89  v_swmmac_f32_16x16x32_bf8_fp8   ALL [];
    90  v_swmmac_f32_16x16x32_bf8_bf8   ALL [];
}
