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
//!
//! * Loads and stores that convert, and swizzled records accessed in pieces, are not looked at.
//!
//! # Two runs
//! A launch is scanned first, in the fast layer and on all threads (`scan`). Nearly all launches have no
//! clash and so no race. A launch with a clash, or with another fault, runs again from a copy of the memory
//! before it, on one thread, and each access is looked at (`dispatch/checked`). What is reported is what this
//! second run finds. Of the two launches of a test only the original's is looked at.
//!
//! In the second run each dword of LDS remembers (`words`), since the last barrier, up to two waves and their
//! instructions for each of reads, plain writes and atomics. Each byte does, once a byte of the dword is
//! accessed alone. Two waves suffice to know one that is not the wave that comes now. The fault names both
//! instructions with their source lines. Dwords of device memory remember the same twice (`device`). A dword
//! that one wave alone has accessed, between two barriers, takes 16 bytes (`cells`); any other takes its
//! place in the lists.
//!
//! Which access is the later one depends on the order of waves, which differs between the plain emulator and
//! the timing model. That there is a race does not depend on it, except for writes of one value.
//!
//! Tests compare both runs with looking at every pair of accesses. The kernels of the transparency tests are
//! looked at with their probes: inserted code races with nothing. 699 kernels of libraries and samples
//! (`xtask corpus foreign --check`) have no race.

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
