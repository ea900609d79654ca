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

use rules::{Facts, Kind, MOST_STATES, MOST_STATES_WITHOUT_MATRICES};

use super::relocate::Patch;
use crate::Arch;
use crate::analysis::program::{Function, Program};
use crate::isa::{EncodeError, Encoding, Inst, Mods, Op, Value, assemble};

/// Adds the wait states that the patches of one function need.
pub(super) fn settle(
    program: &Program,
    function: &Function,
    patches: &mut BTreeMap<usize, Patch>,
) -> Result<(), EncodeError> {
    let first = function.blocks.first().map_or(0, |block| block.insts.start);
    let end = function.blocks.last().map_or(0, |block| block.insts.end);
    if patches.range(first..end).next().is_none() {
        return Ok(());
    }
    let lines = Lines::new(program, function, patches);
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
            code.insert(at, nop(program.arch, states)?);
        }
    }
    Ok(())
}

fn nop(arch: Arch, states: u32) -> Result<Inst, EncodeError> {
    assemble(arch, Op::s_nop, Encoding::Sopp, &[Value::Imm(i64::from(states) - 1)], Mods::default())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Entry,
    Before,
    After,
}

/// An instruction in its new surroundings.
struct Item<'a> {
    inst: &'a Inst,
    /// Instruction index of the patch, which part of it, and where in that part.
    inserted: Option<(usize, Part, usize)>,
    kind: Kind,
    facts: OnceCell<Box<Facts>>,
    /// Wait states to be added before it, and after it.
    before: Cell<u32>,
    after: Cell<u32>,
}

/// A straight piece of code, and the pieces around it.
#[derive(Default)]
struct Line<'a> {
    items: Vec<Item<'a>>,
    predecessors: Vec<usize>,
    successors: Vec<usize>,
    is_patched: bool,
}

/// The blocks of a function with what is inserted, and the prologue as a line of its own.
struct Lines<'a> {
    arch: Arch,
    lines: Vec<Line<'a>>,
    /// The most wait states that any rule may ask for between two of these instructions.
    most_states: u32,
}

impl<'a> Lines<'a> {
    fn new(program: &'a Program, function: &'a Function, patches: &'a BTreeMap<usize, Patch>) -> Self {
        let mut lines = Vec::with_capacity(function.blocks.len() + 1);
        let mut prologue = Line::default();
        for (number, block) in function.blocks.iter().enumerate() {
            let mut line = Line {
                predecessors: block.predecessors.clone(),
                successors: block.successors.clone(),
                ..Line::default()
            };
            let mut patched = patches.range(block.insts.clone()).peekable();
            for index in block.insts.clone() {
                let inst = &program.insts[index].inst;
                let Some((_, patch)) = patched.next_if(|(at, _)| **at == index) else {
                    line.items.push(Item::new(inst, None));
                    continue;
                };
                if !patch.entry.is_empty() {
                    prologue.push(index, Part::Entry, &patch.entry);
                    prologue.successors.push(number);
                    line.predecessors.push(function.blocks.len());
                }
                line.push(index, Part::Before, &patch.before);
                line.items.push(Item::new(inst, None));
                line.push(index, Part::After, &patch.after);
            }
            lines.push(line);
        }
        lines.push(prologue);
        let has_matrices = lines.iter().flat_map(|line| &line.items).any(|item| item.kind == Kind::Matrix);
        let most_states = if has_matrices { MOST_STATES } else { MOST_STATES_WITHOUT_MATRICES };
        Self { arch: program.arch, lines, most_states }
    }

    fn check(&self) {
        for (number, line) in self.lines.iter().enumerate().filter(|(_, line)| line.is_patched) {
            for (at, item) in line.items.iter().enumerate() {
                if item.inserted.is_none() || !item.kind.matters() {
                    continue;
                }
                self.settle_before(number, at);
                self.settle_after(number, at);
            }
        }
    }

    /// Puts wait states before an inserted instruction, for all that may run before it.
    fn settle_before(&self, line: usize, at: usize) {
        let consumer = &self.lines[line].items[at];
        let facts = consumer.facts(self.arch);
        let mut missing = 0;
        let reach = self.most_states;
        self.walk(line, at, Direction::Back, (consumer.before.get(), reach), &mut |producer, distance| {
            let states = producer.facts(self.arch).states_before(facts, self.arch);
            missing = missing.max(states.saturating_sub(distance));
        });
        consumer.before.set(consumer.before.get() + missing);
    }

    /// Puts wait states at the end of an insertion, for the original instructions that may run after one of it.
    fn settle_after(&self, line: usize, at: usize) {
        let producer = &self.lines[line].items[at];
        let facts = producer.facts(self.arch);
        let mut missing = 0;
        let reach = facts.reach().min(self.most_states);
        self.walk(line, at, Direction::On, (producer.after.get(), reach), &mut |consumer, distance| {
            if consumer.inserted.is_none() {
                let states = facts.states_before(consumer.facts(self.arch), self.arch);
                missing = missing.max(states.saturating_sub(distance));
            }
        });
        // The last of the same insertion.
        let part = |item: &Item<'_>| item.inserted.map(|(patch, part, _)| (patch, part));
        let items = &self.lines[line].items;
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
        let mut work = vec![(line, Some(at), distance)];
        while let Some((number, from, mut distance)) = work.pop() {
            let line = &self.lines[number];
            let mut visit = |item: &Item<'a>| {
                let (near, far) = match direction {
                    Direction::Back => (&item.after, &item.before),
                    Direction::On => (&item.before, &item.after),
                };
                distance += near.get();
                if distance < reach && item.kind != Kind::Scalar {
                    see(item, distance);
                }
                distance += item.states() + far.get();
                distance < reach
            };
            let goes_on = match (direction, from) {
                (Direction::Back, Some(at)) => line.items[..at].iter().rev().all(&mut visit),
                (Direction::Back, None) => line.items.iter().rev().all(&mut visit),
                (Direction::On, Some(at)) => line.items[at + 1..].iter().all(&mut visit),
                (Direction::On, None) => line.items.iter().all(&mut visit),
            };
            if !goes_on {
                continue;
            }
            let next = match direction {
                Direction::Back => &line.predecessors,
                Direction::On => &line.successors,
            };
            for &next in next {
                if passed.get(&next).is_none_or(|&before| distance < before) {
                    passed.insert(next, distance);
                    work.push((next, None, distance));
                }
            }
        }
    }

    /// What to insert: by part of a patch, position and wait states, in ascending order.
    fn nops(&self) -> BTreeMap<(usize, Part), Vec<(usize, u32)>> {
        let mut nops: BTreeMap<(usize, Part), Vec<(usize, u32)>> = BTreeMap::new();
        for item in self.lines.iter().flat_map(|line| &line.items) {
            let Some((index, part, at)) = item.inserted else { continue };
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

impl<'a> Line<'a> {
    fn push(&mut self, index: usize, part: Part, code: &'a [Inst]) {
        self.is_patched |= !code.is_empty();
        let items = code.iter().enumerate();
        self.items.extend(items.map(|(at, inst)| Item::new(inst, Some((index, part, at)))));
    }
}

impl<'a> Item<'a> {
    fn new(inst: &'a Inst, inserted: Option<(usize, Part, usize)>) -> Self {
        let (before, after) = (Cell::new(0), Cell::new(0));
        Self { inst, inserted, kind: Kind::of(inst), facts: OnceCell::new(), before, after }
    }

    fn facts(&self, arch: Arch) -> &Facts {
        self.facts.get_or_init(|| Box::new(Facts::new(arch, self.inst)))
    }

    /// Wait states that the instruction itself makes.
    fn states(&self) -> u32 {
        match (self.inst.op, self.inst.operands.first().map(|operand| operand.value)) {
            (Op::s_nop, Some(Value::Imm(count))) => (count as u32 & 7) + 1,
            _ => 1,
        }
    }
}
