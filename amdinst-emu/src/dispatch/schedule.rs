//! Other orders of waves and workgroups than the usual one, by a number.
//!
//! Nothing in the programming model orders waves between barriers, or workgroups. In the usual order a wave
//! runs on for long before the next one has its turn, and workgroups begin by their numbers. A kernel that
//! needs that order is wrong, and may never show it. Here waves take turns of random lengths in random
//! orders, and workgroups begin in another order; the same each time for a number.

use std::ops::Range;

use crate::config::Schedule;

/// Turns are as long as a power of two of wave-instructions, up to this one.
const LONGEST: u32 = 10;

/// Numbers that look random (SplitMix64, by Steele, Lea and Flood).
#[derive(Clone, Copy, Debug)]
struct Random(u64);

impl Random {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// One below `end`, which is not zero.
    const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The turns of a workgroup's waves.
#[derive(Clone, Debug)]
pub(super) struct WaveTurns {
    random: Random,
    order: Vec<usize>,
}

impl WaveTurns {
    /// Those of a workgroup with so many waves.
    pub(super) fn new(schedule: Schedule, workgroup: u64, waves: usize) -> Self {
        let mut random = Random(schedule.0);
        Self { random: Random(random.next() ^ workgroup), order: (0..waves).collect() }
    }

    /// Draws the order of the next round.
    pub(super) fn shuffle(&mut self) {
        for last in (1..self.order.len()).rev() {
            let other = self.random.below(last as u64 + 1) as usize;
            self.order.swap(last, other);
        }
    }

    /// The wave that has a turn of the round.
    pub(super) fn wave(&self, turn: usize) -> usize {
        self.order[turn]
    }

    /// Wave-instructions of the next turn.
    pub(super) const fn length(&mut self) -> u64 {
        1 << self.random.below(LONGEST as u64 + 1)
    }
}

/// The workgroup that begins in the place of the one of this number, of all that run.
pub(super) fn workgroup(schedule: Schedule, number: u64, all: &Range<u64>) -> u64 {
    let length = all.end.saturating_sub(all.start);
    if length < 2 {
        return number;
    }
    let mut random = Random(schedule.0 ^ length);
    let first = random.below(length);
    // A step that has no divisor in common comes to each once.
    let step = (0..length).map(|_| 1 + random.below(length - 1)).find(|&step| divisor(step, length) == 1);
    let place = u128::from(number - all.start) * u128::from(step.unwrap_or(1)) + u128::from(first);
    all.start + (place % u128::from(length)) as u64
}

/// The greatest common divisor.
const fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workgroup_begins_once_and_orders_differ() {
        for all in [0..1, 0..2, 3..20, 0..64, 5..1005] {
            let order = |seed| -> Vec<u64> {
                all.clone().map(|number| workgroup(Schedule(seed), number, &all)).collect()
            };
            for seed in 0..20 {
                let mut sorted = order(seed);
                sorted.sort_unstable();
                assert_eq!(sorted, all.clone().collect::<Vec<_>>(), "{seed}");
                assert_eq!(order(seed), order(seed));
            }
            assert!(all.end - all.start < 3 || (0..20).any(|seed| order(seed) != order(20)));
        }
    }

    #[test]
    fn each_wave_has_one_turn_a_round() {
        let mut turns = WaveTurns::new(Schedule(7), 3, 5);
        let mut rounds = Vec::new();
        for _ in 0..50 {
            turns.shuffle();
            let round: Vec<usize> = (0..5).map(|turn| turns.wave(turn)).collect();
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
            assert!((1..=1 << LONGEST).contains(&turns.length()));
            rounds.push(round);
        }
        assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
