//! Watchers of single accesses. A launch has one at most ([`Look`]), which each step meets as a [`Watch`]. A
//! [`Round`] of a loop is looked at beside it.

mod round;
mod trace;

use std::sync::{Arc, Mutex};

use crate::races::{DeviceScan, Races, ScanLaunch};
pub(crate) use round::{Polled, Round};
pub(crate) use trace::Trace;

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

impl Look {
    /// The watcher of a workgroup's accesses; `scan` is that of its thread, if the launch is scanned.
    pub(crate) fn watch<'a>(&'a self, scan: Option<&'a mut DeviceScan>) -> Watch<'a> {
        match self {
            Self::Not => Watch::Nobody,
            Self::Scan(_) => scan.map_or(Watch::Nobody, Watch::Scan),
            Self::Races(races) => Watch::Races(races),
            Self::Trace(trace) => Watch::Trace(trace),
        }
    }

    /// The look at each access by itself, if it is one.
    pub(crate) fn races(&self) -> Option<&Races> {
        match self {
            Self::Races(races) => Some(races),
            Self::Not | Self::Scan(_) | Self::Trace(_) => None,
        }
    }

    /// The scan, if it is one.
    pub(crate) fn scan(&self) -> Option<&Arc<ScanLaunch>> {
        match self {
            Self::Scan(scan) => Some(scan),
            Self::Not | Self::Races(_) | Self::Trace(_) => None,
        }
    }
}

/// The watcher of accesses to device memory.
pub(crate) enum Watch<'a> {
    Nobody,
    /// Notes accesses, for what may be a race.
    Scan(&'a mut DeviceScan),
    /// Judges accesses, each by itself.
    Races(&'a Races),
    /// Notes stores to one address.
    Trace(&'a Mutex<Trace>),
}

impl<'a> Watch<'a> {
    /// Accesses must be told to the watcher, where there is one.
    #[inline(always)]
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self, Self::Nobody)
    }

    /// Every access must be told by itself, with its wave and its lane.
    #[inline(always)]
    pub(crate) fn wants_each(&self) -> bool {
        match self {
            Self::Nobody | Self::Scan(_) => false,
            Self::Races(races) => races.focus.is_none(),
            Self::Trace(_) => true,
        }
    }

    /// The look at each access by itself, if it is one.
    pub(crate) fn races(&self) -> Option<&'a Races> {
        match *self {
            Self::Races(races) => Some(races),
            Self::Nobody | Self::Scan(_) | Self::Trace(_) => None,
        }
    }
}
