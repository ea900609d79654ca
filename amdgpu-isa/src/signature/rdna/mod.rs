//! What opcodes take and do on every RDNA, where that is not what they did before: those that are new, and
//! comparisons that write EXEC alone. The others are as they were.

pub(crate) mod flat;
pub(crate) mod mimg;
pub(crate) mod mubuf;
pub(crate) mod smem;
pub(crate) mod sop1;
pub(crate) mod sopk;
pub(crate) mod sopp;
pub(crate) mod vop1;
pub(crate) mod vop2;
pub(crate) mod vop3;
pub(crate) mod vop3p;
pub(crate) mod vopc;
