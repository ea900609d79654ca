//! How a launch can fail.

use std::fmt;

use amdinst_format::interface::LaunchFailure;
use amdinst_format::report::run::FaultReport;
use thiserror::Error;

/// Why a launch failed.
#[derive(Clone, Error)]
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
    /// A launch in more dimensions than those that say what a work-item writes.
    #[error(
        "kernel `{kernel}`: `{parameter}` has elements for work-items in {}, and the launch has more\n  {}",
        ["one dimension", "two dimensions"][usize::from(*dimensions > 1)],
        if *dimensions > 1 {
            "launch it with sizes in x and y alone, or let the kernel take a pointer (`*mut T`)"
        } else {
            "launch it with sizes in x alone, or let the kernel take rows (`PerItem2d<T>`) or a pointer (`*mut T`)"
        }
    )]
    Dimensions {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
        /// Those that there are elements for.
        dimensions: usize,
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

/// The text for people: a test that ends by `unwrap` shows it.
impl fmt::Debug for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_unwraps_is_told_in_words() {
        let message = "no kernels are built\n  run `cargo amdinst build`".to_owned();
        let error = LaunchError::from(LaunchFailure::Artifacts { message: message.clone() });
        assert_eq!(format!("{error:?}"), message);
    }
}
