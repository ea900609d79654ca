//! What `run` has to do: a kernel, its arguments, its launch, and the settings of the machine.

use amdgpu_isa::Arch;
use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::analysis::early::Suspects;
use amdinst_core::instrument::Options;
use amdinst_core::names;
use amdinst_core::report::why::ValueOrigin;
use amdinst_emu::timing::Model;
use amdinst_emu::{Config, Execution, Launch, Machine, Sampled};
use amdinst_explain::memory_use;
use amdinst_format::interface::Checks;
use amdinst_launch::language::{ArgSpec, FollowedBack};
use amdinst_launch::{Arguments, LaunchError, Outcome};
use amdinst_report::MemorySummary;
use amdinst_runtime::stopping;

use super::model::{self, Modelled};
use super::report::{Checked, EachWave, Instrumented};
use super::trace::{self, TraceView};
use super::view::{FaultView, RunView};
use super::{beside, fault, waves, why};
use crate::cli::{Format, MeasureChoice, RunArgs, TimingChoice};
use crate::context::Context;
use crate::exit::{CommandResult, Failure};
use crate::{output, shell};

/// A launch as the command line asks for it.
pub(super) struct Job<'a> {
    args: &'a RunArgs,
    object: &'a CodeObject,
    kernel: &'a Kernel,
    pub(super) arguments: Arguments,
    pub(super) launch: Launch,
    /// The device to model, if one is asked for.
    device: Option<Model>,
    config: Config,
}

/// What became of a launch; with `--report` also of the instrumented kernel's.
type Launched = (Result<Outcome, LaunchError>, Option<CommandResult<Checked>>);

impl<'a> Job<'a> {
    /// Reads the arguments, and the files that they name. `member` is the processor that generic code runs
    /// on.
    ///
    /// # Errors
    /// The arguments do not fit the kernel, or a file cannot be read.
    pub(super) fn new(
        args: &'a RunArgs,
        object: &'a CodeObject,
        kernel: &'a Kernel,
        member: Option<Arch>,
    ) -> CommandResult<Self> {
        let beside = beside::open(&args.with, object.target.arch)?;
        let mut arguments = Arguments::named(kernel, &args.args, beside)?;
        for save in &args.save {
            arguments.save(save)?;
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
            record_memory: args.memory,
            ..Launch::new(&kernel.name)
        };
        let mut config = Config::default();
        config.stop = Some(stopping::flag());
        (config.deterministic, config.tells_clashes) = (true, true);
        config.member = device.map(Model::arch).or(member);
        config.schedule = args.limits.schedule;
        args.limits.checks.set(&mut config);
        Ok(Self { args, object, kernel, arguments, launch, device, config })
    }

    /// The kernel's name in the source.
    pub(super) fn name(&self) -> &'a str {
        names::in_source(&self.kernel.name)
    }

    /// Tells the seeds of random arguments, by which they can be had again.
    pub(super) fn tell_seeds(&self, context: &Context) {
        for (number, name, spec) in &self.arguments.given {
            if matches!(spec, ArgSpec::Random { .. }) {
                let name = name.as_ref().map_or(String::new(), |name| format!(" (`{name}`)"));
                context.shell.note(format_args!("argument {number}{name} is {spec}"));
            }
        }
    }

    /// Launches the kernel, and tells what it prints; with `--report` its instrumented form beside it.
    ///
    /// # Errors
    /// The file of `--waves` cannot be written.
    pub(super) fn launch(&self, context: &Context, options: Options) -> CommandResult<Launched> {
        let (original, checked) = match self.args.report {
            true => self.beside(options)?,
            false => (self.alone(), None),
        };
        let printed = match &original {
            Ok(outcome) => outcome.printed.as_ref(),
            Err(error) => error.printed(),
        };
        if let Some(lines) = printed {
            shell::tell(&lines.to_string());
        }
        let original = original.and_then(|outcome| {
            for (what, Sampled { workgroups, of }) in self.check_values()? {
                let why = match self.args.limits.checks.asked() {
                    Some(_) => "another one waits for one behind it",
                    None => "with `--check waits` all are looked at",
                };
                context
                    .shell
                    .warn(format_args!("{what} were looked for in {workgroups} of {of} workgroups: {why}"));
            }
            Ok(outcome)
        });
        Ok((original, checked))
    }

    fn alone(&self) -> Result<Outcome, LaunchError> {
        Outcome::of(self.object, self.config.clone(), &self.arguments, self.launch.clone())
    }

    fn beside(&self, options: Options) -> CommandResult<Launched> {
        let options = Options { kernels: Some(vec![self.kernel.name.clone()]), ..options };
        let instrumented = match Instrumented::new(self.object, options, &self.config) {
            Ok(instrumented) => instrumented,
            // What the original does is told first.
            Err(failure) => return Ok((self.alone(), Some(Err(failure)))),
        };
        let Self { kernel, config, arguments, launch, device, .. } = self;
        let run =
            |each: &mut EachWave<'_>| instrumented.beside(kernel, config, arguments, launch, *device, each);
        let ended = match &self.args.waves {
            Some(path) => waves::write(path, run)?,
            None => run(&mut |_, _| Ok(())),
        };
        Ok(match ended {
            Ok((outcome, checked)) => (Ok(outcome), Some(checked)),
            Err(error) => (Err(error), None),
        })
    }

    /// Looks at the kernel's values as `--check` asks: whether results depend on memory that nothing has
    /// written, whether a wait is missing, and whether it makes NaNs of numbers. Waits are looked for unasked
    /// where the text shows that one may be missing. If it looked for something in some workgroups alone,
    /// returns for what, and how many these are.
    fn check_values(&self) -> Result<Vec<(&'static str, Sampled)>, LaunchError> {
        let given = self.args.limits.checks.asked();
        let asked = given.unwrap_or(Checks { waits: true, ..Checks::NONE });
        let has_suspects = || {
            let dynamic_lds = self.launch.dynamic_lds;
            Suspects::default().has(self.object, &self.kernel.name, dynamic_lds, given.is_some())
        };
        let waits = asked.waits && has_suspects();
        if !asked.uninitialised && !asked.nan && !waits {
            return Ok(Vec::new());
        }
        let mut config = self.config.clone();
        config.thorough = given.is_some();
        let mut machine = Machine::for_code(self.object.target.arch, config);
        let (placed, program) = self.arguments.load(&mut machine, self.object)?;
        let launch = Launch { kernarg: placed.kernarg, ..self.launch.clone() };
        let before = machine.snapshot();
        let execution = machine.launch_from(&program, &launch, &before)?;
        if asked.uninitialised {
            // All workgroups are looked at: the machine is thorough.
            machine.find_unwritten(&program, &launch, &execution, &before)?;
        }
        let launch = launch.without_records();
        let mut sampled = Vec::new();
        if waits {
            let looked = machine.find_early_use(&program, &launch, &execution, &before)?;
            sampled.extend(looked.map(|looked| ("missing waits", looked)));
        }
        if asked.nan {
            let looked = machine.find_non_finite(&program, &launch, &before)?;
            sampled.extend(looked.map(|looked| ("NaNs", looked)));
        }
        Ok(sampled)
    }

    /// With `--trace`: the instructions of a wave, of one at fault if there is a fault.
    ///
    /// # Errors
    /// There is no such wave.
    pub(super) fn trace(
        &self,
        context: &Context,
        original: &Result<Outcome, LaunchError>,
    ) -> CommandResult<Option<TraceView>> {
        let args = self.args;
        let fault = original.as_ref().err().and_then(LaunchError::fault);
        if !args.trace || (original.is_err() && fault.is_none()) {
            return Ok(None);
        }
        let _progress = context.shell.progress("Tracing", &self.kernel.name, 0);
        let choice = trace::TraceChoice {
            wave: args.trace_wave.map(|choice| choice.0),
            lane: args.trace_lane,
            limit: args.trace_limit,
            last: args.trace_last,
        };
        let config = self.config.clone();
        trace::of_launch(self.object, config, &self.arguments, &self.launch, &choice, fault).map(Some)
    }

    /// With `--why`: where an element has its value from, or what led to the fault.
    ///
    /// # Errors
    /// There is no such element, or the launch is too long to be followed back.
    pub(super) fn why(
        &self,
        context: &Context,
        original: &Result<Outcome, LaunchError>,
    ) -> CommandResult<Option<ValueOrigin>> {
        let (object, config) = (self.object, || self.config.clone());
        let fault = original.as_ref().err().and_then(LaunchError::fault);
        let progress = || context.shell.progress("Following", &self.kernel.name, 0);
        match (&self.args.why, fault) {
            (Some(FollowedBack::Element(asked)), None) if original.is_ok() => {
                let _progress = progress();
                why::of_element(object, config(), &self.arguments, &self.launch, asked).map(Some)
            }
            (Some(FollowedBack::Fault), Some(fault)) => {
                let _progress = progress();
                why::of_fault(object, config(), &self.arguments, &self.launch, fault).map(Some)
            }
            (Some(FollowedBack::Fault), None) if original.is_ok() => {
                context.shell.warn("--why fault: the launch ended well");
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The failure of a launch that did not end well; what led there is printed.
    ///
    /// # Errors
    /// It cannot be printed.
    pub(super) fn failed(
        &self,
        error: LaunchError,
        trace: Option<TraceView>,
        why: Option<ValueOrigin>,
    ) -> CommandResult<Failure> {
        if let Some(fault) = error.fault().filter(|_| trace.is_some() || why.is_some()) {
            let view = FaultView::new(self.name(), self.object.target, &self.launch, fault, trace, why);
            match self.args.format {
                Format::Json => output::print_json(&view)?,
                Format::Human => output::print(&view.human())?,
            }
        }
        Ok(fault::failure(error, self.object))
    }

    /// With `--memory`: what the original's memory instructions asked for.
    pub(super) fn memory(&self, original: &Execution) -> Option<MemorySummary> {
        let measured = self.args.memory.then(|| memory_use(self.name(), self.object, original));
        MemorySummary::of(&measured)
    }

    /// With `--timing`: models the launch, and writes the time line of it and of the `instrumented` kernel.
    ///
    /// # Errors
    /// The kernel does not end well, or the file cannot be written.
    pub(super) fn model(
        &self,
        context: &Context,
        instrumented: Option<Modelled>,
        view: &mut RunView,
    ) -> CommandResult<()> {
        let Some(device) = self.device else { return Ok(()) };
        let progress = context.shell.progress("Modelling", &self.kernel.name, 0);
        let modelled = model::original(self.object, device, &self.arguments, &self.launch)?;
        drop(progress);
        if let Some(path) = &self.args.timeline {
            let forms = [("original", Some(&modelled)), ("instrumented", instrumented.as_ref())];
            let forms: Vec<_> =
                forms.iter().filter_map(|(name, form)| Some((*name, &form.as_ref()?.timing))).collect();
            model::write_timeline(path, &forms, &self.launch)?;
            context.shell.status("Wrote", path.display());
        }
        view.timing = Some(modelled.report);
        view.instrumented_timing = instrumented.map(|modelled| modelled.report);
        Ok(())
    }
}
