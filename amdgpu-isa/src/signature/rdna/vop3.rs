//! VOP3: three vector sources, or two with modifiers.

use crate::signature::signatures;
pub(crate) use crate::signature::vop3::*;

signatures! {
    // OP_SEL says which half of the third source is read.
    v_alignbit_b32       [vdst I32, src0 I32, src1 I32, src2 I32] [] numbers (b32 b32 b32 b16);
    v_alignbyte_b32      [vdst I32, src0 I32, src1 I32, src2 I32] [] numbers (b32 b32 b32 b16);
    v_fma_legacy_f32     [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_mul_lo_i32         [vdst I32, src0 I32, src1 I32] [];
    v_mullit_f32         [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_xor3_b32           [vdst I32, src0 I32, src1 I32, src2 I32] [];
    v_permlane16_b32     [vdst_rw I32, src0_vgpr I32, src1_any I32, src2_any I32] [SWAPS_ROWS];
    v_permlanex16_b32    [vdst_rw I32, src0_vgpr I32, src1_any I32, src2_any I32] [SWAPS_ROWS];
    v_add_co_u32         [vdst I32, sdst Lanes, src0 I32, src1 I32] [CLAMP];
    v_sub_co_u32         [vdst I32, sdst Lanes, src0 I32, src1 I32] [CLAMP];
    v_subrev_co_u32      [vdst I32, sdst Lanes, src0 I32, src1 I32] [CLAMP REVERSED];
    v_add_u16            [vdst I16, src0 I16, src1 I16] [CLAMP NO_THIRD];
    v_sub_u16            [vdst I16, src0 I16, src1 I16] [CLAMP NO_THIRD];
    v_mul_lo_u16         [vdst I16, src0 I16, src1 I16] [];
    v_max_u16            [vdst I16, src0 I16, src1 I16] [];
    v_max_i16            [vdst I16, src0 I16, src1 I16] [];
    v_min_u16            [vdst I16, src0 I16, src1 I16] [];
    v_min_i16            [vdst I16, src0 I16, src1 I16] [];
    v_lshlrev_b16        [vdst I16, src0 I16, src1 I16] [REVERSED];
    v_lshrrev_b16        [vdst I16, src0 I16, src1 I16] [REVERSED];
    v_ashrrev_i16        [vdst I16, src0 I16, src1 I16] [REVERSED];
    v_writelane_b32      [vdst_rw I32, src0_any I32, src1_scalar I32] [ANY_LANE];
}
