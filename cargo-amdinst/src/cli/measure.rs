//! What instrumented kernels measure: the options that `build`, `test`, `instrument` and `run --report`
//! share.

use amdinst_core::instrument::{Home, SiteSelector, SourceLines};
use clap::{Args, ValueEnum};

use super::renamed::Renamed;

/// The subject of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MeasureChoice {
    /// How branches diverge: executions, and lanes before and after, of each that can.
    #[default]
    Branches,
    /// How often each basic block runs, and with how many lanes.
    Blocks,
    /// How long each wave runs, in ticks of the processor's clock.
    Time,
}

/// How much is counted of each branch or block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelChoice {
    /// How often it ran, and how often all lanes or none went on.
    Basic,
    /// Also the lanes before and after.
    #[default]
    Lanes,
}

/// Where counters are stored while a kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CounterChoice {
    /// The cheapest storage that neither spills nor lowers occupancy.
    #[default]
    Auto,
    /// Spare registers, written to memory once when a wave ends.
    Register,
    /// LDS, updated at each execution of a site, written to memory once when a wave ends.
    Lds,
    /// Memory, updated at each execution of a site.
    Global,
}

impl CounterChoice {
    /// The storage asked for; `None` leaves it to the planner.
    pub const fn home(self) -> Option<Home> {
        match self {
            Self::Auto => None,
            Self::Register => Some(Home::Register),
            Self::Lds => Some(Home::Lds),
            Self::Global => Some(Home::Global),
        }
    }
}

/// How instrumented kernels find the counter buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AbiChoice {
    /// By two more arguments, after all others.
    #[default]
    Argument,
    /// By the device variable `__amdinst_buffer` (8 bytes), which the launcher sets. Arguments stay as they
    /// are; nothing is counted while the variable is zero.
    Global,
}

/// The heading over the options of this file.
const WHAT: &str = "Measuring";

/// The subject of the measurement, its level, and its branches.
#[derive(Clone, Debug, Default, Args)]
#[group(id = MeasureArgs::ID)]
pub struct MeasureArgs {
    /// What to measure [default: branches]. Assertions on branches need `branches`
    #[arg(long, value_name = "WHAT", help_heading = WHAT)]
    pub measure: Option<MeasureChoice>,
    /// How much to count of each branch or block [default: lanes]. Assertions on lanes need `lanes`
    #[arg(long, value_name = "LEVEL", help_heading = WHAT, hide_short_help = true)]
    pub level: Option<LevelChoice>,
    /// Where counters are stored while a kernel runs [default: auto]
    #[arg(long, value_name = "STORAGE", help_heading = WHAT)]
    pub counters: Option<CounterChoice>,
    /// How instrumented kernels find the counter buffer [default: argument]
    #[arg(long, value_name = "ABI", help_heading = WHAT, hide_short_help = true)]
    pub abi: Option<AbiChoice>,
    /// Measure only the branch under `#[probe("NAME")]`, or the blocks of its code. May be repeated, also
    /// with --line
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub probe: Vec<String>,
    /// Measure only branches or blocks at a source line, or at several (FILE:FIRST-LAST), code inlined there
    /// included. FILE is a path or the end of one (`scan.rs`, `src/scan.rs`). May be repeated, also with
    /// --probe
    #[arg(long, value_name = "FILE:LINE", help_heading = WHAT, hide_short_help = true)]
    pub line: Vec<SourceLines>,
    /// Also measure code that formats text (`core::fmt`). Otherwise it stays as it is, unless --line chooses
    /// it
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    pub formatting: bool,
    /// The old name of `--probe`.
    #[arg(long = "probe-name", hide = true)]
    old_probe: Vec<String>,
    /// The old name of `--line`.
    #[arg(long = "site", hide = true)]
    old_line: Vec<SourceLines>,
}

impl MeasureArgs {
    /// The options of this file, as `conflicts_with` and `requires` know them.
    pub const ID: &str = "measuring";

    /// The subject of the measurement.
    pub fn what(&self) -> MeasureChoice {
        self.measure.or_else(|| self.old_measure()).unwrap_or_default()
    }

    /// What a value of `--probe` chooses if it is meant as when that was the name of `--measure`: while that
    /// is not given itself.
    fn choice(&self, word: &str) -> Option<MeasureChoice> {
        MeasureChoice::from_str(word, false).ok().filter(|_| self.measure.is_none())
    }

    /// What `--probe` chose when that was the name of `--measure`.
    fn old_measure(&self) -> Option<MeasureChoice> {
        self.probe.iter().find_map(|word| self.choice(word))
    }

    /// The chosen sites, as the instrumenter takes them.
    pub fn selectors(&self) -> Vec<SiteSelector> {
        let names = self.probe.iter().filter(|name| self.choice(name).is_none());
        let names = names.chain(&self.old_probe).cloned();
        let lines = self.line.iter().chain(&self.old_line).cloned();
        names.map(SiteSelector::Probe).chain(lines.map(SiteSelector::Lines)).collect()
    }

    /// Old names that were used.
    pub fn renamed(&self) -> impl Iterator<Item = Renamed> {
        Renamed::used([
            (self.old_measure().is_some(), "--probe branches|blocks|time", "--measure"),
            (!self.old_probe.is_empty(), "--probe-name", "--probe"),
            (!self.old_line.is_empty(), "--site", "--line"),
        ])
    }
}
