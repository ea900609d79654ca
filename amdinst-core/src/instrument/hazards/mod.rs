//! Wait states between inserted code and what stands around it, on every path.
//!
//! Every inserted instruction is compared with what may run before it, through all predecessors, and every original
//! instruction behind an insertion with the inserted ones before it. Where too few wait states lie between, `s_nop` is added
//! to the insertion. Pairs of original instructions only ever come further apart.
//!
//! With XNACK, memory instructions in a row may be issued again, and must not write what others of them read. Insertions neither
//! begin nor end with one, so they never join such a row.
//!
//! As in LLVM, what lies on the other side of a call or a return is not looked at: the jump itself takes longer.

mod rules;

use std::borrow::Borrow;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;

use rules::Kind;
pub(super) use rules::{Facts, Slow};

use super::assembler::{Assembled, Assembler};
use super::relocate::Patch;
use crate::Arch;
use crate::analysis::program::{Function, Program};
use crate::isa::{EncodeError, Encoding, Inst, Op, Value};

/// Where an original instruction stands beside an inserted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// It runs first.
    Before,
    /// It runs second.
    Behind,
}

/// The wait states that are seen to between an inserted instruction and an original one. For those who check the rules: whoever
/// instruments need not ask.
pub fn wait_states(arch: Arch, inserted: &Inst, original: &Inst, original_is: Neighbour) -> u32 {
    let facts = |inst: &Inst| Facts::new(inst, &inst.effects(arch));
    let kind = |inst: &Inst| Kind::of(inst.encoding, inst.op);
    if !kind(inserted).matters() || kind(original) == Kind::Scalar {
        return 0;
    }
    match original_is {
        Neighbour::Before => facts(original).states_before(&facts(inserted), arch),
        Neighbour::Behind => facts(inserted).states_before(&facts(original), arch),
    }
}

/// What the rules ask about the instructions of a program, each told when it is first asked for.
pub(super) struct Known<'a> {
    program: &'a Program,
    /// By form.
    facts: Vec<OnceCell<Box<Facts>>>,
}

impl<'a> Known<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self { program, facts: (0..program.forms()).map(|_| OnceCell::new()).collect() }
    }

    fn facts(&self, index: usize) -> &Facts {
        let form = self.program.insts[index].form();
        self.facts[form]
            .get_or_init(|| Box::new(Facts::new(self.program.inst(index), self.program.effects(index))))
    }
}

/// Adds the wait states that the patches of one function need, which has such slow instructions.
pub(super) fn settle(
    known: &Known<'_>,
    assembler: &Assembler,
    (function, slow): (&Function, Slow),
    patches: &mut BTreeMap<usize, Patch>,
) -> Result<(), EncodeError> {
    let first = function.blocks.first().map_or(0, |block| block.insts.start);
    let end = function.blocks.last().map_or(0, |block| block.insts.end);
    let own: Vec<(usize, &Patch)> = patches.range(first..end).map(|(&index, patch)| (index, patch)).collect();
    let lines = Lines::new(known, function, slow, own);
    lines.check();
    let nops = lines.nops();
    for ((index, part), nops) in nops {
        let Some(patch) = patches.get_mut(&index) else { continue };
        let code = match part {
            Part::Entry => &mut patch.entry,
            Part::Before => &mut patch.before,
            Part::After => &mut patch.after,
        };
        // From the back, so that positions stay right.
        for (at, states) in nops.into_iter().rev() {
            code.insert(at, nop(assembler, states)?);
        }
    }
    Ok(())
}

fn nop(assembler: &Assembler, states: u32) -> Result<Assembled, EncodeError> {
    assembler.assemble(Op::s_nop, Encoding::Sopp, &[Value::Imm(states as i32 - 1)], None)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Entry,
    Before,
    After,
}

/// An instruction in its new surroundings.
struct Item<'a> {
    source: Source<'a>,
    kind: Kind,
    /// Wait states that the instruction itself makes.
    states: u32,
    /// Wait states to be added before it, and after it.
    before: Cell<u32>,
    after: Cell<u32>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    /// By number in the program.
    Original(usize),
    /// With its place in the patch.
    Inserted(&'a Assembled, Place),
}

/// Where an inserted instruction stands.
#[derive(Clone, Copy)]
struct Place {
    /// The instruction of the patch.
    patch: usize,
    part: Part,
    /// Position in that part.
    at: usize,
    /// How many of the part stand behind it.
    rest: usize,
}

/// Shows what rules know of instructions in the order in which they are passed, within `reach`. The distance behind them, if that
/// is within reach, too.
fn pass<'a, I: Borrow<Item<'a>>>(
    items: impl IntoIterator<Item = I>,
    direction: Direction,
    (mut distance, reach): (u32, u32),
    see: &mut dyn FnMut(&Item<'a>, u32),
) -> Option<u32> {
    for item in items {
        let item = item.borrow();
        let (near, far) = match direction {
            Direction::Back => (&item.after, &item.before),
            Direction::On => (&item.before, &item.after),
        };
        distance += near.get();
        if distance < reach && item.kind != Kind::Scalar {
            see(item, distance);
        }
        distance += item.states + far.get();
        if distance >= reach {
            return None;
        }
    }
    Some(distance)
}

/// A straight piece of code.
type Line<'a> = Vec<Item<'a>>;

/// The blocks of a function with what is inserted, and the prologue as a line of its own behind them. Those with something
/// inserted are made when they are looked at.
struct Lines<'a> {
    program: &'a Program,
    known: &'a Known<'a>,
    function: &'a Function,
    /// By instruction, in order.
    patches: Vec<(usize, &'a Patch)>,
    lines: Vec<OnceCell<Line<'a>>>,
    /// Lines with something inserted that can be a side of a rule.
    concerned: Vec<usize>,
    /// Blocks that the prologue goes on to, and the patches it belongs to.
    entered: Vec<(usize, usize)>,
    slow: Slow,
}

impl<'a> Lines<'a> {
    fn new(
        known: &'a Known<'_>,
        function: &'a Function,
        slow: Slow,
        patches: Vec<(usize, &'a Patch)>,
    ) -> Self {
        let blocks = &function.blocks;
        let (mut concerned, mut entered) = (Vec::new(), Vec::new());
        let matters = |code: &[Assembled]| code.iter().any(|inst| Kind::of(inst.encoding, inst.op).matters());
        for (number, &(index, patch)) in patches.iter().enumerate() {
            let block = || blocks.partition_point(|block| block.insts.end <= index);
            if matters(&patch.before) || matters(&patch.after) {
                let block = block();
                if concerned.last() != Some(&block) {
                    concerned.push(block);
                }
            }
            if !patch.entry.is_empty() {
                entered.push((block(), number));
            }
        }
        if !entered.is_empty() {
            concerned.push(blocks.len());
        }
        let lines = (0..=blocks.len()).map(|_| OnceCell::new()).collect();
        Self { program: known.program, known, function, patches, lines, concerned, entered, slow }
    }

    /// What is inserted between two instructions.
    fn patches(&self, insts: &Range<usize>) -> &[(usize, &'a Patch)] {
        let from = &self.patches[self.patches.partition_point(|&(index, _)| index < insts.start)..];
        &from[..from.iter().take_while(|&&(index, _)| index < insts.end).count()]
    }

    /// A line into which something is inserted.
    fn line(&self, number: usize) -> &[Item<'a>] {
        self.lines[number].get_or_init(|| match self.function.blocks.get(number) {
            Some(block) => self.block(&block.insts, self.patches(&block.insts)),
            None => {
                let mut line = Line::new();
                for &(_, patch) in &self.entered {
                    let (index, patch) = self.patches[patch];
                    push(&mut line, index, Part::Entry, &patch.entry);
                }
                line
            }
        })
    }

    fn block(&self, insts: &Range<usize>, patches: &[(usize, &'a Patch)]) -> Line<'a> {
        let inserted: usize = patches.iter().map(|(_, patch)| patch.before.len() + patch.after.len()).sum();
        let mut line = Line::with_capacity(insts.len() + inserted);
        let mut at = insts.start;
        for &(index, patch) in patches {
            line.extend((at..index).map(|index| self.original(index)));
            push(&mut line, index, Part::Before, &patch.before);
            line.push(self.original(index));
            push(&mut line, index, Part::After, &patch.after);
            at = index + 1;
        }
        line.extend((at..insts.end).map(|index| self.original(index)));
        line
    }

    fn original(&self, index: usize) -> Item<'a> {
        let located = &self.program.insts[index];
        let nop = if located.op == Op::s_nop { Some(located.simm16().into()) } else { None };
        Item::new(Source::Original(index), Kind::of(located.encoding, located.op), nop)
    }

    fn predecessors(&self, number: usize) -> impl Iterator<Item = usize> {
        let block = self.function.blocks.get(number);
        let prologue = self.entered.iter().filter(move |(block, _)| *block == number);
        let before = block.into_iter().flat_map(|block| block.predecessors.iter().copied());
        before.chain(prologue.map(|_| self.function.blocks.len()))
    }

    fn successors(&self, number: usize) -> impl Iterator<Item = usize> {
        let block = self.function.blocks.get(number);
        let entered = if block.is_none() { &self.entered[..] } else { &[] };
        let after = block.into_iter().flat_map(|block| block.successors.iter().copied());
        after.chain(entered.iter().map(|(block, _)| *block))
    }

    fn facts<'i>(&'i self, item: &'i Item<'a>) -> &'i Facts {
        match item.source {
            Source::Original(index) => self.known.facts(index),
            Source::Inserted(inst, _) => inst.facts(self.program.arch),
        }
    }

    fn check(&self) {
        for &number in &self.concerned {
            for (at, item) in self.line(number).iter().enumerate() {
                if let Some(place) = item.inserted().filter(|_| item.kind.matters()) {
                    self.settle_before(number, at);
                    self.settle_after(number, at, place.rest);
                }
            }
        }
    }

    /// Puts wait states before an inserted instruction, for all that may run before it.
    fn settle_before(&self, line: usize, at: usize) {
        let consumer = &self.line(line)[at];
        let facts = self.facts(consumer);
        let mut missing = 0;
        let reach = facts.reach_before(self.slow, self.program.arch);
        if reach <= consumer.before.get() {
            return;
        }
        self.walk(line, at, Direction::Back, (consumer.before.get(), reach), &mut |producer, distance| {
            let states = self.facts(producer).states_before(facts, self.program.arch);
            missing = missing.max(states.saturating_sub(distance));
        });
        consumer.before.set(consumer.before.get() + missing);
    }

    /// Puts wait states at the end of an insertion, for the original instructions that may run after one of it.
    fn settle_after(&self, line: usize, at: usize, rest: usize) {
        let producer = &self.line(line)[at];
        let facts = self.facts(producer);
        let mut missing = 0;
        let reach = facts.reach();
        // Each that stands behind it in the insertion makes a wait state at least.
        if reach as usize <= producer.after.get() as usize + rest {
            return;
        }
        self.walk(line, at, Direction::On, (producer.after.get(), reach), &mut |consumer, distance| {
            if consumer.inserted().is_none() {
                let states = facts.states_before(self.facts(consumer), self.program.arch);
                missing = missing.max(states.saturating_sub(distance));
            }
        });
        if missing == 0 {
            return;
        }
        // The last of the same insertion.
        let last = &self.line(line)[at + rest];
        last.after.set(last.after.get() + missing);
    }

    /// Shows all that rules know of within `reach` wait states of an instruction, with the wait states in between, along
    /// every path. `distance` is where it starts to count.
    fn walk(
        &self,
        line: usize,
        at: usize,
        direction: Direction,
        (distance, reach): (u32, u32),
        see: &mut dyn FnMut(&Item<'a>, u32),
    ) {
        let items = self.line(line);
        // Most ways end in the line where they begin.
        let distance = match direction {
            Direction::Back => pass(items[..at].iter().rev(), direction, (distance, reach), see),
            Direction::On => pass(items[at + 1..].iter(), direction, (distance, reach), see),
        };
        let Some(distance) = distance else { return };
        // The least distance at which the border of each line was passed.
        let mut passed: BTreeMap<usize, u32> = BTreeMap::new();
        let mut work = vec![(line, distance)];
        while let Some((from, distance)) = work.pop() {
            let mut go_on = |number: usize| {
                if passed.get(&number).is_some_and(|&before| before <= distance) {
                    return;
                }
                passed.insert(number, distance);
                let untouched = self.function.blocks.get(number).map(|block| block.insts.clone());
                let untouched = untouched.filter(|insts| self.patches(insts).is_empty());
                let limits = (distance, reach);
                let beyond = match (untouched, direction) {
                    (Some(insts), Direction::Back) => {
                        pass(insts.rev().map(|index| self.original(index)), direction, limits, see)
                    }
                    (Some(insts), Direction::On) => {
                        pass(insts.map(|index| self.original(index)), direction, limits, see)
                    }
                    (None, Direction::Back) => pass(self.line(number).iter().rev(), direction, limits, see),
                    (None, Direction::On) => pass(self.line(number), direction, limits, see),
                };
                work.extend(beyond.map(|distance| (number, distance)));
            };
            match direction {
                Direction::Back => self.predecessors(from).for_each(&mut go_on),
                Direction::On => self.successors(from).for_each(&mut go_on),
            }
        }
    }

    /// What to insert: by part of a patch, position and wait states, in ascending order.
    fn nops(&self) -> BTreeMap<(usize, Part), Vec<(usize, u32)>> {
        let mut nops: BTreeMap<(usize, Part), Vec<(usize, u32)>> = BTreeMap::new();
        for item in self.concerned.iter().flat_map(|&number| self.line(number)) {
            if item.before.get() + item.after.get() == 0 {
                continue;
            }
            let Some(Place { patch, part, at, .. }) = item.inserted() else { continue };
            for (at, mut states) in [(at, item.before.get()), (at + 1, item.after.get())] {
                // One s_nop makes at most eight wait states (SIMM16 bits 2:0 on all of GFX9).
                while states > 0 {
                    let now = states.min(8);
                    nops.entry((patch, part)).or_default().push((at, now));
                    states -= now;
                }
            }
        }
        nops
    }
}

#[derive(Clone, Copy, Debug)]
enum Direction {
    Back,
    On,
}

fn push<'a>(line: &mut Line<'a>, index: usize, part: Part, code: &'a [Assembled]) {
    line.extend(code.iter().enumerate().map(|(at, inst)| {
        let nop = match (inst.op, inst.operands.first().map(|operand| operand.value)) {
            (Op::s_nop, Some(Value::Imm(count))) => Some(count),
            _ => None,
        };
        let place = Place { patch: index, part, at, rest: code.len() - at - 1 };
        Item::new(Source::Inserted(inst, place), Kind::of(inst.encoding, inst.op), nop)
    }));
}

impl<'a> Item<'a> {
    /// `nop` is the immediate of an `s_nop`.
    fn new(source: Source<'a>, kind: Kind, nop: Option<i32>) -> Self {
        let states = nop.map_or(1, |count| (count as u32 & 7) + 1);
        Self { source, kind, states, before: Cell::new(0), after: Cell::new(0) }
    }

    fn inserted(&self) -> Option<Place> {
        match self.source {
            Source::Original(_) => None,
            Source::Inserted(_, place) => Some(place),
        }
    }
}
