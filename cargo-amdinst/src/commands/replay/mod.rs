//! `cargo amdinst replay`: a recorded run, in the emulator and beside the GPU's results.

mod human;
mod list;
mod view;

use amdinst_core::instrument::Options;
use amdinst_emu::Config;
use amdinst_replay::{
    Archive, ArchiveError, Choice, Counted, Ending, FolderError, LaunchResult, Launches, Player, Settings,
    Step, Verdict,
};
use amdinst_runtime::stopping::{self, Running};
use amdinst_text::{count, shown};

use super::run::fault;
use crate::cli::{Format, ReplayArgs};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};
use crate::output;
use list::ListView;
use view::ReplayView;

/// Runs the command.
///
/// # Errors
/// When the archive cannot be read, or holds no launch that is asked for.
pub fn run(context: &mut Context, args: &ReplayArgs) -> CommandResult {
    let archive = Archive::open(&args.archive).map_err(unreadable)?;
    for process in &archive.processes {
        for note in &process.notes {
            let of = process.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            context.shell.note(format_args!("{of}{note}"));
        }
    }
    let launches = Launches::of(&archive);
    let choice =
        Choice { kernels: args.kernel.clone(), launches: args.launch.clone(), from: args.from, to: args.to };
    let chosen = launches.launches.iter().filter(|one| choice.takes(one.number, &one.kernel)).count();
    if chosen == 0 && choice != Choice::default() {
        let has = count(launches.launches.len(), "launch");
        let message = format!("{} has no such launch", args.archive.display());
        return Err(Failure::msg(Exit::Usage, message)
            .note(format!("it has {has}"))
            .help("--list shows them"));
    }
    if args.list {
        let view = ListView::new(&archive, &launches, &choice);
        match args.format {
            Format::Json => output::print_json(&view)?,
            Format::Human => output::print(&view.human())?,
        }
        return Ok(Exit::Success);
    }
    let settings = settings(args, choice);
    let steps = play(context, &archive, &settings, chosen as u64);
    for step in &steps {
        tell(context, step);
    }
    let view = ReplayView::new(&archive, &steps, settings.element);
    match args.format {
        Format::Json => output::print_json(&view)?,
        Format::Human => output::print(&human::text(&view))?,
    }
    Ok(exit(&steps, args.strict))
}

/// How launches run.
fn settings(args: &ReplayArgs, choice: Choice) -> Settings {
    let mut config = Config::default();
    config.stop = Some(stopping::flag());
    (config.deterministic, config.tells_clashes) = (true, true);
    config.schedule = args.limits.schedule;
    args.limits.checks.set(&mut config);
    let asked = args.limits.checks.asked();
    config.thorough = asked.is_some();
    Settings {
        finds_unwritten: asked.is_some_and(|asked| asked.uninitialised),
        finds_missing_waits: asked.is_none_or(|asked| asked.waits),
        finds_non_finite: asked.is_some_and(|asked| asked.nan),
        config,
        instrument: (!args.original).then(Options::default),
        threads: args.limits.threads.unwrap_or(0).into(),
        budget: args.limits.budget.unwrap_or(0),
        sample: args.sample_workgroups,
        element: args.element,
        ulp: args.ulp,
        choice,
    }
}

/// Replays all processes, one after another: each has memory of its own.
fn play(context: &mut Context, archive: &Archive, settings: &Settings, chosen: u64) -> Vec<Step> {
    // Until what a signal has stopped is told.
    std::mem::forget(Running::begin());
    stopping::catch();
    let mut steps = Vec::new();
    let mut launches = 0;
    let progress = context.shell.progress("Replaying", count(chosen as usize, "launch"), 0);
    for process in &archive.processes {
        let own = process.events.iter().filter(|event| matches!(event.call, amdinst_replay::Call::Launch(_)));
        let own = own.count() as u64;
        let mut tell = |number: u64, kernel: &str| {
            progress.step(format_args!("launch {number} ({})", shown(kernel)));
            stopping::asked().is_none()
        };
        steps.extend(Player::new(process, launches, settings).play(&mut tell));
        launches += own;
    }
    steps
}

/// Why an archive is not replayed.
fn unreadable(error: ArchiveError) -> Failure {
    let exit = match &error {
        ArchiveError::Folder(FolderError::TooLarge { .. }) => Exit::OutOfMemory,
        ArchiveError::Version { .. } => Exit::Unsupported,
        _ => Exit::BadInput,
    };
    let help = error.help();
    let failure = Failure::new(exit, error);
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// Tells faults and what may be some, with their places in the source.
fn tell(context: &Context, step: &Step) {
    let Step::Launch(launch) = step else { return };
    let LaunchResult { number, kernel, object, ending, .. } = &**launch;
    let of_launch = format!("in launch {number} (`{}`)", shown(kernel));
    match ending {
        Ending::Fault(found) => {
            context.shell.error(fault::told(found, object, &Some, &[]));
            context.shell.note(&of_launch);
        }
        Ending::Well(execution) => {
            for doubt in
                execution.doubts.iter().chain(&execution.missing_lanes).chain(&execution.out_of_range)
            {
                context.shell.warn(fault::told(doubt, object, &Some, &[]));
                context.shell.note(&of_launch);
            }
        }
    }
    if let Counted::Counted { disagreements, .. } = &launch.counted {
        for disagreement in disagreements {
            context.shell.error(disagreement);
            context.shell.note(&of_launch);
            context.shell.help("if `--check uninitialized,races` finds nothing, this is a bug in cargo-amdinst: please report it");
        }
    }
}

/// How the process ends.
fn exit(steps: &[Step], is_strict: bool) -> Exit {
    let is_fault = |step: &Step| matches!(step, Step::Launch(one) if matches!(one.ending, Ending::Fault(_)));
    let disagrees = |step: &Step| {
        let Step::Launch(one) = step else { return false };
        matches!(&one.counted, Counted::Counted { disagreements, .. } if !disagreements.is_empty())
    };
    let differs =
        |step: &Step| matches!(step, Step::Copy(copy) if matches!(copy.verdict, Verdict::Differs { .. }));
    let is_open = |step: &Step| match step {
        Step::Copy(copy) => matches!(copy.verdict, Verdict::NotComparable(_)),
        Step::NotReplayed(_) => true,
        Step::Launch(_) => false,
    };
    if steps.iter().any(is_fault) {
        Exit::LaunchFailed
    } else if steps.iter().any(disagrees) || is_strict && steps.iter().any(differs) {
        Exit::Mismatch
    } else if is_strict && steps.iter().any(is_open) {
        Exit::Unsupported
    } else {
        Exit::Success
    }
}
