//! Races in LDS: of the waves of a workgroup, with no barrier in between.
//!
//! Waves that wait for each other by a flag in LDS look like a race here: the loads and stores of such a flag are
//! instructions like any others.

use std::ops::Range;

use super::reads::{Late, Reads};
use super::suspects::{Suspect, Suspects};
use super::words::{Doubt, Mark, WORD, When, Words};
use crate::check::{AccessKind, FaultKind, MemorySpace, Outcome, Trap};

/// Up to four bytes, and zeros behind them.
fn dword(bytes: &[u8]) -> [u8; WORD] {
    std::array::from_fn(|byte| bytes.get(byte).copied().unwrap_or_default())
}

/// Accesses since the last barrier.
#[derive(Debug)]
pub(crate) struct LdsRaces {
    words: Words<Mark>,
    /// Counts barriers and workgroups.
    interval: u32,
    suspects: Suspects<Mark>,
    reads: Reads,
}

impl LdsRaces {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { words: Words::new(bytes), interval: 1, suspects: Suspects::default(), reads: Reads::default() }
    }

    /// The waves have met at a barrier, or have ended. Returns a race that shows only now.
    pub(crate) fn pass_barrier(&mut self) -> Option<Late> {
        self.suspects.clear();
        self.interval = self.interval.checked_add(1).unwrap_or_else(|| {
            self.words.forget();
            1
        });
        self.reads.settle(0..u64::MAX)
    }

    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        lds: &[u8],
        access: AccessKind,
        by: Mark,
        range: Range<usize>,
        lane: usize,
    ) -> Outcome {
        let when = When { interval: self.interval, ordered: false };
        let whole = (range.start as u64, range.len());
        let Self { words, suspects, reads, .. } = self;
        let lane = Some(lane);
        let noted = words.note(when, access, by, range.clone(), |at, doubt| {
            let (start, bytes) = (at.start as u64, at.len());
            let (reader, earlier) = match doubt {
                Doubt::WritesOver(earlier) => {
                    let before = dword(&lds[at]);
                    return suspects.push(Suspect { at: start, bytes, before, access: whole, lane, earlier });
                }
                Doubt::ReadsAfterAtomic(other) => (by, (AccessKind::Atomic, other)),
                Doubt::AtomicAfterRead(other) => (other, (AccessKind::Read, other)),
            };
            reads.add(reader.wave().into(), start, || {
                let trap = race(access, whole, lane, earlier);
                Late { trap, wave: by.wave().into(), site: by.site() }
            });
        });
        noted.map_err(|earlier| race(access, whole, lane, earlier))?;
        if access == AccessKind::Atomic {
            reads.follow(by.wave().into(), range.start as u64..range.end as u64);
        }
        Ok(())
    }

    /// Whether no write is looked at that [`LdsRaces::settle`] will tell a race from. If one is, it is to be noted again.
    pub(crate) fn is_settled(&mut self) -> bool {
        self.suspects.clear()
    }

    pub(crate) fn settle(&mut self, lds: &[u8]) -> Outcome {
        match self.suspects.settle(|at, bytes| dword(&lds[at as usize..at as usize + bytes])) {
            Some(Suspect { access, lane, earlier, .. }) => {
                Err(race(AccessKind::Write, access, lane, (AccessKind::Write, earlier)))
            }
            None => Ok(()),
        }
    }
}

/// The trap of an access that races with an earlier one.
fn race(
    access: AccessKind,
    (address, bytes): (u64, usize),
    lane: Option<usize>,
    (earlier, mark): (AccessKind, Mark),
) -> Box<Trap> {
    let kind = FaultKind::Race {
        space: MemorySpace::Lds,
        address,
        size: bytes as u32,
        inside: None,
        access,
        earlier,
        wave: mark.wave(),
        workgroup: None,
    };
    Trap::of_two(kind, lane, mark.site())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pairs::{self, BYTES, Event, Race, What};
    use super::*;

    /// The numbers of the two events of the first race that is found.
    fn first_race(events: &[Event]) -> Result<Option<(usize, usize)>, TestCaseError> {
        let mut races = LdsRaces::new(BYTES as usize);
        let mut lds = [0; BYTES as usize];
        let found = |trap: &Trap, later: usize| {
            let earlier = trap.earlier.expect("an earlier step") as usize;
            let What::Access { wave, kind, .. } = events[earlier].what else { unreachable!() };
            let FaultKind::Race { wave: other, earlier: before, .. } = trap.kind else {
                panic!("{:?}", trap.kind)
            };
            prop_assert_eq!((other, before), (wave, kind));
            Ok(Some((earlier, later)))
        };
        for (number, event) in events.iter().enumerate() {
            let What::Access { wave, kind, at, bytes, value, .. } = event.what else {
                if let Some(late) = races.pass_barrier() {
                    return found(&late.trap, late.site as usize);
                }
                continue;
            };
            let range = at as usize..(at + bytes) as usize;
            let mut outcome = races.note(&lds, kind, Mark::new(wave, number as u32), range.clone(), 0);
            if outcome.is_ok() && kind != AccessKind::Read {
                lds[range].fill(value);
                outcome = races.settle(&lds);
            }
            if let Err(trap) = outcome {
                return found(&trap, number);
            }
        }
        races.pass_barrier().map_or(Ok(None), |late| found(&late.trap, late.site as usize))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn as_when_every_pair_is_compared(events in pairs::events(1)) {
            match first_race(&events)? {
                Some((earlier, later)) => prop_assert_ne!(pairs::race(&events, earlier, later), Race::No),
                None => prop_assert!(!pairs::any(&events)),
            }
        }
    }
}
