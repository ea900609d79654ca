//! Which instructions matter to masks: those whose results can get into EXEC, by the operations that are followed.
//!
//! The others, most of them, make addresses and numbers, and nobody asks for their values.

use std::collections::BTreeSet;
use std::ops::Range;

use super::state::SCALARS;
use super::step::is_followed;
use crate::analysis::program::{Function, Located, Program};
use crate::isa::{Op, ScalarSet};

/// What of a function matters.
pub(super) struct Slice {
    /// The function's first instruction.
    first: usize,
    /// By instruction, from the first on, a bit each: it changes a value that matters.
    matters: Vec<u64>,
    /// The same for those that name EXEC.
    names_exec: Vec<u64>,
    /// By block: the registers whose values at its start matter.
    start: Vec<ScalarSet>,
    /// The registers whose values matter anywhere: few do.
    anywhere: ScalarSet,
    /// By register: how many of these come before it.
    places: [u8; SCALARS],
    /// Registers whose values matter at the starts of blocks, with their places: one block after the other.
    at_starts: Vec<(u8, u8)>,
    /// By block: where the next one's begin.
    ends: Vec<usize>,
}

impl Slice {
    /// Of EXEC, and of what the instructions `asked` read.
    pub(super) fn new(program: &Program, function: &Function, asked: &BTreeSet<usize>) -> Self {
        let blocks = &function.blocks;
        let first = blocks.first().map_or(0, |block| block.insts.start);
        let end = blocks.last().map_or(0, |block| block.insts.end);
        let bits = vec![0; (end - first).div_ceil(64)];
        let start = vec![ScalarSet::EMPTY; blocks.len()];
        let mut slice = Self {
            first,
            matters: bits.clone(),
            names_exec: bits,
            start,
            anywhere: ScalarSet::EMPTY,
            places: [0; SCALARS],
            at_starts: Vec::new(),
            ends: Vec::with_capacity(blocks.len()),
        };
        for (offset, located) in program.insts[first..end].iter().enumerate() {
            slice.names_exec[offset / 64] |= u64::from(located.names_exec) << (offset % 64);
        }
        // Lanes of vector registers are one place.
        let mut lanes = false;
        let mut stale = vec![true; blocks.len()];
        while let Some(mut number) = stale.iter().rposition(|&stale| stale) {
            loop {
                if std::mem::replace(&mut stale[number], false) {
                    let had_lanes = lanes;
                    if slice.block(program, function, number, asked, &mut lanes) {
                        blocks[number].predecessors.iter().for_each(|&before| stale[before] = true);
                    }
                    if lanes != had_lanes {
                        stale.fill(true);
                    }
                }
                match number.checked_sub(1) {
                    Some(before) => number = before,
                    None => break,
                }
            }
        }
        for (place, register) in (0..).zip(registers(slice.anywhere)) {
            slice.places[usize::from(register)] = place;
        }
        for &start in &slice.start {
            let place = |register: u8| slice.places[usize::from(register)];
            slice.at_starts.extend(registers(start).map(|register| (register, place(register))));
            slice.ends.push(slice.at_starts.len());
        }
        slice
    }

    /// Looks at a block, last instruction first. True if more matters at its start than was known.
    fn block(
        &mut self,
        program: &Program,
        function: &Function,
        number: usize,
        asked: &BTreeSet<usize>,
        lanes: &mut bool,
    ) -> bool {
        let block = &function.blocks[number];
        let mut relevant =
            block.successors.iter().fold(ScalarSet::EXEC, |all, &next| all.union(self.start[next]));
        for index in block.insts.clone().rev() {
            let located = &program.insts[index];
            if may_change(located, relevant) || *lanes && located.op == Op::v_writelane_b32 {
                let offset = index - self.first;
                self.matters[offset / 64] |= 1 << (offset % 64);
                relevant = relevant.without(located.writes).union(ScalarSet::EXEC);
                *lanes |= located.op == Op::v_readlane_b32;
                let sets_exec = located.names_exec || located.writes.intersects(ScalarSet::EXEC);
                if sets_exec || is_followed(located.op) {
                    relevant = relevant.union(located.reads);
                }
                self.anywhere = self.anywhere.union(relevant);
            }
            if !asked.is_empty() && asked.contains(&index) {
                relevant = relevant.union(located.reads);
                self.anywhere = self.anywhere.union(relevant);
            }
        }
        std::mem::replace(&mut self.start[number], relevant) != relevant
    }

    /// Whether an instruction changes a value that matters.
    pub(super) fn has(&self, index: usize) -> bool {
        let offset = index - self.first;
        self.matters[offset / 64] >> (offset % 64) & 1 != 0
    }

    /// The first of some instructions that changes a value that matters, or names EXEC.
    pub(super) fn next(&self, insts: Range<usize>) -> Option<usize> {
        let (mut at, end) = (insts.start - self.first, insts.end - self.first);
        while at < end {
            let rest = (self.matters[at / 64] | self.names_exec[at / 64]) >> (at % 64);
            if rest != 0 {
                at += rest.trailing_zeros() as usize;
                return (at < end).then_some(at + self.first);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// How many instructions change a value that matters.
    pub(super) fn len(&self) -> usize {
        self.matters.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Where the value of a register is kept among those that are followed; nowhere if it never matters.
    pub(super) fn place(&self, register: u8) -> Option<usize> {
        let register = usize::from(register) % SCALARS;
        (self.anywhere.bits() >> register & 1 != 0).then(|| usize::from(self.places[register]))
    }

    /// The registers that are followed, in the order of their places.
    pub(super) fn registers(&self) -> impl Iterator<Item = u8> + use<> {
        registers(self.anywhere)
    }

    /// The registers whose values at the start of a block matter, with their places.
    pub(super) fn at_start(&self, block: usize) -> impl Iterator<Item = (u8, usize)> + use<'_> {
        let first = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends.get(block).copied().unwrap_or(first);
        let own = &self.at_starts[first..end];
        own.iter().map(|&(register, place)| (register, usize::from(place)))
    }
}

/// The registers of a set, by operand code. EXEC is no place among them, and nobody asks what SCC holds.
fn registers(set: ScalarSet) -> impl Iterator<Item = u8> + use<> {
    let mut rest = set.without(ScalarSet::EXEC).without(ScalarSet::SCC).bits();
    std::iter::from_fn(move || {
        let register = rest.trailing_zeros();
        rest &= rest.checked_sub(1)?;
        Some(register as u8)
    })
}

/// Whether an instruction may change one of these registers. What is changed in part only is not told apart.
fn may_change(located: &Located, registers: ScalarSet) -> bool {
    let in_part = located.writes.without(ScalarSet::SCC).is_empty();
    located.changes_scalars && (in_part || located.writes.intersects(registers))
}
