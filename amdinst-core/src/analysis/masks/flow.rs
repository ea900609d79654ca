//! The data flow: values of masks at the start of each block, and at each write of EXEC.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use amdgpu_isa::{Access, Condition, Flow, Inst, RegSet, Value};

use super::block_states::BlockStates;
use super::made::Made;
use super::operations::writes_exec;
use super::slice::{Slice, Steps};
use super::state::{EXEC_PLACE, Rest, State};
use super::tries::{Trie, Tries};
use crate::analysis::dominators::reverse_postorder;
use crate::analysis::program::{Exit, Function, Program};
use crate::analysis::rounds::Rounds;
use crate::analysis::values::{Expr, Values, Vn};

/// A write of EXEC as the data flow sees it.
#[derive(Clone, Copy)]
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

/// What was noted of a step when its block was last looked at.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// EXEC, if it copies that to put it back later.
    saved: Option<Vn>,
    /// EXEC, if it writes that.
    event: Option<Event>,
}

/// Tells the function that an instruction calls, from the address that its registers have, if that is known.
pub(in crate::analysis) type Callee<'a> = dyn Fn(usize, Option<u64>) -> Option<usize> + 'a;

/// Calls and jumps through registers, while it is found out where they lead.
#[derive(Clone, Copy)]
pub(in crate::analysis) struct Calls<'a> {
    /// Which, by instruction.
    pub(in crate::analysis) wanted: &'a BTreeSet<usize>,
    /// Of these: what they call; without it, they call what is noted of their blocks.
    pub(in crate::analysis) callee: Option<&'a Callee<'a>>,
    /// What a call of an unknown function writes.
    pub(in crate::analysis) unknown: RegSet,
}

/// The data flow of one function.
pub(super) struct Flowing<'a> {
    pub(super) program: &'a Program,
    pub(super) function: &'a Function,
    pub(super) values: Values,
    /// Sets of masks.
    pub(super) nonzero: Tries<()>,
    /// Lanes of vector registers.
    pub(super) lanes: Tries<Vn>,
    pub(super) slots: BTreeMap<(Option<u8>, i32), u32>,
    /// Halves of addresses formed from the program counter, by the instruction that completes them.
    pub(super) formed: BTreeMap<usize, u32>,
    /// What is known of calls of unknown functions; without it, they write all registers.
    pub(in crate::analysis) calls: Option<Calls<'a>>,
    pub(super) clobbers: &'a dyn Fn(usize) -> RegSet,
    /// What a call through a pointer writes: worked out when first asked for.
    pub(super) pointed: OnceCell<RegSet>,
    /// What registers hold that never matter.
    pub(super) dead: Vn,
    /// What is known at the function's entry.
    pub(super) entry: State,
    /// What is known where blocks start and where they end.
    pub(super) starts: BlockStates,
    pub(super) ends: BlockStates,
    /// By step.
    seen: Vec<Seen>,
    /// Values that are joined at the starts of blocks: of registers, as [`Slice::at_start`] lists them, and
    /// of EXEC, by block.
    joined_registers: Vec<Option<Vn>>,
    joined_exec: Vec<Option<Vn>>,
    /// All masks that are copied from EXEC, and what joined values are made of: worked out when first asked
    /// for, which is seldom.
    pub(super) saved: OnceCell<BTreeSet<Vn>>,
    pub(super) joined: OnceCell<BTreeMap<Vn, Option<Made>>>,
    /// EXEC at the function's entry.
    pub(super) entry_exec: Vn,
    /// What matters; other registers hold `dead`, or anything.
    pub(super) slice: Slice,
}

impl<'a> Flowing<'a> {
    /// A data flow over one function, of the instructions that `slice` lists.
    pub(super) fn new(
        program: &'a Program,
        function: &'a Function,
        clobbers: &'a dyn Fn(usize) -> RegSet,
        steps: Steps,
    ) -> Self {
        let first = function.blocks.first().map_or(0, |block| block.insts.start);
        let end = function.blocks.last().map_or(0, |block| block.insts.end);
        let from = program.addresses.partition_point(|address| address.addc < first);
        let own = program.addresses[from..].iter().take_while(|address| address.addc < end);
        let halves = own.flat_map(|address| {
            [(address.add, address.target as u32), (address.addc, (address.target >> 32) as u32)]
        });
        let formed = halves.collect();
        let slice = Slice::new(steps);
        let (steps, blocks) = (slice.steps().len(), function.blocks.len());
        let mut values = Values::with_capacity(steps);
        let entry_exec = values.number(Expr::Opaque(usize::MAX, 0));
        let dead = values.number(Expr::Opaque(usize::MAX, 1));
        let mut scalars = vec![dead; slice.len()];
        for &(register, place) in slice.at_start(0) {
            scalars[usize::from(place)] = values.number(Expr::Entry(register));
        }
        // A wave starts, and a function is called, with some lane active: callers skip calls with no lanes.
        let full = function.kernel.is_some();
        let mut nonzero = Tries::default();
        let at_entry = match full {
            true => nonzero.with(Trie::default(), entry_exec.number(), ()),
            false => Trie::default(),
        };
        let rest = Rest { lanes: Trie::default(), exec: entry_exec, full, nonzero: at_entry };
        Self {
            program,
            function,
            values,
            nonzero,
            lanes: Tries::default(),
            entry: State { scalars, rest },
            starts: BlockStates::new(blocks, slice.len(), dead),
            ends: BlockStates::new(blocks, slice.len(), dead),
            seen: vec![Seen::default(); steps],
            joined_registers: vec![None; slice.at_starts()],
            joined_exec: vec![None; blocks],
            saved: OnceCell::new(),
            joined: OnceCell::new(),
            entry_exec,
            slots: BTreeMap::new(),
            formed,
            calls: None,
            clobbers,
            pointed: OnceCell::new(),
            dead,
            slice,
        }
    }

    /// Works out what is known at the start and at the end of each block that is reached.
    pub(super) fn run(&mut self) {
        let blocks = &self.function.blocks;
        self.run_in(&reverse_postorder(blocks.len(), |block| &blocks[block].successors));
    }

    /// Runs the data flow over the reached blocks, in an order that has each before its successors but for
    /// back edges.
    pub(super) fn run_in(&mut self, order: &[usize]) {
        let blocks = &self.function.blocks;
        let mut position = vec![0; blocks.len()];
        for (at, &block) in order.iter().enumerate() {
            position[block] = at;
        }
        let mut state = self.entry.clone();
        let mut rounds = Rounds::new(order.len());
        while let Some((place, round)) = rounds.next() {
            let block = order[place];
            self.join(block, &mut state);
            // Around loops values can keep changing. After a few rounds those that differ stay joined: what
            // is known then only becomes less, and so the rounds come to an end.
            if round > 4 {
                self.widen(block, &mut state);
            }
            if self.is_known(block, &state) {
                continue;
            }
            self.starts.set(block, &state);
            self.run_through(block, &mut state);
            self.ends.set(block, &state);
            blocks[block].successors.iter().for_each(|&successor| rounds.mark(position[successor]));
        }
    }

    /// What the instructions of a block do, and the function that is called at its end. Notes the writes of
    /// EXEC.
    fn run_through(&mut self, block: usize, state: &mut State) {
        let (steps, last) = self.steps_to_last(block);
        steps.for_each(|number| self.run_step(number, block, state));
        let exit = self.exit(block, state);
        last.for_each(|number| self.run_step(number, block, state));
        self.call(block, exit, state);
    }

    /// The steps of a block: those before its last instruction, and that one, if it is a step.
    fn steps_to_last(&self, block: usize) -> (Range<usize>, Range<usize>) {
        let steps = self.slice.steps_of(block);
        let last = self.function.blocks[block].insts.end - 1;
        let is_step = self.slice.steps()[steps.clone()].last().is_some_and(|step| step.inst == last);
        let end = steps.end - usize::from(is_step);
        (steps.start..end, end..steps.end)
    }

    fn run_step(&mut self, number: usize, block: usize, state: &mut State) {
        let step = self.slice.steps()[number];
        let (old, old_is_full) = (state.rest.exec, state.rest.full);
        if step.copies_exec {
            self.seen[number].saved = Some(old);
        }
        if !step.writes_exec {
            return self.step(number, state);
        }
        let old_is_nonzero = old_is_full || self.is_nonzero(state.rest.nonzero, old);
        let operand = mask_operand(self.program.inst(step.inst));
        let operand = operand.map(|value| self.read_mask(state, value, step.inst));
        self.step(number, state);
        let new = state.rest.exec;
        self.seen[number].event =
            Some(Event { inst: step.inst, block, old, new, operand, old_is_nonzero, old_is_full });
    }

    /// How a block ends, as far as the values before its last instruction tell that.
    fn exit(&mut self, block: usize, state: &State) -> Exit {
        let block = &self.function.blocks[block];
        let last = block.insts.end - 1;
        match self.calls {
            Some(Calls { wanted, callee: Some(callee), .. }) if wanted.contains(&last) => {
                callee(last, self.target(last, state)).map_or(Exit::Unknown, Exit::Call)
            }
            _ => block.exit,
        }
    }

    /// The address in the registers that an instruction calls or jumps through, if it is known.
    pub(super) fn target(&mut self, inst: usize, state: &State) -> Option<u64> {
        let operand = self.program.inst(inst).operands.last()?;
        let value = self.read64(state, operand.value, inst);
        match self.values.expr(value) {
            Expr::Const64(address) => Some(address),
            _ => None,
        }
    }

    /// What is known before the last instruction of a block, if it is reached.
    pub(super) fn before_last(&mut self, block: usize) -> Option<State> {
        let mut state = self.starts.state(block)?;
        self.steps_to_last(block).0.for_each(|number| self.step(number, &mut state));
        Some(state)
    }

    /// The writes of EXEC that are reached, in order of address.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.seen.iter().filter_map(|seen| seen.event.as_ref())
    }

    /// Whether a mask was copied from EXEC somewhere, to be put back later.
    pub(super) fn is_saved(&self, mask: Vn) -> bool {
        self.saved.get_or_init(|| self.seen.iter().filter_map(|seen| seen.saved).collect()).contains(&mask)
    }

    /// Whether a mask is in a set of those that have some lane.
    pub(super) fn is_nonzero(&self, known: Trie, mask: Vn) -> bool {
        self.nonzero.get(known, mask.number()).is_some()
    }

    /// Whether a block started with all of this when it was last looked at.
    fn is_known(&self, block: usize, state: &State) -> bool {
        let before = self.starts.scalars(block);
        let mut places = self.slice.at_start(block).iter().map(|&(_, place)| usize::from(place));
        self.starts.rest(block).is_some_and(|before| self.is_alike(before, state.rest))
            && places.all(|place| before[place] == state.scalars[place])
    }

    fn is_alike(&self, a: Rest, b: Rest) -> bool {
        (a.exec, a.full) == (b.exec, b.full)
            && self.lanes.equal(a.lanes, b.lanes)
            && self.nonzero.equal(a.nonzero, b.nonzero)
    }

    /// What is known at the start of a block, from what is known of the ends of its predecessors.
    fn join(&mut self, block: usize, joined: &mut State) {
        let function = self.function;
        // The first block is entered from outside, too.
        let mut is_first = true;
        let mut exec_is_nonzero = true;
        if block == 0 {
            joined.clone_from(&self.entry);
            is_first = false;
            exec_is_nonzero = self.is_nonzero(joined.rest.nonzero, joined.rest.exec);
        }
        for &from in function.predecessors(block) {
            let Some(rest) = self.ends.rest(from) else { continue };
            let with_lanes = enters_with_lanes(self.program, function, from, block);
            // With what the branch to this block tells of its EXEC.
            let exec = rest.exec;
            let nonzero =
                if with_lanes { self.nonzero.with(rest.nonzero, exec.number(), ()) } else { rest.nonzero };
            exec_is_nonzero &= self.is_nonzero(nonzero, exec);
            if is_first {
                joined.scalars.copy_from_slice(self.ends.scalars(from));
                joined.rest = rest;
                joined.rest.nonzero = nonzero;
                is_first = false;
                continue;
            }
            joined.rest.lanes = self.lanes.both(joined.rest.lanes, rest.lanes);
            joined.rest.full &= rest.full;
            joined.rest.nonzero = self.nonzero.both(joined.rest.nonzero, nonzero);
            if joined.rest.exec != exec {
                joined.rest.exec = phi(&mut self.values, &mut self.joined_exec[block], block, EXEC_PLACE);
            }
            self.join_registers(block, Some(from), joined);
        }
        if exec_is_nonzero {
            joined.rest.nonzero = self.nonzero.with(joined.rest.nonzero, joined.rest.exec.number(), ());
        }
    }

    /// Keeps joined what differs from what was known of a block's start before.
    fn widen(&mut self, block: usize, input: &mut State) {
        let Some(previous) = self.starts.rest(block) else { return };
        input.rest.lanes = self.lanes.both(input.rest.lanes, previous.lanes);
        input.rest.full &= previous.full;
        input.rest.nonzero = self.nonzero.both(input.rest.nonzero, previous.nonzero);
        if input.rest.exec != previous.exec {
            input.rest.exec = phi(&mut self.values, &mut self.joined_exec[block], block, EXEC_PLACE);
        }
        self.join_registers(block, None, input);
    }

    /// Joins registers whose values differ from those at the end of `from`; without that, from those that
    /// were known of the block's start before.
    fn join_registers(&mut self, block: usize, from: Option<usize>, joined: &mut State) {
        let other = from.map_or_else(|| self.starts.scalars(block), |from| self.ends.scalars(from));
        let numbers = &mut self.joined_registers[self.slice.numbers_at_start(block)];
        for (&(register, place), number) in self.slice.at_start(block).iter().zip(numbers) {
            let place = usize::from(place);
            if joined.scalars[place] != other[place] {
                joined.scalars[place] = phi(&mut self.values, number, block, register.into());
            }
        }
    }
}

/// Whether the branch at the end of `from` tells that some lane is on when it leads to `to`.
pub(super) fn enters_with_lanes(program: &Program, function: &Function, from: usize, to: usize) -> bool {
    tells_of_lanes(program, function, from, to) == Some(true)
}

/// Whether each branch that leads to a block tells that no lane is on then, or one that leads to what stands
/// before it.
pub(super) fn enters_without_lanes(program: &Program, function: &Function, block: usize) -> bool {
    /// Blocks that are looked through: a branch around others, as a rule.
    const MOST: usize = 4;
    is_without_lanes(program, function, block, MOST)
}

fn is_without_lanes(program: &Program, function: &Function, block: usize, most: usize) -> bool {
    let before = function.predecessors(block);
    let leaves_as_is = |from: usize| {
        let from = &function.blocks[from];
        from.exit == Exit::Local && !from.insts.clone().any(|inst| writes_exec(program, inst))
    };
    // The first block is entered from outside, too.
    block > 0
        && !before.is_empty()
        && before.iter().all(|&from| match tells_of_lanes(program, function, from, block) {
            Some(with_lanes) => !with_lanes,
            None => most > 0 && leaves_as_is(from) && is_without_lanes(program, function, from, most - 1),
        })
}

/// Whether some lane is on or none is, where the branch at the end of `from` that leads to `to` tells it.
pub(super) fn tells_of_lanes(program: &Program, function: &Function, from: usize, to: usize) -> Option<bool> {
    let block = &function.blocks[from];
    let located = &program.insts[block.insts.end - 1];
    let Flow::CondBranch { offset, condition } = located.flow() else { return None };
    let start = program.insts[function.blocks[to].insts.start].pc;
    let taken = start == located.end().wrapping_add_signed(offset.into());
    let falls = start == located.end();
    match (condition, taken, falls) {
        (Condition::Execz, false, true) | (Condition::Execnz, true, false) => Some(true),
        (Condition::Execz, true, false) | (Condition::Execnz, false, true) => Some(false),
        _ => None,
    }
}

/// The value that is joined at the start of a block from different ones; `known` keeps it.
fn phi(values: &mut Values, known: &mut Option<Vn>, block: usize, place: u32) -> Vn {
    *known.get_or_insert_with(|| values.new_number(Expr::Phi(block, place)))
}

/// The operand that holds the other mask of an instruction that combines EXEC with one.
fn mask_operand(inst: &Inst) -> Option<Value> {
    let sources = inst.operands.iter().filter(|operand| operand.access == Access::Read);
    sources.map(|operand| operand.value).find(|&value| value != Value::EXEC)
}
