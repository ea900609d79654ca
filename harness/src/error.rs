//! How a launch can fail.

use amdinst_format::interface::LaunchFailure;
use amdinst_format::report::run::FaultReport;
use thiserror::Error;

/// Why a launch failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A buffer of another device was passed.
    #[error("kernel `{kernel}`: the buffer passed for `{parameter}` is of another device")]
    OtherDevice {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
    },
    /// A launch in several dimensions of a kernel that says what a work-item writes by its place in x.
    #[error(
        "kernel `{kernel}`: `{parameter}` has elements for work-items in one dimension, and the launch has more\n  \
         launch it with sizes in x alone, or let the kernel take a pointer (`*mut T`)"
    )]
    Dimensions {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
    },
    /// A launch over nothing.
    #[error("kernel `{kernel}`: a launch over no work-items; leave it out where there is nothing to do")]
    NoWorkItems {
        /// The kernel.
        kernel: String,
    },
    /// The kernels are not built, the kernel faulted, or the probes made a difference.
    #[error(transparent)]
    Failed(#[from] LaunchFailure),
}

impl LaunchError {
    /// The fault in the kernel, if the launch ended with one.
    pub fn fault(&self) -> Option<&FaultReport> {
        match self {
            Self::Failed(failure) => failure.fault(),
            Self::OtherDevice { .. } | Self::Dimensions { .. } | Self::NoWorkItems { .. } => None,
        }
    }
}
