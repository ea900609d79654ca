//! Where an access is among the barriers of its workgroup.
//!
//! A barrier that is one instruction divides what waves do into intervals. One that is signalled by one
//! instruction and waited at by another divides it less: what a wave does in between may come before or after
//! what others do on either side of the barrier. Such an access counts to both intervals. Two accesses are
//! ordered by barriers where they have no interval in common.

use crate::wave::Stage;

/// Intervals that may be told apart at a time: the one that is, the one before, which waves may not have
/// left, and the next one, which their accesses may be in. Each has a plane, in which accesses are noted;
/// where barriers are one instruction, there is one.
const PLANES: usize = 3;

/// The intervals of a workgroup.
#[derive(Debug)]
pub(super) struct Intervals {
    /// The number of the interval that each plane is about; never 0.
    numbers: [u32; PLANES],
    /// The plane of the one that is.
    now: usize,
    planes: usize,
    last: u32,
}

impl Intervals {
    pub(super) fn new(split_barriers: bool) -> Self {
        Self { numbers: [1; PLANES], now: 0, planes: if split_barriers { PLANES } else { 1 }, last: 1 }
    }

    /// How many planes there are.
    pub(super) const fn planes(&self) -> usize {
        self.planes
    }

    /// The planes that an access is noted in, each with its interval's number.
    #[inline(always)]
    pub(super) fn of(&self, stage: Stage) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (now, numbers) = (self.now, self.numbers);
        let other = match stage {
            Stage::Between => None,
            Stage::Signalled => Some((now + 1) % self.planes),
            Stage::NotWaited => Some((now + self.planes - 1) % self.planes),
        };
        std::iter::once(now)
            .chain(other.filter(|&other| other != now))
            .map(move |plane| (plane, numbers[plane]))
    }

    /// A barrier is complete. False: numbers begin again, and what was noted is to be forgotten.
    pub(super) fn pass(&mut self) -> bool {
        self.now = (self.now + 1) % self.planes;
        // What comes next has nothing of the interval whose plane it takes.
        let next = (self.now + 1) % self.planes;
        let is_new = self.begin();
        self.numbers[next] = self.last;
        is_new
    }

    /// What is done from now on comes after all that was done. False: as above.
    pub(super) fn forget(&mut self) -> bool {
        let is_new = self.begin();
        self.numbers = [self.last; PLANES];
        is_new
    }

    /// Takes a new number.
    fn begin(&mut self) -> bool {
        if let Some(next) = self.last.checked_add(1) {
            self.last = next;
            return true;
        }
        (self.last, self.numbers) = (1, [1; PLANES]);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The intervals of accesses, as numbers that are the same where they have one in common.
    fn meets(a: &[(usize, u32)], b: &[(usize, u32)]) -> bool {
        a.iter().any(|one| b.contains(one))
    }

    #[test]
    fn what_is_between_signal_and_wait_counts_to_both_sides() {
        let mut intervals = Intervals::new(true);
        let of = |intervals: &Intervals, stage| intervals.of(stage).collect::<Vec<_>>();
        let before = of(&intervals, Stage::Between);
        let signalled = of(&intervals, Stage::Signalled);
        assert!(intervals.pass());
        let (behind, late) = (of(&intervals, Stage::Between), of(&intervals, Stage::NotWaited));
        let next = of(&intervals, Stage::Signalled);
        assert!(intervals.pass());
        let last = of(&intervals, Stage::Between);
        assert!(meets(&signalled, &before) && meets(&signalled, &behind) && !meets(&before, &behind));
        assert!(meets(&late, &before) && meets(&late, &behind) && meets(&late, &signalled));
        assert!(
            meets(&late, &next) && meets(&next, &last) && !meets(&late, &last) && !meets(&signalled, &last)
        );
        let all = [before, signalled, behind, late, next, last].concat();
        assert!(intervals.forget());
        for stage in [Stage::Between, Stage::Signalled, Stage::NotWaited] {
            assert!(!meets(&of(&intervals, stage), &all));
        }
    }

    #[test]
    fn barriers_that_are_one_instruction_have_one_plane() {
        let mut intervals = Intervals::new(false);
        let first: Vec<_> = intervals.of(Stage::Between).collect();
        assert!(intervals.pass());
        assert_eq!((first, intervals.of(Stage::Between).collect()), (vec![(0, 1)], vec![(0, 2)]));
        intervals.last = u32::MAX;
        assert!(!intervals.pass());
        assert_eq!(intervals.of(Stage::Between).collect::<Vec<_>>(), [(0, 1)]);
    }
}
