//! `run --report`: the instrumented kernel beside the original, compared in memory and in counts.
//!
//! Both run some workgroups at a time, so that a launch takes the memory of some of its waves, not of all:
//! their counters are compared and summed up, and then the next ones use the same memory.

use std::io;
use std::ops::Range;

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::{Layout, WaveRecord};
use amdinst_core::instrument::{self, KernelProbes, Options, ProbeMap, Reason, probe_specs};
use amdinst_core::names;
use amdinst_core::report::run::Sampled;
use amdinst_core::report::{self, Fold, Keep, Report};
use amdinst_emu::timing::Model;
use amdinst_emu::{Config, Execution, Fault, FaultKind, Launch, Machine, Program, Room, Unmarked};
use amdinst_launch::{Arguments, LaunchError, Outcome, Placed, printed_in, room};
use amdinst_proof::{Cause, Comparison, Counted, Counting, Difference, Looked};
use amdinst_report::Sources;
use amdinst_runtime::stopping;

use super::fault;
use super::model::{Modelled, model};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::instrumenting::all_selected;

/// Disagreements that are told.
const TOLD: usize = 10;

/// Waves that run before their counters are read.
const PART: u64 = 1 << 13;

/// Gets the records of waves, as they come, with the probes that they belong to.
pub type EachWave<'a> = dyn FnMut(&KernelProbes, &[WaveRecord]) -> io::Result<()> + 'a;

/// The result of the comparison.
#[derive(Debug)]
pub struct Checked {
    /// The divergence report, `memory_equal` and `oracle_equal` filled in.
    pub report: Report,
    /// The first disagreements.
    pub disagreements: Vec<String>,
    /// Why the comparison says nothing, if it does: the original's results depend on more than its input.
    pub meaningless: Option<Cause>,
    /// What would make it say nothing if the accesses are not atomic, of which nothing tells.
    pub doubts: Vec<Fault>,
    /// What would make it say nothing was looked for in these workgroups alone: the launch is a large one.
    pub sampled: Vec<Sampled>,
    /// Workgroups waited for others, so the counters were compared with the emulator's count of the
    /// instrumented kernel.
    pub waited: bool,
    /// Wave-instructions of the instrumented kernel; `None` when it was not instrumented.
    pub instrumented_instructions: Option<u64>,
    /// How long the instrumented kernel takes, if a device was given to model it on.
    pub timing: Option<Modelled>,
}

impl Checked {
    /// How the process ends.
    pub fn exit(&self) -> Exit {
        // Whether there was a difference this time or not: what the kernel does is as much of a fault as
        // `test` takes it for.
        if self.meaningless.is_some() {
            Exit::LaunchFailed
        } else if self.report.memory_equal == Some(false) || self.report.oracle_equal == Some(false) {
            Exit::Mismatch
        } else if self.instrumented_instructions.is_none() && !self.report.refusals.is_empty() {
            Exit::NothingInstrumented
        } else if !self.report.refusals.is_empty() {
            Exit::SomeRefused
        } else {
            Exit::Success
        }
    }
}

/// A code object with its instrumented form.
#[derive(Debug)]
pub struct Instrumented<'a> {
    object: &'a CodeObject,
    plan: instrument::Plan,
    /// Nothing was left out by choice.
    counts_all: bool,
    /// What the plan gives; `None` when no kernel was instrumented.
    rewritten: Option<(CodeObject, ProbeMap)>,
    /// What each form runs with.
    base: Config,
}

impl<'a> Instrumented<'a> {
    /// Instruments as `options` say; the probes are the code object's own. Of `config` both forms have the
    /// processor, and what becomes of accesses out of range.
    ///
    /// # Errors
    /// When that cannot be done at all.
    pub fn new(object: &'a CodeObject, options: Options, config: &Config) -> CommandResult<Self> {
        let options = Options { probes: probe_specs(object).or_exit(Exit::BadInput)?, ..options };
        let mut plan = instrument::plan(object, &options)?;
        all_selected(&plan)?;
        // What other kernels call, too, is counted only if these are instrumented. No others run here.
        let mut refusals = plan.kernels().iter().flat_map(|kernel| &kernel.refusals);
        if options.kernels.is_some() && refusals.any(|refusal| refusal.reason == Reason::SharedFunction) {
            plan = instrument::plan(object, &Options { kernels: None, ..options.clone() })?;
        }
        let rewritten = if plan.kernels().iter().any(KernelProbes::is_instrumented) {
            let instrumented = instrument::apply(object, plan.clone())?;
            let rewritten = CodeObject::parse(instrumented.bytes).map_err(|error| {
                let told = "the instrumented code object cannot be read back";
                Failure::internal(anyhow::Error::new(error).context(told))
            })?;
            let mut map = instrumented.map;
            let sources = Sources::default();
            map.kernels.iter_mut().for_each(|kernel| sources.place(kernel));
            Some((rewritten, map))
        } else {
            None
        };
        let mut base = Config::default();
        (base.out_of_range, base.member) = (config.out_of_range, config.member);
        Ok(Self { object, plan, counts_all: options.only.is_empty(), rewritten, base })
    }

    /// What the plan has of a kernel.
    fn planned(&self, kernel: &Kernel) -> CommandResult<&KernelProbes> {
        let planned = self.plan.kernels().iter().find(|probes| probes.name == kernel.name);
        planned.ok_or_else(|| Failure::msg(Exit::BadInput, "the plan leaves the kernel out"))
    }

    /// The instrumented code object and the kernel's probes, if it is instrumented.
    fn form<'b>(&'b self, planned: &'b KernelProbes) -> Option<Form<'b>> {
        let (object, map) = self.rewritten.as_ref().filter(|_| planned.is_instrumented())?;
        let probes = map.kernel(&planned.name).unwrap_or(planned);
        Some(Form { object, map, probes, base: &self.base })
    }

    /// Runs a kernel's instrumented form on a machine filled like the original's, and compares; models it
    /// too, if a device is given.
    ///
    /// # Errors
    /// When it runs differently than its original does.
    pub fn check(
        &self,
        kernel: &Kernel,
        arguments: &Arguments,
        launch: &Launch,
        original: &Outcome,
        device: Option<Model>,
    ) -> CommandResult<Checked> {
        let planned = self.planned(kernel)?;
        let Some(form) = self.form(planned) else { return self.uncounted(planned, launch) };
        let layout = form.probes.layout(launch.grid, launch.block);
        let all = 0..launch.workgroups();
        let mut compared = Compared::new(self, &form, &layout, launch, None);
        let outcome = Ready::new(&form, &layout, arguments, &all)
            .and_then(|mut ready| {
                let counted = ready.launch(&all, launch, &original.execution)?;
                Ok((counted, ready.placed.read(&ready.machine)?))
            })
            .map_err(|error| self.failed(&form, error, arguments, launch))?;
        let (counted, buffers) = outcome;
        compared.add(&original.execution, &counted, all.start, &mut |_, _| Ok(()))?;
        compared.finish(&original.buffers, &buffers, arguments, device)
    }

    /// Runs a kernel and its instrumented form, some workgroups of both at a time, and compares; models the
    /// instrumented one too, if a device is given. `each` gets all records, in order.
    ///
    /// # Errors
    /// The original cannot be launched, or does not end well. The result contains faults of the instrumented
    /// one.
    pub fn beside(
        &self,
        kernel: &Kernel,
        config: &Config,
        arguments: &Arguments,
        launch: &Launch,
        device: Option<Model>,
        each: &mut EachWave<'_>,
    ) -> Result<(Outcome, CommandResult<Checked>), LaunchError> {
        let alone = || Outcome::of(self.object, config.clone(), arguments, launch.clone());
        let planned = match self.planned(kernel) {
            Ok(planned) => planned,
            Err(failure) => return Ok((alone()?, Err(failure))),
        };
        let Some(form) = self.form(planned) else { return Ok((alone()?, self.uncounted(planned, launch))) };
        let layout = form.probes.layout(launch.grid, launch.block);
        let groups = launch.workgroups();
        let of_part = match config.check_races {
            // Accesses of all workgroups are compared with one another.
            true => groups,
            false => (PART / u64::from(layout.waves_per_workgroup()).max(1)).clamp(1, groups.max(1)),
        };
        let mut machine = Machine::for_code(self.object.target.arch, config.clone());
        let (placed, program) = arguments.load(&mut machine, self.object)?;
        let mut ready = Ready::new(&form, &layout, arguments, &(0..of_part));
        let mut failure = None;
        let mut compared = Compared::new(self, &form, &layout, launch, Keep::of(layout.waves()));
        let mut native = Execution::default();
        let mut next = 0;
        // A launch of no workgroup is refused by the machine.
        while next < groups.max(1) {
            let part = next..groups.min(next + of_part);
            next += of_part;
            let counts = ready.is_ok() && failure.is_none();
            let of_original = Launch {
                kernarg: placed.kernarg.clone(),
                part: (of_part < groups).then(|| part.clone()),
                record_masks: counts && launch.record_masks,
                record_steps: counts && launch.record_steps,
                ..launch.clone()
            };
            let execution = machine.launch(&program, &of_original).map_err(|fault| {
                LaunchError::faulted(fault, &machine, &program, self.object, &of_original)
            })?;
            native.add_part(&execution);
            if let (Ok(ready), None) = (&mut ready, &failure) {
                failure = match ready.launch(&part, &of_original, &execution) {
                    Ok(counted) => compared.add(&execution, &counted, part.start, each).err(),
                    Err(error) => Some(self.failed(&form, error, arguments, launch)),
                };
            }
        }
        let printed = printed_in(&machine, &program);
        let original = Outcome { execution: native, buffers: placed.read(&machine)?, printed };
        let checked = match (failure, ready) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(self.failed(&form, error, arguments, launch)),
            (None, Ok(ready)) => match ready.placed.read(&ready.machine) {
                Ok(buffers) => compared.finish(&original.buffers, &buffers, arguments, device),
                Err(error) => Err(self.failed(&form, error.into(), arguments, launch)),
            },
        };
        Ok((original, checked))
    }

    /// Why the instrumented kernel did not run, though its original did.
    fn failed(&self, form: &Form<'_>, error: LaunchError, arguments: &Arguments, launch: &Launch) -> Failure {
        // There is no room for it, or it cannot count so much: that is no fault of it.
        let (fault, panics) = match &error {
            LaunchError::Fault { fault, panics, .. } if fault.kind != FaultKind::Stopped => (fault, panics),
            _ => return fault::failure(error, self.object),
        };
        let told = fault::told(fault, self.object, &|pc| form.map.original_pc(pc), panics);
        let looked = match self.look(arguments, launch, true, true) {
            Ok(looked) => looked,
            Err(failure) => return failure,
        };
        match looked.cause {
            Some(cause) => Failure::msg(Exit::LaunchFailed, told)
                .note("the original kernel ends well, its instrumented form does not")
                .note(cause.to_string()),
            None => Failure::msg(Exit::Mismatch, told)
                .note("the original kernel ends well, its instrumented form does not")
                .help("if `--check uninitialized,races` finds nothing, this is a bug in cargo-amdinst: please report it"),
        }
    }

    /// Nothing to count, or refused: the original alone can still show that no narrowing was overlooked.
    fn uncounted(&self, planned: &KernelProbes, launch: &Launch) -> CommandResult<Checked> {
        let report = described(planned, &self.object.target.to_string(), launch, Report::new);
        Ok(Checked {
            report: report.or_exit(Exit::BadInput)?,
            disagreements: Vec::new(),
            meaningless: None,
            doubts: Vec::new(),
            sampled: Vec::new(),
            waited: false,
            instrumented_instructions: None,
            timing: None,
        })
    }

    /// Looks for what makes two runs of the original leave different memory, in some workgroups, unless it is
    /// to be `thorough`. If it and its instrumented form were different (`differs`), accesses of which
    /// nothing tells whether they are atomic are taken for plain ones; else they are doubts.
    ///
    /// # Errors
    /// A signal ends the command.
    fn look(
        &self,
        arguments: &Arguments,
        launch: &Launch,
        differs: bool,
        thorough: bool,
    ) -> CommandResult<Looked> {
        let mut config = self.base.clone();
        (config.check_races, config.thorough) = (true, thorough);
        config.unmarked = Unmarked::checked(differs);
        config.stop = Some(stopping::flag());
        let mut machine = Machine::for_code(self.object.target.arch, config);
        let Ok((placed, program)) = arguments.load(&mut machine, self.object) else {
            return Ok(Looked::nothing(launch));
        };
        let launch = Launch { kernarg: placed.kernarg, ..launch.without_records() };
        amdinst_proof::look(&mut machine, &program, &launch, differs)
            .map_err(|stopped| fault::failure(stopped.into(), self.object))
    }
}

/// What was looked for in some workgroups alone, as `--check` names it.
fn sampled(kernel: &str, looked: &Looked) -> Vec<Sampled> {
    let checks = [("races", looked.races), ("uninitialized", looked.unwritten)];
    let sampled = checks.into_iter().filter_map(|(check, sampled)| {
        let amdinst_emu::Sampled { workgroups, of } = sampled?;
        Some(Sampled { kernel: kernel.to_owned(), check: check.to_owned(), workgroups, of })
    });
    sampled.collect()
}

/// A kernel in its instrumented form.
struct Form<'a> {
    object: &'a CodeObject,
    map: &'a ProbeMap,
    probes: &'a KernelProbes,
    base: &'a Config,
}

/// The report that `make` makes of a launch without records.
fn described<T>(
    probes: &KernelProbes,
    target: &str,
    launch: &Launch,
    make: impl FnOnce(&report::Launch<'_>) -> T,
) -> T {
    let demangled = names::demangled(&probes.name);
    make(&report::Launch {
        probes,
        demangled: demangled.as_deref(),
        target,
        grid: launch.grid,
        block: launch.block,
        records: &[],
        seconds: None,
    })
}

/// Counters of a launch beside what the emulator saw, as far as it has run.
struct Compared<'a> {
    of: &'a Instrumented<'a>,
    form: &'a Form<'a>,
    layout: &'a Layout,
    launch: &'a Launch,
    target: String,
    comparison: Comparison<'a>,
    fold: Fold,
    /// Wave-instructions of the instrumented kernel.
    instructions: u64,
}

impl<'a> Compared<'a> {
    fn new(
        of: &'a Instrumented<'a>,
        form: &'a Form<'a>,
        layout: &'a Layout,
        launch: &'a Launch,
        keep: Option<Keep>,
    ) -> Self {
        Self {
            of,
            form,
            layout,
            launch,
            target: of.object.target.to_string(),
            comparison: Comparison::new(of.object, form.map, form.probes, of.counts_all, TOLD),
            fold: Fold::new(keep),
            instructions: 0,
        }
    }

    /// Adds the next workgroups, from that of number `first` on: what the emulator saw in the original, and
    /// the launch of the instrumented kernel.
    fn add(
        &mut self,
        original: &Execution,
        counted: &Counted,
        first: u64,
        each: &mut EachWave<'_>,
    ) -> CommandResult<()> {
        let records = &counted.records;
        self.instructions += counted.execution.wave_instructions;
        self.comparison.add(original, counted, first * u64::from(self.layout.waves_per_workgroup()));
        each(self.form.probes, records)
            .or_exit_with(Exit::OutputFailed, || "cannot write the waves' counters")?;
        let part = described(self.form.probes, &self.target, self.launch, |launch| {
            Report::of_part(&report::Launch { records, ..*launch }, records.len() as u64)
        });
        self.fold.add(part.or_exit(Exit::Mismatch)?);
        Ok(())
    }

    /// The report, after all workgroups; both kernels have left `original` and `instrumented` in their
    /// buffers.
    fn finish(
        self,
        original: &[Vec<u8>],
        instrumented: &[Vec<u8>],
        arguments: &Arguments,
        device: Option<Model>,
    ) -> CommandResult<Checked> {
        let Self { of, form, layout, launch, target, comparison, fold, instructions } = self;
        let waited = comparison.waited();
        let disagreements = comparison.into_disagreements();
        let report = fold
            .finish()
            .map_or_else(|| described(form.probes, &target, launch, |launch| Report::of_part(launch, 0)), Ok);
        let mut report = report.or_exit(Exit::Mismatch)?;
        let mut told: Vec<_> = disagreements.iter().map(ToString::to_string).collect();
        report.oracle_equal = Some(disagreements.is_empty());
        let different = first_difference(original, instrumented);
        // Without a byte that both could have left otherwise, nothing was compared.
        let compared = original.iter().any(|buffer| !buffer.is_empty());
        report.memory_equal = compared.then_some(different.is_none());
        let differs = different.is_some() || !disagreements.is_empty();
        told.extend(different);
        let timing = match device {
            Some(device) => {
                let all = 0..launch.workgroups();
                let modelled = Ready::new(form, layout, arguments, &all).and_then(|mut ready| {
                    let launch = ready.as_placed(&launch.without_records());
                    let launch = ready.counting.prepare(&mut ready.machine, &launch, &all)?;
                    model(form.object, device, &mut ready.machine, &ready.program, &launch)
                });
                Some(modelled.map_err(|error| Failure::new(Exit::Mismatch, error))?)
            }
            None => None,
        };
        // Equal by luck is not equal. To look at all of a large launch takes as long as all of the above.
        let thorough = differs || layout.waves() <= Keep::ALL;
        let looked = of.look(arguments, launch, differs, thorough)?;
        if looked.cause.is_some() {
            (report.memory_equal, report.oracle_equal) = (None, None);
        }
        Ok(Checked {
            report,
            disagreements: told,
            sampled: sampled(&launch.kernel, &looked),
            meaningless: looked.cause,
            doubts: looked.doubts,
            waited,
            instrumented_instructions: Some(instructions),
            timing,
        })
    }
}

/// An instrumented kernel that can be launched: a machine with its arguments and a counter buffer.
struct Ready<'a> {
    machine: Machine,
    program: Program,
    placed: Placed,
    counting: Counting<'a>,
}

impl<'a> Ready<'a> {
    /// One that is launched for as many workgroups as `part` has, at most, at a time.
    fn new(
        form: &Form<'a>,
        layout: &'a Layout,
        arguments: &Arguments,
        part: &Range<u64>,
    ) -> Result<Self, LaunchError> {
        let workgroups = part.end - part.start;
        room::check(Room::here(), [Counting::buffer_bytes(form.probes, layout, workgroups)])
            .map_err(|(_, error)| LaunchError::NoRoom { waves: layout.waves(), error })?;
        let mut config = form.base.clone();
        config.stop = Some(stopping::flag());
        let mut machine = Machine::for_code(form.object.target.arch, config);
        let placed = arguments.place(&mut machine)?;
        let program = machine.load(form.object)?;
        let counting = Counting::new(&mut machine, &program, form.probes, layout, workgroups)?;
        Ok(Self { machine, program, placed, counting })
    }

    /// The original's launch, with the arguments of this machine.
    fn as_placed(&self, of_original: &Launch) -> Launch {
        // What memory instructions ask for is told of the original.
        Launch { kernarg: self.placed.kernarg.clone(), record_memory: false, ..of_original.clone() }
    }

    /// Launches some workgroups as those of the original were.
    fn launch(
        &mut self,
        part: &Range<u64>,
        of_original: &Launch,
        original: &Execution,
    ) -> Result<Counted, LaunchError> {
        let launch = self.as_placed(of_original);
        Ok(self.counting.launch(&mut self.machine, &self.program, &launch, part, original)?)
    }
}

/// The first byte in which the argument buffers differ, told for people.
fn first_difference(original: &[Vec<u8>], instrumented: &[Vec<u8>]) -> Option<String> {
    original.iter().zip(instrumented).enumerate().find_map(|(buffer, (one, other))| {
        let Difference { offset, original, instrumented, .. } = Difference::between(one, other)?;
        Some(format!(
            "memory differs: buffer {}, byte {offset}: {original:#04x} after the original, {instrumented:#04x} after the instrumented kernel",
            buffer + 1,
        ))
    })
}
