//! Faults of kernels, with the source lines that they happened on.

use std::fmt;
use std::sync::Arc;

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::run::{EarlierReport, FaultReport};
use amdinst_core::report::{Location, WaveId, is_library_file};
use amdinst_emu::{Earlier, Fault, FaultKind};
use amdinst_format::interface::LaunchFailure;

use crate::request::Request;
use crate::source;

/// What is said of a fault that what was never written is a cause of.
const DEPENDS: &str = "; it depends on a register, LDS or scratch memory that nothing has written";

/// A fault of the instrumented kernel that happens only with another dword in place of what was never written.
pub(crate) fn by_unwritten(failure: LaunchFailure) -> LaunchFailure {
    let LaunchFailure::InstrumentedFault { mut fault, text } = failure else { return failure };
    fault.message += DEPENDS;
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    LaunchFailure::Fault { fault, text: format!("{first}{DEPENDS}{rest}") }
}

/// What to write where a race is meant.
const WAY_OUT_OF_RACES: &str = "
  help: if the waves are ordered by a flag or an atomic, which machine code does not tell, do not look for races in this test:
        `#[harness::test(check = \"barriers,uninitialised\")]`, or `--check barriers,uninitialised` for all tests";

/// The same of barriers.
const WAY_OUT_OF_BARRIERS: &str = "
  help: hardware lets this pass; not to look for it in this test: `#[harness::test(check = \"races,uninitialised\")]`,
        or `--check races,uninitialised` for all tests";

/// The same of values that nothing has written.
const WAY_OUT_OF_UNWRITTEN: &str = "
  help: if nobody reads these bytes, do not look for such values in this test: `#[harness::test(check = \"races,barriers\")]`,
        or `--check races,barriers` for all tests";

/// A fault with the source line that it happened on.
#[derive(Clone, Debug)]
pub(crate) struct LocatedFault {
    /// The fault.
    pub(crate) fault: Fault,
    /// Address of the instruction in the original code object, if there is one.
    pub(crate) pc: Option<u64>,
    /// Where the instruction stands in the source, innermost inlined function first, with the function's name.
    pub(crate) frames: Vec<(Location, Option<String>)>,
    /// The same of the earlier instruction that a race is with.
    pub(crate) earlier: Option<LocatedEarlier>,
    /// The argument whose buffer is the nearest to a stray access, with its position.
    pub(crate) argument: Option<String>,
    /// It depends on what nothing has written.
    pub(crate) uninitialised: bool,
}

/// Where an instruction stands that a fault is about as well.
#[derive(Clone, Debug)]
pub(crate) struct LocatedEarlier {
    /// Its address in the original code object.
    pub(crate) pc: Option<u64>,
    /// Where it stands in the source, innermost inlined function first, with the function's name.
    pub(crate) frames: Vec<(Location, Option<String>)>,
}

impl LocatedFault {
    /// Locates a fault. `original_pc` turns an address of the executed code object into one of the original.
    pub(crate) fn new(fault: Fault, request: &Request<'_>, original_pc: impl Fn(u64) -> Option<u64>) -> Self {
        let frames =
            |pc: Option<u64>| pc.map(|pc| source::frames(&request.built.original, pc)).unwrap_or_default();
        let pc = fault.pc.and_then(&original_pc);
        let earlier = fault.earlier.as_ref().map(|earlier| {
            let pc = original_pc(earlier.pc);
            LocatedEarlier { pc, frames: frames(pc) }
        });
        let argument = nearest_argument(&fault, request);
        Self { pc, frames: frames(pc), earlier, argument, fault, uninitialised: false }
    }

    /// Of the original.
    pub(crate) fn failure(&self) -> LaunchFailure {
        LaunchFailure::Fault { fault: Box::new(self.into()), text: self.to_string() }
    }

    /// Of the instrumented kernel.
    pub(crate) fn instrumented_failure(&self) -> LaunchFailure {
        LaunchFailure::InstrumentedFault { fault: Box::new(self.into()), text: self.to_string() }
    }

    /// The source place to look at: the innermost one outside Rust's own library.
    pub(crate) fn location(&self) -> Option<&Location> {
        own_location(&self.frames)
    }

    /// What happened, with the argument that it happened to, or the place that it clashes with.
    fn message(&self) -> String {
        let mut message = self.fault.kind.to_string();
        if let Some(argument) = &self.argument {
            message += &format!(", which is {argument}");
        }
        if let Some(location) = self.earlier.as_ref().and_then(|earlier| own_location(&earlier.frames)) {
            let read = if matches!(self.fault.kind, FaultKind::Unwritten { .. }) {
                ", and that is read"
            } else {
                ","
            };
            message += &format!("{read} at {location}");
        }
        if self.uninitialised {
            message += DEPENDS;
        }
        message
    }
}

/// The innermost place outside Rust's own library.
fn own_location(frames: &[(Location, Option<String>)]) -> Option<&Location> {
    let library = |place: &Location| place.file.as_deref().is_some_and(is_library_file);
    let own = frames.iter().find(|(location, _)| !library(location));
    own.or_else(|| frames.first()).map(|(location, _)| location)
}

impl From<&LocatedFault> for FaultReport {
    fn from(located: &LocatedFault) -> Self {
        let LocatedFault { fault, pc, frames, earlier, .. } = located;
        let frame = |(location, function): &(Location, Option<String>)| SiteFrame {
            function: function.as_deref().map(Arc::from),
            file: location.file.as_deref().map(Arc::from),
            line: location.line,
            column: location.column,
        };
        Self {
            kernel: fault.kernel.clone(),
            kind: fault.kind.word().to_owned(),
            message: located.message(),
            location: located.location().cloned().unwrap_or_default(),
            frames: frames.iter().map(frame).collect(),
            pc: *pc,
            instruction: fault.instruction.clone(),
            wave: WaveId { workgroup: fault.workgroup, wave: fault.wave },
            lane: fault.lane,
            earlier: fault.earlier.as_ref().zip(earlier.as_ref()).map(|(fault, earlier)| EarlierReport {
                location: own_location(&earlier.frames).cloned().unwrap_or_default(),
                frames: earlier.frames.iter().map(frame).collect(),
                pc: earlier.pc,
                instruction: fault.instruction.clone(),
            }),
        }
    }
}

/// The argument that holds the address of the allocation nearest to the fault.
fn nearest_argument(fault: &Fault, request: &Request<'_>) -> Option<String> {
    let FaultKind::OutOfBounds { nearest: Some(nearest), .. } = &fault.kind else { return None };
    let kernel = request.built.original.kernel(request.kernel)?;
    let explicit = kernel.metadata.args.iter().filter(|argument| !argument.is_hidden());
    explicit.enumerate().find_map(|(index, argument)| {
        let start = argument.offset as usize;
        let bytes = request.kernarg.get(start..start + 8)?.try_into().ok()?;
        (argument.size == 8 && u64::from_le_bytes(bytes) == nearest.address).then(|| match &argument.name {
            Some(name) => format!("argument {}, `{name}`", index + 1),
            None => format!("argument {}", index + 1),
        })
    })
}

impl fmt::Display for LocatedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.fault.kernel, self.message())?;
        if let Some(location) = self.location() {
            write!(f, "\n  --> {location}")?;
        }
        for (location, function) in &self.frames {
            let function = function.as_deref().unwrap_or("<unknown>");
            if self.frames.len() > 1 {
                write!(f, "\n      {function} at {location}")?;
            }
        }
        if let Some(pc) = self.fault.pc {
            let [x, y, z] = self.fault.workgroup;
            write!(f, "\n  pc {pc:#x}")?;
            if let Some(original) = self.pc.filter(|original| *original != pc) {
                write!(f, " (original {original:#x})")?;
            }
            write!(f, " `{}`, workgroup ({x}, {y}, {z}), wave {}", self.fault.instruction, self.fault.wave)?;
            if let Some(lane) = self.fault.lane {
                write!(f, ", lane {lane}")?;
            }
        }
        if let Some(Earlier { pc, instruction }) = &self.fault.earlier {
            write!(f, "\n  before it pc {pc:#x} `{instruction}`")?;
        }
        match &self.fault.kind {
            FaultKind::Race { .. } | FaultKind::LaneRace { .. } => f.write_str(WAY_OUT_OF_RACES),
            FaultKind::BarrierMismatch { .. } | FaultKind::BarrierDivergence { .. } => {
                f.write_str(WAY_OUT_OF_BARRIERS)
            }
            FaultKind::Unwritten { .. } => f.write_str(WAY_OUT_OF_UNWRITTEN),
            _ => Ok(()),
        }
    }
}
