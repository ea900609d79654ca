//! VOP1: one vector source.

pub(crate) use crate::signature::rdna::vop1::*;
use crate::signature::signatures;

signatures! {
    v_mov_b16        [vdst I16, src0 I16] [NO_THIRD];
    v_sat_pk_u8_i16  [vdst I16, src0 I32] [];
    v_swap_b16       [vdst_rw I16, src0_vgpr_rw I16] [];
    v_permlane64_b32 [vdst I32, src0_vgpr I32] [];
    v_not_b16        [vdst I16, src0 I16] [];
    v_cvt_i32_i16    [vdst I32, src0 I16] [CVT];
    v_cvt_u32_u16    [vdst I32, src0 I16] [CVT];
}
