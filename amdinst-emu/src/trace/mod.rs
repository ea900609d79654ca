//! What one wave of a launch did, instruction by instruction: which registers each instruction wrote, with
//! their values.
//!
//! A traced launch is a launch of its own. Its waves take turns as those of [`Machine::launch`] do, on one
//! thread, and the traced wave goes one instruction at a time. So it computes the same, and a launch that is
//! not traced pays nothing.
//!
//! [`last_write`] finds the instruction that a place in memory has its value from: with both, a value is
//! followed back from instruction to instruction, in as many launches as it takes and in memory that does not
//! grow with their length.

mod writes;

pub use writes::{Moment, WrittenPlace, last_write};

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use amdgpu_isa::{Inst, MemoryKind, Reg, RegSet};

use crate::check::{Fault, MemorySpace, Trap};
use crate::dispatch::{self, Launch, Observer, Shared, StepCount, run_slice};
use crate::exec::footprint::Footprint;
use crate::exec::source_lane;
use crate::machine::Machine;
use crate::program::{Context, Program};
use crate::wave::{REGISTERS, Status, Wave};

/// Which instructions of a wave are kept when there are more than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The instructions that ran first.
    First,
    /// The instructions that ran last.
    Last,
    /// The instructions that ran last before the wave's instruction of this number, from 0 on.
    Before(u64),
}

/// A wave of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveId {
    /// By its index in the launch: workgroups in order of x, then y, then z, and the waves of each in order.
    Index(u64),
    /// By its workgroup in x, y, z, and its index there.
    Of([u32; 3], u32),
}

/// Which wave and lane to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The wave.
    pub wave: WaveId,
    /// Lane whose vector registers are shown.
    pub lane: u8,
    /// Instructions that are kept, at most.
    pub limit: usize,
    /// Which of them.
    pub keep: Keep,
}

/// A launch that cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The launch cannot begin.
    #[error(transparent)]
    Launch(#[from] Box<Fault>),
    /// The launch has no such wave: its index, and how many there are.
    #[error("there is no wave {0} to trace; the launch has {1} waves, from 0 on")]
    NoWave(u64, u64),
    /// The launch has no such workgroup, or the workgroup has no such wave.
    #[error("there is no wave {1} of workgroup {x},{y},{z} to trace; a workgroup has {2} waves, from 0 on", x = .0[0], y = .0[1], z = .0[2])]
    NoWaveOf([u32; 3], u32, u32),
    /// A wave has no such lane.
    #[error("there is no lane {0} to trace; a wave has {1} lanes, from 0 on")]
    NoLane(u8, usize),
}

/// What a wave did.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Index of the wave in the launch.
    pub index: u64,
    /// The workgroup, in x, y, z.
    pub workgroup: [u32; 3],
    /// Which wave of its workgroup.
    pub wave: u32,
    /// The lane whose vector registers are shown.
    pub lane: u8,
    /// Instructions that the wave ran.
    pub executed: u64,
    /// Wave-instructions that the launch ran, as far as it went.
    pub launched: u64,
    /// The instructions that were kept, in the order of execution.
    pub steps: Vec<TracedStep>,
    /// How the launch ended early, if it did.
    pub fault: Option<Box<Fault>>,
}

/// One executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedStep {
    /// How many instructions the wave had run before.
    pub number: u64,
    /// Address in the code object.
    pub pc: u64,
    /// The instruction, as LLVM writes it.
    pub text: Rc<str>,
    /// The instruction; `None` of a word that is none.
    pub inst: Option<Rc<Inst>>,
    /// EXEC before the instruction.
    pub exec_before: u64,
    /// EXEC after the instruction.
    pub exec: u64,
    /// The lane works in this instruction: its bit of EXEC is set, or the instruction is a scalar one.
    pub active: bool,
    /// Registers that the instruction reads, with their values before. EXEC is left out.
    pub reads: Vec<(Reg, u32)>,
    /// Registers that the instruction wrote, with their values after. Vector registers are those of the lane.
    /// EXEC is left out.
    pub writes: Vec<(Reg, u32)>,
    /// Where the lane accesses memory, for instructions that do.
    pub access: Option<TracedAccess>,
    /// The lane that the first vector source comes from, if the instruction may take that from any lane: DPP,
    /// `v_readlane_b32`, exchanges through the LDS hardware.
    pub from_lane: Option<u8>,
    /// The calls that led there, by their addresses in the code object, innermost first.
    pub calls: Rc<[u64]>,
}

/// A place in memory that an instruction accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// Which memory. In LDS, addresses are offsets into the workgroup's.
    pub space: MemorySpace,
    /// Its first byte.
    pub address: u64,
    /// The first byte of a second access, of instructions with two.
    pub second: Option<u64>,
    /// Bytes that the lane accesses, at each of the two.
    pub bytes: u8,
    /// Label of the allocation that it is in, and the offset from its start.
    pub inside: Option<(String, u64)>,
}

/// Launches a kernel and traces one of its waves. Workgroups behind that wave's do not run.
///
/// # Errors
/// A launch that cannot begin, or has no such wave or lane. A fault of the kernel is part of the [`Trace`].
pub fn trace(
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
    watch: &Watch,
) -> Result<Trace, TraceError> {
    let traced = machine.with_memory(|memory, config| {
        dispatch::prepare(memory, config, program, launch, |shared| Ok(traced(&shared, watch)))
    });
    traced.map_err(Box::new)?
}

fn traced(shared: &Shared<'_>, watch: &Watch) -> Result<Trace, TraceError> {
    let lanes = shared.program.target.wave.lanes();
    if u32::from(watch.lane) >= lanes {
        return Err(TraceError::NoLane(watch.lane, lanes as usize));
    }
    let in_group = u64::from(shared.waves_per_group);
    let (group, number) = match watch.wave {
        WaveId::Index(index) => (index / in_group, index % in_group),
        WaveId::Of(workgroup, wave) => {
            let grid = shared.launch.grid;
            if (0..3).any(|axis| workgroup[axis] >= grid[axis]) || wave >= shared.waves_per_group {
                return Err(TraceError::NoWaveOf(workgroup, wave, shared.waves_per_group));
            }
            (shared.launch.workgroup_index(workgroup), wave.into())
        }
    };
    let index = group * in_group + number;
    if group >= shared.groups() || number >= shared.waves_of(group) as u64 {
        return Err(TraceError::NoWave(index, shared.groups() * in_group));
    }
    let mut recorder = Recorder {
        shared,
        watch,
        index,
        known: HashMap::new(),
        steps: VecDeque::new(),
        executed: 0,
        launched: 0,
        calls: Rc::default(),
    };
    let fault = dispatch::run_groups(shared, group + 1, &mut recorder).err();
    Ok(Trace {
        index,
        workgroup: shared.workgroup(group),
        wave: number as u32,
        lane: watch.lane,
        executed: recorder.executed,
        launched: recorder.launched,
        steps: recorder.steps.into(),
        fault,
    })
}

/// What is known of an instruction before it runs.
struct InstFacts {
    text: Rc<str>,
    inst: Option<Rc<Inst>>,
    reads: Vec<Reg>,
    writes: Vec<Reg>,
    /// What it touches is known only as it runs: every register is compared.
    indirect: bool,
    /// Its memory access goes by lanes, or by the wave.
    memory: Option<MemoryKind>,
}

impl InstFacts {
    fn new(shared: &Shared<'_>, number: u32) -> Self {
        let program = shared.program;
        let step = &program.steps[number as usize];
        let text = program.text_of(step).into();
        let Some(inst) = program.inst_of(step) else {
            return Self {
                text,
                inst: None,
                reads: Vec::new(),
                writes: Vec::new(),
                indirect: false,
                memory: None,
            };
        };
        let effects = inst.effects(program.target);
        Self {
            text,
            inst: Some(Rc::new(inst)),
            reads: shown(&effects.reads),
            writes: shown(&effects.changes()),
            indirect: effects.indirect,
            memory: effects.memory.map(|memory| memory.kind),
        }
    }
}

struct Recorder<'a> {
    shared: &'a Shared<'a>,
    watch: &'a Watch,
    /// The wave that is traced.
    index: u64,
    /// By step.
    known: HashMap<u32, Rc<InstFacts>>,
    steps: VecDeque<TracedStep>,
    executed: u64,
    /// By all waves.
    launched: u64,
    /// The calls of the last instruction.
    calls: Rc<[u64]>,
}

impl Recorder<'_> {
    fn wants_more(&self) -> bool {
        match self.watch.keep {
            Keep::First => self.steps.len() < self.watch.limit,
            Keep::Last => true,
            Keep::Before(end) => self.executed < end,
        }
    }

    fn known(&mut self, number: u32) -> Rc<InstFacts> {
        let shared = self.shared;
        self.known.entry(number).or_insert_with(|| Rc::new(InstFacts::new(shared, number))).clone()
    }

    /// Where the lane is about to access memory.
    fn access(&self, wave: &Wave, number: u32, kind: MemoryKind) -> Option<TracedAccess> {
        let step = &self.shared.program.steps[number as usize];
        let lane = usize::from(self.watch.lane);
        let at = |space, address, bytes| {
            let found = self.shared.memory.find(address, 1);
            let inside = found.map(|(allocation, offset)| (allocation.extent().2.to_owned(), offset as u64));
            Some(TracedAccess { space, address, second: None, bytes, inside })
        };
        if kind == MemoryKind::Smem {
            let (address, bytes) = Footprint::scalar(wave, step)?;
            return at(MemorySpace::Scalar, address, bytes);
        }
        let mut footprint = Footprint::default();
        footprint.vector(wave, step);
        let bytes = footprint.bytes;
        if footprint.global >> lane & 1 != 0 {
            let address = footprint.address[lane];
            let is_private = wave.scratch.offset_of(address).is_some();
            at(if is_private { MemorySpace::Scratch } else { MemorySpace::Global }, address, bytes)
        } else if footprint.local >> lane & 1 != 0 {
            let address = u64::from(footprint.offset[lane]);
            let second = footprint.second.map(|second| address.wrapping_add_signed(second.into()));
            Some(TracedAccess { space: MemorySpace::Lds, address, second, bytes, inside: None })
        } else {
            None
        }
    }

    /// The calls that led to where a wave is.
    fn calls(&mut self, wave: &Wave) -> Rc<[u64]> {
        let program = self.shared.program;
        let pcs = || wave.calls.steps().map(|step| program.pc(&program.steps[step as usize]));
        if !self.calls.iter().copied().eq(pcs()) {
            self.calls = pcs().collect();
        }
        self.calls.clone()
    }

    /// Runs one instruction of the wave, and keeps what it did.
    fn step(&mut self, context: &mut Context<'_>, counts: &mut [StepCount]) -> (u64, Result<(), Box<Trap>>) {
        let lane = self.watch.lane;
        let number = context.wave.next;
        let known = self.known(number);
        let exec_before = context.wave.exec;
        let values =
            |wave: &Wave, of: &[Reg]| of.iter().map(|&reg| (reg, value(wave, reg, lane))).collect::<Vec<_>>();
        let reads = values(context.wave, &known.reads);
        let all: Vec<Reg> = if known.indirect { shown(&RegSet::all()) } else { Vec::new() };
        let before = values(context.wave, if known.indirect { &all } else { &known.writes });
        let access = known.memory.and_then(|kind| self.access(context.wave, number, kind));
        let step = &self.shared.program.steps[number as usize];
        let active = !step.flags.vector || exec_before >> lane & 1 != 0;
        let calls = self.calls(context.wave);
        let from_lane = source_lane(context.wave, step, lane.into());

        let result = run_slice(context, self.shared.config, &self.shared.hot, 1, counts);
        let wave = &*context.wave;
        let changed = |&(reg, old): &(Reg, u32)| {
            let new = value(wave, reg, lane);
            // A lane that is switched off keeps its registers; few instructions write them all the same.
            let named = !known.indirect && (active || reg.as_vgpr().or(reg.as_agpr()).is_none());
            (named || new != old).then_some((reg, new))
        };
        // What an instruction that traps would have written is not there.
        let writes = if result.1.is_ok() { before.iter().filter_map(changed).collect() } else { Vec::new() };
        if self.steps.len() == self.watch.limit {
            self.steps.pop_front();
        }
        self.steps.push_back(TracedStep {
            number: self.executed,
            pc: self.shared.program.pc(step),
            text: known.text.clone(),
            inst: known.inst.clone(),
            exec_before,
            exec: wave.exec,
            active,
            reads,
            writes,
            access,
            from_lane,
            calls,
        });
        self.executed += result.0;
        result
    }
}

impl Observer for Recorder<'_> {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let (used, outcome) = self.run(shared, context, slice, counts);
        self.launched += used;
        (used, outcome)
    }
}

impl Recorder<'_> {
    /// Runs a time slice; the traced wave goes one instruction at a time.
    fn run(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let mut used = 0;
        if context.wave.index == self.index && self.watch.limit > 0 {
            while self.wants_more() && used < slice && context.wave.status == Status::Running {
                let (ran, outcome) = self.step(context, counts);
                used += ran;
                if outcome.is_err() {
                    return (used, outcome);
                }
            }
        }
        if used == slice || context.wave.status != Status::Running {
            return (used, Ok(()));
        }
        let (ran, outcome) = run_slice(context, shared.config, &shared.hot, slice - used, counts);
        if context.wave.index == self.index {
            self.executed += ran;
        }
        (used + ran, outcome)
    }
}

/// The registers of a set that are shown. EXEC is shown by itself, and every float instruction reads MODE.
fn shown(set: &RegSet) -> Vec<Reg> {
    let left_out = [Reg::EXEC_LO, Reg::EXEC_HI, Reg::MODE];
    set.iter().filter(|reg| !left_out.contains(reg)).collect()
}

/// What a register holds; of a vector register, one lane's value.
fn value(wave: &Wave, reg: Reg, lane: u8) -> u32 {
    let row = |row: usize| wave.rows[row][usize::from(lane)];
    match (reg.as_scalar(), reg.as_vgpr(), reg.as_agpr()) {
        (Some(code), _, _) => wave.s[usize::from(code)],
        (_, Some(number), _) => row(number.into()),
        (_, _, Some(number)) => row(REGISTERS / 2 + usize::from(number)),
        _ if reg == Reg::SCC => wave.scc.into(),
        _ => wave.mode,
    }
}
