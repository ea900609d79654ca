//! VOP1: one vector source.

use crate::signature::signatures;
pub(crate) use crate::signature::vop1::*;

signatures! {
    v_pipeflush      [] [SIDE_EFFECT];
    v_mov_b16        [vdst I16, src0 I16] [NO_THIRD];
    v_movreld_b32    [vdst I32, src0 I32] [M0_R CONDITIONAL INDIRECT];
    v_movrels_b32    [vdst I32, src0_vgpr I32] [M0_R INDIRECT];
    v_movrelsd_b32   [vdst I32, src0_vgpr I32] [M0_R CONDITIONAL INDIRECT];
    v_movrelsd_2_b32 [vdst I32, src0_vgpr I32] [M0_R CONDITIONAL INDIRECT];
    v_sat_pk_u8_i16  [vdst I16, src0 I32] [];
    v_swap_b16       [vdst_rw I16, src0_vgpr_rw I16] [];
    v_permlane64_b32 [vdst I32, src0_vgpr I32] [];
    v_swaprel_b32    [vdst_rw I32, src0_vgpr_rw I32] [M0_R INDIRECT];
    v_not_b16        [vdst I16, src0 I16] [];
    v_cvt_i32_i16    [vdst I32, src0 I16] [];
    v_cvt_u32_u16    [vdst I32, src0 I16] [];
}
