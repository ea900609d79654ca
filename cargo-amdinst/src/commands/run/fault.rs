//! A kernel's fault, as it is told.

use amdgpu_object::CodeObject;
use amdinst_core::panics::Panic;
use amdinst_core::report::run::FaultReport;
use amdinst_emu::Fault;
use amdinst_explain::{Code, fault_report};
use amdinst_report::Sources;

/// The fault with its places in the source. `original_pc` makes an address of what ran one of `object`.
pub fn report(fault: &Fault, object: &CodeObject, original_pc: &dyn Fn(u64) -> Option<u64>) -> FaultReport {
    placed(fault, object, original_pc, &[]).0
}

/// The whole message, in colors; the shell takes them out if there are none. `panics` have been said by its waves.
pub fn told(
    fault: &Fault,
    object: &CodeObject,
    original_pc: &dyn Fn(u64) -> Option<u64>,
    panics: &[Panic],
) -> String {
    let (report, sources) = placed(fault, object, original_pc, panics);
    amdinst_report::fault::text(&report, &sources, true)
}

fn placed(
    fault: &Fault,
    object: &CodeObject,
    original_pc: &dyn Fn(u64) -> Option<u64>,
    panics: &[Panic],
) -> (FaultReport, Sources) {
    let here = std::env::current_dir().unwrap_or_default();
    let sources = Sources::new(&here, &[]);
    let report = fault_report(
        fault,
        &Code {
            object: Some(object),
            original_pc,
            root: here.to_str(),
            source: &|file| Some(sources.get(file)?.text.clone()),
            // The buffers of a launch are called by their arguments already.
            kernarg: &[],
            parameters: &[],
            panics,
        },
    );
    (report, sources)
}
