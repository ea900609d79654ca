//! In and out states of blocks: what is known of masks where each block starts, or where each ends.

use super::state::{Rest, State};
use crate::analysis::values::Vn;

/// The in state, or the out state, of each block. The values of registers stand in one array for all blocks,
/// as rows.
pub(super) struct BlockStates {
    rest: Vec<Option<Rest>>,
    scalars: Vec<Vn>,
    /// How many registers are followed.
    places: usize,
}

impl BlockStates {
    /// Of so many blocks, none of which is reached. `any` is the value of each register until it is known.
    pub(super) fn new(blocks: usize, places: usize, any: Vn) -> Self {
        Self { rest: vec![None; blocks], scalars: vec![any; blocks * places], places }
    }

    /// What is known of a block beside registers, if it is reached.
    pub(super) fn rest(&self, block: usize) -> Option<Rest> {
        self.rest[block]
    }

    /// The values of the registers that are followed; anything where they do not matter.
    pub(super) fn scalars(&self, block: usize) -> &[Vn] {
        &self.scalars[block * self.places..][..self.places]
    }

    /// All that is known of a block, if it is reached.
    pub(super) fn state(&self, block: usize) -> Option<State> {
        Some(State { scalars: self.scalars(block).to_vec(), rest: self.rest(block)? })
    }

    pub(super) fn set(&mut self, block: usize, state: &State) {
        self.scalars[block * self.places..][..self.places].copy_from_slice(&state.scalars);
        self.rest[block] = Some(state.rest);
    }
}
