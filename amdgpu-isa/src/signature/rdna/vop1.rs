//! VOP1: one vector source.

use crate::signature::signatures;
pub(crate) use crate::signature::vop1::*;

signatures! {
    v_pipeflush      [] [SIDE_EFFECT];
    v_movrelsd_2_b32 [vdst I32, src0_vgpr I32] [M0_R CONDITIONAL INDIRECT];
    v_swaprel_b32    [vdst_rw I32, src0_vgpr_rw I32] [M0_R INDIRECT];
}
