//! The data flow: values of masks at the start of each block, and at each write of EXEC.

use std::collections::{BTreeMap, BTreeSet};

use super::classify::writes_exec;
use super::conditions::Made;
use super::slice::Slice;
use super::state::{EXEC_PLACE, SCALARS, State, VnSet};
use super::step::saves_exec;
use crate::analysis::dominators::reverse_postorder;
use crate::analysis::program::{Function, Program};
use crate::analysis::values::{Expr, Values, Vn};
use crate::isa::{Access, Condition, Flow, Inst, Op, RegSet, Value};

/// A write of EXEC as the data flow sees it.
pub(super) struct Event {
    pub(super) inst: usize,
    pub(super) block: usize,
    pub(super) old: Vn,
    pub(super) new: Vn,
    /// The mask operand, when there is one.
    pub(super) operand: Option<Vn>,
    pub(super) old_is_nonzero: bool,
    /// The old mask is all lanes, or those that the kernel was started with.
    pub(super) old_is_full: bool,
}

/// The data flow of one function.
pub(super) struct Flowing<'a> {
    pub(super) program: &'a Program,
    pub(super) function: &'a Function,
    pub(super) values: Values,
    pub(super) slots: BTreeMap<(Option<u8>, i32), u32>,
    /// Halves of addresses formed from the program counter, by the instruction that completes them.
    pub(super) formed: BTreeMap<usize, u32>,
    /// What a call of an unknown function writes.
    pub(super) unknown: RegSet,
    pub(super) clobbers: &'a dyn Fn(usize) -> RegSet,
    /// What registers that do not matter hold where paths meet.
    pub(super) dead: Vn,
    /// The masks that were copied from EXEC, to be put back later.
    pub(super) saved: BTreeSet<Vn>,
    /// What joined values are made of.
    pub(super) joined: BTreeMap<Vn, Made>,
    /// How often that changed.
    pub(super) joined_changes: u32,
    /// EXEC at the function's entry.
    pub(super) entry_exec: Vn,
    /// What matters; other registers hold `dead`, or anything.
    pub(super) slice: Slice,
}

impl<'a> Flowing<'a> {
    /// The values that the instructions `asked` read matter beside EXEC's.
    pub(super) fn new(
        program: &'a Program,
        function: &'a Function,
        clobbers: &'a dyn Fn(usize) -> RegSet,
        asked: &BTreeSet<usize>,
    ) -> Self {
        let first = function.blocks.first().map_or(0, |block| block.insts.start);
        let end = function.blocks.last().map_or(0, |block| block.insts.end);
        let from = program.addresses.partition_point(|address| address.addc < first);
        let own = program.addresses[from..].iter().take_while(|address| address.addc < end);
        let halves = own.flat_map(|address| {
            [(address.add, address.target as u32), (address.addc, (address.target >> 32) as u32)]
        });
        let formed = halves.collect();
        let mut values = Values::default();
        let entry_exec = values.number(Expr::Opaque(usize::MAX, 0));
        let dead = values.number(Expr::Opaque(usize::MAX, 1));
        Self {
            program,
            function,
            values,
            saved: BTreeSet::new(),
            joined: BTreeMap::new(),
            joined_changes: 0,
            entry_exec,
            slots: BTreeMap::new(),
            formed,
            unknown: RegSet::all(),
            clobbers,
            dead,
            slice: Slice::new(program, function, asked),
        }
    }

    /// The state at the start of each block that is reached.
    pub(super) fn fixed_point(&mut self) -> Vec<Option<State>> {
        let function = self.function;
        let blocks = &function.blocks;
        let order = reverse_postorder(blocks.len(), |block| &blocks[block].successors);
        let mut inputs: Vec<Option<State>> = vec![None; blocks.len()];
        let mut outputs: Vec<Option<State>> = vec![None; blocks.len()];
        // Blocks of which some predecessor ends otherwise than when they were last looked at, and what was joined then.
        let mut stale = vec![true; blocks.len()];
        let mut joins: Vec<Vec<(Vn, Vn)>> = vec![Vec::new(); blocks.len()];
        // What was known of joined values when they were last noted.
        let mut noted: Vec<Option<u32>> = vec![None; blocks.len()];
        // Values can in principle keep changing around irreducible loops: after this many rounds, differing values
        // stay joined.
        for round in 0..10 {
            let mut changed = false;
            for &block in &order {
                let joins = &mut joins[block];
                let is_noted = noted[block].replace(self.joined_changes) == Some(self.joined_changes);
                if !std::mem::replace(&mut stale[block], false) {
                    changed |= !is_noted && self.note_joins(joins);
                    continue;
                }
                joins.clear();
                let mut input = self.join(block, &outputs, joins);
                if let Some(previous) = inputs[block].as_ref().filter(|_| round > 4) {
                    self.widen(block, &mut input, previous, joins);
                }
                changed |= self.note_joins(joins);
                if inputs[block].as_ref() == Some(&input) {
                    continue;
                }
                changed = true;
                let mut state = input.clone();
                inputs[block] = Some(input);
                self.run_through(block, &mut state);
                outputs[block] = Some(state);
                for &successor in &blocks[block].successors {
                    stale[successor] = true;
                }
            }
            if !changed {
                break;
            }
        }
        inputs
    }

    /// The writes of EXEC in order of address.
    pub(super) fn run(&mut self) -> Vec<Event> {
        let inputs = self.fixed_point();
        let blocks = &self.function.blocks;
        let mut events = Vec::new();
        for (block, input) in inputs.into_iter().enumerate() {
            let Some(mut state) = input else { continue };
            let insts = blocks[block].insts.clone();
            let mut at = insts.start;
            loop {
                let any = (at < insts.end).then_some(at);
                let next = if state.lanes.is_empty() { self.slice.next_or_exec(at..insts.end) } else { any };
                let Some(index) = next else { break };
                at = index + 1;
                let (old, old_is_full) = (state.exec, state.full);
                if self.copies_exec(index) {
                    self.saved.insert(old);
                }
                if !writes_exec(self.program, index) {
                    self.step(index, &mut state);
                    continue;
                }
                let old_is_nonzero = old_is_full || state.nonzero.contains(old);
                let operand =
                    mask_operand(self.program.inst(index)).map(|value| self.read64(&state, value, index));
                self.step(index, &mut state);
                let new = state.exec;
                events.push(Event { inst: index, block, old, new, operand, old_is_nonzero, old_is_full });
            }
        }
        events
    }

    fn entry_state(&mut self) -> State {
        let scalars = std::array::from_fn(|register| {
            let is_relevant = self.slice.at_start(0) >> register & 1 != 0;
            if is_relevant { self.values.number(Expr::Entry(register as u8)) } else { self.dead }
        });
        // A wave starts, and a function is called, with some lane active: callers skip calls with no lanes.
        let exec = self.entry_exec;
        let full = self.function.kernel.is_some();
        let mut nonzero = VnSet::default();
        if full {
            nonzero.insert(exec);
        }
        State { scalars, lanes: BTreeMap::new(), exec, full, nonzero }
    }

    /// The state at the start of a block, from what is known of the ends of its predecessors. Adds each value that is joined
    /// from others, with each of these.
    fn join(&mut self, block: usize, outputs: &[Option<State>], joins: &mut Vec<(Vn, Vn)>) -> State {
        let entry = (block == 0).then(|| self.entry_state());
        // Each with what the branch to this block tells of its EXEC.
        let mut states: Vec<(&State, bool)> = entry.iter().map(|entry| (entry, false)).collect();
        for &from in &self.function.blocks[block].predecessors {
            if let Some(output) = &outputs[from] {
                states.push((output, self.enters_with_lanes(from, block)));
            }
        }
        let Some((last, with_lanes)) = states.pop() else { return self.entry_state() };
        let mut joined = last.clone();
        if with_lanes {
            joined.nonzero.insert(joined.exec);
        }
        let is_nonzero = |&(state, with_lanes): &(&State, bool), value: Vn| {
            with_lanes && value == state.exec || state.nonzero.contains(value)
        };
        let exec_is_nonzero = joined.nonzero.contains(joined.exec)
            && states.iter().all(|state| is_nonzero(state, state.0.exec));
        joined.scalars = [self.dead; SCALARS];
        for register in self.relevant_at(block) {
            let first = last.scalars[register];
            joined.scalars[register] = first;
            if states.iter().any(|(other, _)| other.scalars[register] != first) {
                let value = self.values.number(Expr::Phi(block, register as u32));
                let others = states.iter().map(|(other, _)| other.scalars[register]);
                joins.extend(others.chain([first]).map(|part| (value, part)));
                joined.scalars[register] = value;
            }
        }
        for state in &states {
            let (other, _) = state;
            joined.lanes.retain(|place, value| other.lanes.get(place) == Some(value));
            joined.full &= other.full;
            joined.nonzero.retain(|value| is_nonzero(state, value));
            if joined.exec != other.exec {
                joined.exec = self.values.number(Expr::Phi(block, EXEC_PLACE));
            }
        }
        if exec_is_nonzero {
            joined.nonzero.insert(joined.exec);
        }
        joined
    }

    fn widen(&mut self, block: usize, input: &mut State, previous: &State, joins: &mut Vec<(Vn, Vn)>) {
        for register in 0..SCALARS {
            let (new, old) = (input.scalars[register], previous.scalars[register]);
            if new != old {
                let value = self.values.number(Expr::Phi(block, register as u32));
                joins.extend([(value, new), (value, old)]);
                input.scalars[register] = value;
            }
        }
        input.lanes.retain(|place, value| previous.lanes.get(place) == Some(value));
        input.full &= previous.full;
        input.nonzero.retain(|value| previous.nonzero.contains(value));
        if input.exec != previous.exec {
            input.exec = self.values.number(Expr::Phi(block, EXEC_PLACE));
        }
    }

    /// The scalar registers whose values at the start of a block may matter.
    fn relevant_at(&self, block: usize) -> impl Iterator<Item = usize> + use<> {
        let mut rest = self.slice.at_start(block);
        std::iter::from_fn(move || {
            let register = rest.trailing_zeros();
            rest &= rest.checked_sub(1)?;
            Some(register as usize)
        })
    }

    /// Whether an instruction copies EXEC, or a half of it, to other registers.
    fn copies_exec(&self, index: usize) -> bool {
        let located = &self.program.insts[index];
        let reads = || {
            let exec = |value| matches!(value, Value::Scalar(126 | 127));
            let inst = self.program.inst(index);
            inst.operands.iter().any(|operand| operand.access == Access::Read && exec(operand.value))
        };
        let copies =
            matches!(located.op, Op::s_mov_b64 | Op::s_mov_b32 | Op::v_writelane_b32 | Op::v_mov_b32);
        saves_exec(located.op) || located.names_exec && copies && reads()
    }

    /// Whether the branch at the end of `from` tells that some lane is on when it leads to `to`.
    fn enters_with_lanes(&self, from: usize, to: usize) -> bool {
        let block = &self.function.blocks[from];
        let located = &self.program.insts[block.insts.end - 1];
        let Flow::CondBranch { offset, condition } = located.flow() else { return false };
        let start = self.program.insts[self.function.blocks[to].insts.start].pc;
        let taken = start == located.end().wrapping_add_signed(offset.into());
        let falls = start == located.end();
        matches!(
            (condition, taken, falls),
            (Condition::Execz, false, true) | (Condition::Execnz, true, false)
        )
    }
}

/// The operand that holds the other mask of an instruction that combines EXEC with one.
fn mask_operand(inst: &Inst) -> Option<Value> {
    let sources = inst.operands.iter().filter(|operand| operand.access == Access::Read);
    sources.map(|operand| operand.value).find(|&value| value != Value::EXEC)
}
