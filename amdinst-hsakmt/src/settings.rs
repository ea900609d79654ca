//! What the environment asks for. `cargo amdinst exec` sets it from its options.

use std::str::FromStr;

use amdgpu_isa::Arch;
use amdinst_core::instrument::Counters;
use amdinst_emu::{OutOfRange, Schedule, Uninitialised};
use amdinst_format::interface::{Checks, allowed};

use crate::profile::Profile;

/// An environment variable that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value} is not understood; it is {expected}")]
pub(crate) struct SettingsError {
    variable: &'static str,
    value: String,
    expected: String,
}

/// The value of a variable, of a kind that says by itself what is expected.
fn parsed<T: FromStr<Err = &'static str>>(
    variable: &'static str,
    text: impl Fn(&str) -> Option<String>,
) -> Result<Option<T>, SettingsError> {
    let read = |value: String| {
        value.parse().map_err(|expected: &str| SettingsError {
            variable,
            expected: expected.to_owned(),
            value,
        })
    };
    text(variable).map(read).transpose()
}

/// What is done to code objects as they are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instrument {
    /// Nothing.
    No,
    /// Launched kernels are instrumented.
    Yes,
    /// And what their branches did is printed when the program ends.
    Report,
}

/// How the emulated machine is made.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// What each GPU is (`AMDINST_EMULATED_CPU`, else `AMDINST_TARGET_CPU`).
    pub(crate) profile: &'static Profile,
    /// How many there are (`AMDINST_GPUS`).
    pub(crate) gpus: u32,
    /// Wave-instructions that a workgroup may run (`AMDINST_BUDGET`); 0 for the emulator's default.
    pub(crate) budget: u64,
    /// Host threads of a launch (`AMDINST_THREADS`); 0 for all cores.
    pub(crate) threads: usize,
    /// Another order of waves and workgroups (`AMDINST_SCHEDULE`).
    pub(crate) schedule: Option<Schedule>,
    /// What is looked for besides what always is (`AMDINST_CHECK`). Uninitialized values are not, for a
    /// launch cannot be repeated.
    pub(crate) checks: Checks,
    /// Accesses whose races are meant (`AMDINST_ALLOW`).
    pub(crate) allowed: Vec<String>,
    /// What is there before it is written (`AMDINST_FILL`).
    pub(crate) uninitialised: Uninitialised,
    /// What becomes of accesses to LDS beyond the workgroup's (`AMDINST_OUT_OF_RANGE`): as on hardware, which
    /// programs rely on.
    pub(crate) out_of_range: OutOfRange,
    /// What is done to code objects (`AMDINST_INSTRUMENT`).
    pub(crate) instrument: Instrument,
    /// Where counters live (`AMDINST_COUNTERS`).
    pub(crate) counters: Counters,
}

/// GPUs that a machine may have at most.
const MOST_GPUS: u32 = 16;

impl Settings {
    /// Whether kernels are given memory to count in. Without, all waves count in one place, which looks like
    /// a data race.
    pub(crate) fn counts(&self) -> bool {
        match self.instrument {
            Instrument::No => false,
            Instrument::Yes => self.checks.races,
            Instrument::Report => true,
        }
    }

    /// Reads the environment through `get`.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let text = |variable: &str| get(variable).filter(|value| !value.is_empty());
        let bad = |variable, value, expected: &str| SettingsError {
            variable,
            value,
            expected: expected.to_owned(),
        };
        let number = |variable: &'static str, default: u64, least: u64, most: u64| match text(variable) {
            None => Ok(default),
            Some(value) => match value.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(number),
                _ => Err(bad(variable, value, &format!("a whole number from {least} to {most}"))),
            },
        };
        let named = |variable| text(variable).map(|name| (variable, name));
        let profile = match named("AMDINST_EMULATED_CPU").or_else(|| named("AMDINST_TARGET_CPU")) {
            None => Profile::default(),
            Some((variable, name)) => name.parse::<Arch>().ok().and_then(Profile::of).ok_or_else(|| {
                let names: Vec<&str> = Profile::all().map(|profile| profile.arch.name()).collect();
                bad(variable, name, &format!("one of {}", names.join(", ")))
            })?,
        };
        let instrument = match text("AMDINST_INSTRUMENT").as_deref() {
            None | Some("0") => Instrument::No,
            Some("1") => Instrument::Yes,
            Some("report") => Instrument::Report,
            Some(value) => return Err(bad("AMDINST_INSTRUMENT", value.to_owned(), "0, 1 or report")),
        };
        let counters = match text("AMDINST_COUNTERS").as_deref() {
            None | Some("auto") => Counters::Auto,
            Some("register") => Counters::Register,
            Some("lds") => Counters::Lds,
            Some("global") => Counters::Global,
            Some(value) => {
                return Err(bad("AMDINST_COUNTERS", value.to_owned(), "auto, register, lds or global"));
            }
        };
        Ok(Self {
            uninitialised: match text("AMDINST_FILL") {
                Some(_) => parsed("AMDINST_FILL", text)?,
                // Its old name.
                None => parsed("AMDINST_UNINITIALISED", text)?,
            }
            .unwrap_or_default(),
            out_of_range: parsed("AMDINST_OUT_OF_RANGE", text)?.unwrap_or(OutOfRange::AsHardware),
            instrument,
            counters,
            profile,
            gpus: number("AMDINST_GPUS", 1, 1, u64::from(MOST_GPUS))? as u32,
            budget: number("AMDINST_BUDGET", 0, 1, u64::MAX)?,
            threads: number("AMDINST_THREADS", 0, 1, 1024)? as usize,
            schedule: parsed("AMDINST_SCHEDULE", text)?,
            allowed: text("AMDINST_ALLOW").map(|places| allowed(&places)).unwrap_or_default(),
            checks: parsed("AMDINST_CHECK", text)?.unwrap_or(Checks::NONE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn defaults_are_one_gfx90a() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.profile.arch, settings.gpus), (Arch::Gfx90a, 1));
        assert!(settings.checks == Checks::NONE);
        assert_eq!((settings.instrument, settings.counters), (Instrument::No, Counters::Auto));
    }

    #[test]
    fn what_is_asked_for_is_taken_and_nonsense_is_named() {
        let settings = read(&[("AMDINST_TARGET_CPU", "gfx908"), ("AMDINST_GPUS", "2")]).unwrap();
        assert_eq!((settings.profile.arch, settings.gpus), (Arch::Gfx908, 2));
        // What kernels were built for does not change a GPU that was asked for.
        let settings = read(&[("AMDINST_TARGET_CPU", "gfx90a"), ("AMDINST_EMULATED_CPU", "gfx906")]).unwrap();
        assert_eq!(settings.profile.arch, Arch::Gfx906);
        let settings = read(&[("AMDINST_INSTRUMENT", "report"), ("AMDINST_COUNTERS", "lds")]).unwrap();
        assert_eq!((settings.instrument, settings.counters), (Instrument::Report, Counters::Lds));
        let error = read(&[("AMDINST_TARGET_CPU", "gfx803")]).unwrap_err().to_string();
        let start = "AMDINST_TARGET_CPU=gfx803 is not understood; it is one of gfx900, gfx906, gfx908, gfx90a, gfx942, ";
        assert!(error.starts_with(start), "{error}");
        let error = read(&[("AMDINST_GPUS", "0")]).unwrap_err();
        assert_eq!(error.to_string(), "AMDINST_GPUS=0 is not understood; it is a whole number from 1 to 16");
        for variable in ["AMDINST_BUDGET", "AMDINST_THREADS"] {
            let error = read(&[(variable, "0")]).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{variable}=0 is not understood; it is a whole number from 1")),
                "{error}"
            );
        }
    }
}
