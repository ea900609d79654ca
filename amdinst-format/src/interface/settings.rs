//! What the environment asks for.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Checks, Embedded};
use crate::probes::Home;

/// Where to launch kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceChoice {
    /// A GPU if HIP finds one that the kernels were built for, else the emulator.
    #[default]
    Auto,
    /// The emulator.
    Emu,
    /// A GPU.
    Hip,
}

/// Where counters live while a kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterChoice {
    /// The cheapest home, for each kernel.
    #[default]
    Auto,
    /// Registers.
    Register,
    /// LDS.
    Lds,
    /// Memory.
    Global,
    /// Nowhere: kernels run as they were compiled.
    None,
}

impl CounterChoice {
    /// The home asked for; `None` leaves it to the planner, or there are no counters at all.
    pub const fn home(self) -> Option<Home> {
        match self {
            Self::Auto | Self::None => None,
            Self::Register => Some(Home::Register),
            Self::Lds => Some(Home::Lds),
            Self::Global => Some(Home::Global),
        }
    }

    /// As options and variables name it.
    pub const fn name(self) -> &'static str {
        match (self, self.home()) {
            (Self::None, _) => "none",
            (_, Some(home)) => home.name(),
            (_, None) => "auto",
        }
    }
}

/// An environment variable with a value that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{variable}={value} is not understood; {variable} is one of {expected}")]
pub struct SettingsError {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// The values that it may have.
    pub expected: &'static str,
}

impl FromStr for DeviceChoice {
    type Err = SettingsError;

    fn from_str(value: &str) -> Result<Self, SettingsError> {
        match value {
            "" | "auto" => Ok(Self::Auto),
            "emu" => Ok(Self::Emu),
            "hip" => Ok(Self::Hip),
            _ => Err(SettingsError {
                variable: "AMDINST_DEVICE",
                value: value.to_owned(),
                expected: "auto, emu, hip",
            }),
        }
    }
}

impl FromStr for CounterChoice {
    type Err = SettingsError;

    fn from_str(value: &str) -> Result<Self, SettingsError> {
        match value {
            "" | "auto" => Ok(Self::Auto),
            "register" => Ok(Self::Register),
            "lds" => Ok(Self::Lds),
            "global" => Ok(Self::Global),
            "none" => Ok(Self::None),
            _ => Err(SettingsError {
                variable: "AMDINST_COUNTERS",
                value: value.to_owned(),
                expected: "auto, register, lds, global, none",
            }),
        }
    }
}

/// Which kernels to launch where. The test runner uses `Settings::from_env`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Where to launch.
    pub device: DeviceChoice,
    /// Where counters live.
    pub counters: CounterChoice,
    /// Code objects inside this program; of a package that is here no file is looked for.
    #[serde(skip)]
    pub embedded: Vec<&'static Embedded>,
    /// Manifests of built kernels; empty looks in the target directory.
    pub manifests: Vec<PathBuf>,
    /// The package of the program, whose kernels say which processor is emulated where that is not asked for.
    #[serde(default)]
    pub package: Option<String>,
    /// The kernels are known to be those of the sources: they are not compared with these.
    pub fresh: bool,
    /// The processor; `None` for the first that the kernels were built for.
    pub target_cpu: Option<String>,
    /// The profile, if several were built with.
    pub profile: Option<String>,
    /// Which GPU, as HIP counts; `None` for the first that the kernels were built for.
    pub gpu: Option<u32>,
    /// Wave-instructions that a workgroup may run in the emulator; `None` leaves it to the emulator.
    pub budget: Option<u64>,
    /// Host threads of a launch in the emulator; `None` for all cores.
    #[serde(default)]
    pub threads: Option<u16>,
    /// The number of another order of waves and workgroups in the emulator.
    #[serde(default)]
    pub schedule: Option<u64>,
    /// What to look for in the emulator, if that is asked for; [`DeviceChoice::Auto`] is the emulator then.
    pub check: Option<Checks>,
    /// What to look for in the emulator where `check` says nothing. The test runner has all here.
    pub check_by_default: Checks,
    /// Accesses whose races are meant: `FILE`, `FILE:LINE` or a function.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// What each dword of registers, LDS and scratch memory holds in the emulator before it is written;
    /// `None` leaves it to the emulator.
    pub uninitialised: Option<u32>,
    /// Accesses to LDS beyond the workgroup's are no faults in the emulator: reads return zero and writes are
    /// discarded.
    #[serde(default)]
    pub out_of_range_as_hardware: bool,
    /// The emulator measures memory accesses. Then [`DeviceChoice::Auto`] is the emulator.
    #[serde(default)]
    pub memory: bool,
    /// Of a fault in the emulator, the lines that led there are told.
    #[serde(default)]
    pub why: bool,
    /// The device on which launches in the emulator are modeled (`mi210`).
    pub timing: Option<String>,
    /// The directory for traces of the modeled launches of tests.
    pub timeline: Option<PathBuf>,
    /// A file that names code objects of another processor, for launches beside those of the test
    /// ([`BesideRequest`](crate::report::parting::BesideRequest)).
    #[serde(default)]
    pub beside: Option<PathBuf>,
}

impl Settings {
    /// The emulator's checks.
    pub fn checks(&self) -> Checks {
        self.check.unwrap_or(self.check_by_default)
    }

    /// Reads the environment (see the harness's documentation).
    ///
    /// # Errors
    /// A variable with a value that means nothing.
    pub fn from_env() -> Result<Self, SettingsError> {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let gpu = text("AMDINST_GPU").map(|value| {
            value.parse().map_err(|_| SettingsError {
                variable: "AMDINST_GPU",
                value,
                expected: "the whole numbers from 0",
            })
        });
        let flag = |variable| match text(variable).as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(value) => Err(SettingsError { variable, value: value.to_owned(), expected: "0, 1" }),
        };
        Ok(Self {
            device: text("AMDINST_DEVICE").unwrap_or_default().parse()?,
            counters: text("AMDINST_COUNTERS").unwrap_or_default().parse()?,
            embedded: Vec::new(),
            manifests: std::env::var_os("AMDINST_MANIFEST")
                .map(|paths| {
                    std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect()
                })
                .unwrap_or_default(),
            package: None,
            fresh: flag("AMDINST_FRESH")?,
            target_cpu: text("AMDINST_TARGET_CPU"),
            profile: text("AMDINST_PROFILE"),
            gpu: gpu.transpose()?,
            budget: text("AMDINST_BUDGET").map(budget).transpose()?,
            threads: text("AMDINST_THREADS").map(threads).transpose()?,
            schedule: text("AMDINST_SCHEDULE").map(schedule).transpose()?,
            check: text("AMDINST_CHECK").map(checks).transpose()?,
            check_by_default: Checks::NONE,
            allowed: text("AMDINST_ALLOW").map(|places| allowed(&places)).unwrap_or_default(),
            // The second is the variable's old name.
            uninitialised: ["AMDINST_FILL", "AMDINST_UNINITIALISED"]
                .into_iter()
                .find_map(|variable| Some(uninitialised(variable, text(variable)?)))
                .transpose()?,
            out_of_range_as_hardware: match text("AMDINST_OUT_OF_RANGE").as_deref() {
                None | Some("fault") => false,
                Some("hardware") => true,
                Some(value) => {
                    let (variable, value) = ("AMDINST_OUT_OF_RANGE", value.to_owned());
                    return Err(SettingsError { variable, value, expected: "fault, hardware" });
                }
            },
            memory: flag("AMDINST_MEMORY")?,
            why: flag("AMDINST_WHY")?,
            timing: text("AMDINST_TIMING"),
            timeline: path("AMDINST_TIMELINE"),
            beside: path("AMDINST_BESIDE"),
        })
    }
}

/// Places that are separated by commas, as `AMDINST_ALLOW` has them.
pub fn allowed(places: &str) -> Vec<String> {
    places.split(',').map(str::trim).filter(|place| !place.is_empty()).map(str::to_owned).collect()
}

fn checks(value: String) -> Result<Checks, SettingsError> {
    let variable = "AMDINST_CHECK";
    value.parse().map_err(|expected| SettingsError { variable, value, expected })
}

/// A whole number of 32 bits, in hexadecimal with `0x` before it.
fn uninitialised(variable: &'static str, value: String) -> Result<u32, SettingsError> {
    let dword = match value.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => value.parse(),
    };
    dword.map_err(|_| SettingsError { variable, value, expected: "the whole numbers from 0 to 0xffffffff" })
}

fn threads(value: String) -> Result<u16, SettingsError> {
    let number = value.parse().ok().filter(|threads| (1..=1024).contains(threads));
    number.ok_or(SettingsError {
        variable: "AMDINST_THREADS",
        value,
        expected: "the whole numbers from 1 to 1024",
    })
}

fn schedule(value: String) -> Result<u64, SettingsError> {
    let variable = "AMDINST_SCHEDULE";
    value.parse().map_err(|_| SettingsError { variable, value, expected: "the whole numbers from 0" })
}

fn budget(value: String) -> Result<u64, SettingsError> {
    value.parse::<NonZeroU64>().map(NonZeroU64::get).map_err(|_| SettingsError {
        variable: "AMDINST_BUDGET",
        value,
        expected: "the whole numbers from 1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_nonsense_is_named() {
        assert_eq!("".parse(), Ok(DeviceChoice::Auto));
        assert_eq!("hip".parse(), Ok(DeviceChoice::Hip));
        assert_eq!("global".parse::<CounterChoice>().map(CounterChoice::home), Ok(Some(Home::Global)));
        assert_eq!("none".parse(), Ok(CounterChoice::None));
        let error = "gpu".parse::<DeviceChoice>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "AMDINST_DEVICE=gpu is not understood; AMDINST_DEVICE is one of auto, emu, hip"
        );
        let error = checks("race".to_owned()).unwrap_err().to_string();
        assert!(
            error.starts_with("AMDINST_CHECK=race is not understood; AMDINST_CHECK is one of all,"),
            "{error}"
        );
        assert_eq!(allowed("scan.rs:12, look_back,"), ["scan.rs:12", "look_back"]);
        assert_eq!(budget("1".to_owned()), Ok(1));
        assert_eq!(threads("1024".to_owned()), Ok(1024));
        assert!(["0", "1025", "all"].iter().all(|value| threads((*value).to_owned()).is_err()));
        for value in ["0", "-1", "many"] {
            let error = budget(value.to_owned()).unwrap_err().to_string();
            assert!(error.ends_with("AMDINST_BUDGET is one of the whole numbers from 1"), "{error}");
        }
    }
}
