//! What each write of EXEC is: a site (a narrowing by a condition), the other half of one, a join, a restore, or whole-wave
//! mode.
//!
//! A forward data flow gives each mask a value number, through moves, lanes of VGPRs (SGPR spills) and whole-VGPR copies
//! (spills of those). The new mask is then compared with the old one: a known part of it is a narrowing, a mask that
//! EXEC had before is a restore. What cannot be told is reported as unclassified, never dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::dominators::{Structure, reverse_postorder};
use super::program::{Exit, Function, Located, Program};
use super::values::{Expr, Values, Vn};
use crate::isa::{Access, Condition, Flow, Inst, Op, RegSet, Value};

/// How a site narrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowing {
    /// Into a branch.
    If,
    /// Out of a loop, or on in it.
    LoopExit,
    /// By a comparison that writes EXEC.
    Cmpx,
}

/// An instruction that narrows EXEC by a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskSite {
    /// Index of the instruction in [`Program::insts`].
    pub inst: usize,
    /// Its block.
    pub block: usize,
    /// How it narrows.
    pub kind: Narrowing,
    /// The first SGPR of the pair into which the instruction itself saves the old mask.
    pub saves_old: Option<u8>,
    /// EXEC is known not to be zero before it.
    pub old_is_nonzero: bool,
    /// Loops around it.
    pub loop_depth: u32,
    /// Instructions that turn to the other half of this branch.
    pub else_insts: Vec<usize>,
}

/// A write of EXEC that is no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWrite {
    /// Turns to the other half of a branch (of a site, if it could be told which).
    Else,
    /// Adds lanes back.
    Join,
    /// A mask that EXEC had before.
    Restore,
    /// All lanes, or all inactive ones.
    WholeWave,
    /// Another constant.
    Constant,
    /// Not known.
    Unclassified,
}

/// The masks of one function.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// Its sites in order of address.
    pub sites: Vec<MaskSite>,
    /// Every other write of EXEC, in order of address, by instruction.
    pub writes: Vec<(usize, OtherWrite)>,
    /// Conditional branches on SCC or VCC, which all lanes take alike, by instruction.
    pub uniform: Vec<usize>,
}

/// The id under which the lanes of accumulation registers are known; spill slots follow.
const AGPRS: u32 = 256;
const SLOTS: u32 = 512;
/// The number of the EXEC place in [`Expr::Phi`].
const EXEC_PLACE: u32 = 200;

/// Values of all places at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    scalars: Vec<Vn>,
    /// By (VGPR, AGPR or slot; lane).
    lanes: BTreeMap<(u32, u8), Vn>,
    exec: Vn,
    nonzero: BTreeSet<Vn>,
}

/// A write of EXEC as the data flow sees it.
struct Event {
    inst: usize,
    block: usize,
    old: Vn,
    new: Vn,
    /// The mask operand, when there is one.
    operand: Option<Vn>,
    old_is_nonzero: bool,
}

struct Flowing<'a> {
    program: &'a Program,
    function: &'a Function,
    values: Values,
    slots: BTreeMap<(Option<u8>, i32), u32>,
    /// Halves of addresses formed from the program counter, by the instruction that completes them.
    formed: BTreeMap<usize, u32>,
    /// What a call of an unknown function writes.
    unknown: RegSet,
    clobbers: &'a dyn Fn(usize) -> RegSet,
}

impl Masks {
    /// Classifies every write of EXEC in `function`. `clobbers` gives the registers that a callee (and what it calls) may
    /// write.
    pub fn new(
        program: &Program,
        function: &Function,
        structure: &Structure,
        clobbers: &dyn Fn(usize) -> RegSet,
    ) -> Self {
        let mut flowing = Flowing::new(program, function, clobbers);
        let events = flowing.run();
        let mut masks = Self::default();
        let values = &mut flowing.values;
        let history: BTreeSet<Vn> = events.iter().map(|event| event.old).collect();
        let mut narrowed: Vec<(Vn, usize)> = Vec::new();
        let mut elses: Vec<(usize, Vec<Vn>)> = Vec::new();
        for event in &events {
            let inst = &program.insts[event.inst].inst;
            match classify(inst, event, values, &history) {
                Ok(kind) => {
                    narrowed.push((event.new, masks.sites.len()));
                    masks.sites.push(MaskSite {
                        inst: event.inst,
                        block: event.block,
                        kind: kind.unwrap_or_else(|| branch_kind(program, function, structure, event)),
                        saves_old: saves_old(inst),
                        old_is_nonzero: event.old_is_nonzero,
                        loop_depth: structure.depth[event.block],
                        else_insts: Vec::new(),
                    });
                }
                Err(other) => {
                    if other == OtherWrite::Else {
                        elses.push((event.inst, event.operand.into_iter().chain([event.new]).collect()));
                    }
                    masks.writes.push((event.inst, other));
                }
            }
        }
        // The other half's mask is made of the first half's: attach it to the closest site it mentions.
        for (inst, candidates) in elses {
            let site = candidates.iter().find_map(|&mask| {
                let of = |depth| {
                    let found = narrowed.iter().rev().find(|(new, _)| values.mentions(mask, *new, depth));
                    found.map(|&(_, site)| site)
                };
                (0..5).find_map(of)
            });
            if let Some(site) = site {
                masks.sites[site].else_insts.push(inst);
            }
        }
        for block in &function.blocks {
            let last = block.insts.end - 1;
            let condition = match program.insts[last].inst.flow() {
                Flow::CondBranch { condition, .. } => condition,
                _ => continue,
            };
            if !matches!(condition, Condition::Execz | Condition::Execnz) {
                masks.uniform.push(last);
            }
        }
        masks
    }
}

/// The targets of the calls and jumps through registers at the instructions `wanted`, as far as the values that reach them
/// are known, even parked in lanes or spilled meanwhile: (instruction, address). `unknown` is what a call of an unknown
/// function is taken to write.
pub(super) fn register_targets(
    program: &Program,
    function: &Function,
    clobbers: &dyn Fn(usize) -> RegSet,
    unknown: RegSet,
    wanted: &BTreeSet<usize>,
) -> Vec<(usize, u64)> {
    let mut flowing = Flowing { unknown, ..Flowing::new(program, function, clobbers) };
    let inputs = flowing.fixed_point();
    let mut targets = Vec::new();
    for (block, input) in inputs.into_iter().enumerate() {
        let range = function.blocks[block].insts.clone();
        let (last, Some(mut state)) = (range.end - 1, input) else { continue };
        let inst = &program.insts[last].inst;
        if !wanted.contains(&last) {
            continue;
        }
        for index in range.start..last {
            flowing.step(block, index, &mut state);
        }
        let Some(operand) = inst.operands.last() else { continue };
        let value = flowing.read64(&state, operand.value, last);
        if let Expr::Const64(address) = flowing.values.expr(value) {
            targets.push((last, address));
        }
    }
    targets
}

/// `Ok` for a site, with its kind if that does not depend on what follows it.
fn classify(
    inst: &Inst,
    event: &Event,
    values: &Values,
    history: &BTreeSet<Vn>,
) -> Result<Option<Narrowing>, OtherWrite> {
    let whole_wave = |vn| matches!(values.expr(vn), Expr::Const64(u64::MAX));
    if inst.op.name().starts_with("v_cmpx") {
        return Ok(Some(Narrowing::Cmpx));
    }
    if whole_wave(event.new) || values.expr(event.new) == Expr::Not(event.old) {
        return Err(OtherWrite::WholeWave);
    }
    if matches!(values.expr(event.new), Expr::Const64(_)) {
        return Err(OtherWrite::Constant);
    }
    match inst.op {
        Op::s_and_saveexec_b64 | Op::s_andn1_saveexec_b64 | Op::s_andn1_wrexec_b64 => return Ok(None),
        Op::s_andn2_saveexec_b64 | Op::s_andn2_wrexec_b64 | Op::s_xor_saveexec_b64 => {
            return Err(OtherWrite::Else);
        }
        Op::s_or_saveexec_b64 => return Err(OtherWrite::Else),
        Op::s_orn1_saveexec_b64 => return Err(OtherWrite::Join),
        _ => {}
    }
    let writes_exec = inst.operands.first().is_some_and(|operand| {
        operand.value == Value::EXEC && operand.dwords == 2 && operand.access != Access::Read
    });
    if !writes_exec {
        return Err(OtherWrite::Unclassified);
    }
    let reads_exec = inst.operands[1..].iter().any(|operand| operand.value == Value::EXEC);
    match inst.op {
        Op::s_and_b64 if reads_exec => return Ok(None),
        Op::s_andn2_b64 if inst.operands[1].value == Value::EXEC => return Ok(None),
        Op::s_or_b64 if reads_exec => return Err(OtherWrite::Join),
        Op::s_xor_b64 if reads_exec => return Err(OtherWrite::Else),
        _ => {}
    }
    let in_whole_wave_mode = whole_wave(event.old) || matches!(values.expr(event.old), Expr::Not(_));
    if event.new == event.old {
        Err(OtherWrite::Restore)
    } else if !in_whole_wave_mode && values.is_subset(event.new, event.old) {
        Ok(None)
    } else if history.contains(&event.new) {
        Err(OtherWrite::Restore)
    } else if values.is_subset(event.old, event.new) {
        Err(OtherWrite::Join)
    } else {
        Err(OtherWrite::Unclassified)
    }
}

/// A narrowing is a loop exit if the branch that follows it in its block leaves the innermost loop.
fn branch_kind(program: &Program, function: &Function, structure: &Structure, event: &Event) -> Narrowing {
    let block = &function.blocks[event.block];
    let last_write = block.insts.clone().rev().find(|&index| writes_exec(&program.insts[index].inst));
    let leaves = |inner: &super::dominators::Loop| {
        let outside = |block: &usize| inner.blocks.binary_search(block).is_err();
        block.successors.iter().any(outside)
    };
    if last_write == Some(event.inst)
        && block.successors.len() > 1
        && structure.innermost(event.block).is_some_and(leaves)
    {
        Narrowing::LoopExit
    } else {
        Narrowing::If
    }
}

/// The pair into which an instruction saves EXEC before changing it.
fn saves_old(inst: &Inst) -> Option<u8> {
    let saves = matches!(inst.op, Op::s_and_saveexec_b64 | Op::s_andn1_saveexec_b64);
    match inst.operands.first().map(|operand| operand.value) {
        Some(Value::Scalar(first)) if saves => Some(first),
        _ => None,
    }
}

/// Whether an instruction writes EXEC, by an operand or by what it is.
pub fn writes_exec(inst: &Inst) -> bool {
    let by_name = || {
        let name = inst.op.name();
        name.starts_with("v_cmpx") || name.ends_with("saveexec_b64") || name.ends_with("wrexec_b64")
    };
    let by_operand = inst.operands.iter().any(|operand| match operand.value {
        Value::Scalar(first) if operand.access != Access::Read => {
            first <= 127 && u16::from(first) + u16::from(operand.dwords) > 126
        }
        _ => false,
    });
    by_operand || by_name()
}

impl<'a> Flowing<'a> {
    fn new(program: &'a Program, function: &'a Function, clobbers: &'a dyn Fn(usize) -> RegSet) -> Self {
        let first = function.blocks.first().map_or(0, |block| block.insts.start);
        let end = function.blocks.last().map_or(0, |block| block.insts.end);
        let from = program.addresses.partition_point(|address| address.addc < first);
        let own = program.addresses[from..].iter().take_while(|address| address.addc < end);
        let halves = own.flat_map(|address| {
            [(address.add, address.target as u32), (address.addc, (address.target >> 32) as u32)]
        });
        let formed = halves.collect();
        Self {
            program,
            function,
            values: Values::default(),
            slots: BTreeMap::new(),
            formed,
            unknown: RegSet::all(),
            clobbers,
        }
    }

    /// The state at the start of each block that is reached.
    fn fixed_point(&mut self) -> Vec<Option<State>> {
        let blocks = &self.function.blocks;
        let successors: Vec<Vec<usize>> = blocks.iter().map(|block| block.successors.clone()).collect();
        let order = reverse_postorder(&successors);
        let mut inputs: Vec<Option<State>> = vec![None; blocks.len()];
        let mut outputs: Vec<Option<State>> = vec![None; blocks.len()];
        // Values can in principle keep changing around irreducible loops: after this many rounds, differing values
        // stay joined.
        for round in 0..10 {
            let mut changed = false;
            for &block in &order {
                let mut input = self.join(block, &outputs);
                if let Some(previous) = inputs[block].as_ref().filter(|_| round > 4) {
                    self.widen(block, &mut input, previous);
                }
                if inputs[block].as_ref() == Some(&input) {
                    continue;
                }
                changed = true;
                let mut state = input.clone();
                inputs[block] = Some(input);
                for index in blocks[block].insts.clone() {
                    self.step(block, index, &mut state);
                }
                outputs[block] = Some(state);
            }
            if !changed {
                break;
            }
        }
        inputs
    }

    /// The writes of EXEC in order of address.
    fn run(&mut self) -> Vec<Event> {
        let inputs = self.fixed_point();
        let blocks = &self.function.blocks;
        let mut events = Vec::new();
        for (block, input) in inputs.into_iter().enumerate() {
            let Some(mut state) = input else { continue };
            for index in blocks[block].insts.clone() {
                let inst = &self.program.insts[index].inst;
                let (old, old_is_nonzero) = (state.exec, state.nonzero.contains(&state.exec));
                let operand = mask_operand(inst).map(|value| self.read64(&state, value, index));
                self.step(block, index, &mut state);
                if writes_exec(inst) {
                    events.push(Event { inst: index, block, old, new: state.exec, operand, old_is_nonzero });
                }
            }
        }
        events
    }

    fn entry_state(&mut self) -> State {
        let scalars = (0..128).map(|register| self.values.number(Expr::Entry(register))).collect();
        // A wave starts, and a function is called, with some lane active: callers skip calls with no lanes.
        let exec = self.values.number(Expr::Opaque(usize::MAX, 0));
        let nonzero = if self.function.kernel.is_some() { BTreeSet::from([exec]) } else { BTreeSet::new() };
        State { scalars, lanes: BTreeMap::new(), exec, nonzero }
    }

    /// The state at the start of a block, from what is known of the ends of its predecessors.
    fn join(&mut self, block: usize, outputs: &[Option<State>]) -> State {
        let mut states: Vec<State> = Vec::new();
        if block == 0 {
            states.push(self.entry_state());
        }
        for &from in &self.function.blocks[block].predecessors {
            if let Some(output) = &outputs[from] {
                let mut state = output.clone();
                self.refine(from, block, &mut state);
                states.push(state);
            }
        }
        let Some(mut joined) = states.pop() else { return self.entry_state() };
        let exec_is_nonzero = joined.nonzero.contains(&joined.exec)
            && states.iter().all(|state| state.nonzero.contains(&state.exec));
        for other in &states {
            for register in 0..128 {
                if joined.scalars[register] != other.scalars[register] {
                    joined.scalars[register] = self.values.number(Expr::Phi(block, register as u32));
                }
            }
            joined.lanes.retain(|place, value| other.lanes.get(place) == Some(value));
            joined.nonzero.retain(|value| other.nonzero.contains(value));
            if joined.exec != other.exec {
                joined.exec = self.values.number(Expr::Phi(block, EXEC_PLACE));
            }
        }
        if exec_is_nonzero {
            joined.nonzero.insert(joined.exec);
        }
        joined
    }

    fn widen(&mut self, block: usize, input: &mut State, previous: &State) {
        for register in 0..128 {
            if input.scalars[register] != previous.scalars[register] {
                input.scalars[register] = self.values.number(Expr::Phi(block, register as u32));
            }
        }
        input.lanes.retain(|place, value| previous.lanes.get(place) == Some(value));
        input.nonzero.retain(|value| previous.nonzero.contains(value));
        if input.exec != previous.exec {
            input.exec = self.values.number(Expr::Phi(block, EXEC_PLACE));
        }
    }

    /// What the branch at the end of `from` tells on its way to `to`.
    fn refine(&self, from: usize, to: usize, state: &mut State) {
        let block = &self.function.blocks[from];
        let located = &self.program.insts[block.insts.end - 1];
        let Flow::CondBranch { offset, condition } = located.inst.flow() else { return };
        let start = self.program.insts[self.function.blocks[to].insts.start].pc;
        let taken = start == located.end().wrapping_add_signed(offset.into());
        let falls = start == located.end();
        if matches!(
            (condition, taken, falls),
            (Condition::Execz, false, true) | (Condition::Execnz, true, false)
        ) {
            state.nonzero.insert(state.exec);
        }
    }

    fn step(&mut self, block: usize, index: usize, state: &mut State) {
        let program = self.program;
        let Located { inst, .. } = &program.insts[index];
        let operand = |n: usize| inst.operands.get(n).map(|operand| operand.value);
        let old = state.exec;
        match (inst.op, operand(0), operand(1), operand(2)) {
            (Op::s_add_u32 | Op::s_addc_u32, Some(Value::Scalar(to)), ..)
                if self.formed.contains_key(&index) =>
            {
                let value = self.values.number(Expr::Const32(self.formed[&index]));
                self.write32(state, to, value);
            }
            (Op::s_mov_b64, Some(Value::Scalar(to)), Some(from), _) => {
                let value = self.read64(state, from, index);
                self.write64(state, to, value);
            }
            (Op::s_mov_b32, Some(Value::Scalar(to)), Some(from), _) => {
                let value = self.read32(state, from, index);
                self.write32(state, to, value);
            }
            (Op::s_not_b64, Some(Value::Scalar(to)), Some(from), _) => {
                let value = self.read64(state, from, index);
                let value = self.values.not(value);
                self.write64(state, to, value);
            }
            (
                Op::s_and_b64
                | Op::s_or_b64
                | Op::s_xor_b64
                | Op::s_andn2_b64
                | Op::s_orn2_b64
                | Op::s_nand_b64
                | Op::s_nor_b64
                | Op::s_xnor_b64,
                Some(Value::Scalar(to)),
                Some(a),
                Some(b),
            ) => {
                let (a, b) = (self.read64(state, a, index), self.read64(state, b, index));
                let values = &mut self.values;
                let value = match inst.op {
                    Op::s_and_b64 => values.and(a, b),
                    Op::s_or_b64 => values.or(a, b),
                    Op::s_xor_b64 => values.xor(a, b),
                    Op::s_andn2_b64 => {
                        let b = values.not(b);
                        values.and(a, b)
                    }
                    Op::s_orn2_b64 => {
                        let b = values.not(b);
                        values.or(a, b)
                    }
                    Op::s_nand_b64 => {
                        let both = values.and(a, b);
                        values.not(both)
                    }
                    Op::s_nor_b64 => {
                        let either = values.or(a, b);
                        values.not(either)
                    }
                    _ => {
                        let differ = values.xor(a, b);
                        values.not(differ)
                    }
                };
                self.write64(state, to, value);
                if inst.op == Op::s_or_b64
                    && to == 126
                    && [a, b].iter().any(|mask| state.nonzero.contains(mask))
                {
                    state.nonzero.insert(state.exec);
                }
            }
            (op, Some(Value::Scalar(to)), Some(from), _) if saveexec(op) => {
                let mask = self.read64(state, from, index);
                let was_nonzero = state.nonzero.contains(&old);
                let values = &mut self.values;
                let (not_mask, not_old) = (values.not(mask), values.not(old));
                let new = match op {
                    Op::s_and_saveexec_b64 => values.and(old, mask),
                    Op::s_or_saveexec_b64 => values.or(old, mask),
                    Op::s_xor_saveexec_b64 => values.xor(old, mask),
                    Op::s_andn1_saveexec_b64 | Op::s_andn1_wrexec_b64 => values.and(old, not_mask),
                    Op::s_andn2_saveexec_b64 | Op::s_andn2_wrexec_b64 => values.and(mask, not_old),
                    Op::s_orn1_saveexec_b64 => values.or(old, not_mask),
                    Op::s_orn2_saveexec_b64 => values.or(mask, not_old),
                    _ => values.number(Expr::Opaque(index, 7)),
                };
                let saved = if op.name().ends_with("wrexec_b64") { new } else { old };
                self.write64(state, to, saved);
                state.exec = new;
                if op == Op::s_or_saveexec_b64 && (was_nonzero || state.nonzero.contains(&mask)) {
                    state.nonzero.insert(new);
                }
            }
            (Op::v_writelane_b32, Some(Value::Vgpr(to)), Some(from), Some(lane)) => {
                match small_constant(lane) {
                    Some(lane) => {
                        let value = self.read32(state, from, index);
                        state.lanes.insert((u32::from(to), lane), value);
                    }
                    None => forget_lanes(state, u32::from(to)),
                };
            }
            (Op::v_readlane_b32, Some(Value::Scalar(to)), Some(Value::Vgpr(from)), Some(lane)) => {
                let known =
                    small_constant(lane).and_then(|lane| state.lanes.get(&(u32::from(from), lane)).copied());
                let value = known.unwrap_or_else(|| self.values.number(Expr::Opaque(index, 0)));
                self.write32(state, to, value);
            }
            _ => match self.whole_copy(inst, state) {
                Some((to, from)) => {
                    forget_lanes(state, to);
                    let copied: Vec<_> =
                        lanes_of(state, from).map(|((_, lane), value)| ((to, lane), value)).collect();
                    state.lanes.extend(copied);
                }
                None => self.generic(index, inst, state),
            },
        }
        let block = &self.function.blocks[block];
        let clobbered = match block.exit {
            _ if index + 1 != block.insts.end => None,
            Exit::Call(callee) => Some((self.clobbers)(callee)),
            Exit::Unknown => Some(self.unknown),
            _ => None,
        };
        if let Some(clobbered) = clobbered {
            for register in 0..=107u8 {
                if clobbered.contains(crate::isa::Reg::scalar(register)) {
                    state.scalars[usize::from(register)] = self.values.number(Expr::Opaque(index, register));
                }
            }
            state.lanes.retain(|&(register, _), _| match register {
                0..AGPRS => !clobbered.contains(crate::isa::Reg::vgpr(register as u8)),
                AGPRS..SLOTS => !clobbered.contains(crate::isa::Reg::agpr((register - AGPRS) as u8)),
                // Spill slots belong to this function's frame.
                _ => true,
            });
        }
    }

    /// A copy of all lanes of a vector register to another, or to or from a spill slot: (to, from).
    fn whole_copy(&mut self, inst: &Inst, state: &State) -> Option<(u32, u32)> {
        let all_lanes = matches!(self.values.expr(state.exec), Expr::Const64(u64::MAX));
        if !all_lanes {
            return None;
        }
        let vector = |n: usize| match inst.operands.get(n)?.value {
            Value::Vgpr(register) => Some(u32::from(register)),
            Value::Agpr(register) => Some(AGPRS + u32::from(register)),
            _ => None,
        };
        let mut slot = |address: &[usize]| {
            let base = address.iter().find_map(|&n| match inst.operands.get(n)?.value {
                Value::Scalar(register) => Some(register),
                _ => None,
            });
            let next = SLOTS + self.slots.len() as u32;
            *self.slots.entry((base, inst.mods.offset)).or_insert(next)
        };
        match inst.op {
            Op::v_mov_b32 | Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32 | Op::v_accvgpr_mov_b32
                if inst.mods.sdwa.is_none() && inst.mods.dpp.is_none() =>
            {
                Some((vector(0)?, vector(1)?))
            }
            // buffer_*_dword vdata, vaddr, srsrc, soffset
            Op::buffer_store_dword => Some((slot(&[3]), vector(0)?)),
            Op::buffer_load_dword => Some((vector(0)?, slot(&[3]))),
            // scratch_store_dword vaddr, vdata, saddr; scratch_load_dword vdst, vaddr, saddr
            Op::scratch_store_dword => Some((slot(&[2]), vector(1)?)),
            Op::scratch_load_dword => Some((vector(0)?, slot(&[2]))),
            _ => None,
        }
    }

    /// An instruction without a rule: what it writes is new. A comparison's mask has only active lanes.
    fn generic(&mut self, index: usize, inst: &Inst, state: &mut State) {
        let name = inst.op.name();
        let is_compare = name.starts_with("v_cmp_") || name.starts_with("v_cmpx_");
        for (n, operand) in inst.operands.iter().enumerate() {
            if operand.access == Access::Read {
                continue;
            }
            match operand.value {
                Value::Scalar(first) if operand.dwords == 2 && first != 126 => {
                    let fresh = self.values.number(Expr::Opaque(index, n as u8));
                    let value = if is_compare { self.values.and(state.exec, fresh) } else { fresh };
                    self.write64(state, first, value);
                }
                Value::Scalar(first) => {
                    for k in 0..operand.dwords {
                        let value = self.values.number(Expr::Opaque(index, 16 + 16 * n as u8 + k));
                        self.write32(state, first.saturating_add(k), value);
                    }
                }
                Value::Vgpr(first) => {
                    for k in 0..u32::from(operand.dwords) {
                        forget_lanes(state, u32::from(first) + k);
                    }
                }
                Value::Agpr(first) => {
                    for k in 0..u32::from(operand.dwords) {
                        forget_lanes(state, AGPRS + u32::from(first) + k);
                    }
                }
                _ => {}
            }
        }
        if name.starts_with("v_cmpx") {
            let fresh = self.values.number(Expr::Opaque(index, 0));
            state.exec = self.values.and(state.exec, fresh);
        }
    }

    fn read32(&mut self, state: &State, value: Value, index: usize) -> Vn {
        match value {
            Value::Scalar(126) => self.values.half(state.exec, 0),
            Value::Scalar(127) => self.values.half(state.exec, 1),
            Value::Scalar(register) => state.scalars[usize::from(register & 127)],
            other => match constant(other) {
                Some(value) => self.values.number(Expr::Const32(value as u32)),
                None => self.values.number(Expr::Opaque(index, 9)),
            },
        }
    }

    fn read64(&mut self, state: &State, value: Value, index: usize) -> Vn {
        match value {
            Value::Scalar(126) => state.exec,
            Value::Scalar(register) if register < 127 => {
                let (low, high) =
                    (state.scalars[usize::from(register)], state.scalars[usize::from(register) + 1]);
                self.values.pair(low, high)
            }
            other => match constant(other) {
                Some(value) => self.values.const64(value as u64),
                None => self.values.number(Expr::Opaque(index, 10)),
            },
        }
    }

    fn write32(&mut self, state: &mut State, to: u8, value: Vn) {
        match to {
            126 | 127 => {
                let (low, high) = (self.values.half(state.exec, 0), self.values.half(state.exec, 1));
                state.exec =
                    if to == 126 { self.values.pair(value, high) } else { self.values.pair(low, value) };
            }
            _ => state.scalars[usize::from(to & 127)] = value,
        }
    }

    fn write64(&mut self, state: &mut State, to: u8, value: Vn) {
        if to == 126 {
            state.exec = value;
        } else {
            let (low, high) = (self.values.half(value, 0), self.values.half(value, 1));
            self.write32(state, to, low);
            self.write32(state, to.saturating_add(1), high);
        }
    }
}

fn saveexec(op: Op) -> bool {
    op.name().ends_with("saveexec_b64") || op.name().ends_with("wrexec_b64")
}

/// The operand that holds the other mask of an instruction that combines EXEC with one.
fn mask_operand(inst: &Inst) -> Option<Value> {
    let sources = inst.operands.iter().filter(|operand| operand.access == Access::Read);
    sources.map(|operand| operand.value).find(|&value| value != Value::EXEC)
}

fn lanes_of(state: &State, register: u32) -> impl Iterator<Item = ((u32, u8), Vn)> {
    state.lanes.range((register, 0)..=(register, u8::MAX)).map(|(&place, &value)| (place, value))
}

fn forget_lanes(state: &mut State, register: u32) {
    let known: Vec<_> = lanes_of(state, register).map(|(place, _)| place).collect();
    for place in known {
        state.lanes.remove(&place);
    }
}

fn small_constant(value: Value) -> Option<u8> {
    constant(value).and_then(|value| u8::try_from(value).ok()).filter(|&lane| lane < 64)
}

/// An integer operand, sign-extended as a 64-bit scalar operation does.
fn constant(value: Value) -> Option<i64> {
    match value {
        Value::Literal(value) => Some(i64::from(value as i32)),
        Value::Inline(code @ 128..=192) => Some(i64::from(code) - 128),
        Value::Inline(code @ 193..=208) => Some(192 - i64::from(code)),
        Value::Imm(value) => Some(value),
        _ => None,
    }
}
