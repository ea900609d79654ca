//! Some of a launch's workgroups, looked at in place of all: where to look at all would take longer than the
//! launch itself.
//!
//! Workgroups may begin in any order, and those that have not begun are seen by nobody. So a launch of some
//! of them is the beginning of a launch of all, and a race that it has is one of the whole. Which they are
//! depends on how many there are and on how many instructions ran, never on time or threads: one input has
//! one verdict.

use crate::record::{Execution, Sampled};
use std::collections::BTreeSet;

/// Runs of neighbours that a sample is made of, at most: the first and the last workgroups, and some in
/// between. Neighbours are the likeliest to meet in memory, and mistakes are often made at the ends.
const RUNS: u64 = 4;

/// Some of the numbers below `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    all: u64,
    runs: u64,
    /// Numbers of a run.
    length: u64,
}

impl Sample {
    /// At most so many of them.
    pub(super) fn new(all: u64, most: u64) -> Self {
        // A run has two neighbours at least.
        let runs = (most.min(all) / 2).clamp(1, RUNS).min(most);
        Self { all, runs, length: (most.min(all)).checked_div(runs).unwrap_or(0) }
    }

    /// How many they are.
    pub(super) fn len(self) -> u64 {
        self.runs * self.length
    }

    /// The one at a place, in ascending order.
    pub(super) fn at(self, place: u64) -> u64 {
        let (run, place) = (place / self.length.max(1), place % self.length.max(1));
        let room = self.all - self.length;
        // Rounded down, in a product that may be larger than 64 bits.
        let first = u128::from(room) * u128::from(run) / u128::from(self.runs.max(2) - 1);
        first as u64 + place
    }

    pub(super) fn told(self) -> Sampled {
        Sampled { workgroups: self.len(), of: self.all }
    }
}

/// How many wave-instructions the launches of a machine have run, and how many of them were run again to look
/// for something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effort {
    ran: u64,
    /// With accesses looked at by themselves.
    looked: u64,
    /// Instructions that run again as fast as the first time.
    again: u64,
    /// The kernels that this was done with.
    looked_at: BTreeSet<String>,
    ran_again: BTreeSet<String>,
}

impl Effort {
    /// Wave-instructions of which accesses are looked at, whatever else has run: a few milliseconds.
    const FEW: u64 = 1 << 17;
    /// Instructions that may always run again.
    const FEW_AGAIN: u64 = 1 << 19;
    /// One in so many does, of all that run. It does on one thread, where others may do on several.
    const ONE_IN: u64 = 8;
    /// Wave-instructions that take as long as the look at one access of a lane.
    const LOOK: u64 = 8;
    /// Bytes that are copied in the time of a wave-instruction.
    const BYTES: u64 = 32;

    /// What it takes to run wave-instructions of which so many accesses are looked at.
    pub(super) fn of(instructions: u64, looks: u64) -> u64 {
        instructions + Self::LOOK * looks
    }

    /// What it takes to copy memory of so many bytes several times.
    pub(super) fn of_copies(bytes: u64, times: u64) -> u64 {
        bytes.saturating_mul(times) / Self::BYTES
    }

    /// How many accesses can be looked at for so much.
    pub(super) fn looks(effort: u64) -> u64 {
        effort / Self::LOOK
    }

    /// A launch has run.
    pub(super) fn add(&mut self, execution: &Execution) {
        self.ran += execution.wave_instructions;
    }

    /// How much there is for looks at accesses of a kernel, of which `copies` goes for copying memory. The
    /// first time that a kernel is looked at, there is always something.
    pub(super) fn may_look_at(&self, kernel: &str, copies: u64) -> u64 {
        let left = (Self::FEW + self.ran / Self::ONE_IN).saturating_sub(self.looked).saturating_sub(copies);
        if self.looked_at.contains(kernel) { left } else { left.max(Self::FEW) }
    }

    /// So much was spent on that.
    pub(super) fn looked_at(&mut self, kernel: &str, effort: u64) {
        self.looked += effort;
        self.looked_at.insert(kernel.to_owned());
    }

    /// How many wave-instructions of a kernel may run again, as above.
    pub(super) fn may_run_again(&self, kernel: &str, copies: u64) -> u64 {
        let left =
            (Self::FEW_AGAIN + self.ran / Self::ONE_IN).saturating_sub(self.again).saturating_sub(copies);
        if self.ran_again.contains(kernel) { left } else { left.max(Self::FEW_AGAIN) }
    }

    /// So many did.
    pub(super) fn ran_again(&mut self, kernel: &str, instructions: u64) {
        self.again += instructions;
        self.ran_again.insert(kernel.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_different_ones_from_the_first_to_the_last(all in 1..2000u64, most in 0..2500u64) {
            let sample = Sample::new(all, most);
            let numbers: Vec<u64> = (0..sample.len()).map(|place| sample.at(place)).collect();
            prop_assert!(numbers.len() as u64 <= most.min(all));
            prop_assert!(numbers.len() as u64 + RUNS > most.min(all));
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", numbers);
            if most > 0 {
                prop_assert_eq!(numbers[0], 0);
            }
            if most > 3 && all > 3 {
                prop_assert_eq!(*numbers.last().unwrap(), all - 1);
            }
        }
    }

    #[test]
    fn the_ends_and_some_between() {
        let sample = Sample::new(100, 9);
        let numbers: Vec<u64> = (0..sample.len()).map(|place| sample.at(place)).collect();
        assert_eq!(numbers, [0, 1, 32, 33, 65, 66, 98, 99]);
        assert_eq!(sample.told(), Sampled { workgroups: 8, of: 100 });
        let of_many = Sample::new(1 << 60, 4);
        assert_eq!([0, 1, 2, 3].map(|place| of_many.at(place)), [0, 1, (1 << 60) - 2, (1 << 60) - 1]);
    }

    #[test]
    fn what_was_not_spent_is_left() {
        let (mut effort, few) = (Effort::default(), [Effort::FEW, Effort::FEW_AGAIN]);
        let left =
            |effort: &Effort, copies| [effort.may_look_at("k", copies), effort.may_run_again("k", copies)];
        assert_eq!((left(&effort, 0), left(&effort, 1 << 40)), (few, few), "a kernel's first time");
        effort.add(&Execution { wave_instructions: 80, ..Execution::default() });
        effort.looked_at("k", Effort::FEW);
        effort.ran_again("k", 1 << 20);
        assert_eq!((left(&effort, 0), left(&effort, 3)), ([10, 0], [7, 0]));
        assert_eq!(effort.may_look_at("other", 1 << 40), Effort::FEW);
        assert_eq!((Effort::of(100, 5), Effort::looks(40)), (140, 5));
        assert_eq!((Effort::of_copies(320, 3), Effort::of_copies(u64::MAX, 3)), (30, u64::MAX / 32));
    }
}
