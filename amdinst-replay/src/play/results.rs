//! What became of what a program did.

use std::sync::Arc;

use amdgpu_isa::TargetId;
use amdgpu_object::CodeObject;
use amdinst_core::report::Report;
use amdinst_emu::{Execution, Fault};

/// What became of a call.
#[derive(Clone, Debug)]
pub enum Step {
    /// A kernel was launched.
    Launch(Box<LaunchResult>),
    /// A copy from the GPU, beside the bytes of the archive.
    Copy(Box<CopyResult>),
    /// A call was not replayed.
    NotReplayed(NotReplayed),
}

/// A launch.
#[derive(Clone, Debug)]
pub struct LaunchResult {
    /// Its number among the launches of the archive, from 1.
    pub number: u64,
    /// The event's number.
    pub event: u64,
    /// It is one of those asked for. Others run for the memory that they leave.
    pub is_chosen: bool,
    /// The kernel's name.
    pub kernel: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// What its code object was built for.
    pub target: TargetId,
    /// Its code object.
    pub object: Arc<CodeObject>,
    /// How it ended.
    pub ending: Ending,
    /// Workgroups that ran, if not all did.
    pub sampled: Option<u64>,
    /// Workgroups in which missing waits were looked for, if not in all.
    pub looked_for_waits: Option<u64>,
    /// Workgroups in which NaNs were looked for, if not in all.
    pub looked_for_nan: Option<u64>,
    /// Its counters.
    pub counted: Counted,
}

/// How a launch ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// As it should.
    Well(Box<Execution>),
    /// With a fault.
    Fault(Box<Fault>),
}

/// The counters of a launch.
#[derive(Clone, Debug)]
pub enum Counted {
    /// Nothing was asked for.
    NotAsked,
    /// Nothing, and why.
    Nothing(String),
    /// All of it, or what of it ran.
    Counted {
        /// The divergence report.
        report: Box<Report>,
        /// Differences between the instrumented kernel and its original.
        disagreements: Vec<String>,
    },
}

/// A call that was not replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReplayed {
    /// The event's number.
    pub event: u64,
    /// The function.
    pub function: &'static str,
    /// Of a launch: its number and its kernel.
    pub launch: Option<(u64, String)>,
    /// Why.
    pub why: String,
}

/// A copy from the GPU, held against the GPU's bytes.
#[derive(Clone, Debug)]
pub struct CopyResult {
    /// The event's number.
    pub event: u64,
    /// The function.
    pub function: &'static str,
    /// The address that was copied from.
    pub from: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The launch before it.
    pub after: Option<u64>,
    /// What came out.
    pub verdict: Verdict,
}

/// The comparison of the emulator's memory with the GPU's.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// In every bit.
    Equal,
    /// All floats within the allowed difference.
    Within {
        /// The greatest difference in units in the last place.
        ulp: u64,
        /// How many elements differ.
        differing: u64,
        /// How many there are.
        of: u64,
    },
    /// Not.
    Differs {
        /// The greatest difference of floats in units in the last place; `None` of others, and where one is a
        /// NaN and the other not.
        ulp: Option<u64>,
        /// How many elements, or bytes, differ.
        differing: u64,
        /// How many there are.
        of: u64,
        /// The first.
        first: First,
    },
    /// It cannot be told, and why.
    NotComparable(String),
}

/// The first element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// Its offset in bytes.
    pub offset: u64,
    /// Its place among the elements.
    pub index: u64,
    /// The GPU's value.
    pub gpu: String,
    /// The emulator's value.
    pub emulator: String,
    /// Who wrote it last, if it was found.
    pub writer: Option<Writer>,
}

/// Who wrote some memory last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A launch.
    Launch {
        /// Its number.
        number: u64,
        /// Its kernel.
        kernel: String,
    },
    /// Another call.
    Event {
        /// Its number.
        number: u64,
        /// The function.
        function: &'static str,
    },
}
