//! Options that have another name now. The old one still works, is not shown in help, and is told of once.

use std::fmt;

use super::{Command, ExecArgs, ReplayArgs, RunArgs, TestArgs};

/// An option that has another name now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The old name.
    pub old: &'static str,
    /// The new name.
    pub new: &'static str,
}

impl Renamed {
    /// Of options, those whose old name was used: whether that is so, the old name, and the new one.
    pub(super) fn used<const N: usize>(
        options: [(bool, &'static str, &'static str); N],
    ) -> impl Iterator<Item = Self> {
        let of = |(used, old, new): (bool, _, _)| used.then_some(Self { old, new });
        options.into_iter().filter_map(of)
    }
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
                let timeline = Renamed::used([(old_timeline.is_some(), "--timeline", "--timeline-dir")]);
                measuring.renamed().chain(limits.checks.renamed()).chain(timeline).collect()
            }
            Self::Replay(ReplayArgs { limits, .. }) => limits.checks.renamed().collect(),
            Self::Exec(ExecArgs { limits, .. }) => limits.checks.renamed().collect(),
            Self::Man(args) => Renamed::used([(args.old_out.is_some(), "--out", "--output")]).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use amdinst_core::instrument::SiteSelector;
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, MeasureArgs, MeasureChoice};

    fn parsed(words: &[&str]) -> Command {
        Cli::try_parse_from([&["cargo-amdinst"], words].concat()).unwrap().command
    }

    fn told(words: &[&str]) -> Vec<&'static str> {
        parsed(words).renamed().into_iter().map(|renamed| renamed.new).collect()
    }

    fn measuring(words: &[&str]) -> MeasureArgs {
        match parsed(&[&["instrument", "k.elf", "--plan"], words].concat()) {
            Command::Instrument(args) => args.measuring,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn old_names_mean_the_same_and_are_told() {
        let chosen = |words: &[&str]| {
            let args = measuring(words);
            let selectors: Vec<String> = args.selectors().iter().map(SiteSelector::to_string).collect();
            (args.what(), selectors)
        };
        assert_eq!(chosen(&["--probe", "blocks"]), chosen(&["--measure", "blocks"]));
        assert_eq!(chosen(&["--probe-name", "tail"]), chosen(&["--probe", "tail"]));
        assert_eq!(chosen(&["--site", "a.rs:7"]), chosen(&["--line", "a.rs:7"]));
        // A probe may have the name of a choice; then the choice is made by its own option.
        let (what, selectors) = chosen(&["--measure", "branches", "--probe", "blocks"]);
        assert_eq!((what, selectors.len()), (MeasureChoice::Branches, 1));

        let run = ["run", "k.elf", "--grid", "1", "--block", "1"];
        let old = ["--uninitialised", "0", "--check-races", "--strict-barriers"];
        assert_eq!(told(&[&run[..], &old].concat()), ["--fill", "--check races", "--check barriers"]);
        assert_eq!(told(&["instrument", "k.elf", "--plan", "--probe", "time"]), ["--measure"]);
        assert_eq!(told(&["build", "--probe-name", "a", "--site", "a.rs:7"]), ["--probe", "--line"]);
        assert_eq!(told(&["test", "--timing", "mi210", "--timeline", "d"]), ["--timeline-dir"]);
        assert_eq!(told(&["man", "--out", "d"]), ["--output"]);
        assert!(told(&["test", "--measure", "blocks", "--probe", "tail", "--line", "a.rs:7"]).is_empty());
    }

    #[test]
    fn nothing_is_measured_where_nothing_counts() {
        let fails = |words: &[&str]| Cli::try_parse_from([&["cargo-amdinst"], words].concat()).is_err();
        for option in [
            ["--measure", "time"],
            ["--level", "basic"],
            ["--probe", "a"],
            ["--line", "a.rs:1"],
            ["--site", "a.rs:1"],
        ] {
            assert!(fails(&[&["test", "--no-instrument"], &option[..]].concat()), "{option:?}");
            let run = ["run", "k.elf", "--grid", "1", "--block", "1"];
            assert!(fails(&[&run[..], &option].concat()), "{option:?}");
            assert!(!fails(&[&run[..], &option, &["--report"]].concat()), "{option:?}");
        }
        assert!(fails(&["exec", "--counters", "lds", "program"]));
        assert!(!fails(&["exec", "--report", "--counters", "lds", "program"]));
    }
}
