//! Wait states between inserted code and what stands around it, on every path.
//!
//! Every inserted instruction is compared with what may run before it, through all predecessors, and every original
//! instruction behind an insertion with the inserted ones before it. Where too few wait states lie between, `s_nop` is added
//! to the insertion. Pairs of original instructions only ever come further apart.
//!
//! As in LLVM, what lies on the other side of a call or a return is not looked at: the jump itself takes longer.

mod rules;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) use rules::Facts;
use rules::{Kind, MOST_STATES, MOST_STATES_WITHOUT_MATRICES};

use super::assembler::{Assembled, Assembler};
use super::relocate::Patch;
use crate::analysis::program::{Function, Program};
use crate::isa::{EncodeError, Encoding, Inst, Op, Value};

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

/// Whether the rules take an instruction for a matrix instruction.
pub(super) fn is_matrix(inst: &Inst) -> bool {
    Kind::of(inst.encoding, inst.op) == Kind::Matrix
}

/// Adds the wait states that the patches of one function need, which may have matrix instructions.
pub(super) fn settle(
    known: &Known<'_>,
    assembler: &Assembler,
    (function, has_matrices): (&Function, bool),
    patches: &mut BTreeMap<usize, Patch>,
) -> Result<(), EncodeError> {
    let first = function.blocks.first().map_or(0, |block| block.insts.start);
    let end = function.blocks.last().map_or(0, |block| block.insts.end);
    if patches.range(first..end).next().is_none() {
        return Ok(());
    }
    let lines = Lines::new(known, function, has_matrices, patches);
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
    /// With the instruction of the patch, which part of it, and where in that part.
    Inserted(&'a Assembled, (usize, Part, usize)),
}

/// A straight piece of code.
type Line<'a> = Vec<Item<'a>>;

/// The blocks of a function with what is inserted, and the prologue as a line of its own behind them. Each is made when it is
/// looked at: most are far from what is inserted.
struct Lines<'a> {
    program: &'a Program,
    known: &'a Known<'a>,
    function: &'a Function,
    patches: &'a BTreeMap<usize, Patch>,
    lines: Vec<OnceCell<Line<'a>>>,
    /// Blocks into which something is inserted.
    patched: Vec<usize>,
    /// Blocks that the prologue goes on to, and the instructions it stands before.
    entered: Vec<(usize, usize)>,
    /// The most wait states that any rule may ask for between two of these instructions.
    most_states: u32,
}

impl<'a> Lines<'a> {
    fn new(
        known: &'a Known<'_>,
        function: &'a Function,
        has_matrices: bool,
        patches: &'a BTreeMap<usize, Patch>,
    ) -> Self {
        let program = known.program;
        let blocks = &function.blocks;
        let all = blocks.first().map_or(0, |block| block.insts.start)
            ..blocks.last().map_or(0, |block| block.insts.end);
        let (mut patched, mut entered) = (Vec::new(), Vec::new());
        for (&index, patch) in patches.range(all) {
            let block = blocks.partition_point(|block| block.insts.end <= index);
            if patched.last() != Some(&block) {
                patched.push(block);
            }
            if !patch.entry.is_empty() {
                entered.push((block, index));
            }
        }
        if !entered.is_empty() {
            patched.push(blocks.len());
        }
        let most_states = if has_matrices { MOST_STATES } else { MOST_STATES_WITHOUT_MATRICES };
        let lines = (0..=blocks.len()).map(|_| OnceCell::new()).collect();
        Self { program, known, function, patches, lines, patched, entered, most_states }
    }

    fn line(&self, number: usize) -> &[Item<'a>] {
        self.lines[number].get_or_init(|| {
            let mut line = Line::new();
            match self.function.blocks.get(number) {
                Some(block) => self.block(block.insts.clone(), &mut line),
                None => {
                    for &(_, index) in &self.entered {
                        push(&mut line, index, Part::Entry, &self.patches[&index].entry);
                    }
                }
            }
            line
        })
    }

    fn block(&self, insts: Range<usize>, line: &mut Line<'a>) {
        let inserted = self.patches.range(insts.clone());
        let inserted: usize = inserted.map(|(_, patch)| patch.before.len() + patch.after.len()).sum();
        line.reserve(insts.len() + inserted);
        let mut at = insts.start;
        for (&index, patch) in self.patches.range(insts.clone()) {
            line.extend((at..index).map(|index| self.original(index)));
            push(line, index, Part::Before, &patch.before);
            line.push(self.original(index));
            push(line, index, Part::After, &patch.after);
            at = index + 1;
        }
        line.extend((at..insts.end).map(|index| self.original(index)));
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
        for &number in &self.patched {
            for (at, item) in self.line(number).iter().enumerate() {
                if item.inserted().is_none() || !item.kind.matters() {
                    continue;
                }
                self.settle_before(number, at);
                self.settle_after(number, at);
            }
        }
    }

    /// Puts wait states before an inserted instruction, for all that may run before it.
    fn settle_before(&self, line: usize, at: usize) {
        let consumer = &self.line(line)[at];
        let facts = self.facts(consumer);
        let mut missing = 0;
        let reach = self.most_states;
        self.walk(line, at, Direction::Back, (consumer.before.get(), reach), &mut |producer, distance| {
            let states = self.facts(producer).states_before(facts, self.program.arch);
            missing = missing.max(states.saturating_sub(distance));
        });
        consumer.before.set(consumer.before.get() + missing);
    }

    /// Puts wait states at the end of an insertion, for the original instructions that may run after one of it.
    fn settle_after(&self, line: usize, at: usize) {
        let producer = &self.line(line)[at];
        let facts = self.facts(producer);
        let mut missing = 0;
        let reach = facts.reach().min(self.most_states);
        if reach == 0 {
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
        let part = |item: &Item<'_>| item.inserted().map(|(patch, part, _)| (patch, part));
        let items = self.line(line);
        let last = items[at..].iter().take_while(|item| part(item) == part(producer)).last();
        if let Some(last) = last {
            last.after.set(last.after.get() + missing);
        }
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
        // The least distance at which the border of each line was passed.
        let mut passed: BTreeMap<usize, u32> = BTreeMap::new();
        let mut work = Vec::new();
        // Most ways end in the line where they begin.
        let mut first = Some((line, Some(at), distance));
        while let Some((number, from, mut distance)) = first.take().or_else(|| work.pop()) {
            let line = self.line(number);
            let mut visit = |item: &Item<'a>| {
                let (near, far) = match direction {
                    Direction::Back => (&item.after, &item.before),
                    Direction::On => (&item.before, &item.after),
                };
                distance += near.get();
                if distance < reach && item.kind != Kind::Scalar {
                    see(item, distance);
                }
                distance += item.states + far.get();
                distance < reach
            };
            let goes_on = match (direction, from) {
                (Direction::Back, Some(at)) => line[..at].iter().rev().all(&mut visit),
                (Direction::Back, None) => line.iter().rev().all(&mut visit),
                (Direction::On, Some(at)) => line[at + 1..].iter().all(&mut visit),
                (Direction::On, None) => line.iter().all(&mut visit),
            };
            if !goes_on {
                continue;
            }
            let mut go_on = |next: usize| {
                if passed.get(&next).is_none_or(|&before| distance < before) {
                    passed.insert(next, distance);
                    work.push((next, None, distance));
                }
            };
            match direction {
                Direction::Back => self.predecessors(number).for_each(&mut go_on),
                Direction::On => self.successors(number).for_each(&mut go_on),
            }
        }
    }

    /// What to insert: by part of a patch, position and wait states, in ascending order.
    fn nops(&self) -> BTreeMap<(usize, Part), Vec<(usize, u32)>> {
        let mut nops: BTreeMap<(usize, Part), Vec<(usize, u32)>> = BTreeMap::new();
        for item in self.patched.iter().flat_map(|&number| self.line(number)) {
            let Some((index, part, at)) = item.inserted() else { continue };
            for (at, mut states) in [(at, item.before.get()), (at + 1, item.after.get())] {
                // One s_nop makes at most eight wait states (SIMM16 bits 2:0 on all of GFX9).
                while states > 0 {
                    let now = states.min(8);
                    nops.entry((index, part)).or_default().push((at, now));
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
        Item::new(Source::Inserted(inst, (index, part, at)), Kind::of(inst.encoding, inst.op), nop)
    }));
}

impl<'a> Item<'a> {
    /// `nop` is the immediate of an `s_nop`.
    fn new(source: Source<'a>, kind: Kind, nop: Option<i32>) -> Self {
        let states = nop.map_or(1, |count| (count as u32 & 7) + 1);
        Self { source, kind, states, before: Cell::new(0), after: Cell::new(0) }
    }

    fn inserted(&self) -> Option<(usize, Part, usize)> {
        match self.source {
            Source::Original(_) => None,
            Source::Inserted(_, place) => Some(place),
        }
    }
}
