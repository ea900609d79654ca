//! VOPD: what VOP1 and VOP2 have, in pairs.

pub(crate) use crate::signature::rdna::vop2::*;
pub(crate) use crate::signature::vop1::v_mov_b32;
