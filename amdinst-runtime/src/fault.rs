//! Faults of kernels, with their places in the source.

use amdinst_core::panics::{self, Panic};
use amdinst_core::printed::Printed;
use amdinst_core::report::run::FaultReport;
use amdinst_core::report::why::ValueOrigin;
use amdinst_emu::{Fault, FaultKind, MemorySpace};
use amdinst_explain::{Code, Explained, explained};
use amdinst_format::interface::{Doubt, LaunchFailure};
use amdinst_report::Sources;

use crate::remedy;
use crate::request::Request;
use crate::source::workspace_root;

/// What is said of a fault that what was never written is a cause of.
const DEPENDS: &str = "; it depends on a register, LDS or scratch memory that nothing has written";

/// What to do where a panic's values are not known.
const MESSAGES: &str = "`cargo amdinst test --panic-messages` shows the panic's values";

/// What to do where a fault is none, if a test may say so.
const fn way_out(kind: &FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::Race { certain: false, .. } | FaultKind::LaneRace { certain: false, .. } => Some(
            "debug information of Rust tells which accesses are atomic; if these are, `--allow FILE:LINE` (`AMDINST_ALLOW`) allows them; \
             `--check atomicity` makes this an error",
        ),
        FaultKind::Race { .. } | FaultKind::LaneRace { .. } => Some(
            "if a flag or an atomic orders the waves, which machine code does not tell, do not look for races in this test: \
             `#[harness::test(check = \"barriers,uninitialized\")]`, or in all: `--check barriers,uninitialized`; \
             `--allow FILE:LINE` (`AMDINST_ALLOW`) allows those of one line",
        ),
        FaultKind::BarrierMismatch { .. } | FaultKind::BarrierDivergence { .. } => Some(
            "hardware lets this pass; not to look for it in this test: `#[harness::test(check = \"races,uninitialized\")]`, \
             or in all: `--check races,uninitialized`",
        ),
        FaultKind::Unwritten { .. } | FaultKind::UnwrittenRead { .. } => Some(
            "if nobody reads these bytes, do not look for such values in this test: \
             `#[harness::test(check = \"races,barriers\")]`, or in all: `--check races,barriers`",
        ),
        FaultKind::NotFinite { .. } => {
            Some("if it is meant, do not look for it in this test: `#[harness::test(check = \"all\")]`")
        }
        _ => None,
    }
}

/// What to pass in place of an address of the host's.
const DEVICE_BUFFER: &str = "kernels cannot read the host's memory: pass a buffer of the device's, as `device.buffer(&values)` makes one";

/// Whether an access went to memory of this process, which is the host's: a pointer of a vector or the like
/// was passed.
fn is_of_the_host(fault: &Fault) -> bool {
    let FaultKind::OutOfBounds { space: MemorySpace::Global | MemorySpace::Scalar, address, .. } = fault.kind
    else {
        return false;
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    maps.lines().any(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let range = range.and_then(|(start, end)| Some(number(start)?..number(end)?));
        range.is_some_and(|range| range.contains(&address))
    })
}

/// How far it is from there to the nearest buffer of the device says nothing.
fn without_nearest(fault: &Fault) -> Fault {
    let mut fault = fault.clone();
    if let FaultKind::OutOfBounds { nearest, .. } = &mut fault.kind {
        *nearest = None;
    }
    fault
}

/// A fault of the instrumented kernel that happens only with another dword in place of what was never
/// written.
pub(crate) fn by_unwritten(failure: LaunchFailure) -> LaunchFailure {
    let LaunchFailure::InstrumentedFault { mut fault, text } = failure else { return failure };
    fault.message += DEPENDS;
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    LaunchFailure::Fault { fault, text: format!("{first}{DEPENDS}{rest}") }
}

/// What else is known of a fault.
#[derive(Debug, Default)]
pub(crate) struct Known<'a> {
    /// What was never written is a cause of it.
    pub(crate) by_unwritten: bool,
    /// Waves have said why they panic.
    pub(crate) panics: &'a [Panic],
    /// The lines that led there.
    pub(crate) why: Option<ValueOrigin>,
}

/// A fault of the original.
pub(crate) fn of_original(fault: &Fault, request: &Request<'_>, known: Known<'_>) -> LaunchFailure {
    let (fault, text) = told(fault, request, &Some, known);
    LaunchFailure::Fault { fault, text }
}

/// A panic of a kernel whose waves end then: no trap tells of it.
pub(crate) fn of_ended(panic: &Panic, request: &Request<'_>) -> LaunchFailure {
    let report = FaultReport {
        kernel: request.kernel.to_owned(),
        kind: FaultKind::Trap(0).word().to_owned(),
        message: format!("the kernel panicked: {}", panic.message),
        panic: Some(panic.message.clone()),
        location: panic.location.clone(),
        frames: Vec::new(),
        pc: None,
        executed_pc: None,
        instruction: String::new(),
        wave: panic.wave,
        lane: Some(panic.lane),
        earlier: None,
        waves: Vec::new(),
        help: Vec::new(),
        why: None,
    };
    let sources = Sources::new(workspace_root().unwrap_or_default(), &[]);
    let text = amdinst_report::fault::text(&report, &sources, false);
    LaunchFailure::Fault { fault: Box::new(report), text }
}

/// What may be a fault of the original.
pub(crate) fn doubt(fault: &Fault, request: &Request<'_>) -> Doubt {
    let (fault, text) = told(fault, request, &Some, Known::default());
    Doubt { fault: *fault, text }
}

/// A fault of the instrumented kernel.
pub(crate) fn of_instrumented(fault: &Fault, request: &Request<'_>) -> LaunchFailure {
    let original_pc = |pc| request.built.probes.original_pc(pc);
    let (fault, text) = told(fault, request, &original_pc, Known::default());
    LaunchFailure::InstrumentedFault { fault, text }
}

/// A fault for programs and for people. `original_pc` makes an address of what ran one of the original.
fn told(
    fault: &Fault,
    request: &Request<'_>,
    original_pc: &dyn Fn(u64) -> Option<u64>,
    known: Known<'_>,
) -> (Box<FaultReport>, String) {
    let root = workspace_root();
    let sources = Sources::new(root.unwrap_or_default(), &[]);
    let of_host = is_of_the_host(fault);
    let fault = &if of_host { without_nearest(fault) } else { fault.clone() };
    let Explained { mut report, lacks_values } = explained(
        fault,
        &Code {
            object: Some(&request.built.original),
            original_pc,
            root,
            source: &|file| Some(sources.get(file)?.text.clone()),
            kernarg: &request.kernarg,
            parameters: request.parameters,
            panics: known.panics,
        },
    );
    report.why = known.why;
    if known.by_unwritten {
        report.message += DEPENDS;
    }
    if of_host {
        report.message += ": an address of the host's memory";
    }
    let is_silent = !request.has_variable(panics::SYMBOL);
    // What mends it comes first.
    if of_host {
        report.help = vec![DEVICE_BUFFER.to_owned()];
    }
    let further = [
        remedy::of_shape(fault, request),
        way_out(&fault.kind).map(str::to_owned),
        (lacks_values && is_silent).then(|| MESSAGES.to_owned()),
    ];
    report.help.extend(further.into_iter().flatten());
    let text = amdinst_report::fault::text(&report, &sources, false);
    (Box::new(report), text)
}

/// A fault with what the kernel printed before it.
pub(crate) fn after_printing(mut failure: LaunchFailure, printed: &Printed) -> LaunchFailure {
    if let LaunchFailure::Fault { text, .. } = &mut failure
        && !printed.is_empty()
    {
        text.push_str("\nprinted before it:");
        for line in printed.to_string().lines() {
            text.push_str("\n  ");
            text.push_str(line);
        }
    }
    failure
}
