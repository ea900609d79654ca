//! NaNs and infinities that a kernel makes of numbers, and that come to memory.
//!
//! Each float operation is looked at: a result that is no number is *made* there if the operands are numbers,
//! or a NaN if they are numbers and infinities. Many are made on the way of a division or a root and are gone
//! before its end. The NaN that a division begins with, where only its end has the result, is none. So one
//! that is made is followed, through registers, LDS and scratch memory, as long as it is there: it is told
//! when it, or what comes of it, is stored to device memory. What a launch finds in its buffers is the host's
//! business, and a constant is meant.
//!
//! A kernel that makes none runs on between its float operations. Not looked at: arithmetic of scalar
//! registers, floats of eight bits and less in matrices, sums that atomics make in memory.

mod carried;
mod class;
mod kinds;
mod operands;

use std::collections::HashMap;
use std::rc::Rc;

use amdgpu_isa::{NumberKind, Op, Reg};

use super::stops::Stops;
use super::{Launch, Observer, Shared, StepCount, in_parts, look_again, run_groups, run_slice};
use crate::check::{Fault, FaultKind, NotFinite, Trap};
use crate::config::Config;
use crate::exec::footprint::Footprint;
use crate::memory::{Copied, Memory};
use crate::program::{Action, Context, Program, Step};
use crate::record::Sampled;
use crate::wave::{GprIndex, LANES, NO_SCALAR, REGISTERS, Row, Scratch, Src, Wave, lanes_of};
use carried::{Carried, MakerId, OwnMemory, Place};
use class::{Class, may_be};
use operands::{FloatResult, Operands, begins_a_quotient, ends_a_quotient};

/// Launches a kernel, which ended well from the memory `before`, to find such a value. Memory stays as it is.
/// If not all workgroups could be looked at, returns how many were: each runs to its end before the next
/// begins, which one that waits for another never comes to.
///
/// # Errors
/// The first that is stored, in the order of workgroups ([`FaultKind::NotFinite`]), or that the launch was
/// stopped.
pub(crate) fn find(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
) -> Result<Option<Sampled>, Fault> {
    look_again(memory, config.clone(), program, launch, before, |shared| {
        let mut looker = Looker::new(program);
        let ended = run_groups(&shared, shared.groups(), &mut looker);
        match (looker.found, ended) {
            (Some(found), _) => Err(*found),
            (None, Ok(())) => Ok(None),
            (None, Err(fault)) if fault.kind == FaultKind::Stopped => Err(*fault),
            (None, Err(_)) => Ok(Some(Sampled { workgroups: looker.group, of: shared.groups() })),
        }
    })
}

/// An operation that made a value which is no number.
#[derive(Clone, Debug)]
struct Maker {
    wave: u64,
    lane: usize,
    step: u32,
    calls: Vec<u32>,
    is_nan: bool,
    operands: Vec<String>,
}

/// Registers that an instruction reads and writes.
struct Touched {
    reads: Vec<Place>,
    writes: Vec<Place>,
}

/// Looks at each float operation.
struct Looker {
    /// Where float operations are.
    floats: Stops,
    touched: HashMap<u32, Rc<Touched>>,
    carried: Carried,
    makers: Vec<Maker>,
    by_place: HashMap<(u64, usize, u32), MakerId>,
    /// The workgroup that runs.
    group: u64,
    operands: [Operands; 2],
    footprint: Footprint,
    found: Option<Box<Fault>>,
}

/// What an instruction may take elsewhere: the lane that has it, the value, and who made it.
type Source = (usize, u32, MakerId);

impl Looker {
    fn new(program: &Program) -> Self {
        let is_float = |step: &Step| operations(step).iter().any(|step| FloatResult::of(step).is_some());
        Self {
            floats: Stops::of(program, is_float),
            touched: HashMap::new(),
            carried: Carried::default(),
            makers: Vec::new(),
            by_place: HashMap::new(),
            group: 0,
            operands: Default::default(),
            footprint: Footprint::default(),
            found: None,
        }
    }

    fn touched(&mut self, shared: &Shared<'_>, number: u32) -> Rc<Touched> {
        let known =
            self.touched.entry(number).or_insert_with(|| Rc::new(Touched::of(shared.program, number)));
        known.clone()
    }

    /// What the registers that an instruction reads have of what was made.
    fn sources(&self, wave: &Wave, touched: &Touched) -> Vec<Source> {
        let mut sources = Vec::new();
        for &place in &touched.reads {
            let Some(makers) = self.carried.of_register(wave.index, place) else { continue };
            let makers = makers.iter().enumerate().filter_map(|(lane, maker)| Some((lane, (*maker)?)));
            sources.extend(makers.map(|(lane, maker)| (lane, value(wave, place, lane), maker)));
        }
        sources
    }

    /// Runs an instruction, and looks at what it has made and where it has taken what was made.
    fn look(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let run = |context: &mut Context<'_>, counts: &mut [StepCount]| {
            run_slice(context, shared.config, &shared.hot, 1, counts)
        };
        let number = context.wave.next;
        let step = &shared.program.steps[number as usize];
        if context.wave.skips_vectors && step.flags.vector {
            return run(context, counts);
        }
        // By an index, values are only moved.
        let is_indexed = context.wave.gpr_index.enable != 0 && step.flags.vector;
        let parts = if is_indexed { &[] } else { operations(step) };
        let results: Vec<Option<FloatResult>> = parts.iter().map(FloatResult::of).collect();
        for ((part, result), operands) in parts.iter().zip(&results).zip(&mut self.operands) {
            if let Some(result) = result {
                operands.take(context.wave, part, result);
            }
        }
        let follows = !self.carried.is_empty();
        let touched = follows.then(|| match is_indexed {
            true => Rc::new(Touched::indexed(context.wave, step)),
            false => self.touched(shared, number),
        });
        let sources = touched.as_ref().map(|touched| self.sources(context.wave, touched)).unwrap_or_default();
        let before: Vec<(Place, Row)> = match &touched {
            Some(touched) => touched.writes.iter().map(|place| (*place, row(context.wave, *place))).collect(),
            None => Vec::new(),
        };
        let exec = context.wave.exec;
        let memory = step.extra.as_ref().and_then(|extra| extra.memory).filter(|_| follows);
        if memory.is_some() {
            self.footprint.vector(context.wave, step);
            self.stores(shared, context.wave, step);
        }
        let ran = run(context, counts);
        if ran.1.is_err() || self.found.is_some() {
            return ran;
        }
        let wave = &*context.wave;
        // What floats are made is looked at by itself.
        let is_result = |place: &Place| match *place {
            Place::Row(row) => results.iter().flatten().any(|result| result.rows().contains(&row)),
            Place::Scalar(_) => false,
        };
        for (place, before) in before.iter().filter(|(place, _)| !is_result(place)) {
            match memory {
                Some(access) if !matches!(access.action, Action::Store { .. }) => {
                    self.loads(wave, access.dst, *place);
                }
                _ => self.moves(wave, *place, before, &sources, exec),
            }
        }
        let is_matrix = step.op.matrix_product().is_some();
        let lanes = if is_matrix { shared.program.target.wave.all_lanes() } else { exec };
        for (which, (part, result)) in parts.iter().zip(&results).enumerate() {
            if let Some(result) = result {
                self.made(wave, (number, part.op), which, result, &sources, lanes);
            }
        }
        ran
    }

    /// Looks at the float result of an operation.
    fn made(
        &mut self,
        wave: &Wave,
        step: (u32, Op),
        which: usize,
        result: &FloatResult,
        sources: &[Source],
        lanes: u64,
    ) {
        if self.carried.is_empty() && !result.may_be_other(wave) {
            return;
        }
        let element = result.element();
        for dword in (0..usize::from(result.dwords)).step_by(element) {
            let row = result.row + dword as u16;
            // The upper dword of a double says what it is.
            let place = Place::Row(row + element as u16 - 1);
            for lane in lanes_of(lanes) {
                let after = [row, row + element as u16 - 1].map(|row| wave.rows[usize::from(row)][lane]);
                let before = self.operands[which].before(dword, lane);
                if result.kind != NumberKind::F64 && after[0] == before[0] {
                    // As before, or not written: of a register of two halves, one may be another's.
                    continue;
                }
                // A half that is as before is nothing that was made here.
                let fresh = match result.kind {
                    NumberKind::F16 | NumberKind::Bf16 => changed_halves(before[0], after[0]),
                    _ => after[0],
                };
                let maker = match Class::of(result.kind, after[0], after[1]) {
                    Class::Finite => None,
                    _ => {
                        let class = Class::of(result.kind, fresh, after[1]);
                        self.maker(wave, step, which, lane, class, sources)
                    }
                };
                self.carried.set_register(wave.index, place, lane, maker);
            }
        }
    }

    /// Who made a result: another operation, of which it comes; this one; or nobody in the kernel.
    fn maker(
        &mut self,
        wave: &Wave,
        step: (u32, Op),
        which: usize,
        lane: usize,
        class: Class,
        sources: &[Source],
    ) -> Option<MakerId> {
        let (step, op) = step;
        let own = sources.iter().find(|(of, ..)| *of == lane);
        let operands = &self.operands[which];
        let worst = operands.worst(lane);
        let of_numbers = !operands.has_others && worst < class;
        let is_here = of_numbers && worst == Class::Finite && ends_a_quotient(op);
        if let Some((_, _, maker)) = own.or_else(|| sources.first().filter(|_| operands.crosses()))
            && !is_here
        {
            return Some(*maker);
        }
        if !of_numbers || begins_a_quotient(op) {
            return None;
        }
        let maker = Maker {
            wave: wave.index,
            lane,
            step,
            calls: wave.calls.steps().collect(),
            is_nan: class == Class::Nan,
            operands: operands.shown(lane),
        };
        let next = MakerId(self.makers.len() as u32);
        let id = *self.by_place.entry((wave.index, lane, step)).or_insert(next);
        match self.makers.get_mut(id.0 as usize) {
            Some(known) => *known = maker,
            None => self.makers.push(maker),
        }
        Some(id)
    }

    /// An instruction that computes no float has written a register: what it has taken there is still
    /// somebody's.
    fn moves(&mut self, wave: &Wave, place: Place, before: &Row, sources: &[Source], exec: u64) {
        let lanes = if matches!(place, Place::Scalar(_)) { 1 } else { LANES };
        for (lane, before) in before.iter().enumerate().take(lanes) {
            let after = value(wave, place, lane);
            let is_active = exec >> lane & 1 != 0 || matches!(place, Place::Scalar(_));
            if !is_active && after == *before {
                continue;
            }
            let same = |source: &&Source| holds(after, source.1);
            let own = sources.iter().filter(|source| source.0 == lane).find(same);
            let maker = own.or_else(|| sources.iter().find(same)).map(|source| source.2);
            self.carried.set_register(wave.index, place, lane, maker);
        }
    }

    /// A load has written a register, the first of which is `first`.
    fn loads(&mut self, wave: &Wave, first: u16, place: Place) {
        let Place::Row(row) = place else { return };
        let dword = u64::from(row.saturating_sub(first));
        for lane in 0..LANES {
            let from = if self.footprint.local >> lane & 1 != 0 {
                let start = u64::from(self.footprint.offset[lane]);
                let bytes = u64::from(self.footprint.bytes).max(4);
                let at = match self.footprint.second {
                    Some(second) if 4 * dword >= bytes => {
                        start.wrapping_add_signed(second.into()) + 4 * dword - bytes
                    }
                    _ => start + 4 * dword,
                };
                Some((OwnMemory::Lds, at))
            } else if self.footprint.global >> lane & 1 != 0 {
                let at = wave.scratch.offset_of(self.footprint.address[lane]);
                at.map(|at| (OwnMemory::Scratch(wave.index), in_scratch(at, dword)))
            } else {
                continue;
            };
            let maker = from.and_then(|(memory, at)| self.carried.of_memory(memory, at));
            self.carried.set_register(wave.index, place, lane, maker);
        }
    }

    /// A store or an atomic is about to write what registers have: to device memory, it is told.
    fn stores(&mut self, shared: &Shared<'_>, wave: &Wave, step: &Step) {
        let Some(access) = step.extra.as_ref().and_then(|extra| extra.memory) else { return };
        let bytes = match access.action {
            Action::Store { bytes, .. } | Action::Atomic { bytes, .. } => bytes,
            Action::Load { .. } => return,
        };
        for lane in lanes_of(self.footprint.global | self.footprint.local) {
            for dword in 0..u64::from(bytes.div_ceil(4)) {
                let of = |data: u16| {
                    let place = Place::Row(data + dword as u16);
                    self.carried.of_register(wave.index, place).and_then(|makers| makers[lane])
                };
                let makers = access.data.map(of);
                if self.footprint.local >> lane & 1 != 0 {
                    let start = u64::from(self.footprint.offset[lane]);
                    self.carried.set_memory(OwnMemory::Lds, start + 4 * dword, makers[0]);
                    if let Some(second) = self.footprint.second {
                        let at = start.wrapping_add_signed(second.into()) + 4 * dword;
                        self.carried.set_memory(OwnMemory::Lds, at, makers[1]);
                    }
                    continue;
                }
                let address = self.footprint.address[lane];
                match (wave.scratch.offset_of(address), makers[0]) {
                    (Some(at), maker) => {
                        let memory = OwnMemory::Scratch(wave.index);
                        self.carried.set_memory(memory, in_scratch(at, dword), maker);
                    }
                    (None, Some(maker)) if self.found.is_none() => {
                        self.found = Some(self.fault(shared, maker, address + 4 * dword, bytes.min(4)));
                    }
                    (None, _) => {}
                }
            }
        }
    }

    /// The fault of a value that somebody made, and that is stored.
    fn fault(&self, shared: &Shared<'_>, maker: MakerId, address: u64, size: u8) -> Box<Fault> {
        let maker = &self.makers[maker.0 as usize];
        let kind = FaultKind::NotFinite {
            made: if maker.is_nan { NotFinite::Nan } else { NotFinite::Infinity },
            operands: maker.operands.clone(),
            address,
            size: size.into(),
            inside: shared.memory.inside(address),
        };
        shared.locate_at(maker.wave, maker.step, maker.calls.clone(), *Trap::at_lane(kind, maker.lane))
    }
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
            self.carried.clear();
            self.makers.clear();
            self.by_place.clear();
        }
        in_parts(context, slice, |context, left| {
            let straight = match self.carried.is_empty() {
                true => self.floats.steps_from(context.wave.next),
                false => 0,
            };
            let (ran, outcome) = match straight {
                0 => self.look(shared, context, counts),
                steps => run_slice(context, shared.config, &shared.hot, steps.min(left), counts),
            };
            let stopped = if self.found.is_some() { Err(Trap::new(FaultKind::Stopped)) } else { Ok(()) };
            (ran, outcome.and(stopped))
        })
    }
}

impl Touched {
    /// Those of a step whose vector registers are named by an index.
    fn indexed(wave: &Wave, step: &Step) -> Self {
        // Beyond the last register is a fault of its own.
        let rows = |first: u16, dwords: u8, bit: u32| {
            let first = wave.indexed(first, bit).ok();
            first.into_iter().flat_map(move |first| (first..first + u16::from(dwords.max(1))).map(Place::Row))
        };
        let bits = [GprIndex::SRC0, GprIndex::SRC1, GprIndex::SRC2];
        let sources = step.src.iter().zip(step.src_dwords).zip(bits);
        let reads = sources.flat_map(|((src, dwords), bit)| match *src {
            Src::Row(first) => rows(first, dwords, bit).collect(),
            Src::Scalar(code) => vec![Place::Scalar(code)],
            _ => Vec::new(),
        });
        let result = if step.dst_dwords > 0 && step.sdst == NO_SCALAR { Some(step.dst) } else { None };
        let writes = result.into_iter().flat_map(|first| rows(first, step.dst_dwords, GprIndex::DST));
        Self { reads: reads.collect(), writes: writes.collect() }
    }

    fn of(program: &Program, number: u32) -> Self {
        let step = &program.steps[number as usize];
        let Some(inst) = program.inst_of(step) else {
            return Self { reads: Vec::new(), writes: Vec::new() };
        };
        let effects = inst.effects(program.target);
        Self {
            reads: effects.reads.iter().filter_map(place).collect(),
            writes: effects.changes().iter().filter_map(place).collect(),
        }
    }
}

/// The operations of an instruction, of which some have two.
fn operations(step: &Step) -> &[Step] {
    match step.extra.as_ref().and_then(|extra| extra.pair.as_ref()) {
        Some(pair) => &pair[..],
        None => std::slice::from_ref(step),
    }
}

/// The place of a register; `None` of one that holds no numbers.
fn place(reg: Reg) -> Option<Place> {
    let state = [Reg::EXEC_LO, Reg::EXEC_HI, Reg::MODE, Reg::SCC];
    if state.contains(&reg) {
        return None;
    }
    let agpr = |number: u8| Place::Row((REGISTERS / 2) as u16 + u16::from(number));
    let vector = reg.as_vgpr().map(|number| Place::Row(number.into())).or(reg.as_agpr().map(agpr));
    vector.or(reg.as_scalar().map(Place::Scalar))
}

fn value(wave: &Wave, place: Place, lane: usize) -> u32 {
    match place {
        Place::Row(row) => wave.rows[usize::from(row)][lane],
        Place::Scalar(code) => wave.s.get(usize::from(code)).copied().unwrap_or(0),
    }
}

/// What a register holds, by lane.
fn row(wave: &Wave, place: Place) -> Row {
    match place {
        Place::Row(row) => wave.rows[usize::from(row)],
        Place::Scalar(_) => [value(wave, place, 0); LANES],
    }
}

/// Halves of a dword that are not as they were; zero in place of the others.
const fn changed_halves(before: u32, after: u32) -> u32 {
    let low = if before & 0xffff == after & 0xffff { 0 } else { after & 0xffff };
    let high = if before >> 16 == after >> 16 { 0 } else { after & 0xffff_0000 };
    low | high
}

/// Whether a dword has a value in it that is no number, or one half of that.
fn holds(dword: u32, value: u32) -> bool {
    let halves = |dword: u32| [dword & 0xffff, dword >> 16];
    let is_half = |half: u32| may_be(NumberKind::F16, half) || may_be(NumberKind::Bf16, half);
    // The sign may be another one.
    let same = (dword ^ value) & 0x7fff_ffff == 0;
    same || halves(value).into_iter().any(|half| is_half(half) && halves(dword).contains(&half))
}

/// Where the dword of a number behind a first one is in a lane's scratch memory: each lies in a row of its
/// own.
const fn in_scratch(first: usize, dword: u64) -> u64 {
    first as u64 + Scratch::ROW * dword
}
