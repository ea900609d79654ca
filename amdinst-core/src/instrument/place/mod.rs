//! Where inserted code goes.
//!
//! * [`patches`]: what is inserted at each instruction.
//! * [`announced`]: what is told of instructions that follow, where something is inserted among them.
//! * [`hazards`]: the wait states between that and what stands around it.
//! * [`relocate`]: the new text, with every branch and address corrected.

pub(crate) mod announced;
pub(crate) mod hazards;
pub(crate) mod patches;
pub(crate) mod relocate;
