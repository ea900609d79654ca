//! How tests and programs end.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    /// The program left it out by itself.
    Skipped,
    /// The program ended in it.
    Died,
    /// It took longer than a test may.
    TimeOver,
}

impl Outcome {
    pub(super) const ALL: [Self; 5] = [Self::Passed, Self::Failed, Self::Skipped, Self::Died, Self::TimeOver];

    /// As files and tables have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Died => "program ended",
            Self::TimeOver => "time over",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// A test that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) elapsed: Duration,
    /// What it, or the program, said of that; empty if it passed.
    pub(super) message: String,
}

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It, or one of its tests, may take no more than that.
    TimeOver(Duration),
    /// By itself, or by a signal; its last line of stderr, and the emulator's.
    Itself(ExitStatus, String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeOver(limit) => write!(f, "the time was over after {} s", limit.as_secs()),
            Self::Itself(status, last) => {
                match status.code() {
                    Some(code) => write!(f, "exit code {code}")?,
                    None => write!(f, "{status}")?,
                }
                if last.is_empty() { Ok(()) } else { write!(f, ", stderr: {last}") }
            }
        }
    }
}

/// What is wrong with a program as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It could not say which tests it has.
    Listing(Ended),
    /// It has none.
    NoTest,
    /// It ended before any test that was left.
    BeforeFirst(Ended),
    /// It ended between two tests, or without running all; the last test that it ran.
    After(String, Ended),
    /// Its tests had ended, and its exit code contradicts them.
    AtEnd(Ended),
    /// The program's time was over; the test that ran.
    TimeOver(Option<String>, Ended),
    /// It ran tests that had ended before, and none that was left.
    Stuck,
    /// It left out every test, so that nothing was tested.
    AllSkipped,
    /// What a run before this one said; it holds for tests that are not run again.
    Before(String),
}

impl Trouble {
    /// Whether it is still true when the tests that are left have run.
    pub(super) fn stays(&self) -> bool {
        matches!(self, Self::After(..) | Self::AtEnd(..))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listing(why) => write!(f, "does not list its tests: {why}"),
            Self::NoTest => write!(f, "lists no test"),
            Self::BeforeFirst(why) => write!(f, "ended before its first test: {why}"),
            Self::After(test, why) => write!(f, "ended after `{test}`, with tests left: {why}"),
            Self::AtEnd(why) => write!(f, "ended badly after its tests: {why}"),
            Self::TimeOver(None, why) => write!(f, "was stopped in no test: {why}"),
            Self::TimeOver(Some(test), why) => write!(f, "was stopped in `{test}`: {why}"),
            Self::Stuck => write!(f, "runs tests again, and none that is left"),
            Self::AllSkipped => write!(f, "skipped all of its tests"),
            Self::Before(text) => write!(f, "{text}"),
        }
    }
}
