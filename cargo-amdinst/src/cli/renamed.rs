//! Options that have another name now. The old one still works, is not shown in help, and is told of once.

use std::fmt;

use super::{Command, ExecArgs, RunArgs, TestArgs};

/// An option that has another name now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The old name.
    pub old: &'static str,
    /// The new name.
    pub new: &'static str,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old, new } = self;
        write!(f, "`{old}` is now `{new}`; the old name still works")
    }
}

impl Command {
    /// Old names that were used.
    pub fn renamed(&self) -> Vec<Renamed> {
        match self {
            Self::Build(args) => args.measuring.renamed().collect(),
            Self::Instrument(args) => args.measuring.renamed().collect(),
            Self::Run(RunArgs { measuring, limits, .. }) => {
                measuring.renamed().chain(limits.checks.renamed()).collect()
            }
            Self::Test(TestArgs { measuring, limits, old_timeline, .. }) => {
                let timeline = Renamed { old: "--timeline", new: "--timeline-dir" };
                let timeline = old_timeline.is_some().then_some(timeline);
                measuring.renamed().chain(limits.checks.renamed()).chain(timeline).collect()
            }
            Self::Exec(ExecArgs { limits, .. }) => limits.checks.renamed().collect(),
            Self::Man(args) => args
                .old_out
                .is_some()
                .then_some(Renamed { old: "--out", new: "--output" })
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }
}
