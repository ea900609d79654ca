//! `run --report`: the instrumented kernel beside the original, compared in memory and in counts.
//!
//! Both run some workgroups at a time, so that a launch takes the memory of some of its waves, not of all: their counters are compared
//! and summed up, and then the next ones use the same memory.

use std::io;
use std::ops::Range;

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::{HEADER_BYTES, Layout, Probe, WaveRecord, decode_part};
use amdinst_core::instrument::{self, KernelProbes, Options, ProbeMap, Reason, probe_specs};
use amdinst_core::names;
use amdinst_core::report::oracle::{self, Disagreement};
use amdinst_core::report::run::Sampled;
use amdinst_core::report::{self, Fold, Keep, Report};
use amdinst_emu::timing::Model;
use amdinst_emu::{
    Config, Execution, Fault, FaultKind, Launch, Machine, MaskRecord, Program, Room, StepRecord, Unmarked,
};
use amdinst_explain::{as_in_the_original, native_blocks, native_counts, native_ticks};
use amdinst_report::Sources;
use amdinst_runtime::stopping;

use super::bind::{Arguments, Placed};
use super::model::{Modelled, model};
use super::room;
use super::{LaunchError, Outcome, fault};
use crate::commands::instrument::all_selected;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

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
    pub meaningless: Option<Meaningless>,
    /// What would make it say nothing if the accesses are not atomic, of which nothing tells.
    pub doubts: Vec<Fault>,
    /// What would make it say nothing was looked for in these workgroups alone: the launch is a large one.
    pub sampled: Vec<Sampled>,
    /// Workgroups waited for others, so the counters were compared with the emulator's count of the instrumented
    /// kernel.
    pub waited: bool,
    /// Wave-instructions of the instrumented kernel; `None` when it was not instrumented.
    pub instrumented_instructions: Option<u64>,
    /// How long the instrumented kernel takes, if a device was given to model it on.
    pub timing: Option<Modelled>,
}

impl Checked {
    /// How the process ends.
    pub fn exit(&self) -> Exit {
        // Whether there was a difference this time or not: what the kernel does is as much of a fault as `test` takes it for.
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

/// What makes two runs of a kernel differ, whatever was inserted into it.
#[derive(Debug)]
pub enum Meaningless {
    /// Waves race in the original.
    Race(Box<Fault>),
    /// Its results depend on unwritten values.
    Unwritten(Box<Fault>),
    /// It computes with unwritten values, and an instrumented kernel leaves other values there.
    UnwrittenRead(Box<Fault>),
}

impl Meaningless {
    /// One line for people.
    pub fn told(&self) -> String {
        match self {
            Self::Race(fault) => {
                format!("the comparison means nothing, for the original kernel races: {fault}")
            }
            Self::Unwritten(fault) => format!(
                "the comparison means nothing, for the original kernel depends on what nothing has written: {fault}"
            ),
            Self::UnwrittenRead(fault) => format!(
                "the comparison means nothing, for the original kernel computes with what nothing has written: {fault}"
            ),
        }
    }
}

impl<'a> Instrumented<'a> {
    /// Instruments as `options` say; the probes are the code object's own. Of `config` both forms have the processor, and what becomes
    /// of accesses out of range.
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

    /// Runs a kernel's instrumented form on a machine filled like the original's, and compares; models it too, if a device is given.
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
        let outcome = Ready::new(&form, &layout, arguments, launch, &all)
            .and_then(|mut ready| {
                let (execution, records) = ready.launch(&all, launch, &original.execution)?;
                Ok((records, ready.placed.read(&ready.machine)?, execution))
            })
            .map_err(|error| self.failed(&form, error, arguments, launch))?;
        let (records, buffers, execution) = outcome;
        let seen = (original.execution.masks.clone(), original.execution.steps.clone());
        compared.instructions = execution.wave_instructions;
        let own = original.execution.took_turns.then_some(execution);
        compared.add(seen, own, &records, all.start, &mut |_, _| Ok(()))?;
        compared.finish(&original.buffers, &buffers, arguments, device)
    }

    /// Runs a kernel and its instrumented form, some workgroups of both at a time, and compares; models the instrumented one too, if
    /// a device is given. `each` gets all records, in order.
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
        let mut ready = Ready::new(&form, &layout, arguments, launch, &(0..of_part));
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
            let mut execution = machine
                .launch(&program, &of_original)
                .map_err(|fault| super::faulted(fault, &machine, &program, self.object, &of_original))?;
            native.add_part(&execution);
            let seen = (std::mem::take(&mut execution.masks), std::mem::take(&mut execution.steps));
            if let (Ok(ready), None) = (&mut ready, &failure) {
                failure = match ready.launch(&part, &of_original, &execution) {
                    Ok((instrumented, records)) => {
                        compared.instructions += instrumented.wave_instructions;
                        let own = execution.took_turns.then_some(instrumented);
                        compared.add(seen, own, &records, part.start, each).err()
                    }
                    Err(error) => Some(self.failed(&form, error, arguments, launch)),
                };
            }
        }
        super::tell_printed(&machine, &program);
        let original = Outcome { execution: native, buffers: placed.read(&machine)? };
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
        let LaunchError::Fault { fault, panics } = error else { return error.failure(self.object) };
        if fault.kind == FaultKind::Stopped {
            return LaunchError::Fault { fault, panics }.failure(self.object);
        }
        let told = fault::told(&fault, self.object, &|pc| form.map.original_pc(pc), &panics);
        let looked = match self.look(arguments, launch, true, true) {
            Ok(looked) => looked,
            Err(failure) => return failure,
        };
        match looked.meaningless {
            Some(reason) => Failure::msg(Exit::LaunchFailed, told)
                .note("the original kernel ends well, its instrumented form does not")
                .note(reason.told()),
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

    /// Looks for what makes two runs of the original leave different memory, whatever was inserted; in some workgroups, unless it is to
    /// be `thorough`. Where the original and its instrumented form were different, it is enough that the original computes with what
    /// nothing has written: compilers let kernels do that where nothing comes of it. And accesses of which nothing tells whether they are
    /// atomic are taken for plain ones then; else they are doubts.
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
        let mut looked = Looked::default();
        let of = launch.workgroups();
        let mut note = |check: &str, workgroups| {
            looked.sampled.push(Sampled {
                kernel: launch.kernel.clone(),
                check: check.to_owned(),
                workgroups,
                of,
            });
        };
        let stopped = |fault: &Fault| fault.kind == FaultKind::Stopped;
        let mut machine = Machine::for_code(self.object.target.arch, config);
        let Ok((placed, program)) = arguments.load(&mut machine, self.object) else {
            [RACES, UNINITIALISED].into_iter().for_each(|check| note(check, 0));
            return Ok(looked);
        };
        let launch = Launch { kernarg: placed.kernarg, ..launch.without_records() };
        let before = machine.snapshot();
        let execution = match machine.launch_from(&program, &launch, &before) {
            Ok(execution) => execution,
            Err(fault) if matches!(fault.kind, FaultKind::Race { .. } | FaultKind::LaneRace { .. }) => {
                looked.meaningless = Some(Meaningless::Race(Box::new(fault)));
                return Ok(looked);
            }
            Err(fault) if stopped(&fault) => return Err(LaunchError::from(fault).failure(self.object)),
            // It ended well before.
            Err(_) => {
                [RACES, UNINITIALISED].into_iter().for_each(|check| note(check, 0));
                return Ok(looked);
            }
        };
        if let Some(sampled) = execution.sampled {
            note(RACES, sampled.workgroups);
        }
        let doubts = execution.doubts.clone();
        let unwritten = match machine.find_unwritten(&program, &launch, &execution, &before) {
            Ok(sampled) => {
                if let Some(sampled) = sampled {
                    note(UNINITIALISED, sampled.workgroups);
                }
                let read =
                    differs.then(|| machine.find_unwritten_read(&program, &launch, &before).err()).flatten();
                read.map(|fault| (Meaningless::UnwrittenRead as fn(_) -> _, fault))
            }
            Err(fault) => Some((Meaningless::Unwritten as fn(_) -> _, fault)),
        };
        match unwritten {
            Some((_, fault)) if stopped(&fault) => Err(LaunchError::from(fault).failure(self.object)),
            Some((why, fault)) => {
                looked.meaningless = Some(why(Box::new(fault)));
                Ok(looked)
            }
            None => Ok(Looked { doubts, ..looked }),
        }
    }
}

/// What is looked for, as `--check` names it.
const RACES: &str = "races";
const UNINITIALISED: &str = "uninitialized";

/// What was found that makes two runs of a kernel differ, and what was looked for in some workgroups alone.
#[derive(Debug, Default)]
struct Looked {
    meaningless: Option<Meaningless>,
    doubts: Vec<Fault>,
    sampled: Vec<Sampled>,
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
    disagreements: Vec<Disagreement>,
    fold: Fold,
    /// Wave-instructions of the instrumented kernel.
    instructions: u64,
    /// A loop that waits went round another number of times in the original.
    waited: bool,
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
            disagreements: Vec::new(),
            fold: Fold::new(keep),
            instructions: 0,
            waited: false,
        }
    }

    /// Adds the next workgroups, from that of number `first` on: what the emulator saw in the original, and the counters of
    /// the instrumented kernel. Where workgroups took turns, `own` is what it saw in that one.
    fn add(
        &mut self,
        seen: (Vec<MaskRecord>, Vec<StepRecord>),
        own: Option<Execution>,
        counters: &[u8],
        first: u64,
        each: &mut EachWave<'_>,
    ) -> CommandResult<()> {
        let Form { probes, .. } = *self.form;
        let records = decode_part(&self.layout.header_bytes(), counters, first).or_exit(Exit::Mismatch)?;
        let first = first * u64::from(self.layout.waves_per_workgroup());
        let waves = records.len();
        let compare = |(mut masks, mut steps): (Vec<MaskRecord>, Vec<StepRecord>)| {
            masks.iter_mut().for_each(|mask| mask.wave -= first);
            steps.iter_mut().for_each(|step| step.wave -= first);
            match probes.probe {
                Probe::Branches => oracle::compare(probes, &records, &native_counts(&masks, waves), TOLD),
                Probe::Blocks => {
                    let native = native_blocks(&steps, waves);
                    oracle::compare_blocks(probes, &records, &native, self.of.counts_all, TOLD)
                }
                Probe::Time => {
                    oracle::compare_times(&records, &native_ticks(self.of.object, &steps, waves), TOLD)
                }
            }
        };
        let mut found = compare(seen);
        // A loop that waits goes round as often as the turns of the others let it: then the same run tells.
        if let (false, Some(mut own)) = (found.is_empty(), own) {
            as_in_the_original(self.form.map, &mut own);
            found = compare((own.masks, own.steps));
            self.waited = true;
        }
        oracle::add(&mut self.disagreements, found, TOLD);
        each(probes, &records).or_exit_with(Exit::OutputFailed, || "cannot write the waves' counters")?;
        let part = described(probes, &self.target, self.launch, |launch| {
            Report::of_part(&report::Launch { records: &records, ..*launch }, waves as u64)
        });
        self.fold.add(part.or_exit(Exit::Mismatch)?);
        Ok(())
    }

    /// The report, after all workgroups; both kernels have left `original` and `instrumented` in their buffers.
    fn finish(
        self,
        original: &[Vec<u8>],
        instrumented: &[Vec<u8>],
        arguments: &Arguments,
        device: Option<Model>,
    ) -> CommandResult<Checked> {
        let Self { of, form, layout, launch, target, disagreements, fold, instructions, waited } = self;
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
                let modelled = Ready::new(form, layout, arguments, launch, &all).and_then(|mut ready| {
                    let launch = ready.ready(&all)?;
                    model(form.object, device, &mut ready.machine, &ready.program, &launch)
                });
                Some(modelled.map_err(|error| Failure::new(Exit::Mismatch, error))?)
            }
            None => None,
        };
        // Equal by luck is not equal. To look at all of a large launch takes as long as all of the above.
        let thorough = differs || layout.waves() <= Keep::ALL;
        let Looked { meaningless, doubts, sampled } = of.look(arguments, launch, differs, thorough)?;
        if meaningless.is_some() {
            (report.memory_equal, report.oracle_equal) = (None, None);
        }
        Ok(Checked {
            report,
            disagreements: told,
            meaningless,
            doubts,
            sampled,
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
    launch: Launch,
    probes: &'a KernelProbes,
    layout: &'a Layout,
    /// Where the counter buffer is.
    address: u64,
    /// The buffer has room for the records of some workgroups: the kernel is told where the buffer would begin.
    is_window: bool,
    /// What was read of it.
    records: Vec<u8>,
}

impl<'a> Ready<'a> {
    /// One that is launched for as many workgroups as `part` has, at most, at a time.
    fn new(
        form: &Form<'a>,
        layout: &'a Layout,
        arguments: &Arguments,
        launch: &Launch,
        part: &Range<u64>,
    ) -> Result<Self, LaunchError> {
        let probes = form.probes;
        // Who reads the head of the buffer finds it in front of the first record.
        let is_window = probes.buffer_argument.is_some() && probes.wave_ids.is_some();
        let of_part = u64::from(HEADER_BYTES) + (part.end - part.start) * group_bytes(layout);
        let size = if is_window { of_part.min(layout.buffer_size()) } else { layout.buffer_size() };
        room::check(Room::here(), [size])
            .map_err(|(_, error)| LaunchError::NoRoom { waves: layout.waves(), error })?;
        let mut config = form.base.clone();
        config.stop = Some(stopping::flag());
        let mut machine = Machine::for_code(form.object.target.arch, config);
        let placed = arguments.place(&mut machine)?;
        let address = machine.alloc(size, 256, "counter buffer")?;
        machine.write(address, &layout.header_bytes())?;
        let program = machine.load(form.object)?;
        if let Some(variable) = probes.buffer_symbol.as_ref().and_then(|name| program.variable(name)) {
            machine.write(variable, &address.to_le_bytes())?;
        }
        let launch = launch.without_records();
        Ok(Self { machine, program, placed, launch, probes, layout, address, is_window, records: Vec::new() })
    }

    /// Where the records of some workgroups begin in the buffer, as the kernel counts.
    fn offset(&self, part: &Range<u64>) -> u64 {
        part.start * group_bytes(self.layout)
    }

    /// The launch of some workgroups, with cleared records.
    fn ready(&mut self, part: &Range<u64>) -> Result<Launch, LaunchError> {
        let offset = self.offset(part);
        let length = (part.end - part.start) * group_bytes(self.layout);
        let (base, first) = match self.is_window {
            true => (self.address.wrapping_sub(offset), self.address),
            false => (self.address, self.address + offset),
        };
        self.records.clear();
        self.records.resize(length as usize, 0);
        self.machine.write(first + u64::from(HEADER_BYTES), &self.records)?;
        let mut kernarg = self.placed.kernarg.clone();
        self.probes.set_argument(&mut kernarg, self.layout, base)?;
        let is_all = part.end - part.start == self.launch.workgroups();
        Ok(Launch { kernarg, part: (!is_all).then(|| part.clone()), ..self.launch.clone() })
    }

    /// Launches some workgroups as those of the original were; gives their records. What the probes insert clashes with nothing: what
    /// held for the original's workgroups holds for these.
    fn launch(
        &mut self,
        part: &Range<u64>,
        of_original: &Launch,
        original: &Execution,
    ) -> Result<(Execution, Vec<u8>), LaunchError> {
        let mut launch = self.ready(part)?;
        if original.took_turns {
            (launch.record_masks, launch.record_steps) = (of_original.record_masks, of_original.record_steps);
        }
        if original.threads == 1 || original.clash {
            launch.threads = 1;
        }
        let execution = self.machine.launch(&self.program, &launch)?;
        let first = if self.is_window { self.address } else { self.address + self.offset(part) };
        let mut records = std::mem::take(&mut self.records);
        self.machine.read(first + u64::from(HEADER_BYTES), &mut records)?;
        Ok((execution, records))
    }
}

/// Bytes of the records of a workgroup.
fn group_bytes(layout: &Layout) -> u64 {
    u64::from(layout.records_per_workgroup()) * u64::from(layout.record_stride)
}

/// The first byte in which the argument buffers differ, told for people.
fn first_difference(original: &[Vec<u8>], instrumented: &[Vec<u8>]) -> Option<String> {
    original.iter().zip(instrumented).enumerate().find_map(|(buffer, (one, other))| {
        let at = one.iter().zip(other).position(|(a, b)| a != b)?;
        Some(format!(
            "memory differs: buffer {}, byte {at}: {:#04x} after the original, {:#04x} after the instrumented kernel",
            buffer + 1,
            one[at],
            other[at]
        ))
    })
}
