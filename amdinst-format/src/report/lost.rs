//! How many lanes stood idle because their wave went on without them: what a report is sorted by.
//!
//! Counters are sums over the executions of a wave, so the figure is exact only where no execution is mixed
//! up with one of another kind. [`Certainty`] says which it is.

use super::Counts;
use crate::counters::Lanes;
use serde::{Deserialize, Serialize};

/// How much a figure says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The figure is the number of lanes.
    #[default]
    Exact,
    /// The number of lanes is not more than the figure.
    AtMost,
    /// The number of lanes is about the figure.
    About,
    /// The counters hold no lanes.
    Unknown,
}

/// Lanes that stood idle, summed over executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// How many.
    pub lanes: u64,
    /// How much that says.
    pub certainty: Certainty,
}

impl Lost {
    /// Of one wave of so many lanes at a site of the kind `kind`.
    pub fn of_wave(lanes: Lanes, kind: &str, counts: &Counts) -> Self {
        if counts.executions > 0 && counts.lanes_in == 0 {
            return Self { lanes: 0, certainty: Certainty::Unknown };
        }
        if counts.diverged == 0 {
            // All went on, or none did: nobody waits for the others.
            return Self::default();
        }
        if kind == "loop-exit" { of_loop(lanes, counts) } else { of_branch(counts) }
    }

    /// Of several waves, or sites.
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), |sum, part| Self {
            lanes: sum.lanes + part.lanes,
            certainty: sum.certainty.max(part.certainty),
        })
    }
}

/// An `if`: in an execution that diverged, the lanes that were switched off wait. Where none went on, the
/// wave jumps and nobody waits, but the sums do not say how many lanes that were.
fn of_branch(counts: &Counts) -> Lost {
    let off = counts.lanes_in.saturating_sub(counts.lanes_taken);
    let certainty = if counts.none == 0 { Certainty::Exact } else { Certainty::AtMost };
    Lost { lanes: off, certainty }
}

/// A loop's exit: a lane that left waits in every later round, until the last one leaves and the loop ends
/// (`none`). All lanes that entered leave at some time, so that `(in - taken) / none` entered each time; they
/// would all have been active in every round. That is so for a loop that was entered once, and has no other
/// exit.
fn of_loop(wave: Lanes, counts: &Counts) -> Lost {
    let left = counts.lanes_in.saturating_sub(counts.lanes_taken);
    if counts.none == 0 {
        // The wave always left by another exit.
        return Lost { lanes: left, certainty: Certainty::About };
    }
    let full = u128::from(counts.executions) * u128::from(left) / u128::from(counts.none);
    // A wave has no more lanes, whatever other exits make of the quotient.
    let most = counts.executions.saturating_mul(wave.get().into());
    let lanes = u64::try_from(full).unwrap_or(u64::MAX).min(most).saturating_sub(counts.lanes_in);
    Lost { lanes, certainty: Certainty::About }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.lanes == 1 { "" } else { "s" };
        match self.certainty {
            Certainty::Exact => write!(f, "{} lane{plural} lost", self.lanes),
            Certainty::AtMost => write!(f, "at most {} lane{plural} lost", self.lanes),
            Certainty::About => write!(f, "about {} lane{plural} lost", self.lanes),
            Certainty::Unknown => f.write_str("lanes not counted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn counts(executions: u64, all: u64, none: u64, lanes_in: u64, lanes_taken: u64) -> Counts {
        Counts { executions, all, none, diverged: executions - all - none, lanes_in, lanes_taken }
    }

    #[test]
    fn branches() {
        // One execution, 36 of 64 lanes: 28 wait.
        let lost = Lost::of_wave(Lanes::Wave64, "if", &counts(1, 0, 0, 64, 36));
        assert_eq!(lost, Lost { lanes: 28, certainty: Certainty::Exact });
        // All, and none: nobody waits.
        assert_eq!(Lost::of_wave(Lanes::Wave64, "if", &counts(2, 1, 1, 128, 64)), Lost::default());
        // A half of 64, and none of 64: 32 wait; the sums allow for 32 + 64.
        let lost = Lost::of_wave(Lanes::Wave64, "if", &counts(2, 0, 1, 128, 32));
        assert_eq!(lost, Lost { lanes: 96, certainty: Certainty::AtMost });
        assert_eq!(Lost::of_wave(Lanes::Wave64, "if", &counts(3, 1, 1, 0, 0)).certainty, Certainty::Unknown);
    }

    #[test]
    fn loops() {
        // Lanes 0 to 3 leave after 1, 2, 3 and 4 rounds: 4 + 3 + 2 + 1 come in, 3 + 2 + 1 + 0 go on; idle are
        // 0 + 1 + 2 + 3.
        let lost = Lost::of_wave(Lanes::Wave64, "loop-exit", &counts(4, 0, 1, 10, 6));
        assert_eq!(lost, Lost { lanes: 6, certainty: Certainty::About });
        // All leave together after 5 rounds.
        assert_eq!(Lost::of_wave(Lanes::Wave64, "loop-exit", &counts(5, 4, 1, 320, 256)), Lost::default());
        // No lane left here.
        assert_eq!(Lost::of_wave(Lanes::Wave64, "loop-exit", &counts(5, 5, 0, 320, 320)), Lost::default());
    }

    #[test]
    fn sums_are_as_certain_as_their_least_certain_part() {
        let exact = Lost { lanes: 3, certainty: Certainty::Exact };
        let most = Lost { lanes: 4, certainty: Certainty::AtMost };
        assert_eq!(Lost::sum([exact, most]), Lost { lanes: 7, certainty: Certainty::AtMost });
        assert_eq!(Lost::sum([exact, exact]), Lost { lanes: 6, certainty: Certainty::Exact });
    }
}
