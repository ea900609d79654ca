//! The data flow: values of masks at the start of each block, and at each write of EXEC.

use std::collections::{BTreeMap, BTreeSet};

use super::classify::writes_exec;
use super::conditions::Made;
use super::state::{EXEC_PLACE, State};
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
    /// The masks that were copied from EXEC, to be put back later.
    pub(super) saved: BTreeSet<Vn>,
    /// What joined values are made of.
    pub(super) joined: BTreeMap<Vn, Made>,
    /// EXEC at the function's entry.
    pub(super) entry_exec: Vn,
}

impl<'a> Flowing<'a> {
    pub(super) fn new(
        program: &'a Program,
        function: &'a Function,
        clobbers: &'a dyn Fn(usize) -> RegSet,
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
        Self {
            program,
            function,
            values,
            saved: BTreeSet::new(),
            joined: BTreeMap::new(),
            entry_exec,
            slots: BTreeMap::new(),
            formed,
            unknown: RegSet::all(),
            clobbers,
        }
    }

    /// The state at the start of each block that is reached.
    pub(super) fn fixed_point(&mut self) -> Vec<Option<State>> {
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
                let mut input = self.join(block, &outputs, &mut changed);
                if let Some(previous) = inputs[block].as_ref().filter(|_| round > 4) {
                    self.widen(block, &mut input, previous, &mut changed);
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
    pub(super) fn run(&mut self) -> Vec<Event> {
        let inputs = self.fixed_point();
        let blocks = &self.function.blocks;
        let mut events = Vec::new();
        for (block, input) in inputs.into_iter().enumerate() {
            let Some(mut state) = input else { continue };
            for index in blocks[block].insts.clone() {
                let inst = &self.program.insts[index].inst;
                let (old, old_is_full) = (state.exec, state.full);
                let old_is_nonzero = old_is_full || state.nonzero.contains(&old);
                if copies_exec(inst) {
                    self.saved.insert(old);
                }
                let operand = mask_operand(inst).map(|value| self.read64(&state, value, index));
                self.step(block, index, &mut state);
                if writes_exec(inst) {
                    let new = state.exec;
                    events.push(Event { inst: index, block, old, new, operand, old_is_nonzero, old_is_full });
                }
            }
        }
        events
    }

    fn entry_state(&mut self) -> State {
        let scalars = (0..128).map(|register| self.values.number(Expr::Entry(register))).collect();
        // A wave starts, and a function is called, with some lane active: callers skip calls with no lanes.
        let exec = self.entry_exec;
        let full = self.function.kernel.is_some();
        let nonzero = if full { BTreeSet::from([exec]) } else { BTreeSet::new() };
        State { scalars, lanes: BTreeMap::new(), exec, full, nonzero }
    }

    /// The state at the start of a block, from what is known of the ends of its predecessors.
    fn join(&mut self, block: usize, outputs: &[Option<State>], news: &mut bool) -> State {
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
        for register in 0..128 {
            let first = joined.scalars[register];
            if states.iter().any(|other| other.scalars[register] != first) {
                let value = self.values.number(Expr::Phi(block, register as u32));
                let others = states.iter().map(|other| other.scalars[register]);
                *news |= self.note_join(value, others.chain([first]));
                joined.scalars[register] = value;
            }
        }
        for other in &states {
            joined.lanes.retain(|place, value| other.lanes.get(place) == Some(value));
            joined.full &= other.full;
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

    fn widen(&mut self, block: usize, input: &mut State, previous: &State, news: &mut bool) {
        for register in 0..128 {
            let (new, old) = (input.scalars[register], previous.scalars[register]);
            if new != old {
                let value = self.values.number(Expr::Phi(block, register as u32));
                *news |= self.note_join(value, [new, old].into_iter());
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
}

/// Whether an instruction copies EXEC, or a half of it, to other registers.
fn copies_exec(inst: &Inst) -> bool {
    let reads = || {
        let exec = |value| matches!(value, Value::Scalar(126 | 127));
        inst.operands.iter().any(|operand| operand.access == Access::Read && exec(operand.value))
    };
    saves_exec(inst.op)
        || matches!(inst.op, Op::s_mov_b64 | Op::s_mov_b32 | Op::v_writelane_b32 | Op::v_mov_b32) && reads()
}

/// The operand that holds the other mask of an instruction that combines EXEC with one.
fn mask_operand(inst: &Inst) -> Option<Value> {
    let sources = inst.operands.iter().filter(|operand| operand.access == Access::Read);
    sources.map(|operand| operand.value).find(|&value| value != Value::EXEC)
}
