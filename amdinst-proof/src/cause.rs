//! What makes two runs of one kernel differ, whatever was inserted into it.

use std::fmt;

use amdinst_emu::{Fault, FaultKind, Launch, Machine, Program, Sampled};

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
/// and then looks for values that nothing has written. That results depend on one is a cause; and, if the
/// comparison has found a difference (`differs`), that the kernel computes with one: compilers let kernels do
/// that where nothing comes of it.
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
    let mut looked = Looked { races: execution.sampled, ..Looked::default() };
    let cause = match machine.find_unwritten(program, launch, &execution, &before) {
        Ok(sampled) => {
            looked.unwritten = sampled;
            let read = differs.then(|| machine.find_unwritten_read(program, launch, &before).err()).flatten();
            read.map(|fault| (Cause::UnwrittenRead as fn(_) -> _, fault))
        }
        Err(fault) => Some((Cause::Unwritten as fn(_) -> _, fault)),
    };
    match cause {
        Some((_, fault)) if fault.kind == FaultKind::Stopped => return Err(fault),
        Some((cause, fault)) => looked.cause = Some(cause(Box::new(fault))),
        None => looked.doubts = execution.doubts,
    }
    Ok(looked)
}
