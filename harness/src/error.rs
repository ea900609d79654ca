//! How a launch can fail.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::oracle::Disagreement;
use amdinst_core::report::run::{EarlierReport, FaultReport};
use amdinst_core::report::{Location, WaveId, is_library_file};
use amdinst_emu::{Earlier, Fault, FaultKind};
use thiserror::Error;

use crate::artifacts::ArtifactError;
use crate::device::{DeviceError, HipError};
use crate::launch::Request;
use crate::source;

/// Why a launch failed.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The kernels are not built, or not for this device.
    #[error(transparent)]
    Artifacts(#[from] ArtifactError),
    /// The code object has no such kernel: it is older than the test.
    #[error(
        "{} has no kernel `{kernel}`; it has {}\n  build the kernels again with `cargo amdinst build`",
        path.display(),
        known.join(", ")
    )]
    NoSuchKernel {
        /// The kernel.
        kernel: String,
        /// The code object.
        path: PathBuf,
        /// Its kernels.
        known: Vec<String>,
    },
    /// The kernel's parameters in the code object are others than in the test: it is older than the test.
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
    /// A buffer of another device was passed.
    #[error("argument {argument} of kernel `{kernel}` is a buffer of another device")]
    OtherDevice {
        /// The kernel.
        kernel: String,
        /// The argument, from 1.
        argument: usize,
    },
    /// The device refused the code object.
    #[error("{} cannot be loaded: {message}", path.display())]
    Load {
        /// The code object.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The kernel did something that it may not do.
    #[error("{0}")]
    Fault(Box<LocatedFault>),
    /// The instrumented kernel faulted where the original did not: a mistake of the instrumenter.
    #[error("the instrumented kernel faulted and the original did not; please report this\n{0}")]
    InstrumentedFault(Box<LocatedFault>),
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
    /// The counters are not what the emulator saw.
    #[error(
        "kernel `{kernel}`: the counters are not what the emulator saw in the original:{}",
        bullets(disagreements)
    )]
    OracleDiffers {
        /// The kernel.
        kernel: String,
        /// The first points of disagreement.
        disagreements: Vec<Disagreement>,
    },
    /// The counter buffer cannot be read.
    #[error("kernel `{kernel}`: {message}")]
    Counters {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        message: String,
    },
    /// The GPU or the HIP runtime.
    #[error(transparent)]
    Hip(#[from] HipError),
    /// Device memory.
    #[error(transparent)]
    Device(DeviceError),
}

fn bullets(disagreements: &[Disagreement]) -> String {
    disagreements.iter().map(|one| format!("\n  - {one}")).collect()
}

impl LaunchError {
    /// The fault in the kernel, if that is what it was.
    pub fn fault(&self) -> Option<&LocatedFault> {
        match self {
            Self::Fault(fault) | Self::InstrumentedFault(fault) => Some(fault),
            _ => None,
        }
    }
}

/// Two buffers that should be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A fault with the source line that it happened on.
#[derive(Clone, Debug)]
pub struct LocatedFault {
    /// The fault.
    pub fault: Fault,
    /// Address of the instruction in the original code object, if there is one.
    pub pc: Option<u64>,
    /// Where the instruction stands in the source, innermost inlined function first, with the function's name.
    pub frames: Vec<(Location, Option<String>)>,
    /// The same of the earlier instruction that a race is with.
    pub earlier: Option<LocatedEarlier>,
    /// The argument whose buffer is the nearest to a stray access, with its position.
    pub argument: Option<String>,
}

/// Where an instruction stands that a fault is about as well.
#[derive(Clone, Debug)]
pub struct LocatedEarlier {
    /// Its address in the original code object.
    pub pc: Option<u64>,
    /// Where it stands in the source, innermost inlined function first, with the function's name.
    pub frames: Vec<(Location, Option<String>)>,
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
        Self { pc, frames: frames(pc), earlier, argument, fault }
    }

    /// The source place to look at: the innermost one outside Rust's own library.
    pub fn location(&self) -> Option<&Location> {
        own_location(&self.frames)
    }

    /// What happened, with the argument that it happened to, or the place that it clashes with.
    fn message(&self) -> String {
        let mut message = self.fault.kind.to_string();
        if let Some(argument) = &self.argument {
            message += &format!(", which is {argument}");
        }
        if let Some(location) = self.earlier.as_ref().and_then(|earlier| own_location(&earlier.frames)) {
            message += &format!(", at {location}");
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
        Ok(())
    }
}
