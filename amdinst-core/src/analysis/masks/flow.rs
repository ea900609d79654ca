//! The data flow: values of masks at the start of each block, and at each write of EXEC.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::classify::writes_exec;
use super::conditions::Made;
use super::slice::Slice;
use super::state::{EXEC_PLACE, State, VnSet};
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

/// The states at the start and at the end of each block that is reached.
#[derive(Default)]
pub(super) struct States {
    pub(super) starts: Vec<Option<State>>,
    pub(super) ends: Vec<Option<State>>,
}

/// What happens to EXEC in a block.
#[derive(Default)]
pub(super) struct Seen {
    /// Its writes, in order.
    pub(super) events: Vec<Event>,
    /// The masks that are copied from it, to be put back later.
    pub(super) saved: Vec<Vn>,
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
    /// What is known at the function's entry.
    pub(super) entry: State,
    /// What is known where blocks start and end.
    pub(super) states: States,
    /// What was seen in each block when it was last looked at.
    pub(super) seen: Vec<Seen>,
    /// All masks that are copied from EXEC, and what joined values are made of: worked out when first asked for, which is seldom.
    pub(super) saved: OnceCell<BTreeSet<Vn>>,
    pub(super) joined: OnceCell<BTreeMap<Vn, Option<Made>>>,
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
        let slice = Slice::new(program, function, asked);
        let mut values = Values::with_capacity(slice.len());
        let entry_exec = values.number(Expr::Opaque(usize::MAX, 0));
        let dead = values.number(Expr::Opaque(usize::MAX, 1));
        let mut scalars = vec![dead; slice.registers().count()];
        for (register, place) in slice.at_start(0) {
            scalars[place] = values.number(Expr::Entry(register));
        }
        // A wave starts, and a function is called, with some lane active: callers skip calls with no lanes.
        let full = function.kernel.is_some();
        let nonzero = if full { VnSet::of(entry_exec) } else { VnSet::default() };
        let entry = State { scalars, lanes: BTreeMap::new(), exec: entry_exec, full, nonzero };
        Self {
            program,
            function,
            values,
            entry,
            states: States::default(),
            seen: Vec::new(),
            saved: OnceCell::new(),
            joined: OnceCell::new(),
            entry_exec,
            slots: BTreeMap::new(),
            formed,
            unknown: RegSet::all(),
            clobbers,
            dead,
            slice,
        }
    }

    /// Works out the states at the start and at the end of each block that is reached.
    pub(super) fn run(&mut self) {
        let function = self.function;
        let blocks = &function.blocks;
        let order = reverse_postorder(blocks.len(), |block| &blocks[block].successors);
        let mut states = States { starts: vec![None; blocks.len()], ends: vec![None; blocks.len()] };
        // Blocks of which some predecessor ends otherwise than when they were last looked at.
        let mut stale = vec![true; blocks.len()];
        self.seen = blocks.iter().map(|_| Seen::default()).collect();
        let mut state = self.entry.clone();
        // Values can in principle keep changing around irreducible loops: after this many rounds, differing values
        // stay joined.
        for round in 0..10 {
            let mut changed = false;
            for &block in &order {
                if !std::mem::replace(&mut stale[block], false) {
                    continue;
                }
                self.join(block, &states.ends, &mut state);
                if let Some(previous) = states.starts[block].as_ref().filter(|_| round > 4) {
                    self.widen(block, &mut state, previous);
                }
                if states.starts[block].as_ref() == Some(&state) {
                    continue;
                }
                changed = true;
                keep(&mut states.starts[block], &state);
                self.run_through(block, &mut state);
                keep(&mut states.ends[block], &state);
                for &successor in &blocks[block].successors {
                    stale[successor] = true;
                }
            }
            if !changed {
                break;
            }
        }
        self.states = states;
    }

    /// What the instructions of a block do, and the function that is called at its end. Notes the writes of EXEC.
    fn run_through(&mut self, block: usize, state: &mut State) {
        let insts = self.function.blocks[block].insts.clone();
        let mut seen = Seen::default();
        let mut at = insts.start;
        loop {
            // In what is known of lanes, every vector instruction may change something.
            let any = (at < insts.end).then_some(at);
            let next = if state.lanes.is_empty() { self.slice.next(at..insts.end) } else { any };
            let Some(index) = next else { break };
            at = index + 1;
            let (old, old_is_full) = (state.exec, state.full);
            if self.copies_exec(index) {
                seen.saved.push(old);
            }
            if !writes_exec(self.program, index) {
                self.step(index, state);
                continue;
            }
            let old_is_nonzero = old_is_full || state.nonzero.contains(old);
            let operand =
                mask_operand(self.program.inst(index)).map(|value| self.read64(state, value, index));
            self.step(index, state);
            let new = state.exec;
            seen.events.push(Event { inst: index, block, old, new, operand, old_is_nonzero, old_is_full });
        }
        self.seen[block] = seen;
        self.call(block, state);
    }

    /// Whether a mask was copied from EXEC somewhere, to be put back later.
    pub(super) fn is_saved(&self, mask: Vn) -> bool {
        let all = || self.seen.iter().flat_map(|seen| seen.saved.iter().copied()).collect();
        self.saved.get_or_init(all).contains(&mask)
    }

    /// The state at the start of a block, from what is known of the ends of its predecessors.
    fn join(&mut self, block: usize, ends: &[Option<State>], joined: &mut State) {
        // Each with what the branch to this block tells of its EXEC.
        let entry = (block == 0).then_some((&self.entry, false));
        let predecessors = self.function.blocks[block].predecessors.iter();
        let before = predecessors
            .filter_map(|&from| Some((ends[from].as_ref()?, self.enters_with_lanes(from, block))));
        let mut states = entry.into_iter().chain(before);
        let (first, with_lanes) = states.next().unwrap_or((&self.entry, false));
        let others: Vec<(&State, bool)> = states.collect();
        joined.clone_from(first);
        if with_lanes {
            joined.nonzero.insert(joined.exec);
        }
        let is_nonzero = |&(state, with_lanes): &(&State, bool), value: Vn| {
            with_lanes && value == state.exec || state.nonzero.contains(value)
        };
        let exec_is_nonzero = joined.nonzero.contains(joined.exec)
            && others.iter().all(|state| is_nonzero(state, state.0.exec));
        joined.scalars.fill(self.dead);
        for (register, place) in self.slice.at_start(block) {
            let value = first.scalars[place];
            let is_same = others.iter().all(|(other, _)| other.scalars[place] == value);
            joined.scalars[place] =
                if is_same { value } else { self.values.number(Expr::Phi(block, register.into())) };
        }
        for state in &others {
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
    }

    fn widen(&mut self, block: usize, input: &mut State, previous: &State) {
        for (place, register) in self.slice.registers().enumerate() {
            if input.scalars[place] != previous.scalars[place] {
                input.scalars[place] = self.values.number(Expr::Phi(block, register.into()));
            }
        }
        input.lanes.retain(|place, value| previous.lanes.get(place) == Some(value));
        input.full &= previous.full;
        input.nonzero.retain(|value| previous.nonzero.contains(value));
        if input.exec != previous.exec {
            input.exec = self.values.number(Expr::Phi(block, EXEC_PLACE));
        }
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

/// Takes a state over into one that may be there already.
fn keep(kept: &mut Option<State>, state: &State) {
    match kept {
        Some(kept) => kept.clone_from(state),
        None => *kept = Some(state.clone()),
    }
}

/// The operand that holds the other mask of an instruction that combines EXEC with one.
fn mask_operand(inst: &Inst) -> Option<Value> {
    let sources = inst.operands.iter().filter(|operand| operand.access == Access::Read);
    sources.map(|operand| operand.value).find(|&value| value != Value::EXEC)
}
