//! Why a launch left nothing behind.

use amdgpu_object::CodeObject;
use amdinst_emu::{Fault, Launch, LoadError, Machine, MemoryError, Program};
use amdinst_format::counters::{ArgumentError, DecodeError};
use amdinst_format::panics::{self, Panic};
use amdinst_format::printed::Printed;
use amdinst_proof::CountingError;

use crate::printed::{lines, printed_in};
use crate::room::NoRoom;

/// Why there is no [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The code object cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The device has no room.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The machine has no room for the counters.
    #[error("counters of {waves} waves: {error}; launch fewer workgroups")]
    NoRoom {
        /// Waves of the launch.
        waves: u64,
        /// How much there is, and how much is needed.
        error: NoRoom,
    },
    /// The launch has more counters than its kernel reaches.
    #[error(transparent)]
    Counters(#[from] ArgumentError),
    /// An instrumented kernel has left no records in its counter buffer.
    #[error(transparent)]
    Records(#[from] DecodeError),
    /// The kernel did not end well.
    #[error("{fault}")]
    Fault {
        /// Why and where.
        fault: Box<Fault>,
        /// The messages of its waves' panics.
        panics: Vec<Panic>,
        /// The lines that it had printed.
        printed: Option<Printed>,
    },
}

impl From<Fault> for LaunchError {
    fn from(fault: Fault) -> Self {
        Self::Fault { fault: Box::new(fault), panics: Vec::new(), printed: None }
    }
}

impl From<CountingError> for LaunchError {
    fn from(error: CountingError) -> Self {
        match error {
            CountingError::Memory(error) => error.into(),
            CountingError::Argument(error) => error.into(),
            CountingError::Records(error) => error.into(),
            CountingError::Fault(fault) => fault.into(),
        }
    }
}

impl LaunchError {
    /// A fault of a launch of `object`, with the messages of panics and printed lines that the machine holds.
    pub fn faulted(
        fault: Fault,
        machine: &Machine,
        program: &Program,
        object: &CodeObject,
        launch: &Launch,
    ) -> Self {
        let lines = lines(machine, program, panics::SYMBOL).unwrap_or_default();
        let kernel = object.kernel(&launch.kernel);
        let lanes = kernel.map_or(0, |kernel| kernel.descriptor.wave_size(object.target.arch).lanes());
        let panics = Panic::all(&lines, launch.block, lanes);
        Self::Fault { fault: Box::new(fault), panics, printed: printed_in(machine, program) }
    }

    /// The fault, if it is one of the kernel's execution.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Fault { fault, .. } if fault.pc.is_some() => Some(fault),
            _ => None,
        }
    }

    /// The lines that the kernel had printed when it ended badly.
    pub fn printed(&self) -> Option<&Printed> {
        match self {
            Self::Fault { printed, .. } => printed.as_ref(),
            _ => None,
        }
    }
}
