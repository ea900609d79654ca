//! A kernel's fault, as it is told.

use amdgpu_object::CodeObject;
use amdinst_emu::Fault;
use amdinst_explain::{Code, fault_report};
use amdinst_report::Sources;

/// The whole message, in colours, which the shell takes out where there are none. `original_pc` makes an address of what ran one of
/// `object`.
pub fn told(fault: &Fault, object: &CodeObject, original_pc: &dyn Fn(u64) -> Option<u64>) -> String {
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
        },
    );
    amdinst_report::fault::text(&report, &sources, true)
}
