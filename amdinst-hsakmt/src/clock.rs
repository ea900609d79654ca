//! The clocks: the host's, and the GPU's, which the emulated one derives from it.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds a tick of the GPU's clock: 100 MHz.
const NANOSECONDS: u64 = 10;
/// Ticks a second of the system's clock.
pub(crate) const SYSTEM_HZ: u64 = 1_000_000_000;
/// What the clocks show when the library is loaded: a time stamp of zero means that there is none.
const START: u64 = SYSTEM_HZ;

/// Nanoseconds since some moment.
pub(crate) fn system() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    START + BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Ticks of the GPU since the same moment.
pub(crate) fn gpu() -> u64 {
    system() / NANOSECONDS
}
