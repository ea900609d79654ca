//! `cargo amdinst run`: launch a kernel in the emulator.

mod beside;
pub mod fault;
mod model;
pub mod report;
pub mod trace;
pub mod view;
mod waves;

use std::path::Path;

use amdgpu_object::CodeObject;
use amdinst_core::instrument::Options;
use amdinst_core::names;
use amdinst_core::report::run::{FaultReport, told_again};
use amdinst_emu::timing::Model;
use amdinst_emu::{Config, Fault, Launch, Machine, OutOfRange};
use amdinst_launch::compare::{Comparison, Expected};
use amdinst_launch::language::{self, ArgSpec};
use amdinst_launch::results::{self, Printed};
use amdinst_launch::{Arguments, BufferInfo, LaunchError, Outcome, Output, npy};
use amdinst_runtime::stopping::{self, Running};

use super::input::{File, Input, processor};
use crate::cli::{Format, MeasureChoice, RunArgs, TimingChoice};
use crate::commands::instrument::options;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;
use crate::shell;
use view::{FaultView, RunView};

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
    let beside = beside::open(&args.with, object.target.arch)?;
    let mut arguments = Arguments::named(kernel, &args.args, beside)?;
    for save in &args.save {
        arguments.save(save)?;
    }
    check_outputs(args, &arguments, &file_args.file)?;
    let printed = results::to_print(&arguments, &args.print)?;
    let expected: Vec<Expected> =
        args.expect.iter().map(|one| Expected::new(&arguments, one)).collect::<Result<_, _>>()?;
    for (number, name, spec) in &arguments.given {
        if matches!(spec, ArgSpec::Random { .. }) {
            let name = name.as_ref().map_or(String::new(), |name| format!(" (`{name}`)"));
            context.shell.note(format_args!("argument {number}{name} is {spec}"));
        }
    }
    let device = model::for_target(object, args.timing.map(TimingChoice::model))?;
    let launch = Launch {
        grid: args.grid.0,
        block: args.block.0,
        dynamic_lds: args.lds,
        threads: args.limits.threads.unwrap_or(0).into(),
        budget: args.limits.budget.unwrap_or(0),
        record_masks: args.report,
        record_steps: args.report && args.measuring.what() != MeasureChoice::Branches,
        count_opcodes: args.stats,
        ..Launch::new(&kernel.name)
    };

    let progress = context.shell.progress("Running", &kernel.name, 0);
    // Until what a signal has stopped is told.
    std::mem::forget(Running::begin());
    stopping::catch();
    let mut config = Config::default();
    config.stop = Some(stopping::flag());
    (config.deterministic, config.tells_clashes) = (true, true);
    config.member = device.map(Model::arch).or_else(|| processor(file_args.target_cpu.as_deref()?));
    args.limits.checks.set(&mut config);
    let mut checked = None;
    let alone = || Outcome::of(object, config.clone(), &arguments, launch.clone());
    let original = if args.report {
        let options = Options { kernels: Some(vec![kernel.name.clone()]), ..options };
        match report::Instrumented::new(object, options, &config) {
            Ok(instrumented) => {
                let run = |each: &mut report::EachWave<'_>| {
                    instrumented.beside(kernel, &config, &arguments, &launch, device, each)
                };
                let ended = match &args.waves {
                    Some(path) => waves::write(path, run)?,
                    None => run(&mut |_, _| Ok(())),
                };
                ended.map(|(outcome, of_instrumented)| {
                    checked = Some(of_instrumented);
                    outcome
                })
            }
            // What the original does is told first.
            Err(failure) => alone().inspect(|_| checked = Some(Err(failure))),
        }
    } else {
        alone()
    };
    let printed_lines = match &original {
        Ok(outcome) => outcome.printed.as_ref(),
        Err(error) => error.printed(),
    };
    if let Some(lines) = printed_lines {
        shell::tell(&lines.to_string());
    }
    let original = original.and_then(|outcome| {
        if args.limits.checks.asked().is_some_and(|asked| asked.uninitialised) {
            check_unwritten(object, config.clone(), &arguments, launch.clone())?;
        }
        Ok(outcome)
    });
    drop(progress);
    let fault = original.as_ref().err().and_then(LaunchError::fault);
    let trace = match args.trace && (original.is_ok() || fault.is_some()) {
        true => {
            let progress = context.shell.progress("Tracing", &kernel.name, 0);
            let choice = trace::Choice {
                wave: args.trace_wave.map(|choice| choice.0),
                lane: args.trace_lane,
                limit: args.trace_limit,
                last: args.trace_last,
            };
            let traced = trace::of_launch(object, config, &arguments, &launch, &choice, fault)?;
            drop(progress);
            Some(traced)
        }
        false => None,
    };
    let original = match original {
        Ok(original) => original,
        Err(error) => {
            if let (Some(trace), Some(fault)) = (trace, error.fault()) {
                let view =
                    FaultView::new(names::in_source(&kernel.name), object.target, &launch, fault, trace);
                match args.format {
                    Format::Json => output::print_json(&view)?,
                    Format::Human => output::print(&view.trace.human())?,
                }
            }
            return Err(fault::failure(error, object));
        }
    };
    if original.execution.clash && args.limits.checks.asked().is_none_or(|asked| !asked.races) {
        context.shell.note(
            "workgroups access memory that others write: they ran one after another, on one thread, and on a GPU the result may be \
             another; `--check races` names accesses that race",
        );
    }
    let mut view = RunView::new(names::in_source(&kernel.name), object.target, &launch, &original.execution);
    view.add_arguments(&arguments);
    view.trace = trace;
    tell_doubts(context, object, &original.execution.doubts, &mut view.doubts);
    for missing in &original.execution.missing_lanes {
        let report = fault::report(missing, object, &Some);
        // A value of several words is asked for in as many instructions.
        let line = |of: &FaultReport| (of.kind.clone(), of.location.file.clone(), of.location.line);
        if view.doubts.iter().all(|known| line(known) != line(&report)) {
            context.shell.warn(fault::told(missing, object, &Some, &[]));
            view.doubts.push(report);
        }
    }
    for fault in &original.execution.out_of_range {
        context.shell.warn(fault::told(fault, object, &Some, &[]));
        context.shell.note(OutOfRange::TOLD);
        view.out_of_range.push(fault::report(fault, object, &Some));
    }
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
            tell_doubts(context, object, &checked.doubts, &mut view.doubts);
        }
        view.add_report(checked);
    }
    if let Some(device) = device {
        let progress = context.shell.progress("Modelling", &kernel.name, 0);
        let modelled = model::original(object, device, &arguments, &launch)?;
        drop(progress);
        if let Some(path) = &args.timeline {
            let forms = [("original", Some(&modelled)), ("instrumented", instrumented.as_ref())];
            let forms: Vec<_> =
                forms.iter().filter_map(|(name, form)| Some((*name, &form.as_ref()?.timing))).collect();
            model::write_timeline(path, &forms, &launch)?;
            context.shell.status("Wrote", path.display());
        }
        view.timing = Some(modelled.report);
        view.instrumented_timing = instrumented.map(|modelled| modelled.report);
    }
    // Written also when a report found a difference: what the original kernel computed is right in any case.
    for one in &arguments.outputs {
        write_output(one, &original.buffers)?;
    }
    match args.format {
        Format::Json => output::print_json(&view)?,
        Format::Human => output::print(&view.human(args.stats, &context.shell.layout()))?,
    }
    if let Some(why) = view.verdict(exit) {
        context.shell.error(why);
    }
    if !view.expected.iter().all(Comparison::is_equal) {
        exit = Exit::Mismatch;
    }
    for comparison in &view.expected {
        if comparison.is_equal() {
            context.shell.status("Expected", comparison.told());
        } else {
            let (error, notes) = comparison.failure();
            let failure = notes.into_iter().fold(Failure::msg(Exit::Mismatch, error), Failure::note);
            context.shell.failure(&failure);
        }
    }
    // It fits, for each of them has run.
    let workgroups: usize = args.grid.0.iter().map(|&size| size as usize).product();
    let workgroups = amdinst_text::count(workgroups, "workgroup");
    let seconds = original.execution.seconds;
    context.shell.status("Finished", format_args!("{}: {workgroups} in {seconds:.3} s", kernel.name));
    Ok(exit)
}

/// Tells what may be races, those of the same lines once: a loop that is unrolled has several. Adds all to
/// `reports`.
fn tell_doubts(context: &Context, object: &CodeObject, doubts: &[Fault], reports: &mut Vec<FaultReport>) {
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

/// Standard output, as a file's name.
const STDOUT: &str = "-";

/// Refuses, before the launch, outputs that would get in one another's way or cannot be made.
fn check_outputs(args: &RunArgs, arguments: &Arguments, input: &Path) -> CommandResult<()> {
    let is_stdout = |one: &&Output| one.path == Path::new(STDOUT);
    let files = arguments.outputs.iter().filter(|one| !is_stdout(one)).map(|one| &one.path);
    output::check_distinct(files.chain(&args.timeline), &[&input.to_owned()])?;
    for one in &arguments.outputs {
        if let (true, None) = (language::is_npy(&one.path), npy_element(&one.of)) {
            let (what, path) = (one.of.what(), one.path.display());
            let message = match one.of.element {
                Some(element) => {
                    format!("{what}: {element} is no type of .npy files, so {path} cannot be written")
                }
                None => format!("{what}: {path} is to be an array, and its elements have no type"),
            };
            let help = "give a type that NumPy has, as out:f32[100]:FILE.npy, or a file without .npy";
            return Err(Failure::msg(Exit::Usage, message).help(help));
        }
    }
    let mut to_stdout = arguments.outputs.iter().filter(is_stdout);
    let Some(first) = to_stdout.next() else { return Ok(()) };
    let what = first.of.what();
    let others = [
        (to_stdout.next().is_some(), "another argument"),
        (args.format == Format::Json, "--format json"),
        (!args.print.is_empty(), "--print"),
        (args.trace, "--trace"),
        (args.report, "--report"),
        (args.stats, "--stats"),
        (args.timing.is_some(), "--timing"),
    ];
    match others.iter().find(|(given, _)| *given) {
        Some((_, other)) => {
            let message = format!("{what} goes to standard output (`-`), and {other} does, too");
            Err(Failure::msg(Exit::Usage, message).help("write one of them to a file"))
        }
        None => Ok(()),
    }
}

/// The type of a buffer's elements, if arrays can have it.
fn npy_element(of: &BufferInfo) -> Option<language::Element> {
    of.element.filter(|&element| npy::write(element, &[], &[]).is_some())
}

/// Writes a buffer to its file, or to standard output.
fn write_output(to: &Output, buffers: &[Vec<u8>]) -> CommandResult<()> {
    let bytes = buffers.get(to.of.index).map_or(&[][..], Vec::as_slice);
    if to.path == Path::new(STDOUT) {
        return output::print_bytes(bytes);
    }
    if !language::is_npy(&to.path) {
        return output::write_file(&to.path, bytes);
    }
    let array = npy_element(&to.of).and_then(|element| {
        let flat = [(bytes.len() / element.size()) as u64];
        npy::write(element, to.of.shape.as_deref().unwrap_or(&flat), bytes)
    });
    let array = array.ok_or("its shape has too many dimensions").map_err(anyhow::Error::msg);
    output::write_file(
        &to.path,
        &array.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", to.path.display()))?,
    )
}

/// Whether the kernel's results depend on what nothing has written.
fn check_unwritten(
    object: &CodeObject,
    config: Config,
    arguments: &Arguments,
    mut launch: Launch,
) -> Result<(), LaunchError> {
    let mut machine = Machine::for_code(object.target.arch, config);
    let (placed, program) = arguments.load(&mut machine, object)?;
    launch.kernarg = placed.kernarg.clone();
    let before = machine.snapshot();
    let execution = machine.launch(&program, &launch)?;
    // All workgroups are looked at: the machine is thorough.
    machine.find_unwritten(&program, &launch, &execution, &before)?;
    Ok(())
}
