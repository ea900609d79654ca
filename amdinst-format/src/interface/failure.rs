//! How a launch can fail.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::report::run::FaultReport;

/// Why a launch failed. Its text says what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LaunchFailure {
    /// The kernels are not built, not for this device, or their files are broken.
    #[error("{message}")]
    Artifacts {
        /// The problem, and the remedy.
        message: String,
    },
    /// The code object has no such kernel: it is older than the test.
    #[error(
        "{path} has no kernel `{kernel}`; it has {}\n  build the kernels again with `cargo amdinst build`",
        known.join(", ")
    )]
    NoSuchKernel {
        /// The kernel.
        kernel: String,
        /// The code object.
        path: String,
        /// Its kernels.
        known: Vec<String>,
    },
    /// The code object and the test were compiled from different sources.
    #[error(
        "the built kernel `{kernel}` is not the one that this test was compiled with: {what}\n  run `cargo amdinst build -p {package}`"
    )]
    Stale {
        /// The kernel.
        kernel: String,
        /// Its package.
        package: String,
        /// What differs.
        what: String,
    },
    /// The device refused the code object.
    #[error("{path} cannot be loaded: {message}")]
    Load {
        /// The code object.
        path: String,
        /// Why.
        message: String,
    },
    /// The kernel did something that it may not do.
    #[error("{text}")]
    Fault {
        /// The fault.
        fault: Box<FaultReport>,
        /// The fault, for people.
        text: String,
    },
    /// The instrumented kernel faulted where the original did not: a mistake of the instrumenter.
    #[error("the instrumented kernel faulted and the original did not; please report this\n{text}")]
    InstrumentedFault {
        /// The fault.
        fault: Box<FaultReport>,
        /// The fault, for people.
        text: String,
    },
    /// The instrumented kernel left other bytes than the original.
    #[error(
        "kernel `{kernel}`: the instrumented kernel and the original left different memory: {difference}"
    )]
    MemoryDiffers {
        /// The kernel.
        kernel: String,
        /// Where.
        difference: BufferDifference,
    },
    /// The counters differ from the emulator's count.
    #[error(
        "kernel `{kernel}`: the counters differ from the emulator's own count of the original:{}",
        disagreements.iter().map(|one| format!("\n  - {one}")).collect::<String>()
    )]
    OracleDiffers {
        /// The kernel.
        kernel: String,
        /// The first points of disagreement.
        disagreements: Vec<String>,
    },
    /// The counter buffer cannot be read.
    #[error("kernel `{kernel}`: {message}")]
    Counters {
        /// The kernel.
        kernel: String,
        /// The problem.
        message: String,
    },
    /// The GPU, the HIP runtime, or device memory.
    #[error("{message}")]
    Device {
        /// The problem.
        message: String,
    },
    /// A mistake of the runtime.
    #[error("internal error of the runtime: {message}; please report this")]
    Internal {
        /// The problem.
        message: String,
    },
}

impl LaunchFailure {
    /// The fault in the kernel, if there was one.
    pub fn fault(&self) -> Option<&FaultReport> {
        match self {
            Self::Fault { fault, .. } | Self::InstrumentedFault { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

/// Two buffers that should be equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferDifference {
    /// The buffer's label.
    pub buffer: String,
    /// The first byte that differs.
    pub offset: usize,
    /// Its value after the original.
    pub original: u8,
    /// Its value after the instrumented kernel.
    pub instrumented: u8,
    /// How many bytes of the buffer differ.
    pub bytes: usize,
}

impl fmt::Display for BufferDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { buffer, offset, original, instrumented, bytes } = self;
        write!(
            f,
            "{bytes} bytes of the {buffer} differ, the first at offset {offset} ({instrumented:#04x} instead of {original:#04x})\n  \
             (a kernel whose result depends on the order of its waves may do so by itself)"
        )
    }
}
