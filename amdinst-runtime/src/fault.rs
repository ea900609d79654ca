//! Faults of kernels, with their places in the source.

use amdinst_core::report::run::FaultReport;
use amdinst_emu::{Code, Fault};
use amdinst_format::interface::LaunchFailure;
use amdinst_report::Sources;

use crate::request::Request;
use crate::source::workspace_root;

/// A fault of the original.
pub(crate) fn of_original(fault: &Fault, request: &Request<'_>) -> LaunchFailure {
    let (fault, text) = told(fault, request, &Some);
    LaunchFailure::Fault { fault, text }
}

/// A fault of the instrumented kernel.
pub(crate) fn of_instrumented(fault: &Fault, request: &Request<'_>) -> LaunchFailure {
    let (fault, text) = told(fault, request, &|pc| request.built.probes.original_pc(pc));
    LaunchFailure::InstrumentedFault { fault, text }
}

/// A fault for programs and for people. `original_pc` makes an address of what ran one of the original.
fn told(
    fault: &Fault,
    request: &Request<'_>,
    original_pc: &dyn Fn(u64) -> Option<u64>,
) -> (Box<FaultReport>, String) {
    let root = workspace_root();
    let sources = Sources::new(root.unwrap_or_default(), &[]);
    let report = fault.report(&Code {
        object: Some(&request.built.original),
        original_pc,
        root,
        source: &|file| Some(sources.get(file)?.text.clone()),
        kernarg: &request.kernarg,
    });
    let text = amdinst_report::fault::text(&report, &sources, false);
    (Box::new(report), text)
}
