//! VM_CNT, LGKM_CNT and EXP_CNT of a wave.

use std::collections::VecDeque;

use super::stall::Stall;

/// Operations under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    /// When each completes, and what it is.
    ends: VecDeque<(u64, Stall)>,
}

impl Counter {
    pub(super) fn clear(&mut self) {
        self.ends.clear();
    }

    /// An operation that completes at a time.
    pub(super) fn push(&mut self, now: u64, end: u64, what: Stall) {
        self.ends.retain(|(end, _)| *end > now);
        self.ends.push_back((end, what));
    }

    /// When the operation before completes: what returns in order cannot return sooner.
    pub(super) fn last(&self) -> u64 {
        self.ends.back().map_or(0, |(end, _)| *end)
    }

    /// From when on no more than `left` are under way, and what the last one to go is.
    pub(super) fn at_most(&self, left: u8) -> (u64, Stall) {
        let left = usize::from(left);
        if self.ends.len() <= left {
            return (0, Stall::VectorMemory);
        }
        let mut ends: Vec<(u64, Stall)> = self.ends.iter().copied().collect();
        ends.sort_unstable();
        ends[ends.len() - 1 - left]
    }
}
