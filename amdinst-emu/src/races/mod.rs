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

mod cells;
mod contexts;
mod device;
mod lds;
#[cfg(test)]
mod pairs;
mod reads;
mod scan;
mod suspects;
mod words;

use std::sync::{Arc, Mutex};

pub(crate) use device::{Access, DeviceRaces, lock};
pub(crate) use lds::LdsRaces;
pub(crate) use reads::Late;
pub(crate) use scan::{DeviceScan, Found, LdsScan, Noted, ScanLaunch, Scope};
pub(crate) use words::Mark;

use crate::dispatch::Trace;

/// How a launch's accesses are looked at.
#[derive(Debug)]
pub(crate) enum Look {
    /// Not at all.
    Not,
    /// For what may be a race.
    Scan(Arc<ScanLaunch>),
    /// Each by itself. This is about device memory; each workgroup's LDS has its own.
    Races(Box<Mutex<DeviceRaces>>),
    /// For where a value comes from.
    Trace(Arc<Mutex<Trace>>),
}

impl Look {
    /// Who has accessed device memory, if each access is looked at.
    pub(crate) fn races(&self) -> Option<&Mutex<DeviceRaces>> {
        match self {
            Self::Races(races) => Some(races),
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
