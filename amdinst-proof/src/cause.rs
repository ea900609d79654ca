//! What makes two runs of one kernel differ, whatever was inserted into it.

use std::fmt;

use amdinst_emu::{Execution, Fault, FaultKind, Launch, Machine, Program, Sampled, Snapshot};

/// A reason for which the comparison with an instrumented form says nothing.
#[derive(Clone, Debug)]
pub enum Cause {
    /// Waves race in the original.
    Race(Box<Fault>),
    /// Its results depend on values that nothing has written.
    Unwritten(Box<Fault>),
    /// It computes with such values, and an instrumented kernel leaves others there.
    UnwrittenRead(Box<Fault>),
}

impl Cause {
    /// The fault that shows it.
    pub fn fault(&self) -> &Fault {
        let (Self::Race(fault) | Self::Unwritten(fault) | Self::UnwrittenRead(fault)) = self;
        fault
    }

    fn into_fault(self) -> Fault {
        let (Self::Race(fault) | Self::Unwritten(fault) | Self::UnwrittenRead(fault)) = self;
        *fault
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, fault) = match self {
            Self::Race(fault) => ("races", fault),
            Self::Unwritten(fault) => ("depends on what nothing has written", fault),
            Self::UnwrittenRead(fault) => ("computes with what nothing has written", fault),
        };
        write!(f, "the comparison means nothing, for the original kernel {does}: {fault}")
    }
}

/// The outcome of a search for causes.
#[derive(Debug, Default)]
pub struct Looked {
    /// Why two runs differ.
    pub cause: Option<Cause>,
    /// Races, if accesses are not atomic of which nothing tells.
    pub doubts: Vec<Fault>,
    /// Workgroups in which races were looked for, if not in all.
    pub races: Option<Sampled>,
    /// Workgroups in which values were looked for that nothing has written, if not in all.
    pub unwritten: Option<Sampled>,
}

impl Looked {
    /// Nothing was looked at.
    pub fn nothing(launch: &Launch) -> Self {
        let none = Some(Sampled { workgroups: 0, of: launch.workgroups() });
        Self { races: none, unwritten: none, ..Self::default() }
    }

    /// Whether no workgroup was looked at: the launch did not end as it had before.
    pub fn is_nothing(&self) -> bool {
        self.races.is_some_and(|sampled| sampled.workgroups == 0)
    }
}

/// Launches the original on a machine that looks for races ([`Config::check_races`](amdinst_emu::Config)),
/// and then looks for [`unwritten`] values; `differs` says if the comparison has found a difference.
///
/// # Errors
/// It was stopped from outside ([`FaultKind::Stopped`]).
pub fn look(
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
    differs: bool,
) -> Result<Looked, Fault> {
    let before = machine.snapshot();
    let execution = match machine.launch_from(program, launch, &before) {
        Ok(execution) => execution,
        Err(fault) if matches!(fault.kind, FaultKind::Race { .. } | FaultKind::LaneRace { .. }) => {
            return Ok(Looked { cause: Some(Cause::Race(Box::new(fault))), ..Looked::default() });
        }
        Err(fault) if fault.kind == FaultKind::Stopped => return Err(fault),
        // It ended well before.
        Err(_) => return Ok(Looked::nothing(launch)),
    };
    let differs = if differs { Differs::InResults } else { Differs::InNothing };
    let (cause, unwritten) = unwritten(machine, program, launch, (&execution, &before), differs);
    let mut looked = Looked { races: execution.sampled, unwritten, ..Looked::default() };
    match cause {
        Some(cause) if cause.fault().kind == FaultKind::Stopped => return Err(cause.into_fault()),
        None => looked.doubts = execution.doubts,
        cause => looked.cause = cause,
    }
    Ok(looked)
}

/// In what an instrumented kernel was unlike its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// In nothing that was looked at.
    InNothing,
    /// In its results: the memory that it left, or anything else that was compared.
    InResults,
    /// In its course, by counters or a fault; its memory was equal, or not compared.
    InCourse,
}

/// Looks for a cause among values that nothing has written. `execution` is a launch of the original that
/// ended well, from the memory of `before`. That results depend on such a value is the first; the second,
/// only if there is a difference, that the kernel computes with one: compilers let kernels do that where
/// nothing comes of it. Also returns in how many workgroups it looked for the first, if not in all.
pub fn unwritten(
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
    (execution, before): (&Execution, &Snapshot),
    differs: Differs,
) -> (Option<Cause>, Option<Sampled>) {
    let mut sampled = None;
    if differs != Differs::InCourse {
        match machine.find_unwritten(program, launch, execution, before) {
            Ok(looked_in) => sampled = looked_in,
            Err(fault) => return (Some(Cause::Unwritten(Box::new(fault))), None),
        }
    }
    if differs != Differs::InNothing
        && let Err(fault) = machine.find_unwritten_read(program, launch, before)
    {
        return (Some(Cause::UnwrittenRead(Box::new(fault))), sampled);
    }
    (None, sampled)
}
