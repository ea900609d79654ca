//! Why a kernel, a site or a whole code object was not instrumented.

use amdgpu_isa::NotInstrumented;
use thiserror::Error;

use super::selector::NoSuchSite;

pub use amdinst_format::probes::{Reason, Refusal};

/// Why there is no instrumented code object.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstrumentError {
    /// Built for a processor whose code is not instrumented.
    #[error(transparent)]
    NotInstrumented(#[from] NotInstrumented),
    /// A name in [`Options::kernels`](super::Options::kernels) is none of the code object's.
    #[error("no kernel `{name}` in this code object; it has {}", .known.join(", "))]
    NoSuchKernel {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Something in [`Options::only`](super::Options::only) selects no site.
    #[error(transparent)]
    NoSuchSite(#[from] NoSuchSite),
    /// Every kernel was refused, or none has a site: there is nothing to write.
    #[error("nothing to instrument: {}", .0)]
    NothingInstrumented(String),
    /// Something in `.text` cannot be moved, and in this code object nothing can stay where it is.
    #[error("code at {}{pc:#x} cannot be moved: {detail}", .place.as_ref().map(|place| format!("{place}, ")).unwrap_or_default())]
    NotRelocatable {
        /// Its place in the source, if that is known.
        place: Option<String>,
        /// Address in the original code object.
        pc: u64,
        /// The finding.
        detail: String,
    },
    /// A kernel's descriptor and metadata say different things of it.
    #[error(
        "kernel `{kernel}` contradicts itself: {problem}; the code object is damaged: build or copy it again"
    )]
    Contradiction {
        /// The kernel.
        kernel: String,
        /// What says what.
        problem: String,
    },
    /// The code object's parts say different things of one another.
    #[error("the code object contradicts itself: {0}")]
    Damaged(String),
    /// The instrumented code object does not hold up: a defect of the rewriter.
    #[error("the rewritten code object is inconsistent: {0}")]
    Inconsistent(String),
    /// The plan for a kernel contradicts itself.
    #[error(
        "internal error at kernel `{kernel}`{}: {what}; this is a defect of cargo-amdinst: please report it with the code object",
        .pc.map(|pc| format!(", pc {pc:#x}")).unwrap_or_default()
    )]
    Internal {
        /// The kernel.
        kernel: String,
        /// Address in the original code object, if it is about one instruction.
        pc: Option<u64>,
        /// The state that cannot be.
        what: String,
    },
    /// The instrumented code object could not be written.
    #[error("rewriting the code object failed: {0}")]
    Rewrite(String),
}
