//! Which instructions matter to masks: those whose results can get into EXEC, by the operations that are
//! followed.
//!
//! The others, most of them, make addresses and numbers, and nobody asks for their values. Each block becomes
//! a short list of steps, and the data flow looks at these alone.

use std::collections::BTreeSet;
use std::ops::Range;

use amdgpu_isa::{Access, Op, ScalarSet, Value, scalar};

use super::operations::{is_followed, saves_exec, writes_exec};
use super::state::SCALARS;
use crate::analysis::program::{Function, Located, Program, Scalars};
use crate::analysis::rounds::Rounds;

/// The instructions of a function that the data flow looks at.
pub(super) struct Steps {
    /// One block after the other.
    all: Vec<Step>,
    /// By block: where the next one's begin.
    ends: Vec<usize>,
    /// By block: the registers whose values at its start matter.
    start: Vec<ScalarSet>,
    /// Registers whose values matter at some point of the function: few do.
    anywhere: ScalarSet,
}

/// What of a function matters.
pub(super) struct Slice {
    steps: Steps,
    /// By register: how many of these come before it.
    places: [u8; SCALARS],
    /// Registers whose values matter at the starts of blocks, with their places: one block after the other.
    at_starts: Vec<(u8, u8)>,
    /// By block: where the next one's begin.
    ends: Vec<usize>,
}

/// An instruction that the data flow looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) inst: usize,
    /// The step changes a value that matters.
    pub(super) matters: bool,
    /// The step is vector code, which can change what is known of lanes.
    pub(super) is_vector: bool,
    pub(super) writes_exec: bool,
    /// The step copies EXEC, or a half of it, to other registers.
    pub(super) copies_exec: bool,
}

/// What is known backwards from the end of a function.
struct Search<'a> {
    program: &'a Program,
    function: &'a Function,
    asked: &'a BTreeSet<usize>,
    /// The instructions that may matter, with whether they do: one block after the other. Vector code that
    /// writes vector registers alone is none of them.
    candidates: Vec<(usize, bool)>,
    /// By block: where the next one's begin.
    ends: Vec<usize>,
    /// By block: the registers whose values at its start matter.
    start: Vec<ScalarSet>,
    /// Registers whose values matter anywhere.
    anywhere: ScalarSet,
    /// Lanes of vector registers matter. They are one place.
    lanes: bool,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program, function: &'a Function, asked: &'a BTreeSet<usize>) -> Self {
        let blocks = &function.blocks;
        // A block has a few.
        let mut candidates = Vec::with_capacity(4 * blocks.len());
        let mut ends = Vec::with_capacity(blocks.len());
        for block in blocks {
            for index in block.insts.clone() {
                let located = &program.insts[index];
                let may_matter =
                    located.changes_scalars || located.names_exec || located.op == Op::v_writelane_b32;
                if may_matter || !asked.is_empty() && asked.contains(&index) {
                    candidates.push((index, false));
                }
            }
            ends.push(candidates.len());
        }
        let start = vec![ScalarSet::EMPTY; blocks.len()];
        Self { program, function, asked, candidates, ends, start, anywhere: ScalarSet::EMPTY, lanes: false }
    }

    /// Looks at blocks, the last first, until no more is found to matter.
    fn run(&mut self) {
        let blocks = &self.function.blocks;
        let last = blocks.len().saturating_sub(1);
        let mut rounds = Rounds::new(blocks.len());
        while let Some((place, _)) = rounds.next() {
            let number = last - place;
            let had_lanes = self.lanes;
            if self.block(number) {
                self.function.predecessors(number).iter().for_each(|&before| rounds.mark(last - before));
            }
            if self.lanes != had_lanes {
                (0..blocks.len()).for_each(|place| rounds.mark(place));
            }
        }
    }

    /// Looks at a block, last instruction first. True if more matters at its start than was known.
    fn block(&mut self, number: usize) -> bool {
        let successors = self.function.blocks[number].successors.iter();
        let mut relevant = successors.fold(ScalarSet::EXEC, |all, &next| all.union(self.start[next]));
        for (index, matters) in self.candidates[part(&self.ends, number)].iter_mut().rev() {
            let located = &self.program.insts[*index];
            let scalars = self.program.scalars(located);
            if may_change(located, scalars, relevant) || self.lanes && located.op == Op::v_writelane_b32 {
                *matters = true;
                relevant = relevant.without(scalars.writes).union(ScalarSet::EXEC);
                self.lanes |= located.op == Op::v_readlane_b32;
                if located.touches_exec || is_followed(located.op, self.program.wave_size()) {
                    relevant = relevant.union(scalars.reads);
                }
                self.anywhere = self.anywhere.union(relevant);
            }
            if !self.asked.is_empty() && self.asked.contains(index) {
                relevant = relevant.union(scalars.reads);
                self.anywhere = self.anywhere.union(relevant);
            }
        }
        std::mem::replace(&mut self.start[number], relevant) != relevant
    }

    /// The steps of all blocks.
    fn steps(self) -> Steps {
        let blocks = &self.function.blocks;
        let (mut steps, mut ends) =
            (Vec::with_capacity(self.candidates.len()), Vec::with_capacity(blocks.len()));
        for (number, block) in blocks.iter().enumerate() {
            let candidates = &self.candidates[part(&self.ends, number)];
            let mut add = |index: usize, matters: bool| {
                let located = &self.program.insts[index];
                let is_vector = self.lanes && !located.encoding.is_scalar();
                if matters || located.names_exec || is_vector {
                    steps.push(Step {
                        inst: index,
                        matters,
                        is_vector,
                        writes_exec: writes_exec(self.program, index),
                        copies_exec: copies_exec(self.program, index),
                    });
                }
            };
            if self.lanes {
                // In what is known of lanes, every vector instruction may change something.
                let mut known = candidates.iter().peekable();
                for index in block.insts.clone() {
                    let matters = known.next_if(|(candidate, _)| *candidate == index);
                    add(index, matters.is_some_and(|&(_, matters)| matters));
                }
            } else {
                candidates.iter().for_each(|&(index, matters)| add(index, matters));
            }
            ends.push(steps.len());
        }
        Steps { all: steps, ends, start: self.start, anywhere: self.anywhere }
    }
}

impl Steps {
    /// The steps that matter to EXEC, and to what the instructions `asked` read.
    pub(super) fn new(program: &Program, function: &Function, asked: &BTreeSet<usize>) -> Self {
        let mut search = Search::new(program, function, asked);
        search.run();
        search.steps()
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[Step] {
        &self.all
    }

    /// The numbers of a block's.
    pub(super) fn of(&self, block: usize) -> Range<usize> {
        part(&self.ends, block)
    }
}

impl Slice {
    pub(super) fn new(steps: Steps) -> Self {
        let mut places = [0; SCALARS];
        for (place, register) in (0..).zip(registers(steps.anywhere)) {
            places[usize::from(register)] = place;
        }
        let (mut at_starts, mut ends) = (Vec::new(), Vec::with_capacity(steps.start.len()));
        for &start in &steps.start {
            at_starts.reserve(SCALARS);
            registers(start).for_each(|register| at_starts.push((register, places[usize::from(register)])));
            ends.push(at_starts.len());
        }
        Self { steps, places, at_starts, ends }
    }

    /// All steps, by number.
    pub(super) fn steps(&self) -> &[Step] {
        self.steps.all()
    }

    /// The numbers of a block's steps.
    pub(super) fn steps_of(&self, block: usize) -> Range<usize> {
        self.steps.of(block)
    }

    /// Where the value of a register is kept among those that are followed; nowhere if it never matters.
    pub(super) fn place(&self, register: u8) -> Option<usize> {
        let register = usize::from(register) % SCALARS;
        (followed(self.steps.anywhere) >> register & 1 != 0).then(|| usize::from(self.places[register]))
    }

    /// How many registers are followed.
    pub(super) fn len(&self) -> usize {
        registers(self.steps.anywhere).count()
    }

    /// The registers whose values at the start of a block matter, with their places.
    pub(super) fn at_start(&self, block: usize) -> &[(u8, u8)] {
        &self.at_starts[self.numbers_at_start(block)]
    }

    /// The numbers of these among those of all blocks.
    pub(super) fn numbers_at_start(&self, block: usize) -> Range<usize> {
        part(&self.ends, block)
    }

    /// How many there are, all blocks' together.
    pub(super) fn at_starts(&self) -> usize {
        self.at_starts.len()
    }
}

/// What lies between two of these ends.
fn part(ends: &[usize], number: usize) -> Range<usize> {
    let first = number.checked_sub(1).map_or(0, |before| ends[before]);
    first..ends.get(number).copied().unwrap_or(first)
}

/// The registers of a set, by operand code. EXEC is no place among them, and nobody asks what SCC holds.
fn registers(set: ScalarSet) -> Registers {
    let bits = followed(set);
    Registers { low: bits as u64, high: (bits >> 64) as u64 }
}

/// Those of a set that have a place.
fn followed(set: ScalarSet) -> u128 {
    set.without(ScalarSet::EXEC).without(ScalarSet::SCC).bits()
}

/// The registers of a set that are still to come.
struct Registers {
    low: u64,
    high: u64,
}

impl Iterator for Registers {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (half, first) = if self.low == 0 { (&mut self.high, 64) } else { (&mut self.low, 0) };
        let bit = half.trailing_zeros() as u8;
        *half &= half.checked_sub(1)?;
        Some(first + bit)
    }
}

/// Whether an instruction may change one of these registers. What is changed in part only is not told apart.
fn may_change(located: &Located, scalars: &Scalars, registers: ScalarSet) -> bool {
    let in_part = scalars.writes.without(ScalarSet::SCC).is_empty();
    located.changes_scalars && (in_part || scalars.writes.intersects(registers))
}

/// Whether an instruction copies EXEC, or a half of it, to other registers.
fn copies_exec(program: &Program, index: usize) -> bool {
    let located = &program.insts[index];
    let reads = || {
        let exec = |value| matches!(value, Value::Scalar(scalar::EXEC | scalar::EXEC_HI));
        let inst = program.inst(index);
        inst.operands.iter().any(|operand| operand.access == Access::Read && exec(operand.value))
    };
    let copies = matches!(located.op, Op::s_mov_b64 | Op::s_mov_b32 | Op::v_writelane_b32 | Op::v_mov_b32);
    saves_exec(located.op) || located.names_exec && copies && reads()
}
