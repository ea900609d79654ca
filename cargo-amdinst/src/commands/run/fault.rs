//! A kernel's fault, as it is told.

use amdgpu_object::CodeObject;
use amdinst_core::panics::Panic;
use amdinst_core::report::run::FaultReport;
use amdinst_emu::{Fault, FaultKind, LoadError, MemoryError};
use amdinst_explain::{Code, Explained, explained};
use amdinst_launch::LaunchError;
use amdinst_report::Sources;
use amdinst_runtime::stopping;

use crate::exit::{Exit, Failure};

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
    let (Explained { report, .. }, sources) = placed(fault, object, original_pc, panics);
    amdinst_report::fault::text(&report, &sources, true)
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

/// The failure to end with; a fault is told with its places in the source of `object`.
pub fn failure(error: LaunchError, object: &CodeObject) -> Failure {
    let (fault, panics) = match error {
        LaunchError::Fault { fault, panics, .. } => (fault, panics),
        LaunchError::Load(error) => {
            let exit = match error {
                LoadError::Memory(MemoryError::NoRoom { .. }) => Exit::OutOfMemory,
                _ => Exit::BadInput,
            };
            return Failure::msg(exit, format!("the code object cannot be loaded: {error}"));
        }
        LaunchError::Memory(MemoryError::NoRoom { .. }) | LaunchError::NoRoom { .. } => {
            return Failure::new(Exit::OutOfMemory, error);
        }
        LaunchError::Memory(_) | LaunchError::Counters(_) => return Failure::new(Exit::Usage, error),
        LaunchError::Records(_) => return Failure::new(Exit::Mismatch, error),
    };
    let exit = match fault.kind {
        FaultKind::BadDispatch(_) => Exit::Usage,
        FaultKind::NoRoom(_) => Exit::OutOfMemory,
        FaultKind::Damaged(_) => Exit::BadInput,
        FaultKind::Unimplemented { .. } => Exit::Unsupported,
        _ => Exit::LaunchFailed,
    };
    let failure = Failure::msg(exit, told(&fault, object, &Some, &panics));
    match stopping::asked() {
        Some(signal) if fault.kind == FaultKind::Stopped => {
            failure.note(format!("{signal} ends this command"))
        }
        _ => failure,
    }
}
