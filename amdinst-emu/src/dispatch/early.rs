//! Registers that a kernel uses before a load has brought what it asked for, as no wait is between.
//!
//! The emulator's loads are done when they are issued, so that such a mistake changes no result here. On
//! hardware the register holds what was there before, or what the load brings stands in place of what was
//! written meanwhile: at times, as the memory is fast or slow. So each wave has its loads under way, lane by
//! lane, until it waits for so few operations that one of them must have come ([`Way`]). A use of a lane's
//! register before that is told.
//!
//! A kernel runs on while none of its loads is under way. Not looked at: registers that an index names.

use std::collections::HashMap;
use std::rc::Rc;

use amdgpu_isa::{Arrival, Families, Generation, Inst, Op, Reg, RegSet, Waits, Way, reads_at_issue};

use super::checked::LONGEST;
use super::group::Group;
use super::slice::{StepCount, in_parts, run_slice};
use super::stops::Stops;
use super::{Effort, Launch, Observer, Sample, Shared, look_again};
use crate::check::{Fault, FaultKind, Trap};
use crate::config::Config;
use crate::exec::footprint::Footprint;
use crate::exec::source_lane;
use crate::memory::{Copied, Memory};
use crate::program::{Context, Program, Step};
use crate::record::{Execution, Sampled};
use crate::wave::{Wave, lanes_of};

/// How often memory is copied for a second look.
const COPIES: u64 = 2;

/// Launches a kernel, which ended well from the memory `before`, to find such a use. Memory stays as it is.
/// If not all workgroups were looked at, returns how many were: each runs to its end before the next begins,
/// which one that waits for another never comes to; and of a long launch there is a sample ([`Effort`]).
///
/// # Errors
/// The first use, in the order of workgroups ([`FaultKind::MissingWait`]), or that the launch was stopped.
pub(crate) fn find(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    execution: &Execution,
    before: &Copied,
    effort: &mut Effort,
) -> Result<Option<Sampled>, Fault> {
    let copies = Effort::of_copies(memory.bytes_to_copy(), COPIES);
    look_again(memory, config.clone(), program, launch, before, |shared| {
        let groups = shared.groups();
        let average = (execution.wave_instructions / groups).max(1);
        let most = if config.thorough { u64::MAX } else { effort.may_look_at(&launch.kernel, copies) };
        let sample = Sample::new(groups, Effort::looks(most).div_ceil(average));
        let is_whole = sample.len() >= groups;
        let budget = if is_whole { u64::MAX } else { LONGEST.saturating_mul(average) };
        let shared = Shared { budget: shared.budget.min(budget), ..shared };
        let (mut group, mut looker) = (Group::new(&shared), Looker::new(program));
        let mut workgroups = 0;
        for place in 0..sample.len() {
            match group.run(&shared, sample.at(place), &mut looker) {
                Ok(()) => workgroups += 1,
                Err(fault) if matches!(fault.kind, FaultKind::MissingWait { .. } | FaultKind::Stopped) => {
                    return Err(*fault);
                }
                // It waits for another.
                Err(_) if is_whole => break,
                Err(_) => {}
            }
        }
        effort.looked_at(&launch.kernel, Effort::of(copies, group.wave_instructions()));
        Ok((workgroups < groups).then_some(Sampled { workgroups, of: groups }))
    })
}

/// A load that has not surely come.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    register: Reg,
    /// The lanes of the register that it brings; all of a scalar one.
    lanes: u64,
    way: Way,
    /// Operations that were issued behind it and come after it.
    behind: u8,
    step: u32,
}

/// What a wave has under way.
#[derive(Debug, Default)]
struct Loads {
    registers: RegSet,
    loads: Vec<UnderWay>,
}

impl Loads {
    fn retain(&mut self, is_kept: impl FnMut(&mut UnderWay) -> bool) {
        self.loads.retain_mut(is_kept);
        self.registers = RegSet::EMPTY;
        for load in &self.loads {
            self.registers.insert(load.register);
        }
    }

    fn wait(&mut self, waits: &Waits) {
        self.retain(|load| load.way.limit(waits).is_none_or(|limit| limit > load.behind));
    }

    /// The first that an instruction uses.
    fn used(
        &self,
        what: &Facts,
        wave: &Wave,
        step: &Step,
        generation: Generation,
    ) -> Option<(UnderWay, bool)> {
        if !what.reads.intersects(&self.registers) && !what.writes.intersects(&self.registers) {
            return None;
        }
        let (read, written) = (what.lanes.read(wave, step), what.lanes.written(wave, step));
        self.loads.iter().find_map(|load| {
            let shares = |lanes: u64| load.register.as_scalar().is_some() || lanes & load.lanes != 0;
            // What comes in order comes behind it.
            let is_behind = load.way.is_in_order(generation)
                && what.arrival.is_some_and(|arrival| arrival.ways == [load.way]);
            if what.reads.contains(load.register) && shares(read) {
                return Some((*load, true));
            }
            let is_over = what.writes.contains(load.register) && !is_behind && shares(written);
            is_over.then_some((*load, false))
        })
    }

    /// An instruction was issued by these lanes, of which some access LDS if it is FLAT.
    fn issue(&mut self, step: u32, arrival: &Arrival, lanes: u64, local: u64, generation: Generation) {
        if local == 0 || !arrival.is_ordered_in_memory_alone {
            self.loads.retain_mut(|load| {
                let is_behind = arrival.behind.contains(&load.way);
                load.behind += u8::from(is_behind);
                !is_behind || load.behind < load.way.most(generation)
            });
        }
        for register in arrival.registers.iter() {
            for &way in arrival.ways {
                let lanes = match way {
                    _ if register.as_scalar().is_some() => u64::MAX,
                    Way::FlatLds => lanes & local,
                    _ if arrival.is_flat() => lanes & !local,
                    _ => lanes,
                };
                // Of an earlier one that comes on the same way, no lane is left that matters.
                self.loads.iter_mut().filter(|load| load.register == register).for_each(|load| {
                    load.lanes &= !lanes;
                });
                if lanes != 0 {
                    self.loads.push(UnderWay { register, lanes, way, behind: 0, step });
                }
            }
        }
        self.retain(|load| load.lanes != 0);
    }
}

/// The lanes of vector registers that an instruction reads and writes.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    /// Those of EXEC.
    Own,
    /// Those of EXEC, and for its first source those that they take it from.
    Exchanged,
    /// The one that it names is read.
    ReadsOne,
    /// The one that it names is written.
    WritesOne,
    /// Whichever.
    All,
}

impl Lanes {
    fn of(inst: &Inst) -> Self {
        match inst.op {
            Op::v_readlane_b32 | Op::v_readfirstlane_b32 => Self::ReadsOne,
            Op::v_writelane_b32 => Self::WritesOne,
            Op::v_permlane16_b32
            | Op::v_permlanex16_b32
            | Op::v_permlane64_b32
            | Op::v_permlane16_swap_b32
            | Op::v_permlane32_swap_b32 => Self::All,
            op if op.matrix_product().is_some() => Self::All,
            op if op.is_of(Families::MOVES_LANES) => Self::Exchanged,
            _ if inst.mods.dpp.is_some() || inst.encoding.is_dpp8() => Self::Exchanged,
            _ => Self::Own,
        }
    }

    fn read(self, wave: &Wave, step: &Step) -> u64 {
        let source = |lane: usize| source_lane(wave, step, lane).map_or(0, |from| 1 << from);
        match self {
            Self::Own | Self::WritesOne => wave.exec,
            Self::Exchanged => lanes_of(wave.exec).fold(wave.exec, |all, lane| all | source(lane)),
            Self::ReadsOne => source(0),
            Self::All => u64::MAX,
        }
    }

    fn written(self, wave: &Wave, step: &Step) -> u64 {
        match self {
            Self::Own | Self::Exchanged | Self::ReadsOne => wave.exec,
            Self::WritesOne => 1 << (wave.scalar32(step.src[1]) as usize & (wave.lanes() - 1)),
            Self::All => u64::MAX,
        }
    }
}

/// What an instruction does with registers, as far as it matters.
#[derive(Debug)]
struct Facts {
    waits: Option<Waits>,
    reads: RegSet,
    writes: RegSet,
    lanes: Lanes,
    arrival: Option<Arrival>,
}

impl Facts {
    /// Those of a step; `None` of what is no instruction.
    fn of(program: &Program, number: u32) -> Option<Self> {
        let inst = program.inst_of(&program.steps[number as usize])?;
        let generation = program.target.arch.generation();
        let effects = inst.effects(program.target);
        let (lanes, writes) = (Lanes::of(&inst), effects.changes());
        let mut reads = reads_at_issue(&inst, &effects, program.target);
        if matches!(lanes, Lanes::WritesOne) {
            reads.subtract(&writes);
        }
        let arrival = Arrival::of(&inst, &effects, generation);
        Some(Self { waits: Waits::of(&inst, generation), reads, writes, lanes, arrival })
    }
}

/// Looks at each instruction while something is under way.
struct Looker {
    /// Where instructions are that bring something.
    arrivals: Stops,
    facts: HashMap<u32, Option<Rc<Facts>>>,
    waves: HashMap<u64, Loads>,
    /// The workgroup that runs.
    group: u64,
    footprint: Footprint,
}

impl Looker {
    fn new(program: &Program) -> Self {
        let brings = |step: &Step| {
            let Some(extra) = &step.extra else { return false };
            let effects = extra.inst.effects(program.target);
            let arrival = Arrival::of(&extra.inst, &effects, program.target.arch.generation());
            arrival.is_some_and(|arrival| !arrival.registers.is_empty())
        };
        Self {
            arrivals: Stops::of(program, brings),
            facts: HashMap::new(),
            waves: HashMap::new(),
            group: 0,
            footprint: Footprint::default(),
        }
    }

    /// Looks at the next instruction of a wave, and runs it.
    fn look(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let wave = &*context.wave;
        let (number, exec) = (wave.next, wave.exec);
        let generation = shared.program.target.arch.generation();
        let step = &shared.program.steps[number as usize];
        let is_skipped = wave.skips_vectors && step.flags.vector;
        let is_indexed = wave.gpr_index.enable != 0 && step.flags.vector;
        let facts =
            self.facts.entry(number).or_insert_with(|| Facts::of(shared.program, number).map(Rc::new));
        let Some(facts) = facts.clone() else {
            return run_slice(context, shared.config, &shared.hot, 1, counts);
        };
        let loads = self.waves.entry(wave.index).or_default();
        if let Some(waits) = &facts.waits {
            loads.wait(waits);
        } else if !is_skipped
            && !is_indexed
            && let Some((load, reads)) = loads.used(&facts, wave, step, generation)
        {
            let missing = missing(shared, wave, &load, reads);
            context.wave.current = number;
            return (0, Err(missing));
        }
        let arrival = facts.arrival.as_ref().filter(|_| !is_skipped);
        let local = match arrival {
            Some(arrival) if arrival.is_flat() => {
                self.footprint.vector(wave, step);
                self.footprint.local
            }
            _ => 0,
        };
        let ran = run_slice(context, shared.config, &shared.hot, 1, counts);
        if let (Some(arrival), Ok(())) = (arrival, &ran.1) {
            loads.issue(number, arrival, exec, local, generation);
        }
        ran
    }
}

/// The trap of a use that comes too early.
fn missing(shared: &Shared<'_>, wave: &Wave, load: &UnderWay, reads: bool) -> Box<Trap> {
    let kind = FaultKind::MissingWait {
        register: load.register.to_string(),
        reads,
        wait: load.way.wait(load.behind).text(shared.program.target),
    };
    let lane = (wave.exec & load.lanes != 0).then(|| (wave.exec & load.lanes).trailing_zeros() as usize);
    Trap::of_two(kind, lane.filter(|_| load.register.as_scalar().is_none()), load.step)
}

impl Observer for Looker {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let group = context.wave.index / u64::from(shared.waves_per_group.max(1));
        if group != self.group {
            self.group = group;
            self.waves.clear();
        }
        in_parts(context, slice, |context, left| {
            let is_idle = self.waves.get(&context.wave.index).is_none_or(|loads| loads.loads.is_empty());
            let straight = if is_idle { self.arrivals.steps_from(context.wave.next) } else { 0 };
            match straight {
                0 => self.look(shared, context, counts),
                steps => run_slice(context, shared.config, &shared.hot, steps.min(left), counts),
            }
        })
    }
}
