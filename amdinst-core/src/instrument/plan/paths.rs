//! Which blocks of a function the paths of its waves lead through.

use crate::analysis::program::{Block, Exit};

/// The block that a function starts in at an instruction.
pub(super) fn first_block(blocks: &[Block], entry: usize) -> Option<usize> {
    blocks.iter().position(|block| block.insts.contains(&entry))
}

/// Whether waves go anywhere but from block to block until they end: what happens to them there is not looked
/// at.
pub(super) fn leave(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| !matches!(block.exit, Exit::Local | Exit::End))
}

/// Which blocks are entered from some, if only those are left that `goes_on` tells of.
pub(super) fn reached(blocks: &[Block], from: &[usize], goes_on: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut open = from.to_vec();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut seen[block], true) && goes_on(block) {
            open.extend(&blocks[block].successors);
        }
    }
    seen
}

/// Which blocks can be reached from the first without passing one.
pub(super) fn reached_without(blocks: &[Block], first: usize, without: usize) -> Vec<bool> {
    let mut seen = reached(blocks, &[first], |block| block != without);
    seen[without] = false;
    seen
}

/// Whether no wave ends without passing a block, from the first on.
pub(super) fn is_on_every_path(blocks: &[Block], first: usize, block: usize) -> bool {
    !reached_without(blocks, first, block)
        .iter()
        .zip(blocks)
        .any(|(&is, other)| is && other.exit == Exit::End)
}

/// Whether a block can follow itself.
pub(super) fn repeats(blocks: &[Block], block: usize) -> bool {
    reached(blocks, &blocks[block].successors, |next| next != block)[block]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(successors: &[usize]) -> Block {
        Block {
            insts: 0..0,
            successors: successors.iter().copied().collect(),
            exit: if successors.is_empty() { Exit::End } else { Exit::Local },
        }
    }

    /// 0 branches to 1 and 2, both lead to 3, where waves end.
    #[test]
    fn a_block_is_on_every_path_if_no_wave_ends_without_it() {
        let blocks = [block(&[1, 2]), block(&[3]), block(&[3]), block(&[])];
        assert_eq!(
            [0, 1, 2, 3].map(|number| is_on_every_path(&blocks, 0, number)),
            [true, false, false, true]
        );
    }

    /// 0 branches to 1 and 3, 1 to itself and 2, 2 to 3.
    #[test]
    fn a_block_repeats_if_a_path_leads_back() {
        let blocks = [block(&[1, 3]), block(&[1, 2]), block(&[3]), block(&[])];
        assert_eq!([0, 1, 2, 3].map(|number| repeats(&blocks, number)), [false, true, false, false]);
        assert_eq!(reached_without(&blocks, 0, 1), [true, false, false, true]);
        let blocks = [block(&[1]), block(&[2]), block(&[1])];
        assert_eq!([0, 1, 2].map(|number| repeats(&blocks, number)), [false, true, true]);
    }
}
