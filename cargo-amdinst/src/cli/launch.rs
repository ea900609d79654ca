//! How launches run on the emulator: the options that `run`, `test` and `exec` share.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use amdinst_emu::{Config, OutOfRange, Schedule, Uninitialised, Unmarked};
use amdinst_format::interface::Checks;
use clap::{Args, ValueEnum};

use super::renamed::Renamed;

/// A GPU that is modeled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingChoice {
    /// AMD Instinct MI210 (gfx90a).
    Mi210,
    /// One die of an AMD Instinct MI250X (gfx90a).
    Mi250x,
    /// A gfx900 of 64 compute units, as measured in 2022 (gfx900).
    Vega10,
}

impl TimingChoice {
    /// The model of the GPU.
    pub const fn model(self) -> amdinst_emu::timing::Model {
        match self {
            Self::Mi210 => amdinst_emu::timing::Model::Mi210,
            Self::Mi250x => amdinst_emu::timing::Model::Mi250x,
            Self::Vega10 => amdinst_emu::timing::Model::Vega10,
        }
    }
}

/// The heading over the options about the emulator.
const EMULATOR: &str = "Emulator";

/// The heading over the options about what it looks for.
const CHECKING: &str = "Checking (on the emulator)";

/// How a launch runs on the emulator.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// Host threads of a launch, at most 1024 [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = EMULATOR, hide_short_help = true)]
    pub threads: Option<u16>,
    /// Wave-instructions that a workgroup may run before the launch is called endless [default: 268435456]
    #[arg(long, value_name = "N", value_parser = budget, help_heading = EMULATOR, hide_short_help = true)]
    pub budget: Option<u64>,
    /// Another order of waves and workgroups, by its number: the same each time
    #[arg(long, value_name = "NUMBER", value_parser = parsed::<Schedule>, help_heading = EMULATOR, hide_short_help = true)]
    pub schedule: Option<Schedule>,
    /// The checks besides those that are always made.
    #[command(flatten)]
    pub checks: CheckArgs,
}

impl LimitArgs {
    /// How launches run, by the variables that test programs and the emulated driver know it by. An option
    /// that is not given is left to them.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            ("AMDINST_THREADS", self.threads.map(|threads| threads.to_string())),
            ("AMDINST_BUDGET", self.budget.map(|budget| budget.to_string())),
            ("AMDINST_SCHEDULE", self.schedule.map(|number| number.to_string())),
        ]
        .into_iter()
        .chain(self.checks.variables())
        .filter_map(|(variable, value)| Some((variable, value?)))
    }
}

/// Checks of the emulator for faults that hardware lets pass.
#[derive(Clone, Debug, Default, Args)]
pub struct CheckArgs {
    /// Mistakes to look for that need not show in results: `all`, `none`, or a list of `races`, `barriers`,
    /// `uninitialized` and `waits` [default: `all` for `test` on the emulator, `none` for `exec`, else
    /// `waits`]. With `nan`, also NaNs and infinities made of numbers. With `atomicity`, a race is an error,
    /// not a warning, also where one of the two accesses is atomic
    #[arg(long, value_name = "LIST", value_parser = parsed::<Checks>, help_heading = CHECKING)]
    pub check: Option<Checks>,
    /// Accesses whose races are intended, with commas between: `FILE`, `FILE:LINE`, or the name of their
    /// function
    #[arg(long, value_name = "PLACE", value_delimiter = ',', help_heading = CHECKING, hide_short_help = true)]
    pub allow: Vec<String>,
    /// What each dword of registers, LDS and scratch memory holds before it is written [default: 0x7ffb7ffb,
    /// a NaN of 16, 32 and 64 bits]
    #[arg(long, value_name = "DWORD", value_parser = parsed::<Uninitialised>, help_heading = CHECKING, hide_short_help = true)]
    pub fill: Option<Uninitialised>,
    /// What an access to LDS beyond the workgroup's does: `fault`, or as on `hardware`, where reads return
    /// zero and writes are discarded [default: `hardware` for `exec`, else `fault`]
    #[arg(long, value_name = "HOW", value_parser = parsed::<OutOfRange>, help_heading = CHECKING, hide_short_help = true)]
    pub out_of_range: Option<OutOfRange>,
    /// The old name of `--fill`.
    #[arg(long = "uninitialised", hide = true, value_parser = parsed::<Uninitialised>)]
    old_fill: Option<Uninitialised>,
    /// The old name of `--check barriers`.
    #[arg(long, hide = true)]
    strict_barriers: bool,
    /// The old name of `--check races`.
    #[arg(long, hide = true)]
    check_races: bool,
}

impl CheckArgs {
    /// The checks asked for, if an option names any.
    pub fn asked(&self) -> Option<Checks> {
        let old = Checks { races: self.check_races, barriers: self.strict_barriers, ..Checks::NONE };
        match self.check {
            Some(asked) => Some(Checks {
                races: asked.races || old.races,
                barriers: asked.barriers || old.barriers,
                ..asked
            }),
            None => old.any().then_some(old),
        }
    }

    /// The value of unwritten memory, if an option gives one.
    pub fn fill(&self) -> Option<Uninitialised> {
        self.fill.or(self.old_fill)
    }

    /// The checks asked for that one launch can make, for the emulator.
    pub fn set(&self, config: &mut Config) {
        let asked = self.asked().unwrap_or_default();
        config.strict_barriers = asked.barriers;
        config.check_races = asked.races;
        config.unmarked = Unmarked::checked(asked.atomicity);
        config.allowed.clone_from(&self.allow);
        config.uninitialised = self.fill().unwrap_or_default();
        config.out_of_range = self.out_of_range.unwrap_or_default();
    }

    /// What is asked for, by the variables that test programs and the emulated driver know it by.
    fn variables(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        [
            ("AMDINST_CHECK", self.asked().map(|asked| asked.to_string())),
            ("AMDINST_ALLOW", (!self.allow.is_empty()).then(|| self.allow.join(","))),
            ("AMDINST_FILL", self.fill().map(|Uninitialised(dword)| format!("{dword:#x}"))),
            ("AMDINST_OUT_OF_RANGE", self.out_of_range.map(|how| how.to_string())),
        ]
        .into_iter()
    }

    /// Old names that were used.
    pub fn renamed(&self) -> impl Iterator<Item = Renamed> {
        Renamed::used([
            (self.old_fill.is_some(), "--uninitialised", "--fill"),
            (self.check_races, "--check-races", "--check races"),
            (self.strict_barriers, "--strict-barriers", "--check barriers"),
        ])
    }
}

/// A value that says by itself what is expected instead.
fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|expected| format!("expected: {expected}"))
}

/// A limit of instructions; nothing runs at all without one.
fn budget(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("a budget of 0 runs nothing".to_owned()),
        Ok(budget) => Ok(budget),
        Err(error) => Err(match ParseIntError::kind(&error) {
            IntErrorKind::PosOverflow => format!("`{text}` does not fit in 64 bits"),
            _ => format!("`{text}` is not a whole number"),
        }),
    }
}

/// Sizes in x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl FromStr for Dim3 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = [1; 3];
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} sizes, at most three are possible", parts.len()));
        }
        for (size, part) in sizes.iter_mut().zip(parts) {
            *size = part.trim().parse().map_err(|error: ParseIntError| match error.kind() {
                IntErrorKind::PosOverflow => format!("`{part}` does not fit in 32 bits"),
                _ => format!("`{part}` is not a whole number"),
            })?;
            if *size == 0 {
                return Err("a size of 0 launches nothing".to_owned());
            }
        }
        Ok(Self(sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!("4".parse(), Ok(Dim3([4, 1, 1])));
        assert_eq!("4,2,3".parse(), Ok(Dim3([4, 2, 3])));
        for wrong in ["", "0", "1,2,3,4", "-1", "4294967296", "x"] {
            assert!(wrong.parse::<Dim3>().is_err(), "{wrong}");
        }
    }
}
