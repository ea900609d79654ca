//! Data races: accesses to one byte that nothing orders, one of them at least a write.
//!
//! Waves run in turn here, so a result says nothing about what another order would have given. Whether the order matters
//! shows in the accesses themselves.
//!
//! * Two atomics never race: the device orders them.
//! * An atomic and a plain read race unless the read begins a loop of compare-and-swap (`reads`).
//! * Two plain writes race if the later one changes the byte. Waves that all store one value are a common idiom, and
//!   relaxed atomic stores, which are the same instructions as plain ones, are written for it.
//! * Lanes of one wave do not race with each other here: a wave's instruction comes after the one before it for all lanes.
//!   Those of one store are another matter (`exec/lane_race`).

mod atomicity;
mod cells;
mod contexts;
mod device;
mod doubts;
mod lds;
#[cfg(test)]
mod pairs;
mod reads;
mod scan;
mod suspects;
mod words;

use std::sync::{Arc, Mutex};

pub(crate) use atomicity::{Atomicity, Judge, Sources, of_steps};
pub(crate) use device::{Access, DeviceRaces, lock};
pub(crate) use lds::LdsRaces;
pub(crate) use reads::Late;
pub(crate) use scan::{Clashes, DeviceScan, Found, LdsScan, Lines, Noted, Noting, ScanLaunch};
pub(crate) use words::Mark;

use crate::dispatch::Trace;

/// How a launch's accesses are looked at.
#[derive(Debug)]
pub(crate) enum Look {
    /// Not at all.
    Not,
    /// For what may be a race.
    Scan(Arc<ScanLaunch>),
    /// Each by itself.
    Races(Races),
    /// For where a value comes from.
    Trace(Arc<Mutex<Trace>>),
}

/// The look at each access by itself.
#[derive(Debug)]
pub(crate) struct Races {
    /// Those to device memory; each workgroup's LDS has its own.
    pub(crate) device: Box<Mutex<DeviceRaces>>,
    /// What is unordered, and whether that is a race.
    pub(crate) judge: Judge,
    /// Which dwords are looked at, if not all are.
    pub(crate) focus: Option<Arc<Clashes>>,
}

impl Races {
    pub(crate) fn new(
        grid: [u32; 3],
        waves_per_group: u32,
        judge: Judge,
        focus: Option<Arc<Clashes>>,
    ) -> Self {
        let device = DeviceRaces::new(grid, waves_per_group, judge.clone(), focus.clone());
        Self { device: Box::new(Mutex::new(device)), judge, focus }
    }
}

impl Look {
    /// Who has accessed device memory, if each access is looked at.
    pub(crate) fn races(&self) -> Option<&Mutex<DeviceRaces>> {
        match self {
            Self::Races(races) => Some(&races.device),
            _ => None,
        }
    }

    /// Which accesses are looked at by themselves, if not all are.
    pub(crate) fn focus(&self) -> Option<&Clashes> {
        match self {
            Self::Races(races) => races.focus.as_deref(),
            _ => None,
        }
    }

    /// The scan, if it is one.
    pub(crate) fn scan(&self) -> Option<&Arc<ScanLaunch>> {
        match self {
            Self::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    /// Where a value comes from, if that is looked for.
    pub(crate) fn trace(&self) -> Option<&Mutex<Trace>> {
        match self {
            Self::Trace(trace) => Some(trace),
            _ => None,
        }
    }
}
