//! Launches on the emulator: the instrumented kernel and the original, each on a machine of its own.
//!
//! The two machines are kept in step: every allocation, write and free is done on both, so a buffer has the
//! same address and the same bytes on both, and after a launch any difference is the probes' doing, or that
//! of values which nothing has written: where these are looked for, the two machines have different dwords in
//! their place. What the test reads is the original's memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_core::counters::{Layout, Probe};
use amdinst_core::instrument::KernelProbes;
use amdinst_core::panics::{self, Panic};
use amdinst_core::printed::{self, Printed};
use amdinst_core::report::why::{LaunchOrigin, ValueOrigin};
use amdinst_core::report::{self, Report, run};
use amdinst_emu::timing::Model;
use amdinst_emu::{
    Config, Execution, Fault, LoadError, Machine, MemoryError, OutOfRange, Program, Sampled, Schedule,
    Snapshot, Uninitialised, Unmarked,
};
use amdinst_explain::memory_use;
use amdinst_format::interface::{BufferDifference, Checks, Doubt, LaunchFailure, Settings, SettingsError};
use amdinst_proof::{Comparison, Counted, Counting, CountingError, Difference, Differs};

use super::beside::{Beside, Done};
use super::history::{self, History, PastLaunch};
use super::memory::DeviceMemory;
use super::variables::{empty_heap, forget_lines};
use super::{DeviceError, Outcome};
use crate::artifacts;
use crate::built::Built;
use crate::fault::{self, Known};
use crate::request::Request;
use crate::stopping;
use crate::timing::{ModelledLaunch, model};

/// Alignment of allocations, that of `hipMalloc`.
const ALIGNMENT: u64 = 256;
/// How many disagreements with the oracle are told.
const DISAGREEMENTS: usize = 8;

/// The emulator, with the memory of one test.
#[derive(Debug)]
pub(crate) struct Emulator {
    arch: Arch,
    settings: Settings,
    /// The device that launches are modelled on.
    model: Option<Model>,
    machines: Mutex<Machines>,
}

#[derive(Debug)]
struct Machines {
    original: Machine,
    /// Where uninitialized values are looked for, it has another dword in their place.
    instrumented: Machine,
    checks: Checks,
    /// Host threads of a launch; 0 for all cores.
    threads: usize,
    /// What memory instructions of originals ask for is measured.
    measures_memory: bool,
    /// Of a fault, the lines that led there are told.
    tells_why: bool,
    /// Waves and workgroups run in another order than the usual one.
    is_in_other_order: bool,
    /// What the original's machine looks for, as far as programs differ by it.
    looks_for: String,
    history: History,
    /// Programs by the path of the original code object.
    programs: HashMap<PathBuf, Programs>,
    /// Live buffers: bytes and label by address.
    buffers: BTreeMap<u64, (usize, String)>,
    /// Another processor, whose memory is kept in step, too.
    beside: Option<Beside>,
}

#[derive(Debug)]
struct Programs {
    original: Arc<Program>,
    instrumented: Option<Arc<Program>>,
}

/// Programs that devices of this process have loaded, by the file, and by what their machines look for. Each
/// test has a device of its own; those that come first wait for one of them, for decoding takes as long as
/// many launches.
static LOADED: Mutex<BTreeMap<(PathBuf, String), Loaded>> = Mutex::new(BTreeMap::new());

/// A program that a device has loaded, or loads while this is locked.
type Loaded = Arc<Mutex<Option<Arc<Program>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load(
    machine: &mut Machine,
    checks: &str,
    path: &Path,
    object: &CodeObject,
) -> Result<Arc<Program>, LaunchFailure> {
    let failed = |error: LoadError| LaunchFailure::Load {
        path: path.display().to_string(),
        message: error.to_string(),
    };
    let loaded = lock(&LOADED).entry((path.to_owned(), checks.to_owned())).or_default().clone();
    let mut loaded = lock(&loaded);
    if let Some(like) = loaded.clone() {
        // Others need not wait while it is mapped.
        drop(loaded);
        return machine.load_like(object, &like).map_err(failed);
    }
    let program = Arc::new(machine.load(object).map_err(failed)?);
    *loaded = Some(program.clone());
    Ok(program)
}

impl Emulator {
    /// An emulator of the processor that `settings` name, or else of the first that the manifests have.
    ///
    /// # Errors
    /// An unknown processor.
    pub(crate) fn new(settings: &Settings) -> Result<Self, DeviceError> {
        let arch = match &settings.target_cpu {
            Some(cpu) => cpu.parse()?,
            None => match artifacts::first_cpu(settings) {
                Some(cpu) => cpu.parse()?,
                None => Arch::Gfx90a,
            },
        };
        stopping::catch();
        let mut config = Config::default();
        config.stop = Some(stopping::flag());
        if let Some(budget) = settings.budget {
            config.budget = budget;
        }
        config.schedule = settings.schedule.map(Schedule);
        let checks = settings.checks();
        config.strict_barriers = checks.barriers;
        if let Some(dword) = settings.uninitialised {
            config.uninitialised = Uninitialised(dword);
        }
        if settings.out_of_range_as_hardware {
            config.out_of_range = OutOfRange::AsHardware;
        }
        let mut of_original = config.clone();
        // What is inserted races with nothing, so that one of the two is enough to look at.
        of_original.check_races = checks.races;
        of_original.unmarked = Unmarked::checked(checks.atomicity);
        of_original.allowed.clone_from(&settings.allowed);
        // What is asked for by name is looked for everywhere.
        of_original.thorough = settings.check.is_some();
        // Whether a test passes must not depend on which of two workgroups came first.
        of_original.deterministic = true;
        if checks.uninitialised {
            config.uninitialised = config.uninitialised.other();
        }
        let beside = Beside::asked(settings, &of_original)?;
        let model = settings.timing.as_deref().map(modelled_device).transpose()?;
        Ok(Self {
            // What is built for another processor is not modelled.
            model: model.filter(|device| device.arch() == arch),
            arch,
            settings: settings.clone(),
            machines: Mutex::new(Machines {
                looks_for: format!("{} {:?}", of_original.check_races, of_original.allowed),
                original: Machine::new(arch, of_original),
                instrumented: Machine::new(arch, config),
                checks,
                threads: settings.threads.map_or(0, usize::from),
                measures_memory: settings.memory,
                tells_why: settings.why,
                is_in_other_order: settings.schedule.is_some(),
                history: History::default(),
                programs: HashMap::new(),
                buffers: BTreeMap::new(),
                beside,
            }),
        })
    }

    /// The processor that it emulates.
    pub(crate) const fn arch(&self) -> Arch {
        self.arch
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    fn machines(&self) -> MutexGuard<'_, Machines> {
        // A test that panicked while it held the lock is over; nobody else has this device.
        lock(&self.machines)
    }

    pub(super) fn allocate(&self, bytes: usize, label: &str) -> Result<u64, MemoryError> {
        let mut machines = self.machines();
        let address = machines.allocate(bytes, label)?;
        machines.buffers.insert(address, (bytes, label.to_owned()));
        Ok(address)
    }

    pub(super) fn why(&self, address: u64) -> Result<Option<LaunchOrigin>, String> {
        let Machines { original, history, .. } = &*self.machines();
        history.why(original, address).map_err(|lost| lost.to_string())
    }

    pub(super) fn launch(&self, request: &Request<'_>) -> Result<Outcome, LaunchFailure> {
        self.machines().launch(request, self.model, self.settings.timeline.is_some())
    }
}

/// The device of that name.
fn modelled_device(name: &str) -> Result<Model, SettingsError> {
    name.parse().map_err(|_| SettingsError {
        variable: "AMDINST_TIMING",
        value: name.to_owned(),
        expected: Model::NAMES,
    })
}

impl DeviceMemory for Emulator {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        Ok(self.machines().original.read(address, into)?)
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), DeviceError> {
        let mut machines = self.machines();
        machines.original.write(address, from)?;
        if let Some(beside) = &mut machines.beside {
            beside.write(address, from)?;
        }
        Ok(machines.instrumented.write(address, from)?)
    }

    fn free(&self, address: u64) {
        let mut machines = self.machines();
        machines.buffers.remove(&address);
        machines.free(address);
    }
}

impl Machines {
    /// A launch on the emulator, with the threads asked for.
    fn emulated(&self, request: &Request<'_>, kernarg: Vec<u8>) -> amdinst_emu::Launch {
        amdinst_emu::Launch { threads: self.threads, ..request.emulated(kernarg) }
    }

    fn allocate(&mut self, bytes: usize, label: &str) -> Result<u64, MemoryError> {
        // An empty buffer has an address too.
        let bytes = bytes.max(1) as u64;
        let address = self.original.alloc(bytes, ALIGNMENT, label)?;
        let twin = self.instrumented.alloc(bytes, ALIGNMENT, label)?;
        assert_eq!(address, twin, "the two machines are kept in step");
        if let Some(beside) = &mut self.beside {
            let third = beside.allocate(bytes, ALIGNMENT, label)?;
            assert_eq!(address, third, "and so is that of another processor");
        }
        Ok(address)
    }

    fn free(&mut self, address: u64) {
        // Both know it, for both allocated it.
        let freed = self.original.free(address).and_then(|()| self.instrumented.free(address));
        let freed = freed.and_then(|()| self.beside.as_mut().map_or(Ok(()), |beside| beside.free(address)));
        debug_assert!(freed.is_ok(), "{freed:?}");
    }

    fn programs(&mut self, built: &Built) -> Result<&Programs, LaunchFailure> {
        if !self.programs.contains_key(&built.original_path) {
            let original = load(&mut self.original, &self.looks_for, &built.original_path, &built.original)?;
            let instrumented = match &built.instrumented {
                Some(form) => Some(load(&mut self.instrumented, "", &form.path, &form.object)?),
                None => None,
            };
            self.programs.insert(built.original_path.clone(), Programs { original, instrumented });
        }
        Ok(&self.programs[&built.original_path])
    }

    fn launch(
        &mut self,
        request: &Request<'_>,
        device: Option<Model>,
        timelines: bool,
    ) -> Result<Outcome, LaunchFailure> {
        // A copy of memory has the program's variables, too: a launch that runs again finds them as they
        // were.
        self.programs(request.built)?;
        self.empty_heaps(request);
        let Checks { races, uninitialised, nan, .. } = self.checks;
        let waits = self.may_miss_waits(request);
        let compares = self.beside.as_ref().is_some_and(Beside::compares);
        let outcome = if races || uninitialised || nan || waits || compares || self.tells_why {
            let mut before = self.history.room();
            self.original.snapshot_into(&mut before);
            let outcome = self.launch_from(request, device, timelines, Some(&before));
            if let Ok(Outcome { wave_instructions: Some(instructions), .. }) = outcome {
                self.launch_on_other(request, &before, instructions);
                self.history.add(PastLaunch {
                    built: request.built.clone(),
                    program: self.programs[&request.built.original_path].original.clone(),
                    launch: self.emulated(request, request.kernarg.clone()),
                    wave_instructions: instructions,
                    before,
                });
            }
            outcome
        } else {
            self.launch_from(request, device, timelines, None)
        };
        if outcome.is_err() {
            // A test may go on with what a fault has left.
            self.mirror();
        }
        outcome
    }

    /// Launches on the other processor what ran so many wave-instructions here from the memory `before`, if
    /// there is one.
    fn launch_on_other(&mut self, request: &Request<'_>, before: &Snapshot, wave_instructions: u64) {
        let Self { original, beside, programs, buffers, .. } = self;
        if let Some(beside) = beside.as_mut().filter(|beside| beside.compares()) {
            let program = &programs[&request.built.original_path].original;
            beside.launch(original, &Done { request, program, wave_instructions, before, buffers });
        }
    }

    /// Launches on both machines; `before` is what the original's memory holds now, if the launch is looked
    /// through for races or uninitialized values.
    fn launch_from(
        &mut self,
        request: &Request<'_>,
        device: Option<Model>,
        timelines: bool,
        before: Option<&Snapshot>,
    ) -> Result<Outcome, LaunchFailure> {
        let built = request.built;
        // It starts from the memory before the launch. Waves that fault at other times than the emulator's
        // would name another one of them, so that a fault is told as it is without a model.
        let modelled = device.map(|device| self.model_original(request, device, timelines));
        let probes = built.probes_of(request.kernel);
        let probe = probes.map(|probes| probes.probe).unwrap_or_default();
        let original = self.launch_original(request, probe, before);
        let printed = self.printed(request);
        let original = original.map_err(|failure| fault::after_printing(failure, &printed))?;
        let doubts = doubts(&original, request);
        let mut sampled = Vec::from_iter(sampled_as("races", request, original.sampled));
        if let Some(before) = before.filter(|_| self.checks.nan) {
            sampled.extend(sampled_as("nan", request, self.check_non_finite(request, before)?));
        }
        if let Some(before) = before.filter(|_| self.may_miss_waits(request)) {
            sampled.extend(sampled_as("waits", request, self.check_waits(request, &original, before)?));
        }
        let mut timing = modelled.transpose()?;
        let report = if let Some(probes) = probes.filter(|probes| probes.is_instrumented()) {
            let timed = timing.as_mut().zip(device);
            let counted = self.launch_beside(request, probes, timed, &original, before)?;
            self.report(request, probes, &counted)?
        } else {
            // Nothing to compare with; the other machine must do the same to stay in step.
            self.mirror();
            // There is no other launch to compare with, and one more is as long as this one: registers alone
            // are not worth it.
            if request.has_memory_of_its_own() {
                let looked = self.check_unwritten(request, &original, before, Differs::InNothing)?;
                sampled.extend(sampled_as("uninitialized", request, looked));
            }
            request.empty_report(probes)?
        };
        let wave_instructions = Some(original.wave_instructions);
        let measured = self.measures_memory;
        let memory = measured.then(|| memory_use(request.kernel, &built.original, &original));
        Ok(Outcome { report, wave_instructions, elapsed: None, timing, memory, doubts, sampled, printed })
    }

    /// Launches the instrumented kernel after its original, whose memory and counts it must have.
    fn launch_beside(
        &mut self,
        request: &Request<'_>,
        probes: &KernelProbes,
        timing: Option<(&mut ModelledLaunch, Model)>,
        original: &Execution,
        before: Option<&Snapshot>,
    ) -> Result<Counted, LaunchFailure> {
        let built = request.built;
        let layout = probes.layout(request.grid, request.block);
        let disagreements = |counted: &Counted| {
            // Which blocks were left out by choice stands nowhere.
            let mut comparison =
                Comparison::new(&built.original, &built.probes, probes, false, DISAGREEMENTS);
            comparison.add(original, counted, 0);
            comparison.into_disagreements()
        };
        let counted = self.launch_instrumented(request, probes, &layout, timing, original);
        let mut counted = match (counted, before.filter(|_| self.checks.uninitialised)) {
            (Err(failure @ LaunchFailure::InstrumentedFault { .. }), Some(before)) => {
                let without = self.launch_as_the_original(request, probes, &layout, before, original);
                if without.is_ok() {
                    return Err(fault::by_unwritten(failure));
                }
                self.check_unwritten(request, original, Some(before), Differs::InCourse)?;
                return Err(failure);
            }
            (counted, _) => counted?,
        };
        if self.is_in_other_order {
            // Turns of the instrumented kernel end at other instructions of the original. If the result
            // hangs on the order of waves, both leave another one, and that of the original counts.
            self.mirror();
            return Ok(counted);
        }
        if let Some(difference) = self.difference() {
            self.check_unwritten(request, original, before, Differs::InResults)?;
            return Err(LaunchFailure::MemoryDiffers { kernel: request.kernel.to_owned(), difference });
        }
        let mut found = disagreements(&counted);
        // A branch on what is not written went another way, though that made no difference: compilers make
        // such.
        if let Some(before) = before.filter(|_| self.checks.uninitialised && !found.is_empty()) {
            counted = self.launch_as_the_original(request, probes, &layout, before, original)?;
            found = disagreements(&counted);
        }
        if !found.is_empty() {
            self.check_unwritten(request, original, before, Differs::InCourse)?;
            let disagreements = found.iter().map(ToString::to_string).collect();
            return Err(LaunchFailure::OracleDiffers { kernel: request.kernel.to_owned(), disagreements });
        }
        Ok(counted)
    }

    /// The report of a launch whose memory and counters are those of the original.
    fn report(
        &self,
        request: &Request<'_>,
        probes: &KernelProbes,
        counted: &Counted,
    ) -> Result<Report, LaunchFailure> {
        let demangled = request.demangled();
        let launch = report::Launch {
            probes,
            demangled: demangled.as_deref(),
            target: &request.built.probes.target,
            grid: request.grid,
            block: request.block,
            records: &counted.records,
            seconds: None,
        };
        let mut report = Report::new(&launch).map_err(|error| request.counters(error.to_string()))?;
        // Without buffers there is nothing that both could have left otherwise.
        let is_compared = !self.is_in_other_order;
        report.memory_equal = (is_compared && !self.buffers.is_empty()).then_some(true);
        report.oracle_equal = is_compared.then_some(true);
        Ok(report)
    }

    /// How long the original takes on a device.
    fn model_original(
        &self,
        request: &Request<'_>,
        device: Model,
        timelines: bool,
    ) -> Result<ModelledLaunch, LaunchFailure> {
        let program = &self.programs[&request.built.original_path].original;
        let launch = self.emulated(request, request.kernarg.clone());
        let modelled = model(device, &self.original, program, &launch)
            .map_err(|fault| fault::of_original(&fault, request, Known::default()))?;
        Ok(ModelledLaunch::new(request, modelled, timelines))
    }

    /// Empties the memory that kernels allocate from, on both machines.
    fn empty_heaps(&mut self, request: &Request<'_>) {
        let Programs { original, instrumented, .. } = &self.programs[&request.built.original_path];
        let heaps = [(&mut self.original, Some(original)), (&mut self.instrumented, instrumented.as_ref())];
        for (machine, program) in heaps {
            if let Some(program) = program {
                empty_heap(machine, program);
            }
        }
    }

    /// What the original has printed since the last time, which is then forgotten.
    fn printed(&mut self, request: &Request<'_>) -> Printed {
        let programs = &self.programs[&request.built.original_path];
        let mut printed = Printed::default();
        if let Some(address) = programs.original.variable(printed::SYMBOL) {
            printed = lines(&self.original, address);
        }
        let machines = [
            (&mut self.original, Some(&programs.original)),
            (&mut self.instrumented, programs.instrumented.as_ref()),
        ];
        for (machine, program) in machines {
            if let Some(program) = program {
                forget_lines(machine, program);
            }
        }
        printed
    }

    /// Launches the original, and notes what `probe` is compared with. `before` is what memory holds now, if
    /// there is a copy.
    fn launch_original(
        &mut self,
        request: &Request<'_>,
        probe: Probe,
        before: Option<&Snapshot>,
    ) -> Result<Execution, LaunchFailure> {
        let programs = &self.programs[&request.built.original_path];
        let launch = noted(probe, self.emulated(request, request.kernarg.clone()));
        let launch = amdinst_emu::Launch { record_memory: self.measures_memory, ..launch };
        let program = &programs.original;
        let Some(before) = before else {
            return self.original.launch(program, &launch).map_err(|fault| {
                let panics = panics(&self.original, program, request);
                fault::of_original(&fault, request, Known { panics: &panics, ..Known::default() })
            });
        };
        let fault = match self.original.launch_from(program, &launch, before) {
            Ok(execution) => return Ok(execution),
            Err(fault) => fault,
        };
        let panics = panics(&self.original, program, request);
        let by_unwritten =
            self.checks.uninitialised && self.original.is_by_unwritten(program, &launch, before, &fault);
        let why = self.way_to(&fault, request, before);
        Err(fault::of_original(&fault, request, Known { by_unwritten, panics: &panics, why }))
    }

    /// The lines that led to a fault of the original, if they are asked for.
    fn way_to(&self, fault: &Fault, request: &Request<'_>, before: &Snapshot) -> Option<ValueOrigin> {
        if !self.tells_why {
            return None;
        }
        let program = &self.programs[&request.built.original_path].original;
        let launch = self.emulated(request, request.kernarg.clone());
        history::way_to(&self.original, program, &request.built.original, &launch, (fault, before))
    }

    /// Fails if the original makes a NaN or an infinity of numbers and stores it. If not all workgroups were
    /// looked at, returns how many were.
    fn check_non_finite(
        &mut self,
        request: &Request<'_>,
        before: &Snapshot,
    ) -> Result<Option<Sampled>, LaunchFailure> {
        let program = &self.programs[&request.built.original_path].original;
        let launch = self.emulated(request, request.kernarg.clone());
        self.original.find_non_finite(program, &launch, before).map_err(|fault| {
            let why = self.way_to(&fault, request, before);
            fault::of_original(&fault, request, Known { why, ..Known::default() })
        })
    }

    /// Whether it has to be looked for missing waits in a launch: the text of most kernels shows that they
    /// have all of theirs.
    fn may_miss_waits(&self, request: &Request<'_>) -> bool {
        let built = request.built;
        let thorough = self.original.is_thorough();
        self.checks.waits && built.early.has(&built.original, request.kernel, request.lds, thorough)
    }

    /// Fails if the original uses a register before a load has surely brought it. If not all workgroups were
    /// looked at, returns how many were.
    fn check_waits(
        &mut self,
        request: &Request<'_>,
        execution: &Execution,
        before: &Snapshot,
    ) -> Result<Option<Sampled>, LaunchFailure> {
        let program = &self.programs[&request.built.original_path].original;
        let launch = self.emulated(request, request.kernarg.clone());
        let found = self.original.find_early_use(program, &launch, execution, before);
        found.map_err(|fault| fault::of_original(&fault, request, Known::default()))
    }

    /// Fails if the original shows a value that nothing had written and that is a cause of the difference, if
    /// such are looked for. If not all workgroups were looked at, returns how many were.
    fn check_unwritten(
        &mut self,
        request: &Request<'_>,
        execution: &Execution,
        before: Option<&Snapshot>,
        differs: Differs,
    ) -> Result<Option<Sampled>, LaunchFailure> {
        let Some(before) = before.filter(|_| self.checks.uninitialised) else { return Ok(None) };
        let program = &self.programs[&request.built.original_path].original;
        let launch = self.emulated(request, request.kernarg.clone());
        let launched = (execution, before);
        match amdinst_proof::unwritten(&mut self.original, program, &launch, launched, differs) {
            (Some(cause), _) => {
                let why = self.way_to(cause.fault(), request, before);
                Err(fault::of_original(cause.fault(), request, Known { why, ..Known::default() }))
            }
            (None, sampled) => Ok(sampled),
        }
    }

    /// Launches the instrumented kernel, as its original was.
    fn launch_instrumented(
        &mut self,
        request: &Request<'_>,
        probes: &KernelProbes,
        layout: &Layout,
        timing: Option<(&mut ModelledLaunch, Model)>,
        original: &Execution,
    ) -> Result<Counted, LaunchFailure> {
        let failed = |error| match error {
            CountingError::Memory(error) => LaunchFailure::Device { message: error.to_string() },
            CountingError::Argument(error) => request.counters(error.to_string()),
            CountingError::Records(error) => request.counters(error.to_string()),
            CountingError::Fault(fault) => fault::of_instrumented(&fault, request),
        };
        let launch = noted(probes.probe, self.emulated(request, request.kernarg.clone()));
        let all = 0..launch.workgroups();
        let bytes = Counting::buffer_bytes(probes, layout, all.end) as usize;
        let address = self.allocate(bytes, "counter buffer").map_err(|error| failed(error.into()))?;
        let programs = &self.programs[&request.built.original_path];
        let machine = &mut self.instrumented;
        let run = || {
            let Some(program) = &programs.instrumented else {
                return Err(request
                    .counters("the probe map names a kernel of a code object that is not there".into()));
            };
            let counting = Counting::at(address, machine, program, probes, layout);
            let counting = counting.map_err(|error| failed(error.into()))?;
            if let (Some((timing, device)), Some(form)) = (timing, &request.built.instrumented) {
                let launch = counting.prepare(machine, &launch.without_records(), &all).map_err(failed)?;
                let modelled =
                    model(device, machine, program, &launch).map_err(|fault| failed(fault.into()))?;
                timing.add_instrumented(&form.object, modelled);
            }
            counting.launch(machine, program, &launch, &all, original).map_err(failed)
        };
        let result = run();
        self.free(address);
        result
    }

    /// Launches the instrumented kernel once more, with the original's dword in place of what was never
    /// written.
    fn launch_as_the_original(
        &mut self,
        request: &Request<'_>,
        probes: &KernelProbes,
        layout: &Layout,
        before: &Snapshot,
        original: &Execution,
    ) -> Result<Counted, LaunchFailure> {
        self.instrumented.restore(before);
        let there = self.instrumented.uninitialised();
        self.instrumented.set_uninitialised(self.original.uninitialised());
        let counted = self.launch_instrumented(request, probes, layout, None, original);
        self.instrumented.set_uninitialised(there);
        counted
    }

    /// Copies every buffer from the original's memory to the instrumented kernel's.
    fn mirror(&mut self) {
        let mut bytes = Vec::new();
        for (&address, &(size, _)) in &self.buffers {
            bytes.resize(size, 0);
            let copied = self
                .original
                .read(address, &mut bytes)
                .and_then(|()| self.instrumented.write(address, &bytes));
            debug_assert!(copied.is_ok(), "{copied:?}");
        }
    }

    /// The first byte in which the buffers of the two machines differ.
    fn difference(&self) -> Option<BufferDifference> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (&address, (size, label)) in &self.buffers {
            ours.resize(*size, 0);
            theirs.resize(*size, 0);
            let read =
                self.original.read(address, &mut ours).and(self.instrumented.read(address, &mut theirs));
            debug_assert!(read.is_ok(), "{read:?}");
            if let Some(found) = Difference::between(&ours, &theirs) {
                let Difference { offset, original, instrumented, bytes } = found;
                return Some(BufferDifference {
                    buffer: label.clone(),
                    offset,
                    original,
                    instrumented,
                    bytes,
                });
            }
        }
        None
    }
}

/// What may be faults of the original. Of values that lanes miss it is one a line: a value of several words
/// is asked for in as many instructions.
fn doubts(original: &Execution, request: &Request<'_>) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = original.doubts.iter().map(|fault| fault::doubt(fault, request)).collect();
    for missing in &original.missing_lanes {
        let doubt = fault::doubt(missing, request);
        let line =
            |Doubt { fault: of, .. }: &Doubt| (of.kind.clone(), of.location.file.clone(), of.location.line);
        if doubts.iter().all(|known| line(known) != line(&doubt)) {
            doubts.push(doubt);
        }
    }
    doubts
}

/// In how many workgroups a check has looked, if not in all.
fn sampled_as(check: &str, request: &Request<'_>, sampled: Option<Sampled>) -> Option<run::Sampled> {
    let Sampled { workgroups, of } = sampled?;
    Some(run::Sampled { kernel: request.kernel.to_owned(), check: check.to_owned(), workgroups, of })
}

/// A launch of which is noted what counters of a probe are compared with.
fn noted(probe: Probe, launch: amdinst_emu::Launch) -> amdinst_emu::Launch {
    let of_branches = probe == Probe::Branches;
    amdinst_emu::Launch { record_masks: of_branches, record_steps: !of_branches, ..launch }
}

/// The lines of a buffer.
fn lines(machine: &Machine, address: u64) -> Printed {
    let read = Printed::at(address, |address, bytes| machine.read(address, bytes));
    debug_assert!(read.is_ok(), "{read:?}");
    read.unwrap_or_default()
}

/// What the panics of a launch have said.
fn panics(machine: &Machine, program: &Program, request: &Request<'_>) -> Vec<Panic> {
    let lines = program.variable(panics::SYMBOL).map(|address| lines(machine, address));
    request.panics(&lines.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn a_program_is_decoded_once_for_all_tests_that_begin_together() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../cargo-amdinst/tests/fixtures/branches.elf");
        let object = CodeObject::parse(std::fs::read(path).unwrap()).unwrap();
        for round in 0..50 {
            let begin = Barrier::new(8);
            let one = || {
                let mut machine = Machine::new(object.target.arch, Config::default());
                begin.wait();
                load(&mut machine, &format!("round {round}"), Path::new(path), &object).unwrap()
            };
            let programs: Vec<Arc<Program>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(programs.iter().all(|program| Arc::ptr_eq(program, &programs[0])), "round {round}");
        }
    }
}
