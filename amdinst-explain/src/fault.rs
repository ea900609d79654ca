//! A fault with its places in the source: what programs read of it, and what is rendered for people.

use amdgpu_object::lines::{Frame, SourceMap};
use amdinst_emu::{Fault, FaultKind, StandingWave};
use amdinst_format::panics;
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::run::{EarlierReport, FaultReport, WaveStand};
use amdinst_format::report::{Location, Origin, WaveId, own_frame};

use crate::code::Code;
use crate::endless::is_endless;
use crate::message;
use crate::panic::{Panic, Said};
use crate::remedy;

/// A fault with its places in the source.
#[derive(Clone, Debug)]
pub struct Explained {
    /// For programs, and to be rendered.
    pub report: FaultReport,
    /// A panic's values are not in its text: the compiler has optimized them away.
    pub lacks_values: bool,
}

/// The fault with the places of its instruction and of the calls that led there. Its location is the nearest
/// that is the user's: the rule is [`own_frame`]'s.
///
/// Reads the code object's debug information: not for what happens often.
pub fn explained(fault: &Fault, code: &Code<'_>) -> Explained {
    let lines = code.object.and_then(|object| SourceMap::new(object).ok());
    let stack = |pc: u64, calls: &[u64]| code.stack(lines.as_ref(), pc, calls);
    let original = |pc: u64| (code.original_pc)(pc);
    let frames = fault.pc.map(|pc| stack(pc, &fault.calls)).unwrap_or_default();
    let trapped = matches!(fault.kind, FaultKind::Trap(_));
    let panic = Panic::of(&frames).or_else(|| trapped.then(|| Panic::of_allocation(&frames)).flatten());
    let said = panic.as_ref().and_then(|panic| said(fault, code, panic));
    let lacks_values = said.as_ref().is_some_and(|said| said.lacks_values);
    let said = said.map(|said| said.text);
    let mut message = text(fault, panic.is_some(), said.as_deref());
    // A function without code is none of Rust's that panic.
    if let Some(left) = left(fault, code).filter(|_| trapped && panic.is_none()) {
        message = format!("{}{left}", remedy::TRAPPED);
    }
    if let (FaultKind::Budget { .. } | FaultKind::Endless { reads: false, .. }, None, Some(pc)) =
        (&fault.kind, &panic, fault.pc.and_then(original))
        && frames.iter().all(is_of_rust)
        && code.object.is_some_and(|object| is_endless(object, pc))
    {
        message += match fault.kind {
            FaultKind::Budget { .. } => ". This loop never ends: it",
            _ => ". It",
        };
        message += HANDLER;
    }
    if let Some(argument) = nearest_argument(fault, code) {
        message += &format!(", which is {argument}");
    }
    let pc = fault.pc.and_then(original);
    let mut report = FaultReport {
        kernel: fault.kernel.clone(),
        kind: fault.kind.word().to_owned(),
        message,
        panic: said,
        location: location(panic.as_ref().map_or(&frames, |panic| panic.outer), &frames),
        pc,
        executed_pc: fault.pc.filter(|executed| pc != Some(*executed)),
        instruction: fault.instruction.clone(),
        wave: WaveId { workgroup: fault.workgroup, wave: fault.wave },
        lane: fault.lane,
        earlier: fault.earlier.as_ref().map(|earlier| {
            let frames = stack(earlier.pc, &earlier.calls);
            EarlierReport {
                location: location(&frames, &frames),
                frames,
                pc: original(earlier.pc),
                instruction: earlier.instruction.clone(),
            }
        }),
        frames,
        waves: fault.waves.iter().map(|wave| standing(wave, &stack)).collect(),
        help: Vec::new(),
        why: None,
    };
    let kernel = code.object.and_then(|object| object.kernel(&fault.kernel));
    let grows = kernel.is_some_and(|kernel| kernel.metadata.uses_dynamic_stack);
    report.help.extend(remedy::of_fault(fault, &report, code.source, grows));
    Explained { report, lacks_values }
}

/// Where a wave is, for people. `stack` has the calls that led to an address.
fn standing(wave: &StandingWave, stack: &impl Fn(u64, &[u64]) -> Vec<SiteFrame>) -> WaveStand {
    let frames = stack(wave.pc, &wave.calls);
    WaveStand {
        wave: wave.wave,
        stand: wave.stand.word().to_owned(),
        location: location(&frames, &frames),
        exec: wave.exec,
    }
}

/// What a panic said: its own words, if it was built to leave them; where it can be read in full, that; else
/// what kind it was, or its macro.
fn said(fault: &Fault, code: &Code<'_>, panic: &Panic<'_>) -> Option<Said> {
    let in_full = || {
        let pc = (code.original_pc)(fault.pc?)?;
        message::read(code, pc, fault.lane_state.as_deref()?)
    };
    left(fault, code).or_else(in_full).map(Said::whole).or_else(|| panic.text(code.source))
}

/// The words that a wave left before it trapped.
fn left(fault: &Fault, code: &Code<'_>) -> Option<String> {
    let wave = WaveId { workgroup: fault.workgroup, wave: fault.wave };
    panics::Panic::of_wave(code.panics, wave).map(|panic| panic.message.clone())
}

fn text(fault: &Fault, panicked: bool, said: Option<&str>) -> String {
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    match fault.kind {
        FaultKind::Trap(_) if panicked => format!("the kernel panicked{said}"),
        // A handler that waits for ever.
        _ if panicked => format!("{}; the kernel had panicked{said}", fault.kind),
        _ => fault.kind.to_string(),
    }
}

/// Said of a loop that has no end: optimized, the handler stands in place of its call, and nothing else tells
/// of it.
const HANDLER: &str = " may be the `loop {}` of a panic handler";

/// Whether a place may be Rust's: others have no panic handlers.
fn is_of_rust(frame: &SiteFrame) -> bool {
    frame.file.as_deref().is_none_or(|file| file.ends_with(".rs"))
}

/// The argument that holds the address of the allocation nearest to the fault.
fn nearest_argument(fault: &Fault, code: &Code<'_>) -> Option<String> {
    let FaultKind::OutOfBounds { nearest: Some(nearest), .. } = &fault.kind else { return None };
    let kernel = code.object?.kernel(&fault.kernel)?;
    let explicit = kernel.metadata.args.iter().filter(|argument| !argument.is_hidden());
    let name = |index: usize| code.parameters.get(index).map(String::as_str).filter(|name| *name != "_");
    explicit.enumerate().find_map(|(index, argument)| {
        let start = argument.offset as usize;
        let bytes = code.kernarg.get(start..start.checked_add(8)?)?.try_into().ok()?;
        (argument.size == 8 && u64::from_le_bytes(bytes) == nearest.address).then(|| {
            match name(index).or(argument.name.as_deref()) {
                // A slice is two arguments of the machine's: what people know is its name.
                Some(name) => format!("the kernel's argument `{name}`"),
                None => format!("argument {}", index + 1),
            }
        })
    })
}

/// What the name of an OpenCL kernel's body begins with, as a function.
const OPENCL_BODY: &str = "__clang_ocl_kern_imp_";

impl Code<'_> {
    /// The frames of an instruction and of the calls that led to it, innermost first.
    fn stack(&self, lines: Option<&SourceMap>, pc: u64, calls: &[u64]) -> Vec<SiteFrame> {
        let pcs = std::iter::once(&pc).chain(calls).filter_map(|pc| (self.original_pc)(*pc));
        lines.map(|lines| frames(lines, pcs, self.root)).unwrap_or_default()
    }
}

/// The frames of an instruction and of the calls that led to it, by their addresses, innermost first. Files
/// in the workspace's directory `root` are named from there.
pub(crate) fn frames(
    lines: &SourceMap,
    pcs: impl Iterator<Item = u64>,
    root: Option<&str>,
) -> Vec<SiteFrame> {
    let known = |number: u32| (number != 0).then_some(number);
    // The body of an OpenCL kernel is a function for Clang, and the kernel calls it: one of the two says all.
    let mut is_entry = false;
    let frames = pcs.flat_map(|pc| lines.frames(pc)).filter(|frame| {
        let body = frame.linkage_name.as_deref().is_some_and(|name| name.starts_with(OPENCL_BODY));
        !std::mem::replace(&mut is_entry, body)
    });
    let frame = |frame: Frame| SiteFrame {
        function: frame.function,
        file: (!frame.file.is_empty()).then(|| relative(root, &frame.file).into()),
        line: known(frame.line),
        column: known(frame.column),
    };
    frames.map(frame).collect()
}

/// A path from the workspace's directory, if it is in there.
fn relative<'a>(root: Option<&str>, path: &'a str) -> &'a str {
    let inside = |root| path.strip_prefix(root)?.strip_prefix('/');
    root.and_then(inside).unwrap_or(path)
}

/// The nearest place of the user's in a part of a stack; any of the whole if there is none.
fn location(part: &[SiteFrame], all: &[SiteFrame]) -> Location {
    nearest_frame(part).or_else(|| all.first()).map(Location::from).unwrap_or_default()
}

/// The nearest frame of the user's, of frames from the innermost outwards; if there is none, of a package
/// that they use; else the innermost.
pub(crate) fn nearest_frame(frames: &[SiteFrame]) -> Option<&SiteFrame> {
    let of_package = |frame: &&SiteFrame| {
        frame.file.as_deref().is_some_and(|file| matches!(Origin::of(file), Origin::Dependency { .. }))
    };
    own_frame(frames).or_else(|| frames.iter().find(of_package)).or_else(|| frames.first())
}
