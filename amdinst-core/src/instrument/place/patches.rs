//! What is inserted at the instructions of a group of kernels.

use std::ops::Range;

use crate::instrument::emit::assembler::Assembled;

/// What is inserted at one instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    /// Before it, for control that comes from the entry only.
    pub(crate) entry: Vec<Assembled>,
    /// Before it, for all control.
    pub(crate) before: Vec<Assembled>,
    /// After it, for control that comes through it.
    pub(crate) after: Vec<Assembled>,
    /// In place of it and of what follows, as many bytes: what control enters there and leaves by its own
    /// branch only.
    pub(crate) instead: Vec<Assembled>,
}

impl Patch {
    /// Instructions that are inserted around the one that is there.
    pub(crate) fn size(&self) -> usize {
        self.entry.len() + self.before.len() + self.after.len()
    }
}

/// Patches by instruction. Where there will be some is mostly known ahead.
#[derive(Debug, Default)]
pub(crate) struct Patches {
    /// In order of the instructions.
    sorted: Vec<(usize, Patch)>,
}

impl Patches {
    /// Empty ones, at these instructions.
    pub(crate) fn at(mut instructions: Vec<usize>) -> Self {
        instructions.sort_unstable();
        instructions.dedup();
        Self { sorted: instructions.into_iter().map(|index| (index, Patch::default())).collect() }
    }

    fn find(&self, instruction: usize) -> Result<usize, usize> {
        self.sorted.binary_search_by_key(&instruction, |&(index, _)| index)
    }

    pub(crate) fn get(&self, instruction: usize) -> Option<&Patch> {
        self.find(instruction).ok().map(|found| &self.sorted[found].1)
    }

    /// The patch at an instruction; a new one if there is none.
    pub(crate) fn entry(&mut self, instruction: usize) -> &mut Patch {
        let found = self.find(instruction).unwrap_or_else(|place| {
            self.sorted.insert(place, (instruction, Patch::default()));
            place
        });
        &mut self.sorted[found].1
    }

    /// The patches at a range of instructions.
    pub(crate) fn range(&self, instructions: Range<usize>) -> &[(usize, Patch)] {
        let before = |end: usize| self.sorted.partition_point(|&(index, _)| index < end);
        &self.sorted[before(instructions.start)..before(instructions.end)]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(usize, Patch)> {
        self.sorted.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_in_order_and_made_once() {
        let mut patches = Patches::at(vec![7, 3, 7]);
        for instruction in [5, 3, 5] {
            patches.entry(instruction);
        }
        let all = |patches: &[(usize, Patch)]| patches.iter().map(|&(index, _)| index).collect::<Vec<_>>();
        assert_eq!(all(&patches.sorted), [3, 5, 7]);
        assert_eq!(all(patches.range(4..7)), [5]);
        assert!(patches.get(4).is_none() && patches.get(7).is_some());
    }
}
