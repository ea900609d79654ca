//! Tests in other orders of waves and workgroups: `test --schedules N`. Of the first order in which a test
//! ends differently, the number is told, which repeats it, and where the executions part.

use std::path::Path;
use std::rc::Rc;

use amdinst_emu::Schedule;
use amdinst_report::matrix::Axis;

use super::columns::{ColumnRun, manifests_of};
use super::matrix::Endings;
use super::scratch::Scratch;
use super::{forms_of, no_tests, partings, run_built};
use crate::build::build;
use crate::cli::TestArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit};

/// Runs the tests in the usual order, then in the orders from 1 to `number`, until a test ends differently.
///
/// # Errors
/// Kernels or tests that do not build, no kernel tests, files that cannot be written.
pub(super) fn run(
    context: &mut Context,
    args: &TestArgs,
    number: u32,
    junit: Option<&Path>,
) -> CommandResult {
    let built = Rc::new(build(context, &args.package, &forms_of(args)?)?);
    let scratch = Scratch::of(&built)?.ok_or_else(no_tests)?;
    let manifests = manifests_of(&built, scratch.path(), 0)?;
    let in_order = |schedule: Option<Schedule>| {
        let mut args = args.clone();
        args.limits.schedule = schedule;
        ColumnRun { args, built: Some(Rc::clone(&built)), manifests: manifests.clone() }
    };
    let mut endings = Endings::of(Axis::Schedules);
    endings.matrix.begin("usual order");
    let usual = in_order(None);
    let ended = run_built(context, &usual.args, &built, &manifests, junit, &mut endings)?;
    context.shell.status("Tested", format_args!("in the usual order: {}", endings.matrix.tally()));
    let usual_matrix = endings.matrix.clone();
    for schedule in (1..=u64::from(number)).map(Schedule) {
        let other = in_order(Some(schedule));
        endings.matrix = usual_matrix.clone();
        endings.matrix.begin(&format!("order {schedule}"));
        run_built(context, &other.args, &built, &manifests, None, &mut endings)?;
        if !endings.matrix.differ() {
            continue;
        }
        context.shell.status("Tested", format_args!("in order {schedule}: {}", endings.matrix.tally()));
        partings::find(context, &[usual, other], &mut endings.matrix, scratch.path())?;
        endings.tell(context, args)?;
        context.shell.help(format_args!("`--schedule {schedule}` runs the tests in this order again"));
        return Ok(ended.max(Exit::Mismatch));
    }
    let orders = amdinst_text::count(number, "other order");
    context.shell.status("Tested", format_args!("in {orders}: all tests end as in the usual one"));
    Ok(ended)
}
