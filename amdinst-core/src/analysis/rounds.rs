//! The order in which a data flow looks at blocks: round after round, in each those alone that were marked
//! since they were last looked at.

use std::ops::Range;

/// Places `0..count` that are to be looked at, in rounds of ascending order. All are at first.
pub(super) struct Rounds {
    stale: Vec<bool>,
    /// What is left of this round: nothing marked is outside. So a change that moves on by one place a round
    /// costs no more than that.
    left: Range<usize>,
    /// The marked places that the next round is about are in here.
    next: Range<usize>,
    round: usize,
}

impl Rounds {
    pub(super) fn new(count: usize) -> Self {
        Self { stale: vec![true; count], left: 0..count, next: 0..0, round: 0 }
    }

    /// The next place, and the number of its round, from 0.
    pub(super) fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            for place in self.left.by_ref() {
                if std::mem::replace(&mut self.stale[place], false) {
                    return Some((place, self.round));
                }
            }
            if self.next.is_empty() {
                return None;
            }
            self.left = std::mem::take(&mut self.next);
            self.round += 1;
        }
    }

    /// A place has to be looked at again: in this round, if that has not come by yet.
    pub(super) fn mark(&mut self, place: usize) {
        self.stale[place] = true;
        if place >= self.left.start {
            self.left.end = self.left.end.max(place + 1);
        } else {
            let first = if self.next.is_empty() { place } else { self.next.start.min(place) };
            self.next = first..self.next.end.max(place + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Rounds look at the same places, in the same order, as a loop over all places does.
        #[test]
        fn rounds_are_those_of_a_loop_over_all_places(
            count in 1usize..12,
            marks in prop::collection::vec(prop::collection::vec(0usize..12, 0..4), 0..40),
        ) {
            let marked = |look: usize| marks.get(look).into_iter().flatten().map(|place| place % count);
            let mut expected = Vec::new();
            let mut stale = vec![true; count];
            for round in 0.. {
                if !stale.contains(&true) {
                    break;
                }
                for place in 0..count {
                    if std::mem::replace(&mut stale[place], false) {
                        marked(expected.len()).for_each(|place| stale[place] = true);
                        expected.push((place, round));
                    }
                }
            }
            let mut rounds = Rounds::new(count);
            let mut found = Vec::new();
            while let Some(next) = rounds.next() {
                marked(found.len()).for_each(|place| rounds.mark(place));
                found.push(next);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
