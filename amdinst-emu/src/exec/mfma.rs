//! Matrix instructions (VOP3P-MAI).

use amdinst_core::isa::Op;

use crate::program::Handler;

/// The function that executes a matrix instruction.
pub(super) fn handler(_op: Op) -> Option<Handler> {
    None
}
