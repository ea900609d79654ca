//! VOP3P: packed math and dot products (RDNA 2 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Packed math and dot products.
    VOP3P of rdna::vop3p;
    0   v_pk_mad_i16     ALL [];
    1   v_pk_mul_lo_u16  ALL [];
    2   v_pk_add_i16     ALL [];
    3   v_pk_sub_i16     ALL [];
    4   v_pk_lshlrev_b16 ALL [];
    5   v_pk_lshrrev_b16 ALL [];
    6   v_pk_ashrrev_i16 ALL [];
    7   v_pk_max_i16     ALL [];
    8   v_pk_min_i16     ALL [];
    9   v_pk_mad_u16     ALL [];
    10  v_pk_add_u16     ALL [];
    11  v_pk_sub_u16     ALL [];
    12  v_pk_max_u16     ALL [];
    13  v_pk_min_u16     ALL [];
    14  v_pk_fma_f16     ALL [];
    15  v_pk_add_f16     ALL [];
    16  v_pk_mul_f16     ALL [];
    17  v_pk_min_f16     ALL [];
    18  v_pk_max_f16     ALL [];
    19  v_dot2_f32_f16   WITH_DOTS [];
    20  v_dot2_i32_i16   WITH_DOTS [];
    21  v_dot2_u32_u16   WITH_DOTS [];
    22  v_dot4_i32_i8    WITH_DOTS [];
    23  v_dot4_u32_u8    WITH_DOTS [];
    24  v_dot8_i32_i4    WITH_DOTS [];
    25  v_dot8_u32_u4    WITH_DOTS [];
    32  v_fma_mix_f32    ALL [];
    33  v_fma_mixlo_f16  ALL [];
    34  v_fma_mixhi_f16  ALL [];
}
