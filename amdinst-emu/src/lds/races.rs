//! Data races in LDS: accesses of two waves to one byte with no barrier between them, one of them at least a write.
//!
//! Waves of a workgroup run in turn here, so a result says nothing about what another order would have given. Whether
//! the order matters shows in the accesses themselves: between two barriers nothing orders the waves.
//!
//! * Two atomics never race: the device orders them.
//! * Two plain writes race if the later one changes the byte. Waves that all store one value are a common idiom, and
//!   relaxed atomic stores, which are the same instructions as plain ones, are written for it.
//! * Lanes of one wave do not race with each other here: a wave's instruction comes after the one before it for all lanes. Those
//!   of one store are another matter (`exec/lane_race`).
//!
//! Waves that wait for each other by a flag in LDS look like a race here: the loads and stores of such a flag are
//! instructions like any others.

use std::num::NonZeroU32;
use std::ops::Range;

use super::race;
use crate::check::{LdsAccess, Outcome};

/// Who made an access: a wave by its number in the workgroup, and a step of the program. In one number, as there are many:
/// the wave's number plus one (a workgroup has 16 waves at most), and above it the step (a program that has more than
/// 2^27 does not fit into the memory of a host).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(NonZeroU32);

impl Mark {
    const WAVE: u32 = 0x1f;

    pub(crate) fn new(wave: u32, step: u32) -> Self {
        let mark = step << Self::WAVE.count_ones() | (wave + 1).min(Self::WAVE);
        Self(NonZeroU32::new(mark).unwrap_or(NonZeroU32::MIN))
    }

    pub(crate) fn wave(self) -> u32 {
        (self.0.get() & Self::WAVE) - 1
    }

    pub(crate) fn step(self) -> u32 {
        self.0.get() >> Self::WAVE.count_ones()
    }

    fn is_of_wave_of(self, other: Self) -> bool {
        (self.0.get() ^ other.0.get()) & Self::WAVE == 0
    }
}

/// Accesses of up to two waves: with two, there is one that is not a given wave's.
#[derive(Clone, Copy, Debug, Default)]
struct Two([Option<Mark>; 2]);

impl Two {
    #[inline(always)]
    fn add(&mut self, mark: Mark) {
        match &mut self.0 {
            [first, _] if first.is_none_or(|first| first.is_of_wave_of(mark)) => *first = Some(mark),
            [_, second] => *second = Some(mark),
        }
    }

    #[inline(always)]
    fn of_others(self, than: Mark) -> Option<Mark> {
        match self.0 {
            [Some(first), _] if !first.is_of_wave_of(than) => Some(first),
            // The two are never of one wave.
            [_, second] => second,
        }
    }
}

/// What has been done to a byte, or to a dword as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// By plain stores.
    written: Two,
    read: Two,
    /// By atomics.
    changed: Two,
}

impl History {
    /// Adds an access, unless it is a race with an access of another wave, which is returned. A write that is one if it
    /// changes what another wave has written returns who has.
    #[inline(always)]
    fn add(&mut self, access: LdsAccess, by: Mark) -> Result<Option<Mark>, (LdsAccess, Mark)> {
        let written = || self.written.of_others(by).map(|mark| (LdsAccess::Write, mark));
        let read = || self.read.of_others(by).map(|mark| (LdsAccess::Read, mark));
        let changed = || self.changed.of_others(by).map(|mark| (LdsAccess::Atomic, mark));
        let race = match access {
            LdsAccess::Read => written().or_else(changed),
            LdsAccess::Write => read().or_else(changed),
            LdsAccess::Atomic => written().or_else(read),
        };
        if let Some(race) = race {
            return Err(race);
        }
        match access {
            LdsAccess::Read => self.read.add(by),
            LdsAccess::Atomic => self.changed.add(by),
            LdsAccess::Write => {
                let earlier = self.written.of_others(by);
                self.written.add(by);
                return Ok(earlier);
            }
        }
        Ok(None)
    }
}

/// What has been done to the bytes of a dword.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// The interval that this is about.
    interval: u32,
    /// Some accesses were to a part of it, so that each byte has its own history. Most dwords never have any.
    parted: bool,
    /// That of each byte, if it is not parted.
    history: History,
}

/// A write over another wave's write: a race if the bytes are other ones afterwards.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    /// The bytes that both write, in one dword.
    at: usize,
    bytes: usize,
    before: [u8; WORD],
    /// First byte and size of the access.
    access: (usize, usize),
    lane: usize,
    earlier: Mark,
}

/// Bytes of a dword.
const WORD: usize = 4;

/// Up to four bytes, and zeros behind them.
fn dword(bytes: &[u8]) -> [u8; WORD] {
    std::array::from_fn(|byte| bytes.get(byte).copied().unwrap_or_default())
}

/// Accesses since the last barrier.
#[derive(Debug)]
pub(super) struct Races {
    words: Vec<Word>,
    /// Those of the bytes of parted dwords.
    histories: Vec<[History; WORD]>,
    /// Counts barriers and workgroups. Never 0, which is a dword's before it is accessed.
    interval: u32,
    suspects: Vec<Suspect>,
}

impl Races {
    pub(super) fn new(bytes: usize) -> Self {
        let words = vec![Word::default(); bytes.div_ceil(WORD)];
        let histories = vec![[History::default(); WORD]; words.len()];
        Self { words, histories, interval: 1, suspects: Vec::new() }
    }

    pub(super) fn pass_barrier(&mut self) {
        self.suspects.clear();
        self.interval = self.interval.checked_add(1).unwrap_or_else(|| {
            self.words.fill(Word::default());
            1
        });
    }

    #[inline(always)]
    pub(super) fn note(
        &mut self,
        lds: &[u8],
        access: LdsAccess,
        by: Mark,
        range: Range<usize>,
        lane: usize,
    ) -> Outcome {
        let mut at = range.start;
        while at < range.end {
            let number = at / WORD;
            let end = range.end.min((number + 1) * WORD);
            let word = &mut self.words[number];
            if word.interval != self.interval {
                *word = Word { interval: self.interval, ..Word::default() };
            }
            if end - at < WORD && !word.parted {
                word.parted = true;
                self.histories[number] = [word.history; WORD];
            }
            // Each history, and the first of the bytes that it is about.
            let (histories, bytes) = match word.parted {
                false => (std::slice::from_mut(&mut word.history), WORD),
                true => (&mut self.histories[number][at % WORD..][..end - at], 1),
            };
            for (history, at) in histories.iter_mut().zip((at..).step_by(bytes)) {
                match history.add(access, by) {
                    Ok(None) => {}
                    Ok(Some(earlier)) => {
                        let before = dword(&lds[at..at + bytes]);
                        let access = (range.start, range.len());
                        self.suspects.push(Suspect { at, bytes, before, access, lane, earlier });
                    }
                    Err(earlier) => return Err(race(access, range.start, range.len(), lane, earlier)),
                }
            }
            at = end;
        }
        Ok(())
    }

    /// Whether no write is looked at that [`Races::settle`] will tell a race from. If one is, it is to be noted again.
    pub(super) fn is_settled(&mut self) -> bool {
        let settled = self.suspects.is_empty();
        self.suspects.clear();
        settled
    }

    pub(super) fn settle(&mut self, lds: &[u8]) -> Outcome {
        let changed =
            |suspect: &&Suspect| dword(&lds[suspect.at..suspect.at + suspect.bytes]) != suspect.before;
        let raced = self.suspects.iter().find(changed).copied();
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

    const BYTES: usize = 14;

    #[derive(Clone, Debug)]
    enum Event {
        Barrier,
        Access { wave: u32, access: LdsAccess, at: usize, bytes: usize, value: u8 },
    }

    fn size() -> impl Strategy<Value = usize> {
        prop_oneof![1..4usize, Just(4), Just(4), 5..9usize]
    }

    fn event() -> impl Strategy<Value = Event> {
        let access = prop_oneof![Just(LdsAccess::Read), Just(LdsAccess::Write), Just(LdsAccess::Atomic)];
        prop_oneof![
            1 => Just(Event::Barrier),
            6 => (0..4u32, access, 0..BYTES, size(), 0..2u8).prop_map(|(wave, access, at, bytes, value)| {
                let at = if bytes >= 4 { at / 4 * 4 } else { at };
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
