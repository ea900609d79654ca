//! What opcodes take and do on RDNA 3, where that is not what they do on [every RDNA](super::rdna): those
//! that are new, and those whose operands of 16 bits are halves of registers.

pub(crate) mod ds;
pub(crate) mod ldsdir;
pub(crate) mod mimg;
pub(crate) mod sop1;
pub(crate) mod sop2;
pub(crate) mod sopc;
pub(crate) mod sopp;
pub(crate) mod vinterp;
pub(crate) mod vop1;
pub(crate) mod vop2;
pub(crate) mod vop3;
pub(crate) mod vop3p;
pub(crate) mod vopc;
pub(crate) mod vopd;
