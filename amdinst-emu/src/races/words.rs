//! What has been done to the bytes of a piece of memory, and by whom.

use std::num::NonZeroU32;
use std::ops::Range;

use crate::check::AccessKind;

/// Who made an access: those who are the same do not race with each other.
pub(crate) trait Author: Copy {
    fn is_same(self, other: Self) -> bool;
}

/// A wave by its number in the workgroup, and a site: a step of the program in a context (`Contexts`). In one
/// number, as there are many: the wave's number plus one (a workgroup has 32 waves at most), and above it the
/// site (a program that has more than 2^26 steps does not fit into the memory of a host).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(NonZeroU32);

impl Mark {
    const WAVE: u32 = 0x3f;
    /// The largest site that it has room for.
    pub(super) const MAX_SITE: u32 = u32::MAX >> Self::WAVE.count_ones();

    pub(crate) fn new(wave: u32, site: u32) -> Self {
        let mark = site << Self::WAVE.count_ones() | (wave + 1).min(Self::WAVE);
        Self(NonZeroU32::new(mark).unwrap_or(NonZeroU32::MIN))
    }

    pub(crate) fn wave(self) -> u32 {
        (self.0.get() & Self::WAVE) - 1
    }

    pub(crate) fn site(self) -> u32 {
        self.0.get() >> Self::WAVE.count_ones()
    }
}

impl Author for Mark {
    fn is_same(self, other: Self) -> bool {
        (self.0.get() ^ other.0.get()) & Self::WAVE == 0
    }
}

/// Accesses of up to two authors: with two, there is one that is not a given author's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Two<A>([Option<A>; 2]);

impl<A> Default for Two<A> {
    fn default() -> Self {
        Self([None, None])
    }
}

impl<A: Author> Two<A> {
    #[inline(always)]
    fn add(&mut self, by: A) {
        match &mut self.0 {
            [first, _] if first.is_none_or(|first| first.is_same(by)) => *first = Some(by),
            [_, second] => *second = Some(by),
        }
    }

    fn remove(&mut self, by: A) {
        let Self([first, second]) = self;
        if first.is_some_and(|first| first.is_same(by)) {
            *first = second.take();
        } else if second.is_some_and(|second| second.is_same(by)) {
            *second = None;
        }
    }

    #[inline(always)]
    fn of_others(self, than: A) -> Option<A> {
        match self.0 {
            [Some(first), _] if !first.is_same(than) => Some(first),
            // The two are never of one author.
            [_, second] => second,
        }
    }
}

/// What has been done to a byte, or to a dword as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct History<A> {
    /// By plain stores.
    written: Two<A>,
    read: Two<A>,
    /// By atomics.
    changed: Two<A>,
}

impl<A> Default for History<A> {
    fn default() -> Self {
        Self { written: Two::default(), read: Two::default(), changed: Two::default() }
    }
}

impl<A: Author> History<A> {
    /// Accesses of other authors that nothing orders before this one, which race with it unless all are
    /// atomic.
    #[inline(always)]
    fn races(&self, access: AccessKind, by: A) -> [Option<(AccessKind, A)>; 2] {
        let told = |kind, two: Two<A>| two.of_others(by).map(|author| (kind, author));
        match access {
            AccessKind::Read | AccessKind::Atomic => [told(AccessKind::Write, self.written), None],
            AccessKind::Write => [told(AccessKind::Read, self.read), told(AccessKind::Atomic, self.changed)],
        }
    }

    /// An access of another author that may race with this one.
    #[inline(always)]
    fn doubt(&self, access: AccessKind, by: A) -> Option<Doubt<A>> {
        match access {
            AccessKind::Read => self.changed.of_others(by).map(Doubt::ReadsAfterAtomic),
            AccessKind::Atomic => self.read.of_others(by).map(Doubt::AtomicAfterRead),
            AccessKind::Write => self.written.of_others(by).map(Doubt::WritesOver),
        }
    }

    /// Adds an access.
    #[inline(always)]
    pub(super) fn add(&mut self, access: AccessKind, by: A) {
        match access {
            AccessKind::Read => self.read.add(by),
            AccessKind::Write => self.written.add(by),
            AccessKind::Atomic => {
                self.changed.add(by);
                // What it has read before was the beginning of this.
                self.read.remove(by);
            }
        }
    }
}

/// Why an access may race with an earlier one, by this author, of the same bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doubt<A> {
    /// Both accesses write: a race if the bytes are other ones afterwards.
    WritesOver(A),
    /// The access reads bytes that an atomic changed: a race unless the reader goes on with an atomic.
    ReadsAfterAtomic(A),
    /// The access is an atomic that changes bytes that were read: a race unless the reader goes on with an
    /// atomic.
    AtomicAfterRead(A),
}

impl<A> Doubt<A> {
    /// This doubt, with another name for its author.
    pub(super) fn map<B>(self, other: impl FnOnce(A) -> B) -> Doubt<B> {
        match self {
            Self::WritesOver(author) => Doubt::WritesOver(other(author)),
            Self::ReadsAfterAtomic(author) => Doubt::ReadsAfterAtomic(other(author)),
            Self::AtomicAfterRead(author) => Doubt::AtomicAfterRead(other(author)),
        }
    }
}

/// What has been done to the bytes of a dword.
#[derive(Clone, Copy, Debug)]
struct Word<A> {
    /// The interval that this is about.
    interval: u32,
    /// Some accesses were to a part of it, so that each byte has its own history. Most dwords never have any.
    parted: bool,
    /// What has been done to each byte, if the dword is not parted.
    history: History<A>,
}

impl<A> Default for Word<A> {
    fn default() -> Self {
        Self { interval: 0, parted: false, history: History::default() }
    }
}

/// Bytes of a dword.
pub(super) const WORD: usize = 4;

/// The dwords of a piece of memory. What was done to one in another interval than the last is forgotten.
#[derive(Debug)]
pub(super) struct Words<A> {
    words: Vec<Word<A>>,
    /// Histories of the bytes of parted dwords, up to the last of them at least.
    histories: Vec<[History<A>; WORD]>,
}

/// When an access is made, and whether others are to be looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    /// Never 0, which is a dword's before it is accessed.
    pub(super) interval: u32,
    /// The access comes after all that was done before, so that it does not race with that.
    pub(super) ordered: bool,
}

impl<A: Author> Words<A> {
    pub(super) fn new(bytes: usize) -> Self {
        Self { words: vec![Word::default(); bytes.div_ceil(WORD)], histories: Vec::new() }
    }

    /// Adds a dword in which something has been done, to all bytes alike or not. Returns its number.
    pub(super) fn push(&mut self, interval: u32, histories: [History<A>; WORD], alike: bool) -> usize {
        let number = self.words.len();
        self.words.push(Word { interval, parted: !alike, history: histories[0] });
        if !alike {
            self.histories.resize(number, [History::default(); WORD]);
            self.histories.push(histories);
        }
        number
    }

    pub(super) fn forget(&mut self) {
        self.words.fill(Word::default());
    }

    /// Notes an access to a range of bytes. `race` is told of what it races with, unless both are atomic;
    /// `doubt` of bytes, in one dword, of which it is not known yet whether the access is a race.
    ///
    /// # Errors
    /// What `race` returns.
    #[inline(always)]
    pub(super) fn note<E>(
        &mut self,
        when: When,
        access: AccessKind,
        by: A,
        range: Range<usize>,
        mut race: impl FnMut(AccessKind, A) -> Result<(), E>,
        mut doubt: impl FnMut(Range<usize>, Doubt<A>),
    ) -> Result<(), E> {
        let mut at = range.start;
        while at < range.end {
            let number = at / WORD;
            let end = range.end.min((number + 1) * WORD);
            let word = &mut self.words[number];
            if word.interval != when.interval {
                *word = Word { interval: when.interval, ..Word::default() };
            }
            if end - at < WORD && !word.parted {
                if self.histories.len() < self.words.len() {
                    self.histories.resize(self.words.len(), [History::default(); WORD]);
                }
                let word = &mut self.words[number];
                word.parted = true;
                self.histories[number] = [word.history; WORD];
            }
            let word = &mut self.words[number];
            // Each history, and how many bytes it is about.
            let (histories, bytes) = match word.parted {
                false => (std::slice::from_mut(&mut word.history), WORD),
                true => (&mut self.histories[number][at % WORD..][..end - at], 1),
            };
            for (history, at) in histories.iter_mut().zip((at..).step_by(bytes)) {
                if !when.ordered {
                    for (kind, other) in history.races(access, by).into_iter().flatten() {
                        race(kind, other)?;
                    }
                    if let Some(why) = history.doubt(access, by) {
                        doubt(at..at + bytes, why);
                    }
                }
                history.add(access, by);
            }
            at = end;
        }
        Ok(())
    }
}
