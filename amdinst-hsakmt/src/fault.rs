//! What a fault of a kernel becomes for the runtime: a memory fault, or an error of the queue.

use std::time::Duration;

use amdinst_core::panics::Panic;
use amdinst_core::report::run::FaultReport;
use amdinst_emu::{Fault, FaultKind, MemorySpace};
use amdinst_explain::{Code, Explained, explained};

use crate::dispatch_error::DispatchError;
use crate::objects::Object;
use crate::sources::{here, sources, told};
use crate::stopping::Why;

/// A fault of a kernel with its places in the source, and what mends it: of the code object that the program
/// gave to the runtime, if it is known.
pub(crate) fn report(fault: &Fault, object: Option<&Object>, panics: &[Panic]) -> Explained {
    let sources = sources();
    explained(
        fault,
        &Code {
            object: object.map(Object::original),
            original_pc: &|pc| object.map_or(Some(pc), |object| object.original_pc(pc)),
            root: here().as_deref(),
            source: &|file| Some(sources.get(file)?.text.clone()),
            parameters: &[],
            kernarg: &[],
            panics,
        },
    )
}

/// How the runtime is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// An access to memory that the GPU does not see, or must not write. The runtime ends the program unless
    /// it handles such events.
    MemoryFault {
        /// The address.
        address: u64,
        /// The access was a write to memory that may only be read.
        read_only: bool,
    },
    /// Bits of the queue's inactive signal, which the runtime hands to the queue's error callback.
    QueueError(u64),
}

impl Effect {
    /// The effect of a kernel's fault.
    fn of_fault(fault: &Fault) -> Self {
        match &fault.kind {
            FaultKind::OutOfBounds { space: MemorySpace::Global | MemorySpace::Scalar, address, .. }
            | FaultKind::UseAfterFree { address, .. }
            | FaultKind::NullPointer { address, .. } => {
                Self::MemoryFault { address: *address, read_only: false }
            }
            FaultKind::ReadOnly { address, .. } => Self::MemoryFault { address: *address, read_only: true },
            FaultKind::OutOfBounds { .. } | FaultKind::Misaligned { .. } => Self::QueueError(error::APERTURE),
            FaultKind::Unimplemented { .. }
            | FaultKind::Undecodable(_)
            | FaultKind::JumpOutside { .. }
            | FaultKind::NoCode
            | FaultKind::RegisterIndex { .. } => Self::QueueError(error::ILLEGAL_INSTRUCTION),
            FaultKind::Trap(_)
            | FaultKind::Budget { .. }
            | FaultKind::Stopped
            | FaultKind::NoSuchLane { .. }
            | FaultKind::Halted { .. }
            | FaultKind::Endless { .. }
            | FaultKind::Deadlock { .. }
            | FaultKind::NoRoom(_)
            | FaultKind::BarrierDeadlock { .. }
            | FaultKind::BarrierUnsignalled { .. }
            | FaultKind::BarrierMismatch { .. }
            | FaultKind::BarrierDivergence { .. }
            | FaultKind::Race { .. }
            | FaultKind::LaneRace { .. }
            | FaultKind::Unwritten { .. }
            | FaultKind::UnwrittenRead { .. }
            | FaultKind::NotFinite { .. }
            | FaultKind::MissingWait { .. } => Self::QueueError(error::EXCEPTION),
            FaultKind::BadDispatch(message) if message.contains("LDS") => {
                Self::QueueError(error::GROUP_MEMORY)
            }
            FaultKind::BadDispatch(_) => Self::QueueError(error::DIMENSIONS),
            FaultKind::Damaged(_) => Self::QueueError(error::CODE),
        }
    }
}

/// Bits of `queue_inactive_signal`, as the packet processor and the trap handler set them.
mod error {
    pub(super) const DIMENSIONS: u64 = 2;
    pub(super) const GROUP_MEMORY: u64 = 4;
    pub(super) const CODE: u64 = 8;
    pub(super) const PACKET_FORMAT: u64 = 32;
    pub(super) const APERTURE: u64 = 0x2000_0000;
    pub(super) const ILLEGAL_INSTRUCTION: u64 = 0x4000_0000;
    pub(super) const EXCEPTION: u64 = 0x8000_0000;
}

/// A failure, for the user and for the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) message: String,
    pub(crate) effect: Effect,
}

impl Report {
    /// The report of a packet that was not run to its end.
    pub(crate) fn of_error(error: &DispatchError) -> Self {
        let effect = match error {
            DispatchError::Fault { fault, .. } => Effect::of_fault(fault),
            DispatchError::NoKernel { .. } => Effect::QueueError(error::CODE),
            DispatchError::Counters { .. } | DispatchError::NotBegun => Effect::QueueError(error::EXCEPTION),
        };
        let mut message = error.to_string();
        if let DispatchError::Fault { fault, .. } = error
            && matches!(fault.kind, FaultKind::Budget { .. })
        {
            message.push_str("\n  a larger budget: `cargo amdinst exec --budget N`, or AMDINST_BUDGET=N");
        }
        Self { message, effect }
    }

    /// What the user is told of a kernel that was stopped after some time; `None` if that is not what `error`
    /// is.
    pub(crate) fn stopped(error: &DispatchError, why: Why, after: Duration) -> Option<String> {
        let DispatchError::Fault { fault, report } = error else { return None };
        if fault.kind != FaultKind::Stopped {
            return None;
        }
        let message = format!("still running after {:.1} s {}", after.as_secs_f64(), why.words());
        Some(told(&Explained {
            report: FaultReport { message, ..report.report.clone() },
            ..(**report).clone()
        }))
    }

    /// The report of a packet that the processor does not know.
    pub(crate) fn bad_packet(header: u16) -> Self {
        let message = format!("the queue holds a packet of an unknown kind (header {header:#06x})");
        Self { message, effect: Effect::QueueError(error::PACKET_FORMAT) }
    }

    /// The report of a defect of this library.
    pub(crate) fn internal(message: &str) -> Self {
        Self { message: message.to_owned(), effect: Effect::QueueError(error::EXCEPTION) }
    }
}
