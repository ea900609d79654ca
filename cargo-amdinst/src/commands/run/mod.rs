//! `cargo amdinst run`: launch a kernel in the emulator.

mod beside;
pub mod fault;
mod findings;
mod job;
mod model;
mod outputs;
pub mod report;
pub mod trace;
pub mod view;
mod waves;
mod why;

use amdinst_launch::compare::{Comparison, Expected};
use amdinst_launch::results::{self, Printed};
use amdinst_runtime::stopping::{self, Running};
use amdinst_text::count;

use super::input::{File, Input, processor};
use crate::cli::{Format, RunArgs};
use crate::commands::instrument::options;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};
use crate::output;
use job::Job;
use view::RunView;

/// Runs the command.
///
/// # Errors
/// When the file, the kernel's name or the arguments are wrong, or the kernel does not end well.
pub fn run(context: &mut Context, args: &RunArgs) -> CommandResult {
    let options = options(&args.measuring)?;
    let file_args = args.input.resolve(context)?;
    let file = File::open(&file_args.file)?;
    let input = Input::new(&file_args, &file)?.tell_odd_names(context);
    let input = if args.report { input.to_instrument() } else { input.to_execute() };
    let (found, symbol) = input.kernel(args.kernel.as_deref())?;
    let object = &found.object;
    let kernel = object.kernel(&symbol).ok_or_else(|| input.no_kernel(&symbol))?;
    let member = file_args.target_cpu.as_deref().and_then(processor);
    let job = Job::new(args, object, kernel, member)?;
    outputs::check(args, &job.arguments, &file_args.file)?;
    let printed = results::to_print(&job.arguments, &args.print)?;
    let expected: Vec<Expected> =
        args.expect.iter().map(|one| Expected::new(&job.arguments, one)).collect::<Result<_, _>>()?;
    job.tell_seeds(context);

    let progress = context.shell.progress("Running", &kernel.name, 0);
    // Until what a signal has stopped is told.
    std::mem::forget(Running::begin());
    stopping::catch();
    let (original, checked) = job.launch(context, options)?;
    drop(progress);
    let trace = job.trace(context, &original)?;
    let why = job.why(context, &original)?;
    let original = match original {
        Ok(original) => original,
        Err(error) => return Err(job.failed(error, trace, why)?),
    };

    let mut view = RunView::new(job.name(), object.target, &job.launch, &original.execution);
    view.add_arguments(&job.arguments);
    view.trace = trace;
    view.why = why;
    findings::tell(context, args, object, &original.execution, &mut view);
    view.printed = printed.iter().map(|elements| Printed::new(elements, &original.buffers)).collect();
    view.expected = expected.iter().map(|expected| expected.compare(&original.buffers)).collect();
    let mut exit = Exit::Success;
    let mut instrumented = None;
    if let Some(checked) = checked {
        let mut checked = checked?;
        exit = checked.exit();
        instrumented = checked.timing.take();
        // `--check races` has told them already.
        if original.execution.doubts.is_empty() {
            findings::tell_doubts(context, object, &checked.doubts, &mut view.doubts);
        }
        view.add_report(checked);
    }
    view.memory = job.memory(&original.execution);
    job.model(context, instrumented, &mut view)?;
    // Written also when a report found a difference: what the original kernel computed is right in any case.
    for one in &job.arguments.outputs {
        outputs::write(one, &original.buffers)?;
    }
    match args.format {
        Format::Json => output::print_json(&view)?,
        Format::Human => output::print(&view.human(args.stats, &context.shell.layout()))?,
    }
    if let Some(why) = view.verdict(exit) {
        context.shell.error(why);
    }
    if !tell_expected(context, &view.expected) {
        exit = Exit::Mismatch;
    }
    // It fits, for each of them has run.
    let workgroups: usize = args.grid.0.iter().map(|&size| size as usize).product();
    let workgroups = count(workgroups, "workgroup");
    let seconds = original.execution.seconds;
    context.shell.status("Finished", format_args!("{}: {workgroups} in {seconds:.3} s", kernel.name));
    Ok(exit)
}

/// Tells what became of each `--expect`. Whether all came true.
fn tell_expected(context: &Context, expected: &[Comparison]) -> bool {
    for comparison in expected {
        if comparison.is_equal() {
            context.shell.status("Expected", comparison.told());
        } else {
            let (error, notes) = comparison.failure();
            let failure = notes.into_iter().fold(Failure::msg(Exit::Mismatch, error), Failure::note);
            context.shell.failure(&failure);
        }
    }
    expected.iter().all(Comparison::is_equal)
}
