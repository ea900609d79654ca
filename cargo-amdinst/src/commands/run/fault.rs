//! A kernel's fault, as it is told.

use amdgpu_object::CodeObject;
use amdinst_core::panics::Panic;
use amdinst_core::report::run::FaultReport;
use amdinst_emu::Fault;
use amdinst_explain::{Code, Explained, explained};
use amdinst_report::Sources;

/// The fault with its places in the source. `original_pc` makes an address of what ran one of `object`.
pub fn report(fault: &Fault, object: &CodeObject, original_pc: &dyn Fn(u64) -> Option<u64>) -> FaultReport {
    placed(fault, object, original_pc, &[]).0.report
}

/// The whole message with what mends it, in colors; the shell takes them out if there are none. `panics` have
/// been said by its waves.
pub fn told(
    fault: &Fault,
    object: &CodeObject,
    original_pc: &dyn Fn(u64) -> Option<u64>,
    panics: &[Panic],
) -> String {
    let (Explained { report, help, .. }, sources) = placed(fault, object, original_pc, panics);
    amdinst_report::fault::text(&report, &sources, help.as_slice(), true)
}

fn placed(
    fault: &Fault,
    object: &CodeObject,
    original_pc: &dyn Fn(u64) -> Option<u64>,
    panics: &[Panic],
) -> (Explained, Sources) {
    let here = std::env::current_dir().unwrap_or_default();
    let sources = Sources::new(&here, &[]);
    let explained = explained(
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
    (explained, sources)
}
