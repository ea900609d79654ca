//! What opcodes take and do on RDNA 3, where that is not what they did before: those that are new, those whose operands of 16 bits are halves
//! of registers, comparisons that write EXEC alone. The others are as they were.

pub(crate) mod ds;
pub(crate) mod flat;
pub(crate) mod ldsdir;
pub(crate) mod mimg;
pub(crate) mod mubuf;
pub(crate) mod smem;
pub(crate) mod sop1;
pub(crate) mod sop2;
pub(crate) mod sopc;
pub(crate) mod sopk;
pub(crate) mod sopp;
pub(crate) mod vinterp;
pub(crate) mod vop1;
pub(crate) mod vop2;
pub(crate) mod vop3;
pub(crate) mod vop3p;
pub(crate) mod vopc;
pub(crate) mod vopd;
