//! How a launch can fail.

use amdinst_format::interface::LaunchFailure;
use amdinst_format::report::run::FaultReport;
use thiserror::Error;

/// Why a launch failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A buffer of another device was passed.
    #[error("argument {argument} of kernel `{kernel}` is a buffer of another device")]
    OtherDevice {
        /// The kernel.
        kernel: String,
        /// The argument, from 1.
        argument: usize,
    },
    /// The kernels are not built, the kernel faulted, or the probes made a difference.
    #[error(transparent)]
    Failed(#[from] LaunchFailure),
}

impl LaunchError {
    /// The fault in the kernel, if that is what it was.
    pub fn fault(&self) -> Option<&FaultReport> {
        match self {
            Self::Failed(failure) => failure.fault(),
            Self::OtherDevice { .. } => None,
        }
    }
}
