//! A dword that one wave has accessed, and not behind another barrier: most dwords never become more than
//! that.

use super::words::{Author, History, Mark, WORD};
use crate::check::AccessKind;

/// What has been done to a dword.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Cell {
    #[default]
    Untouched,
    /// By one wave in one interval.
    One {
        interval: u32,
        /// Its last instruction of a kind, and what that did.
        by: [Option<Mark>; 2],
        uses: [Use; 2],
    },
    /// More than that: where it is told.
    Full(u32),
}

/// A kind of access, and to which bytes of the dword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    kind: AccessKind,
    bytes: u8,
}

/// All bytes of a dword.
const ALL: u8 = (1 << WORD) - 1;

impl Cell {
    /// Adds an access to the dword's `bytes`. Returns whether that is all that is to be done: it is not where
    /// there is more than a cell can tell.
    #[inline(always)]
    pub(super) fn add(&mut self, now: u32, mark: Mark, kind: AccessKind, bytes: u8) -> bool {
        let new = Use { kind, bytes };
        let Self::One { interval, by, uses } = self else {
            let Self::Untouched = self else { return false };
            *self = Self::One { interval: now, by: [Some(mark), None], uses: [new; 2] };
            return true;
        };
        if *interval != now || by.iter().flatten().any(|by| !by.is_same(mark)) {
            return false;
        }
        // An atomic takes away what its wave has read of the same bytes.
        let is_replaced = |old: &Use| {
            old.kind == kind
                || old.kind == AccessKind::Read && kind == AccessKind::Atomic && old.bytes & bytes != 0
        };
        let [first, second] = [0, 1].map(|slot| by[slot].is_some() && is_replaced(&uses[slot]));
        let slot = match (first, second) {
            (true, true) => return false,
            (false, false) if by[1].is_some() => return false,
            (true, false) => 0,
            (false, _) => 1,
        };
        let old = uses[slot];
        let bytes = match first || second {
            // Another lane by the same instruction.
            true if old.kind == kind && by[slot] == Some(mark) => old.bytes | bytes,
            true if old.bytes & !bytes != 0 => return false,
            _ => bytes,
        };
        (by[slot], uses[slot]) = (Some(mark), Use { kind, bytes });
        true
    }

    /// The cell as histories of the four bytes, with its authors as `author` gives them; and whether the
    /// histories are alike.
    pub(super) fn histories<A: Author>(&self, author: impl Fn(Mark) -> A) -> ([History<A>; WORD], bool) {
        let mut histories = [History::default(); WORD];
        let mut alike = true;
        if let Self::One { by, uses, .. } = self {
            let used = || by.iter().zip(uses).filter_map(|(by, what)| Some(((*by)?, what)));
            // What was read of what the wave has changed by an atomic was read after that.
            let atomics = used().filter(|(_, what)| what.kind == AccessKind::Atomic);
            let others = used().filter(|(_, what)| what.kind != AccessKind::Atomic);
            for (mark, what) in atomics.chain(others) {
                alike &= what.bytes == ALL;
                for (_, history) in (0..).zip(&mut histories).filter(|(byte, _)| what.bytes >> byte & 1 != 0)
                {
                    history.add(what.kind, author(mark));
                }
            }
        }
        (histories, alike)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// What a cell tells is what the histories of its bytes are.
        #[test]
        fn nothing_is_lost(accesses in prop::collection::vec((0..3usize, 0..3u32, 1..16u8), 1..6)) {
            let mut cell = Cell::Untouched;
            let mut expected = [History::default(); WORD];
            for (kind, step, bytes) in accesses {
                // A step is of one kind.
                let mark = Mark::new(2, 3 * step + kind as u32);
                let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic][kind];
                if !cell.add(7, mark, kind, bytes) {
                    break;
                }
                for (_, history) in (0..).zip(&mut expected).filter(|(byte, _)| bytes >> byte & 1 != 0) {
                    history.add(kind, mark);
                }
                let (found, alike) = cell.histories(|mark| mark);
                prop_assert_eq!(found, expected);
                prop_assert!(!alike || found.iter().all(|history| *history == found[0]));
            }
        }
    }

    #[test]
    fn another_wave_or_interval_is_too_much() {
        let mut cell = Cell::Untouched;
        assert!(cell.add(7, Mark::new(2, 1), AccessKind::Atomic, ALL));
        assert!(cell.add(7, Mark::new(2, 5), AccessKind::Write, ALL));
        assert!(!cell.add(7, Mark::new(3, 5), AccessKind::Write, ALL));
        assert!(!cell.add(8, Mark::new(2, 5), AccessKind::Write, ALL));
        assert!(!cell.add(7, Mark::new(2, 6), AccessKind::Read, ALL), "a third kind");
    }

    #[test]
    fn a_cell_is_small() {
        assert_eq!(size_of::<Cell>(), 16);
    }
}
