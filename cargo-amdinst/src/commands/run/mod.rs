//! `cargo amdinst run`: launch a kernel in the emulator.

mod args;
mod bind;
mod model;
pub mod report;
pub mod room;
pub mod view;

pub use args::{ArgSpec, Scalar};
pub use bind::{Arguments, Placed, Value};

use amdinst_core::instrument::Options;
use amdinst_core::object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, FaultKind, Launch, Machine, Program};

use super::input::{File, Input, kernel_of, source_name};
use super::{Context, output};
use crate::cli::{Format, ProbeChoice, RunArgs, TimingChoice};
use crate::commands::instrument::options;
use crate::exit::{CommandResult, Exit, Failure};
use view::RunView;

/// Runs the command.
///
/// # Errors
/// When the file, the kernel's name or the arguments are wrong, or the kernel does not end well.
pub fn run(context: &mut Context, args: &RunArgs) -> CommandResult {
    let options = options(args.probe, args.level, args.counters, args.abi, &args.sites)?;
    if let Some(selector) = options.only.first().filter(|_| !args.report) {
        return Err(Failure::msg(
            Exit::Usage,
            format!("{selector} is chosen, and nothing counts without --report"),
        ));
    }
    let file = File::open(&args.input.file)?;
    let input = Input::new(&args.input, file.bytes())?;
    let object = &input.one(Some(&args.kernel), None)?.object;
    let kernel = kernel_of(object, &args.kernel).ok_or_else(|| input.no_kernel(&args.kernel))?;
    let arguments = Arguments::new(kernel, &args.args)?;
    output::check_distinct(arguments.saves().flatten().chain(&args.timeline), &[&args.input.file])?;
    let device = model::for_target(object, args.timing.map(TimingChoice::model))?;
    let launch = Launch {
        grid: args.grid.0,
        block: args.block.0,
        dynamic_lds: args.lds,
        threads: args.limits.threads.unwrap_or(0).into(),
        budget: args.limits.budget.unwrap_or(0),
        record_masks: args.report,
        record_steps: args.report && args.probe != ProbeChoice::Branches,
        count_opcodes: args.stats,
        ..Launch::new(&kernel.name)
    };

    let progress = context.shell.progress("Running", &kernel.name, 0);
    let mut config = Config::default();
    args.limits.checks.set(&mut config);
    let original = Outcome::of(object, config.clone(), &arguments, launch.clone())
        .map_err(|error| error.failure(object))?;
    if args.limits.checks.asked().is_some_and(|asked| asked.uninitialised) {
        check_unwritten(object, config, &arguments, launch.clone()).map_err(|error| error.failure(object))?;
    }
    drop(progress);
    let mut view = RunView::new(source_name(&kernel.name), object.target, &launch, &original.execution);
    let mut exit = Exit::Success;
    let mut instrumented = None;
    if args.report {
        let progress = context.shell.progress("Running", format_args!("{}, instrumented", kernel.name), 0);
        let options = Options { kernels: Some(vec![kernel.name.clone()]), ..options };
        let mut checked = report::check(object, kernel, options, &arguments, &launch, &original, device)?;
        drop(progress);
        exit = checked.exit();
        instrumented = checked.timing.take();
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
    for (bytes, path) in original.buffers.iter().zip(arguments.saves()) {
        if let Some(path) = path {
            output::write_file(path, bytes)?;
        }
    }
    match args.format {
        Format::Json => output::print_json(&view)?,
        Format::Human => output::print(&view.human(args.stats))?,
    }
    // It fits, for each of them has run.
    let workgroups = args.grid.0.iter().map(|&size| size as usize).product();
    let workgroups = output::count(workgroups, "workgroup");
    let seconds = original.execution.seconds;
    context.shell.status("Finished", format_args!("{}: {workgroups} in {seconds:.3} s", kernel.name));
    Ok(exit)
}

/// Whether the kernel's results depend on what nothing has written.
fn check_unwritten(
    object: &CodeObject,
    config: Config,
    arguments: &Arguments,
    mut launch: Launch,
) -> Result<(), LaunchError> {
    let mut machine = Machine::new(object.target.arch, config);
    let placed = arguments.place(&mut machine)?;
    let program = machine.load(object)?;
    launch.kernarg = placed.kernarg.clone();
    let before = machine.snapshot();
    machine.launch(&program, &launch)?;
    match machine.find_unwritten(&program, &launch, &before) {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

/// What a launch left behind.
#[derive(Debug)]
pub struct Outcome {
    /// Its figures.
    pub execution: Execution,
    /// What the argument buffers hold, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
}

/// Why there is no [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The code object cannot be loaded.
    #[error(transparent)]
    Load(#[from] amdinst_emu::LoadError),
    /// The device has no room.
    #[error(transparent)]
    Memory(#[from] amdinst_emu::MemoryError),
    /// This machine has no room for the counters.
    #[error("counters of {waves} waves: {error}; launch fewer workgroups")]
    NoRoom {
        /// Waves of the launch.
        waves: u64,
        /// How much there is, and how much is needed.
        error: room::NoRoom,
    },
    /// The launch has more counters than its kernel reaches.
    #[error(transparent)]
    Counters(#[from] amdinst_core::counters::ArgumentError),
    /// The kernel did not end well.
    #[error(transparent)]
    Fault(Box<Fault>),
}

impl From<Fault> for LaunchError {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl LaunchError {
    /// The failure to end with, with the source lines of a fault in `object`.
    pub fn failure(self, object: &CodeObject) -> Failure {
        let Self::Fault(fault) = self else {
            let exit = match self {
                Self::Memory(_) | Self::NoRoom { .. } | Self::Counters(_) => Exit::Usage,
                Self::Load(_) | Self::Fault(_) => Exit::BadInput,
            };
            return Failure::new(exit, self);
        };
        let exit = match fault.kind {
            FaultKind::BadDispatch(_) => Exit::Usage,
            FaultKind::Unimplemented { .. } => Exit::Unsupported,
            _ => Exit::LaunchFailed,
        };
        let notes = fault.source_lines(|pc| report::source_lines(object, pc));
        notes.into_iter().fold(Failure::new(exit, *fault), Failure::note)
    }
}

impl Outcome {
    /// Launches a kernel on a machine of its own.
    ///
    /// # Errors
    /// When the code object cannot be loaded, or the kernel does not end well.
    pub fn of(
        object: &CodeObject,
        config: Config,
        arguments: &Arguments,
        launch: Launch,
    ) -> Result<Self, LaunchError> {
        let mut machine = Machine::new(object.target.arch, config);
        let placed = arguments.place(&mut machine)?;
        let program = machine.load(object)?;
        Self::placed(&mut machine, &program, &placed, launch)
    }

    /// Launches a kernel on a machine that has the program and the arguments.
    ///
    /// # Errors
    /// When the kernel does not end well.
    pub fn placed(
        machine: &mut Machine,
        program: &Program,
        placed: &Placed,
        mut launch: Launch,
    ) -> Result<Self, LaunchError> {
        launch.kernarg = placed.kernarg.clone();
        let execution = machine.launch(program, &launch)?;
        Ok(Self { execution, buffers: placed.read(machine)? })
    }
}
