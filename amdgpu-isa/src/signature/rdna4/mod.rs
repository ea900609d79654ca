//! What opcodes take and do on RDNA 4, where that is not what they do on [RDNA 3](super::rdna3): those that
//! are new, and matrices without halves that repeat.

pub(crate) mod ds;
pub(crate) mod flat;
pub(crate) mod ldsdir;
pub(crate) mod mimg;
pub(crate) mod mubuf;
pub(crate) mod smem;
pub(crate) mod sop1;
pub(crate) mod sop2;
pub(crate) mod sopp;
pub(crate) mod vop1;
pub(crate) mod vop2;
pub(crate) mod vop3;
pub(crate) mod vop3p;
pub(crate) mod vopc;
