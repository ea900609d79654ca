//! Data races in LDS: accesses of two waves to one byte with no barrier between them, one of them at least a write.
//!
//! Waves of a workgroup run in turn here, so a result says nothing about what another order would have given. Whether
//! the order matters shows in the accesses themselves: between two barriers nothing orders the waves.
//!
//! * Two atomics never race: the device orders them.
//! * Two plain writes race if the later one changes the byte. Waves that all store one value are a common idiom, and
//!   relaxed atomic stores, which are the same instructions as plain ones, are written for it.
//! * Lanes of one wave do not race with each other: a wave's instruction comes after the one before it for all lanes.
//!
//! Waves that wait for each other by a flag in LDS look like a race here: the loads and stores of such a flag are
//! instructions like any others.

use std::num::NonZeroU8;
use std::ops::Range;

use super::race;
use crate::check::{LdsAccess, Outcome};

/// Who made an access: a wave by its number in the workgroup, and a step of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The wave's number plus one.
    wave: NonZeroU8,
    step: u32,
}

impl Mark {
    /// A workgroup has 16 waves at most.
    pub(crate) fn new(wave: u32, step: u32) -> Self {
        let wave = u8::try_from(wave + 1).ok().and_then(NonZeroU8::new).unwrap_or(NonZeroU8::MAX);
        Self { wave, step }
    }

    pub(crate) fn wave(self) -> u8 {
        self.wave.get() - 1
    }

    pub(crate) fn step(self) -> u32 {
        self.step
    }
}

/// Accesses of up to two waves: with two, there is one that is not a given wave's.
#[derive(Clone, Copy, Debug, Default)]
struct Two([Option<Mark>; 2]);

impl Two {
    fn add(&mut self, mark: Mark) {
        match &mut self.0 {
            [first, _] if first.is_none_or(|first| first.wave == mark.wave) => *first = Some(mark),
            [_, second] => *second = Some(mark),
        }
    }

    fn of_others(self, than: Mark) -> Option<Mark> {
        self.0.into_iter().flatten().find(|mark| mark.wave != than.wave)
    }
}

/// What has been done to a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Byte {
    /// The interval that this is about.
    interval: u32,
    /// By plain stores.
    written: Two,
    read: Two,
    /// By atomics.
    changed: Two,
}

impl Byte {
    fn written_by_others(&self, than: Mark) -> Option<(LdsAccess, Mark)> {
        self.written.of_others(than).map(|mark| (LdsAccess::Write, mark))
    }

    fn read_by_others(&self, than: Mark) -> Option<(LdsAccess, Mark)> {
        self.read.of_others(than).map(|mark| (LdsAccess::Read, mark))
    }

    fn changed_by_others(&self, than: Mark) -> Option<(LdsAccess, Mark)> {
        self.changed.of_others(than).map(|mark| (LdsAccess::Atomic, mark))
    }
}

/// A write over another wave's write: a race if the byte is another one afterwards.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    at: usize,
    before: u8,
    /// First byte and size of the access.
    access: (usize, usize),
    lane: usize,
    earlier: Mark,
}

/// Accesses since the last barrier.
#[derive(Debug)]
pub(super) struct Races {
    bytes: Vec<Byte>,
    /// Counts barriers and workgroups. Never 0, which is a byte's before it is accessed.
    interval: u32,
    suspects: Vec<Suspect>,
}

impl Races {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes: vec![Byte::default(); bytes], interval: 1, suspects: Vec::new() }
    }

    pub(super) fn pass_barrier(&mut self) {
        self.interval = self.interval.checked_add(1).unwrap_or_else(|| {
            self.bytes.fill(Byte::default());
            1
        });
    }

    pub(super) fn note(
        &mut self,
        lds: &[u8],
        access: LdsAccess,
        by: Mark,
        range: Range<usize>,
        lane: usize,
    ) -> Outcome {
        for at in range.clone() {
            let byte = &mut self.bytes[at];
            if byte.interval != self.interval {
                *byte = Byte { interval: self.interval, ..Byte::default() };
            }
            let conflict = match access {
                LdsAccess::Read => byte.written_by_others(by).or_else(|| byte.changed_by_others(by)),
                LdsAccess::Write => byte.read_by_others(by).or_else(|| byte.changed_by_others(by)),
                LdsAccess::Atomic => byte.written_by_others(by).or_else(|| byte.read_by_others(by)),
            };
            if let Some(earlier) = conflict {
                return Err(race(access, range.start, range.len(), lane, earlier));
            }
            match access {
                LdsAccess::Read => byte.read.add(by),
                LdsAccess::Write => {
                    if let Some((_, earlier)) = byte.written_by_others(by) {
                        let access = (range.start, range.len());
                        self.suspects.push(Suspect { at, before: lds[at], access, lane, earlier });
                    }
                    byte.written.add(by);
                }
                LdsAccess::Atomic => byte.changed.add(by),
            }
        }
        Ok(())
    }

    pub(super) fn settle(&mut self, lds: &[u8]) -> Outcome {
        let raced = self.suspects.iter().find(|suspect| lds[suspect.at] != suspect.before).copied();
        self.suspects.clear();
        match raced {
            Some(Suspect { access: (at, bytes), lane, earlier, .. }) => {
                Err(race(LdsAccess::Write, at, bytes, lane, (LdsAccess::Write, earlier)))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::FaultKind;

    const BYTES: usize = 6;

    #[derive(Clone, Debug)]
    enum Event {
        Barrier,
        Access { wave: u32, access: LdsAccess, at: usize, bytes: usize, value: u8 },
    }

    fn event() -> impl Strategy<Value = Event> {
        let access = prop_oneof![Just(LdsAccess::Read), Just(LdsAccess::Write), Just(LdsAccess::Atomic)];
        prop_oneof![
            1 => Just(Event::Barrier),
            6 => (0..4u32, access, 0..BYTES, 1..3usize, 0..2u8).prop_map(|(wave, access, at, bytes, value)| {
                Event::Access { wave, access, at, bytes: bytes.min(BYTES - at), value }
            }),
        ]
    }

    /// The number of the first event that races, and those before it that it can race with: every pair of accesses since
    /// the barrier is looked at.
    fn by_pairs(events: &[Event]) -> Option<(usize, Vec<usize>)> {
        let mut lds = [0; BYTES];
        let mut since = 0;
        for (number, event) in events.iter().enumerate() {
            let &Event::Access { wave, access, at, bytes, value } = event else {
                since = number;
                continue;
            };
            let races = |earlier: &usize| match events[*earlier] {
                Event::Access { wave: other, access: before, at: start, bytes: size, .. }
                    if other != wave =>
                {
                    let mut both = (at.max(start)..(at + bytes).min(start + size)).peekable();
                    both.peek().is_some()
                        && match (before, access) {
                            (LdsAccess::Read, LdsAccess::Read) | (LdsAccess::Atomic, LdsAccess::Atomic) => {
                                false
                            }
                            (LdsAccess::Write, LdsAccess::Write) => both.any(|at| lds[at] != value),
                            _ => true,
                        }
                }
                _ => false,
            };
            let found: Vec<usize> = (since..number).filter(races).collect();
            if !found.is_empty() {
                return Some((number, found));
            }
            if access != LdsAccess::Read {
                lds[at..at + bytes].fill(value);
            }
        }
        None
    }

    proptest! {
        #[test]
        fn as_when_every_pair_is_compared(events in proptest::collection::vec(event(), 0..24)) {
            let mut races = Races::new(BYTES);
            let mut lds = [0; BYTES];
            let mut raced = None;
            for (number, event) in events.iter().enumerate() {
                let &Event::Access { wave, access, at, bytes, value } = event else {
                    races.pass_barrier();
                    continue;
                };
                let by = Mark::new(wave, number as u32);
                let mut outcome = races.note(&lds, access, by, at..at + bytes, 0);
                if outcome.is_ok() && access != LdsAccess::Read {
                    lds[at..at + bytes].fill(value);
                    outcome = races.settle(&lds);
                }
                if let Err(trap) = outcome {
                    raced = Some((number, trap));
                    break;
                }
            }
            match (raced, by_pairs(&events)) {
                (None, None) => {}
                (Some((number, trap)), Some((expected, with))) => {
                    prop_assert_eq!(number, expected);
                    let earlier = trap.earlier.expect("an earlier step") as usize;
                    prop_assert!(with.contains(&earlier), "{} is none of {:?}", earlier, with);
                    let Event::Access { wave, access, .. } = events[earlier] else { unreachable!() };
                    let FaultKind::Race { wave: other, earlier, .. } = trap.kind else { panic!("{:?}", trap.kind) };
                    prop_assert_eq!((other, earlier), (wave, access));
                }
                (found, expected) => prop_assert!(false, "found {:?}, expected {:?}", found, expected),
            }
        }
    }
}
