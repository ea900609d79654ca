//! Launches: from a kernel's name, a grid and its arguments to waves, and back to figures.

mod asks;
mod barrier;
mod checked;
mod early;
mod group;
mod kernarg;
mod non_finite;
mod order;
mod packet;
mod reach;
mod registers;
mod sample;
mod schedule;
mod slice;
mod stops;
mod tally;
mod turns;
mod unwritten;
mod unwritten_read;
mod waiting;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use amdgpu_isa::{Op, WaveSize};
use amdgpu_object::{Kernel, verify};

use crate::check::{Earlier, Fault, FaultKind, LaneState, StandingWave, Trap};
use crate::config::{Config, Uninitialised};
use crate::fast;
use crate::lds::Lds;
use crate::memory::{Copied, Memory, Owner, Protection, Room};
use crate::program::{Hot, Program};
use crate::races::{Clashes, DeviceRaces, Judge, Late, Races};
use crate::record::{Execution, workgroup};
use crate::rules::Rules;
use crate::watch::Look;
use crate::wave::{REGISTERS, Registers, Wave};
pub(crate) use barrier::Barrier;
pub(crate) use early::find as find_early_use;
use group::{Group, LetPass};
pub(crate) use group::{Observer, Unobserved};
pub(crate) use non_finite::find as find_non_finite;
pub use packet::Dispatch;
pub(crate) use packet::dispatch;
use registers::{Places, Setup};
pub(crate) use sample::Effort;
use sample::Sample;
pub(crate) use slice::{StepCount, in_parts, run_slice};
use stops::Stops;
use tally::{MemoryCounts, is_of_memory};
use turns::{Numbers, Part, Turns};
pub(crate) use unwritten::{find as find_unwritten, is_cause as is_by_unwritten};
pub(crate) use unwritten_read::find as find_unwritten_read;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name, as in the note.
    pub kernel: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// The explicit arguments at their offsets of the note. It may end after the last of them; hidden
    /// arguments are filled in.
    pub kernarg: Vec<u8>,
    /// LDS bytes a workgroup besides the kernel's own.
    pub dynamic_lds: u32,
    /// Host threads; 0 for all cores. Kernels whose result depends on the order of workgroups run on one.
    pub threads: usize,
    /// Wave-instructions that one workgroup may run; 0 for the machine's default. Counted for a workgroup, so
    /// that whether a launch exceeds it does not depend on the number of threads.
    pub budget: u64,
    /// Record what every write to EXEC did.
    pub record_masks: bool,
    /// Record what every instruction did, wave by wave.
    pub record_steps: bool,
    /// Count executions of each mnemonic.
    pub count_opcodes: bool,
    /// Sum up what each memory instruction asks for.
    pub record_memory: bool,
    /// Run these workgroups alone, by number (x fastest, from 0); all, if there is nothing here. A launch in
    /// parts, in order, leaves what a launch leaves: no workgroup begins twice, and each part finds the
    /// launch's own data at the same addresses.
    pub part: Option<Range<u64>>,
}

impl Launch {
    /// One workgroup of one wave of a kernel without arguments.
    pub fn new(kernel: impl Into<String>) -> Self {
        Self {
            kernel: kernel.into(),
            grid: [1; 3],
            block: [64, 1, 1],
            kernarg: Vec::new(),
            dynamic_lds: 0,
            threads: 0,
            budget: 0,
            record_masks: false,
            record_steps: false,
            count_opcodes: false,
            record_memory: false,
            part: None,
        }
    }

    /// This launch, with nothing recorded or counted.
    #[must_use]
    pub fn without_records(&self) -> Self {
        Self {
            record_masks: false,
            record_steps: false,
            count_opcodes: false,
            record_memory: false,
            ..self.clone()
        }
    }

    /// Waves of a workgroup, the last of which may have fewer work-items than lanes.
    pub fn waves_per_group(&self, wave: WaveSize) -> u32 {
        self.block.iter().product::<u32>().div_ceil(wave.lanes())
    }

    /// The workgroup of a number, in x, y, z.
    pub fn workgroup(&self, index: u64) -> [u32; 3] {
        workgroup(self.grid, index)
    }

    /// The number of a workgroup in x, y, z: the inverse of [`Launch::workgroup`].
    pub fn workgroup_index(&self, workgroup: [u32; 3]) -> u64 {
        let [x, y, z] = workgroup.map(u64::from);
        let [width, height, _] = self.grid.map(u64::from);
        (z * height + y) * width + x
    }

    /// Workgroups of the launch, whatever part of it is run.
    pub fn workgroups(&self) -> u64 {
        self.grid.iter().map(|size| u64::from(*size)).product()
    }
}

/// Largest workgroup that the hardware runs.
const MAX_WORKGROUP: u64 = 1024;

/// Bytes of a lane's private memory that a fault keeps, at most.
const LANE_SCRATCH: u32 = 1 << 16;

/// Says whether a launch is to end before its kernel does. Asked from any thread of the launch.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// What every workgroup of a launch shares.
pub(crate) struct Shared<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) program: &'a Program,
    pub(crate) config: &'a Config,
    /// The program's code for the configuration's level, and for waves with the kernel's registers.
    pub(crate) hot: Cow<'a, [Hot]>,
    pub(crate) launch: &'a Launch,
    pub(crate) kernel: &'a Kernel,
    pub(crate) setup: Setup,
    pub(crate) budget: u64,
    pub(crate) lds_bytes: u32,
    pub(crate) waves_per_group: u32,
    pub(crate) entry: u32,
    /// Registers that the kernel's descriptor allots to a wave.
    allotted: Registers,
    /// Registers that a wave can touch.
    pub(crate) registers: Registers,
    /// Slots of the instructions that write EXEC and that a wave can reach; none where they are not counted.
    mask_slots: Range<usize>,
    /// Where memory instructions stand, if they are summed up.
    memory_steps: Option<Arc<Stops>>,
    /// Whether the launch is to end now; asked between slices.
    stop: Option<&'a Stop<'a>>,
    /// The order of workgroups can show in the result.
    in_order: bool,
    /// Some accesses are in no scan.
    has_unseen: bool,
    /// The launch ends, as one whose budget is exhausted, when so many accesses of lanes have been looked at
    /// by themselves.
    most_looks: u64,
    /// The workgroups that run, if not all do.
    sample: Option<Sample>,
    /// What is there before it is written.
    pub(crate) patterns: Patterns,
    /// Whether it is looked for races, and how.
    pub(crate) look: Look,
}

/// What registers, LDS and scratch memory hold before they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patterns {
    pub(crate) registers: Uninitialised,
    pub(crate) lds: Uninitialised,
    pub(crate) scratch: Uninitialised,
}

impl Patterns {
    /// One pattern for registers, LDS and scratch memory.
    const fn alike(pattern: Uninitialised) -> Self {
        Self { registers: pattern, lds: pattern, scratch: pattern }
    }
}

/// Run a kernel to its end, or to its first fault in the order of workgroups. `before` is what memory holds
/// now, if there is a copy.
pub(crate) fn launch(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: Option<&Copied>,
    effort: &mut Effort,
) -> Result<Execution, Fault> {
    // One that ends with a fault leaves nothing here: another like it is looked at in the same way
    // (`is_by_unwritten`).
    let mut spent = effort.clone();
    let execution = if config.check_races || config.deterministic {
        checked::launch(memory, config, program, launch, before, &mut spent)?
    } else {
        let execution = prepare(memory, config, program, launch, |shared| run(&shared))?;
        spent.add(&execution);
        execution
    };
    *effort = spent;
    Ok(execution)
}

/// Put what a launch needs into memory, give it to `run`, and take it out again.
pub(crate) fn prepare<T>(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    run: impl FnOnce(Shared<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let name = &launch.kernel;
    let kernel = check(program, launch)?;
    let marked = launch.part.is_some().then(|| memory.runtime_mark());
    let mut temporary = Vec::new();
    let mut place = |bytes: &[u8], label: &str| {
        let address = memory
            .alloc(bytes.len() as u64, 256, label, Protection::ReadWrite, Owner::Runtime)
            .and_then(|address| memory.write(address, bytes).map(|()| address))
            .map_err(|error| Fault::dispatch(name, error.to_string()))?;
        temporary.push(address);
        Ok(address)
    };
    let setup = place(&registers::queue_descriptor(), "queue").and_then(|queue| {
        let meeting = kernarg::meeting(kernel, launch);
        let meeting = meeting.map_or(Ok(0), |bytes| place(&bytes, "synchronization of the grid"))?;
        let objects = kernarg::Objects { queue, meeting };
        let kernarg_bytes =
            kernarg::segment(kernel, launch, objects).map_err(|message| Fault::dispatch(name, message))?;
        let descriptor = &kernel.descriptor;
        let dynamic = if kernel.metadata.uses_dynamic_stack { config.dynamic_stack } else { 0 };
        let asked = descriptor.private_segment_fixed_size().max(kernel.metadata.private_segment_fixed_size);
        let scratch = Setup::scratch_bytes(program.target.arch, asked, dynamic)
            .map_err(|message| Fault::dispatch(name, message))?;
        let kernarg = place(&kernarg_bytes, "kernarg segment")?;
        let kernel_object = program.device_address(kernel.descriptor_address);
        let packet =
            registers::packet(launch, scratch, descriptor.group_segment_fixed_size(), kernel_object, kernarg);
        let packet = place(&packet, "dispatch packet")?;
        let items = std::array::from_fn(|axis| launch.grid[axis] * launch.block[axis]);
        let places = Places { packet, queue, kernarg, kernarg_bytes: &kernarg_bytes, scratch, items };
        Setup::new(program, kernel, launch, &places)
    });
    let lds = lds_bytes(kernel) + launch.dynamic_lds;
    // Compilers load three dwords as four where these are aligned, and so read behind the last argument.
    if let Ok(setup) = &setup {
        memory.pad(setup.kernarg, config.uninitialised.0);
    }
    let result = setup
        .and_then(|setup| Shared::new(memory, config, program, launch, kernel, setup, lds))
        .and_then(run);
    for address in temporary {
        memory.release(address);
    }
    // The next part's are at the same addresses, for a kernel may look at them.
    if let Some(mark) = marked {
        memory.rewind_runtime(mark);
    }
    result
}

/// # Errors
/// The kernel has no instructions.
fn has_code(kernel: &Kernel) -> Result<(), Fault> {
    if kernel.code.is_empty() {
        return Err(Fault { kind: FaultKind::NoCode, ..Fault::dispatch(&kernel.name, String::new()) });
    }
    Ok(())
}

/// The kernel, if it can be launched like this.
fn check<'a>(program: &'a Program, launch: &Launch) -> Result<&'a Kernel, Fault> {
    let name = &launch.kernel;
    let bad = |message: String| Err(Fault::dispatch(name, message));
    let Some(kernel) = program.kernels.iter().find(|kernel| kernel.name == *name) else {
        let known: Vec<&str> = program.kernels().collect();
        return bad(format!("no kernel of that name; the code object has: {}", known.join(", ")));
    };
    if let Some(problem) = verify::contradiction(kernel, program.target.arch) {
        return Err(Fault { kind: FaultKind::Damaged(problem), ..Fault::dispatch(name, String::new()) });
    }
    has_code(kernel)?;
    if launch.grid.contains(&0) || launch.block.contains(&0) {
        return bad(format!("a dimension is zero: grid {:?}, block {:?}", launch.grid, launch.block));
    }
    let size = launch.block.iter().map(|size| u64::from(*size)).product::<u64>();
    let declared = u64::from(kernel.metadata.max_flat_workgroup_size);
    let most = if declared == 0 { MAX_WORKGROUP } else { declared.min(MAX_WORKGROUP) };
    if size > most {
        return bad(format!("{size} work-items a workgroup; the kernel takes {most} at most"));
    }
    if let Some(required) = kernel.metadata.reqd_workgroup_size
        && required != launch.block
    {
        return bad(format!("the kernel requires workgroups of {required:?}, not {:?}", launch.block));
    }
    for (axis, (grid, block)) in ["x", "y", "z"].iter().zip(launch.grid.iter().zip(launch.block)) {
        if grid.checked_mul(block).is_none() {
            return bad(format!("more than 2^32 work-items in {axis}"));
        }
    }
    let lds = u64::from(lds_bytes(kernel)) + u64::from(launch.dynamic_lds);
    if lds > u64::from(program.target.arch.limits().lds_bytes) {
        return bad(format!(
            "{lds} bytes of LDS a workgroup; {} has {}",
            program.target.arch,
            program.target.arch.limits().lds_bytes
        ));
    }
    Ok(kernel)
}

fn lds_bytes(kernel: &Kernel) -> u32 {
    kernel.descriptor.group_segment_fixed_size().max(kernel.metadata.group_segment_fixed_size)
}

impl<'a> Shared<'a> {
    /// What a launch needs, with so many bytes of LDS a workgroup.
    fn new(
        memory: &'a Memory,
        config: &'a Config,
        program: &'a Program,
        launch: &'a Launch,
        kernel: &'a Kernel,
        setup: Setup,
        lds_bytes: u32,
    ) -> Result<Self, Fault> {
        let entry_address = program.device_address(setup.entry);
        let Some(entry) = program.step_of(entry_address) else {
            return Err(Fault::dispatch(
                &launch.kernel,
                format!("its entry {:#x} is not in the text", setup.entry),
            ));
        };
        let reached = reach::steps(program, entry);
        if order::synchronise(&reached) {
            memory.sync().begin(launch.grid.iter().map(|size| u64::from(*size)).product());
        }
        let named = reach::named(&reached);
        let vectors = kernel.descriptor.vector_registers(program.target.arch);
        let allotted = Registers {
            sgprs: kernel.descriptor.sgpr_count(program.target.arch) as u16,
            vgprs: vectors.vgprs as u16,
            agprs: vectors.agprs as u16,
        };
        let rules = Rules::of(program.target.arch.generation());
        let allotted = allotted.min(Registers::all(rules));
        let steps = fast::steps(program, config.vectors);
        let hot = match named.beyond(allotted) {
            None => Cow::Borrowed(steps),
            Some(_) => Cow::Owned(fast::within(program, steps, allotted)),
        };
        let shared = Self {
            memory,
            program,
            config,
            hot,
            launch,
            kernel,
            setup,
            budget: if launch.budget == 0 { config.budget } else { launch.budget },
            lds_bytes,
            waves_per_group: launch.waves_per_group(program.target.wave),
            entry,
            allotted,
            registers: if reach::index(&reached, rules) { allotted } else { named.min(allotted) },
            mask_slots: if launch.record_masks { reach::slots(&reached) } else { 0..0 },
            memory_steps: launch.record_memory.then(|| Arc::new(Stops::of(program, is_of_memory))),
            stop: None,
            in_order: order::matters(&reached) || config.schedule.is_some(),
            has_unseen: order::has_unseen(&reached),
            most_looks: u64::MAX,
            sample: None,
            patterns: Patterns::alike(config.uninitialised),
            look: Look::Not,
        };
        Ok(if config.check_races { shared.looking(None) } else { shared })
    }

    /// This launch, with each access looked at by itself, or the accesses to some dwords.
    fn looking(self, focus: Option<Arc<Clashes>>) -> Self {
        let judge = Judge::new(self.program.atomicity(), self.config.unmarked);
        let races = Races::new(self.launch.grid, self.waves_per_group, judge, focus);
        // The accesses of one workgroup are compared with those of the ones before.
        Self { look: Look::Races(races), in_order: true, ..self }
    }

    /// Why the launch is to end now, if it is: from outside, or because its scan is over, or because what it
    /// may look at is used up.
    pub(crate) fn stopped(&self) -> Option<FaultKind> {
        let asked = self.stop.is_some_and(|stop| stop()) || self.config.is_stopped();
        if asked || self.look.scan().is_some_and(|scan| scan.is_over()) {
            return Some(FaultKind::Stopped);
        }
        let focus = self.look.races().and_then(|races| races.focus.as_deref());
        let used_up = focus.is_some_and(|focus| focus.effort() > self.most_looks);
        used_up.then_some(FaultKind::Budget { budget: self.budget, waiting: 0 })
    }

    /// The places of the workgroups that run: those of a part of the launch, or of a sample. Samples are of
    /// whole launches.
    fn running(&self) -> Range<u64> {
        let all = self.sample.map_or(self.groups(), Sample::len);
        let part = self.launch.part.clone().unwrap_or(0..u64::MAX);
        part.start..part.end.min(all)
    }

    /// Workgroups of the launch.
    pub(crate) fn groups(&self) -> u64 {
        self.launch.grid.iter().map(|size| u64::from(*size)).product()
    }

    /// The workgroup of a number, in x, y, z.
    pub(crate) fn workgroup(&self, index: u64) -> [u32; 3] {
        self.launch.workgroup(index)
    }

    /// Who has accessed device memory, if that is asked for.
    fn races(&self) -> Option<MutexGuard<'_, DeviceRaces>> {
        self.look.races().map(Races::lock)
    }

    /// Waves of a workgroup: those at the grid's end may have fewer than the others.
    pub(crate) fn waves_of(&self, index: u64) -> usize {
        self.setup.waves(self.workgroup(index))
    }

    /// What the scalar registers of all its waves start with, but for what says which wave it is.
    pub(crate) fn scalars(&self) -> [u32; 128] {
        self.setup.scalars(Rules::of(self.program.target.arch.generation()), self.patterns.registers.0)
    }

    /// Put a wave into its initial state: wave `number` of workgroup `index`, which is at `workgroup` in the
    /// grid. `scalars` are those of all ([`Shared::scalars`]).
    pub(crate) fn start(
        &self,
        wave: &mut Wave,
        scalars: &[u32; 128],
        index: u64,
        workgroup: [u32; 3],
        number: u32,
    ) {
        wave.reset(self.allotted, self.registers, self.patterns.registers.0, scalars);
        wave.index = index * u64::from(self.waves_per_group) + u64::from(number);
        wave.next = self.entry;
        wave.current = self.entry;
        self.setup.start(wave, workgroup, number, self.patterns.scratch.0);
    }

    /// The waves of this one's workgroup have met at a barrier, or have all ended.
    ///
    /// # Errors
    /// A race that shows only now, if races are asked for.
    pub(crate) fn meet(&self, wave: &Wave, lds: &mut Lds, ended: bool) -> Result<(), Box<Fault>> {
        let in_lds = lds.pass_barrier().map(|late| {
            let first = wave.index - wave.index % u64::from(self.waves_per_group);
            Late { wave: first + late.wave, ..late }
        });
        let races = self.races();
        let in_memory =
            races.and_then(|mut races| if ended { races.end(wave) } else { races.pass_barrier(wave) });
        match in_lds.or(in_memory) {
            Some(Late { trap, wave, site, .. }) => {
                let (step, calls) = self.told(site);
                Err(self.locate_at(wave, step, calls, *trap))
            }
            None => Ok(()),
        }
    }

    /// A trap with its place: the step before the wave's next one is where it happened.
    pub(crate) fn locate(&self, wave: &Wave, trap: Trap) -> Box<Fault> {
        let trapped = matches!(trap.kind, FaultKind::Trap(_));
        let lane = trap.lane.map(usize::from).or_else(|| (wave.exec != 0).then(|| wave.first_lane()));
        let fault = self.locate_at(wave.index, wave.current, wave.calls.steps().collect(), trap);
        let lane_state = lane.filter(|_| trapped).map(|lane| Box::new(self.lane_state(wave, lane)));
        Box::new(Fault { lane_state, ..*fault })
    }

    /// Where waves of a workgroup are.
    pub(crate) fn standing(&self, waves: &[Wave]) -> Vec<StandingWave> {
        let pc = |step: u32| self.program.pc(&self.program.steps[step as usize]);
        let standing = |(number, wave): (usize, &Wave)| StandingWave {
            wave: number as u32,
            stand: wave.status.stand(),
            pc: pc(wave.current),
            calls: wave.calls.steps().map(pc).collect(),
            exec: wave.exec,
        };
        waves.iter().enumerate().map(standing).collect()
    }

    /// What a lane holds.
    fn lane_state(&self, wave: &Wave, lane: usize) -> LaneState {
        let Registers { vgprs, agprs, .. } = self.registers;
        let bank = |first: usize, count: u16| {
            wave.rows[first..][..usize::from(count)].iter().map(|row| row[lane]).collect()
        };
        LaneState {
            lane: lane as u8,
            vgprs: bank(0, vgprs),
            agprs: bank(REGISTERS / 2, agprs),
            scratch: wave.scratch.of_lane(lane, LANE_SCRATCH),
            bias: self.program.bias,
        }
    }

    /// LDS of one workgroup.
    pub(crate) fn lds(&self) -> Lds {
        Lds::new(
            self.lds_bytes,
            self.patterns.lds,
            &self.look,
            self.program.target.arch,
            self.config.out_of_range,
        )
    }

    /// Pairs of accesses that are races unless both are atomic.
    fn doubts(&self) -> Vec<Fault> {
        let late = self.races().map(|mut races| races.doubts.take()).unwrap_or_default();
        let located = late.into_iter().map(|Late { trap, wave, site, .. }| {
            let (step, calls) = self.told(site);
            *self.locate_at(wave, step, calls, *trap)
        });
        located.collect()
    }

    /// The step of a site, and those of the calls that led to it, innermost first.
    fn told(&self, site: u32) -> (u32, Vec<u32>) {
        let steps = self.program.steps.len();
        self.races().map_or((site, Vec::new()), |races| races.contexts.told(site, steps))
    }

    /// A trap of a wave by its number in the launch, at a step that some calls led to.
    fn locate_at(&self, wave: u64, step: u32, calls: Vec<u32>, trap: Trap) -> Box<Fault> {
        let pcs = |calls: Vec<u32>| {
            calls.iter().map(|call| self.program.pc(&self.program.steps[*call as usize])).collect()
        };
        let step = &self.program.steps[step as usize];
        let in_group = u64::from(self.waves_per_group);
        Box::new(Fault {
            kind: trap.kind,
            kernel: self.kernel.name.clone(),
            workgroup: self.workgroup(wave / in_group),
            wave: (wave % in_group) as u32,
            lane: trap.lane,
            pc: Some(self.program.pc(step)),
            instruction: self.program.text_of(step),
            calls: pcs(calls),
            lane_state: None,
            waves: Vec::new(),
            earlier: trap.earlier.map(|site| {
                let (step, calls) = self.told(site);
                let step = &self.program.steps[step as usize];
                Box::new(Earlier {
                    pc: self.program.pc(step),
                    instruction: self.program.text_of(step),
                    calls: pcs(calls),
                })
            }),
        })
    }
}

/// Bytes of scratch memory from which on it is asked whether the machine has them.
const LARGE_SCRATCH: u64 = 64 << 20;

/// How many host threads a launch runs on: no more than there is scratch memory for.
fn threads(shared: &Shared<'_>) -> Result<usize, Fault> {
    let wanted = match shared.launch.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let groups = shared.running();
    let groups = usize::try_from(groups.end.saturating_sub(groups.start)).unwrap_or(usize::MAX);
    let threads = if shared.in_order { 1 } else { wanted.min(groups) };
    let scratch = u64::from(shared.setup.wave_scratch()) * u64::from(shared.waves_per_group);
    if scratch * (threads as u64) < LARGE_SCRATCH {
        return Ok(threads);
    }
    let available = Room::here().bytes();
    match usize::try_from(available / scratch).unwrap_or(usize::MAX).min(threads) {
        0 => {
            let message =
                format!("{scratch} bytes of scratch memory a workgroup, and {available} bytes are available");
            Err(Fault {
                kind: FaultKind::NoRoom(message),
                ..Fault::dispatch(&shared.launch.kernel, String::new())
            })
        }
        fitting => Ok(fitting),
    }
}

fn run(shared: &Shared<'_>) -> Result<Execution, Fault> {
    let groups = shared.running();
    let threads = threads(shared)?;
    let started = Instant::now();
    let (next, first_fault) = (AtomicU64::new(groups.start), AtomicU64::new(u64::MAX));
    let at_work = AtomicUsize::new(threads.max(1));
    let work = || -> Part {
        let numbers = Numbers::new(&next, groups.clone(), threads.max(1), shared.config.schedule);
        Turns::new(shared, threads, &at_work).run(numbers, &first_fault)
    };
    let parts = if threads <= 1 {
        vec![work()]
    } else {
        let parts = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let part = work();
                    parts.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(part);
                });
            }
        });
        parts.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    };
    let seconds = started.elapsed().as_secs_f64();
    let execution = collect(shared.program, parts, seconds, threads.max(1))?;
    Ok(Execution { doubts: shared.doubts(), ..execution })
}

/// Launches a kernel, which ended well from the memory `before`, once more from there, to `look` at what it
/// does. Memory stays as it is.
fn look_again<T>(
    memory: &mut Memory,
    config: Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
    look: impl FnOnce(Shared<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let after = memory.copy();
    memory.restore(before);
    let config = Config { check_races: false, deterministic: false, ..config };
    let looked = prepare(memory, &config, program, launch, look);
    memory.restore(&after);
    looked
}

/// Run the first workgroups of a launch in order on this thread, each wave's time slices by `observer`.
pub(crate) fn run_groups(
    shared: &Shared<'_>,
    groups: u64,
    observer: &mut impl Observer,
) -> Result<(), Box<Fault>> {
    let mut group = Group::new(shared);
    (0..groups).try_for_each(|index| group.run(shared, index, observer))
}

fn collect(program: &Program, parts: Vec<Part>, seconds: f64, threads: usize) -> Result<Execution, Fault> {
    let mut execution = Execution { seconds, threads, ..Execution::default() };
    let mut counts = vec![0u64; Op::ALL.len()];
    let mut counted = false;
    let mut first: Option<(u64, Fault)> = None;
    let mut memory = MemoryCounts::default();
    let (mut out_of_range, mut missing_lanes) = (LetPass::default(), LetPass::default());
    for Part { groups, took_turns, failure } in parts {
        execution.took_turns |= took_turns;
        for group in groups {
            execution.waves += group.totals.waves;
            execution.wave_instructions += group.totals.wave_instructions;
            execution.lane_instructions += group.totals.lane_instructions;
            execution.masks.extend(group.masks);
            out_of_range.extend(group.out_of_range);
            missing_lanes.extend(group.missing_lanes);
            execution.steps.extend(group.step_records);
            group.memory.iter().for_each(|counts| memory.extend(counts));
            for (step, count) in program.steps.iter().zip(&group.executed) {
                counts[step.op as usize] += count.executions;
                counted = true;
            }
        }
        if let Some(fault) = failure
            && first.as_ref().is_none_or(|(index, _)| fault.0 < *index)
        {
            first = Some(fault);
        }
    }
    if let Some((_, fault)) = first {
        return Err(fault);
    }
    execution.memory = memory.records(program);
    execution.out_of_range = out_of_range.into_faults();
    execution.missing_lanes = missing_lanes.into_faults();
    execution.masks.sort_unstable_by_key(|record| (record.wave, record.pc));
    execution.steps.sort_unstable_by_key(|record| (record.wave, record.pc));
    if counted {
        let executed = Op::ALL.iter().copied().zip(counts).filter(|(_, count)| *count > 0);
        execution.opcode_stats = executed.collect();
    }
    Ok(execution)
}
