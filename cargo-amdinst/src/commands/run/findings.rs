//! Findings of a launch that ended well: possible races, lanes that are not there, accesses out of range.

use amdgpu_object::CodeObject;
use amdinst_core::report::run::{FaultReport, told_again};
use amdinst_emu::{Execution, Fault, OutOfRange};

use super::fault;
use super::view::RunView;
use crate::cli::RunArgs;
use crate::context::Context;

/// Tells all of them, and adds them to the view.
pub(super) fn tell(
    context: &Context,
    args: &RunArgs,
    object: &CodeObject,
    execution: &Execution,
    view: &mut RunView,
) {
    if execution.clash && args.limits.checks.asked().is_none_or(|asked| !asked.races) {
        context.shell.note(
            "workgroups access memory that others write: they ran one after another, on one thread, and on a GPU the result may be \
             another; `--check races` names accesses that race",
        );
    }
    tell_doubts(context, object, &execution.doubts, &mut view.doubts);
    for missing in &execution.missing_lanes {
        let report = fault::report(missing, object, &Some);
        // A value of several words is asked for in as many instructions.
        let line = |of: &FaultReport| (of.kind.clone(), of.location.file.clone(), of.location.line);
        if view.doubts.iter().all(|known| line(known) != line(&report)) {
            context.shell.warn(fault::told(missing, object, &Some, &[]));
            view.doubts.push(report);
        }
    }
    for fault in &execution.out_of_range {
        context.shell.warn(fault::told(fault, object, &Some, &[]));
        context.shell.note(OutOfRange::TOLD);
        view.out_of_range.push(fault::report(fault, object, &Some));
    }
}

/// Tells what may be races, those of the same lines once: a loop that is unrolled has several. Adds all to
/// `reports`.
pub(super) fn tell_doubts(
    context: &Context,
    object: &CodeObject,
    doubts: &[Fault],
    reports: &mut Vec<FaultReport>,
) {
    let mut told: Vec<(&Fault, FaultReport, usize)> = Vec::new();
    for doubt in doubts {
        let report = fault::report(doubt, object, &Some);
        match told.iter_mut().find(|(_, known, _)| known.is_of_the_lines_of(&report)) {
            Some((_, _, more)) => *more += 1,
            None => told.push((doubt, report.clone(), 0)),
        }
        reports.push(report);
    }
    for (doubt, _, more) in told {
        context.shell.warn(fault::told(doubt, object, &Some, &[]));
        if let Some(more) = told_again(more) {
            context.shell.note(more);
        }
    }
}
