//! Races in LDS: of the waves of a workgroup, with no barrier in between.
//!
//! Loads and stores of LDS that are atomics are instructions like any others: which they are tells the source
//! (`atomicity`). An atomic load may tell its wave that another has got somewhere, so what the workgroup does
//! from then on is taken to come after it. Where nothing tells, waves that wait for each other by a flag in
//! LDS look like a race.

use std::ops::Range;
use std::sync::Arc;

use super::atomicity::{Judge, Pair, Verdict};
use super::doubts::Doubts;
use super::reads::{Late, Reads};
use super::stage::Intervals;
use super::suspects::{Suspect, Suspects};
use super::words::{Doubt, Mark, WORD, When, Words};
use super::{Clashes, Races};
use crate::check::{AccessKind, FaultKind, MemorySpace, Outcome, Trap};
use crate::wave::Stage;

/// Up to four bytes, and zeros behind them.
fn dword(bytes: &[u8]) -> [u8; WORD] {
    std::array::from_fn(|byte| bytes.get(byte).copied().unwrap_or_default())
}

/// Accesses since the last barrier.
#[derive(Debug)]
pub(crate) struct LdsRaces {
    /// By plane.
    words: Vec<Words<Mark>>,
    intervals: Intervals,
    suspects: Suspects<Mark>,
    reads: Reads,
    judge: Judge,
    /// Which dwords are looked at, if not all are.
    focus: Option<Arc<Clashes>>,
    doubts: Doubts,
}

impl LdsRaces {
    pub(crate) fn new(bytes: usize, split_barriers: bool, races: &Races) -> Self {
        let Races { judge, focus, .. } = races;
        Self::with(bytes, split_barriers, judge.clone(), focus.clone())
    }

    fn with(bytes: usize, split_barriers: bool, judge: Judge, focus: Option<Arc<Clashes>>) -> Self {
        let intervals = Intervals::new(split_barriers);
        Self {
            words: (0..intervals.planes()).map(|_| Words::new(bytes)).collect(),
            intervals,
            suspects: Suspects::default(),
            reads: Reads::default(),
            judge,
            focus,
            doubts: Doubts::default(),
        }
    }

    /// The waves have met at a barrier, or have ended. Returns a race that shows only now.
    pub(crate) fn pass_barrier(&mut self) -> Option<Late> {
        self.suspects.clear();
        if !self.intervals.pass() {
            self.words.iter_mut().for_each(Words::forget);
        }
        self.reads.settle(0..u64::MAX, &mut self.doubts)
    }

    /// A workgroup begins.
    pub(crate) fn begin(&mut self) {
        // What it returns was of a workgroup that has had a fault.
        let _ = self.pass_barrier();
        self.order_all();
    }

    /// What the waves do next comes after what they have done.
    fn order_all(&mut self) {
        if !self.intervals.forget() {
            self.words.iter_mut().for_each(Words::forget);
        }
    }

    /// Pairs of accesses that may be races, which are told by their wave's number in the workgroup.
    pub(crate) fn take_doubts(&mut self) -> Vec<Late> {
        self.doubts.take()
    }

    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        lds: &[u8],
        access: AccessKind,
        (by, stage): (Mark, Stage),
        range: Range<usize>,
        lane: usize,
    ) -> Outcome {
        if let Some(focus) = &self.focus {
            if !focus.meets_in_lds(range.clone()) {
                return Ok(());
            }
            focus.spend(1);
        }
        if access == AccessKind::Read && self.judge.is_atomic(by.site()) {
            self.order_all();
            return Ok(());
        }
        for (plane, interval) in self.intervals.of(stage) {
            self.note_in(plane, interval, lds, access, by, range.clone(), lane)?;
        }
        if access == AccessKind::Atomic {
            self.reads.follow(by.wave().into(), range.start as u64..range.end as u64);
        }
        Ok(())
    }

    /// Notes an access in the plane of an interval that it may be in.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "an access, and where it is noted")]
    fn note_in(
        &mut self,
        plane: usize,
        interval: u32,
        lds: &[u8],
        access: AccessKind,
        by: Mark,
        range: Range<usize>,
        lane: usize,
    ) -> Outcome {
        let when = When { interval, ordered: false };
        let whole = (range.start as u64, range.len());
        let Self { words, suspects, reads, judge, doubts, .. } = self;
        let lane = Some(lane);
        let (wave, site) = (by.wave().into(), by.site());
        let late = |earlier, certain| Late {
            trap: race(access, whole, lane, earlier, certain),
            wave,
            site,
            certain,
        };
        let race = |kind, other: Mark| {
            doubts.judge(judge, ((other.site(), site), Pair::Other), |certain| late((kind, other), certain))
        };
        words[plane].note(when, access, by, range, race, |at, doubt| {
            let (start, bytes) = (at.start as u64, at.len());
            let (reader, earlier) = match doubt {
                Doubt::WritesOver(earlier) => {
                    let (before, access) = (dword(&lds[at]), whole);
                    return suspects.push(Suspect {
                        at: start,
                        bytes,
                        before,
                        access,
                        lane,
                        wave,
                        site,
                        earlier,
                    });
                }
                Doubt::ReadsAfterAtomic(other) => (by, (AccessKind::Atomic, other)),
                Doubt::AtomicAfterRead(other) => (other, (AccessKind::Read, other)),
            };
            let verdict = judge.verdict(earlier.1.site(), site, Pair::Other);
            if verdict != Verdict::Fine {
                reads.add(reader.wave().into(), start, || late(earlier, verdict == Verdict::Race));
            }
        })
    }

    /// Whether no write is looked at that [`LdsRaces::settle`] will tell a race from. If one is, it is to be
    /// noted again.
    pub(crate) fn is_settled(&mut self) -> bool {
        self.suspects.clear()
    }

    pub(crate) fn settle(&mut self, lds: &[u8]) -> Outcome {
        let Self { suspects, judge, doubts, .. } = self;
        let mut raced = suspects.settle(|at, bytes| dword(&lds[at as usize..at as usize + bytes]));
        raced.try_for_each(|Suspect { access, lane, wave, site, earlier, .. }| {
            doubts.judge(judge, ((earlier.site(), site), Pair::Other), |certain| {
                let earlier = (AccessKind::Write, earlier);
                let trap = race(AccessKind::Write, access, lane, earlier, certain);
                Late { trap, wave, site, certain }
            })
        })
    }
}

/// The trap of an access that races with an earlier one.
fn race(
    access: AccessKind,
    (address, bytes): (u64, usize),
    lane: Option<usize>,
    (earlier, mark): (AccessKind, Mark),
    certain: bool,
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
        certain,
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
        let mut races = LdsRaces::with(BYTES as usize, false, Judge::strict(), None);
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
            let mut outcome = {
                let by = (Mark::new(wave, number as u32), Stage::Between);
                races.note(&lds, kind, by, range.clone(), 0)
            };
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
