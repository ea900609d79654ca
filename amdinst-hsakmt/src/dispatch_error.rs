//! Why a packet was not run to its end.

use amdinst_emu::{Fault, FaultKind, LoadError};
use amdinst_explain::Explained;

use crate::sources::told;

/// Why a packet was not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DispatchError {
    /// There is no kernel where the packet says.
    #[error("the packet's kernel at {address:#x} cannot be read: {error}")]
    NoKernel {
        /// `kernel_object`.
        address: u64,
        /// Why.
        error: LoadError,
    },
    /// The kernel faulted.
    #[error("{}", told(report))]
    Fault {
        /// Why and where.
        fault: Box<Fault>,
        /// The fault, with its places in the source.
        report: Box<Explained>,
    },
    /// The launch was to be stopped before it had begun.
    #[error("stopped before it began")]
    NotBegun,
    /// What an instrumented kernel counted cannot be had.
    #[error("kernel `{kernel}`: {reason}")]
    Counters {
        /// The kernel.
        kernel: String,
        /// Why.
        reason: String,
    },
}

impl DispatchError {
    /// Whether the launch ended because it was to end, which is no fault.
    pub(crate) fn is_stop(&self) -> bool {
        match self {
            Self::NotBegun => true,
            Self::Fault { fault, .. } => fault.kind == FaultKind::Stopped,
            Self::NoKernel { .. } | Self::Counters { .. } => false,
        }
    }
}
