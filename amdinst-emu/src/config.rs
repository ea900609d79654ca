//! Settings of a machine.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use amdgpu_isa::Arch;

use crate::vectors::Vectors;

/// What can be set about a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Wave-instructions that one workgroup may run, unless a launch says otherwise.
    pub budget: u64,
    /// Steps a wave runs before the next wave of its workgroup gets a turn.
    pub time_slice: u64,
    /// Another order of waves and workgroups; then a launch runs on one thread.
    pub schedule: Option<Schedule>,
    /// Scratch bytes a work-item of a kernel that uses a dynamic stack gets besides what its descriptor asks
    /// for.
    pub dynamic_stack: u32,
    /// A barrier that completes although some work-items of the workgroup have not reached it is a fault:
    /// waves that have ended, or lanes that are switched off. Hardware lets it pass.
    pub strict_barriers: bool,
    /// An access to LDS or device memory is a fault if another wave has accessed the same byte and nothing
    /// orders the two. Exceptions: both only read, both are atomic, or both write the same value. Waves of a
    /// workgroup are ordered by barriers, and, as workgroups are, by synchronization (`races/device.rs`). So
    /// is a store by which two lanes write different values to one byte. Accesses that convert formats are
    /// not looked at. A launch is scanned for what may be one, and runs again from a copy of its memory if
    /// there is any.
    pub check_races: bool,
    /// What becomes of accesses to LDS beyond the workgroup's.
    pub out_of_range: OutOfRange,
    /// What accesses are taken for of which nothing tells whether they are atomics.
    pub unmarked: Unmarked,
    /// Accesses whose races are meant, by `FILE`, `FILE:LINE` or the function that they are in, or are
    /// inlined into.
    pub allowed: Vec<String>,
    /// Checks look through all workgroups, however long that takes. Else it is in some of them where a launch
    /// is long: then [`Execution::sampled`](crate::Execution::sampled) says so. Which ones hangs on the
    /// launches of the machine alone.
    pub thorough: bool,
    /// A launch gives one result whatever the number of threads, though its workgroups race. It is scanned
    /// for memory that one of them writes and another accesses. If there is any, it runs again from a copy of
    /// its memory, one workgroup after another on one thread. Without this, what such a launch computes may
    /// be another thing each time, unless it has one thread.
    pub deterministic: bool,
    /// With [`Config::deterministic`](crate::Config::deterministic), a launch on one thread is scanned as
    /// well, which it needs not be for its result. Then [`Execution::clash`](crate::Execution::clash) does
    /// not depend on the number of threads either. The scan takes time.
    pub tells_clashes: bool,
    /// The processor that code for a generic one runs on ([`Machine::for_code`](crate::Machine::for_code)):
    /// one of its members.
    pub member: Option<Arch>,
    /// Ends launches from outside, with [`FaultKind::Stopped`](crate::FaultKind).
    pub stop: Option<StopFlag>,
    /// What registers, LDS and scratch memory hold before they are written.
    pub uninitialised: Uninitialised,
    /// Vector extensions of the host to compute lanes with; instructions that it lacks are not used. Results
    /// do not depend on it.
    pub vectors: Vectors,
    /// Common instructions run in handlers made for the host's vectors. Without, each one runs in the
    /// function that knows every case of it: many times slower, with the same results.
    pub fast_layer: bool,
}

impl Config {
    /// Whether launches are to end now.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(StopFlag::is_set)
    }
}

/// The number of an order in which waves of a workgroup take turns and workgroups begin. A launch has the
/// same order each time for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule(pub u64);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Schedule {
    type Err = &'static str;

    /// Reads a number. The error is what is expected.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| "a whole number from 0")
    }
}

/// A flag that ends launches when it is set, as a handler of signals may. They end after the time slices that
/// their waves are at, which take milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct StopFlag(&'static AtomicBool);

impl StopFlag {
    /// Launches end when this is set.
    pub const fn new(flag: &'static AtomicBool) -> Self {
        Self(flag)
    }

    fn is_set(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for StopFlag {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for StopFlag {}

/// The value of each dword that was never written. On hardware, others left values there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uninitialised(pub u32);

impl Default for Uninitialised {
    /// In most programs more visible than zero is: a quiet NaN as an `f16`, `bf16`, `f32` or `f64`, and an
    /// index or an offset that is out of bounds.
    fn default() -> Self {
        Self(0x7ffb_7ffb)
    }
}

impl Uninitialised {
    /// A dword that most results tell from this one, where they depend on it: zero, or the default in its
    /// place.
    pub fn other(self) -> Self {
        if self == Self(0) { Self::default() } else { Self(0) }
    }
}

impl FromStr for Uninitialised {
    type Err = &'static str;

    /// Reads a whole number of 32 bits, in hexadecimal with `0x` before it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let dword = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        dword.map(Self).map_err(|_| "the whole numbers from 0 to 0xffffffff")
    }
}

/// The outcome of an access to LDS beyond the workgroup's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfRange {
    /// It is a fault.
    #[default]
    Fault,
    /// Reads return zero and writes are discarded. The first of each instruction stands in
    /// [`Execution::out_of_range`](crate::Execution::out_of_range).
    AsHardware,
}

impl OutOfRange {
    /// What people are told of an access that passes.
    pub const TOLD: &str = "as on hardware, reads out of range return zero and writes are discarded; `--out-of-range fault` stops the kernel there";

    /// What each is called.
    pub const NAMES: &str = "fault or hardware";
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fault => "fault",
            Self::AsHardware => "hardware",
        })
    }
}

impl FromStr for OutOfRange {
    type Err = &'static str;

    /// Reads `fault` or `hardware`. The error is what is expected.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "fault" => Ok(Self::Fault),
            "hardware" => Ok(Self::AsHardware),
            _ => Err(Self::NAMES),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            budget: 1 << 28,
            time_slice: 1 << 16,
            schedule: None,
            dynamic_stack: 16 << 10,
            strict_barriers: false,
            check_races: false,
            out_of_range: OutOfRange::Fault,
            unmarked: Unmarked::Plain,
            allowed: Vec::new(),
            thorough: true,
            deterministic: false,
            tells_clashes: false,
            member: None,
            stop: None,
            uninitialised: Uninitialised::default(),
            vectors: Vectors::detect(),
            fast_layer: true,
        }
    }
}

/// What accesses are taken for of which nothing tells whether they are atomics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmarked {
    /// Plain ones, so that an unordered pair with one of them is a race.
    #[default]
    Plain,
    /// As the other access: beside an atomic either, and else plain ones. If a workgroup waits for another by
    /// read-modify-writes, the store that it waits for must be atomic as well.
    AsTheyMeet,
    /// Either, so that an unordered pair of them stands in [`Execution::doubts`](crate::Execution::doubts).
    Either,
}

impl Unmarked {
    /// Plain ones where checks are to be strict, and else either.
    pub const fn checked(strictly: bool) -> Self {
        if strictly { Self::Plain } else { Self::Either }
    }
}
