//! Instrumenting as `build`, `run` and `instrument` do it: which kernels and sites are meant, and words for
//! what became of them.

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::Probe;
use amdinst_core::instrument::{InstrumentError, Plan};
use amdinst_core::names;
use amdinst_text::{count, shown};

/// The kernel that a user calls `name`: by its symbol, by the name that it has in the source, or as its
/// symbol is shown.
pub(crate) fn kernel_of<'a>(object: &'a CodeObject, name: &str) -> Option<&'a Kernel> {
    let in_source = || object.kernel(&format!("{name}{}", names::GPU_KERNEL));
    let as_shown = || object.kernels.iter().find(|kernel| shown(&kernel.name) == name);
    object.kernel(name).or_else(in_source).or_else(as_shown)
}

/// The symbols of kernels that are named as people name them; a name that is none of a kernel is left as it
/// is.
pub(crate) fn symbols(object: &CodeObject, names: &[String]) -> Vec<String> {
    let symbol = |name: &String| kernel_of(object, name).map_or(name, |kernel| &kernel.name).clone();
    names.iter().map(symbol).collect()
}

/// Each selector of sites must select one.
pub(crate) fn all_selected(plan: &Plan) -> Result<(), InstrumentError> {
    plan.unmatched().first().map_or(Ok(()), |missing| Err(missing.clone().into()))
}

/// Says that debug information could not be carried over.
pub(crate) fn no_debug_info(target: &str, reason: &str) -> String {
    format!("the output for {target} has no debug information: {reason}")
}

/// What of kernels is measured, and how much of it.
pub(crate) fn measured(probe: Probe, sites: usize, blocks: usize) -> String {
    match probe {
        Probe::Branches => count(sites, "site"),
        Probe::Blocks => count(blocks, "block"),
        Probe::Time => "for their time".to_owned(),
    }
}
