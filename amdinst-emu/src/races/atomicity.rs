//! Whether an access is an atomic one, as far as the source tells.
//!
//! A relaxed atomic load or store of GFX9 is the same instruction as a plain one, so machine code does not
//! tell whether two accesses that nothing orders are a race. Debug information of Rust does: each atomic goes
//! through a function of `core::sync::atomic`, of which an inline frame is left. Of other languages nothing
//! is left, and of code without debug information nothing is known.
//!
//! Between workgroups the machine code does tell it of loads: one that is atomic for the whole device passes
//! the vector cache (LLVM's AMDGPU usage, memory model), and such loads are not noted
//! ([`device`](super::device)). Any other load there is plain.

use std::sync::Arc;

use crate::config::Unmarked;

/// What an instruction's accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomicity {
    /// No atomics: of Rust without one, or wider than any.
    Plain,
    /// Atomics.
    Atomic,
    /// Either.
    Unknown,
    /// Whatever it is, its races are meant.
    Allowed,
}

/// What two accesses are that nothing orders, one of them a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No race: both are atomic, or one is allowed.
    Fine,
    /// A race unless both are atomic.
    Unknown,
    /// A race.
    Race,
}

/// Tells what the accesses of two sites are.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    steps: Arc<[Atomicity]>,
    unmarked: Unmarked,
}

/// Which two accesses they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// A load that does not pass the vector cache, and a write of another workgroup.
    LoadAcross,
    /// Any others.
    Other,
}

impl Judge {
    /// Of a program whose steps have these accesses.
    pub(crate) fn new(steps: Arc<[Atomicity]>, unmarked: Unmarked) -> Self {
        Self { steps, unmarked }
    }

    /// Steps of which nothing is known.
    #[cfg(test)]
    pub(super) fn strict() -> Self {
        Self { steps: Arc::new([]), unmarked: Unmarked::Plain }
    }

    pub(super) fn of(&self, site: u32) -> Atomicity {
        // Sites of other contexts are as many further on.
        let step = (site as usize).checked_rem(self.steps.len());
        step.map_or(Atomicity::Unknown, |step| self.steps[step])
    }

    pub(crate) fn is_atomic(&self, site: u32) -> bool {
        self.of(site) == Atomicity::Atomic
    }

    /// Of the accesses of two sites; for one instruction whose lanes clash, of one site twice.
    pub(crate) fn verdict(&self, one: u32, other: u32, pair: Pair) -> Verdict {
        use Atomicity::{Allowed, Atomic, Plain, Unknown};
        match (self.of(one), self.of(other)) {
            (Allowed, _) | (_, Allowed) | (Atomic, Atomic) => Verdict::Fine,
            (Plain, _) | (_, Plain) => Verdict::Race,
            _ if pair == Pair::LoadAcross => Verdict::Race,
            (Unknown, Unknown) if self.unmarked != Unmarked::Either => Verdict::Race,
            (Unknown, _) | (_, Unknown) if self.unmarked == Unmarked::Plain => Verdict::Race,
            (Unknown, _) | (_, Unknown) => Verdict::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        use Atomicity::{Allowed, Atomic, Plain, Unknown};
        let kinds = [Plain, Atomic, Unknown, Allowed];
        let judge = |unmarked| Judge { steps: Arc::new(kinds), unmarked };
        let verdicts = |unmarked, pair| {
            let judge = judge(unmarked);
            // In another context: four steps further on.
            [(0, 0), (0, 1), (0, 2), (1, 5), (1, 2), (2, 6), (0, 3), (2, 3)].map(|(a, b)| {
                assert_eq!(judge.verdict(a, b, pair), judge.verdict(b, a, pair));
                judge.verdict(a, b, pair)
            })
        };
        use Verdict::{Fine, Race};
        let unknown = Verdict::Unknown;
        let races = [Race, Race, Race, Fine, Race, Race, Fine, Fine];
        let (met, either) = (Unmarked::AsTheyMeet, Unmarked::Either);
        assert_eq!(verdicts(either, Pair::Other), [Race, Race, Race, Fine, unknown, unknown, Fine, Fine]);
        assert_eq!(verdicts(met, Pair::Other), [Race, Race, Race, Fine, unknown, Race, Fine, Fine]);
        assert_eq!(verdicts(Unmarked::Plain, Pair::Other), races);
        for unmarked in [Unmarked::Plain, met, either] {
            assert_eq!(verdicts(unmarked, Pair::LoadAcross), races);
        }
    }
}
