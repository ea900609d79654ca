//! Data races: accesses to one byte that nothing orders, one of them at least a write.
//!
//! Waves run in turn here, so a result says nothing about what another order would have given. Whether the
//! order matters shows in the accesses themselves.
//!
//! * Two atomics never race: the device orders them.
//! * An atomic and a plain read race unless the read begins a loop of compare-and-swap (`reads`).
//! * Two plain writes race if the later one changes the byte. Waves that all store one value are a common
//!   idiom.
//! * Lanes of one wave do not race with each other here: a wave's instruction comes after the one before it
//!   for all lanes. Those of one store are another matter (`exec/lane_race`).
//! * Loads and stores that convert, and swizzled records accessed in pieces, are not looked at.
//!
//! # Two runs
//! A launch is scanned first, in the fast layer and on all threads (`scan`). Nearly all launches have no
//! clash and so no race. A launch with a clash, or with another fault, runs again from a copy of the memory
//! before it, on one thread, and each access is looked at (`dispatch/checked`). What is reported is what this
//! second run finds. Of the two launches of a test only the original's is looked at.
//!
//! Unless all is asked for (`Config::thorough`), the second run looks at accesses to dwords that clash; the
//! others stay in the fast layer. Which dwords clash does not depend on the order of workgroups. It runs as
//! many workgroups as `dispatch/sample` allows: an eighth of the instructions of all launches so far. A
//! launch of some workgroups is the beginning of a launch of all, in which the others have not begun. So a
//! race in it is real; nothing else that happens in it is reported. Memory is that of the whole launch.
//!
//! # Atomics
//! Machine code does not tell relaxed atomics from plain accesses. Debug information does (`atomicity`), read
//! when a launch first has a clash. An access with an inline frame of `core::sync::atomic` is atomic. Other
//! accesses of Rust are plain, and so are those of more than 8 bytes. The rest is unknown. An unordered pair
//! without a plain access, and not of two atomics, is no fault but a doubt (`doubts`, `Execution::doubts`).
//! A load that does not pass the vector cache is plain to other workgroups, whatever the source says.
//! An atomic load from LDS orders the waves as one from device memory does.
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
mod stage;
mod suspects;
mod words;

pub(crate) use atomicity::{Atomicity, Judge};
pub(crate) use device::{Access, DeviceRaces};
pub(crate) use lds::LdsRaces;
pub(crate) use reads::Late;
pub(crate) use scan::{Clashes, DeviceScan, Found, LdsScan, Lines, Noted, Noting, ScanLaunch, Scope};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub(crate) use words::Mark;

/// The look at each access by itself.
#[derive(Debug)]
pub(crate) struct Races {
    /// Accesses to device memory. The LDS of each workgroup has its own.
    device: Box<Mutex<DeviceRaces>>,
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

    /// The accesses to device memory, for this thread alone.
    pub(crate) fn lock(&self) -> MutexGuard<'_, DeviceRaces> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
