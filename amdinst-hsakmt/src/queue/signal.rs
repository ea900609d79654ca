//! Signals as the packet processor uses them (`amd_signal_t` of `amd_hsa_signal.h`).

use crate::cells::Cell64;
use crate::devices::Devices;

/// Words of `amd_signal_t`.
mod word {
    pub(super) const VALUE: usize = 1;
    pub(super) const MAILBOX: usize = 2;
    pub(super) const EVENT: usize = 3;
    pub(super) const START: usize = 4;
    pub(super) const END: usize = 5;
}

/// A signal; its handle is its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal(Cell64);

impl Signal {
    /// The signal of a handle; `None` for the null handle, and for what cannot be one.
    pub(super) fn of(handle: u64) -> Option<Self> {
        // SAFETY: the runtime's signals are aligned to 64 bytes and live until no packet names them, as
        // packets must be.
        (handle != 0 && handle.is_multiple_of(64)).then(|| Self(unsafe { Cell64::at(handle) }))
    }

    pub(super) fn value(self) -> i64 {
        self.0.nth(word::VALUE).load() as i64
    }

    /// The last thing that a packet does.
    pub(super) fn decrement(self, devices: &Devices) {
        // The host may free the signal as soon as the value tells it.
        let event = self.event();
        self.0.nth(word::VALUE).decrement();
        raise(event, devices);
    }

    /// Add bits to the value, as of errors.
    pub(super) fn or(self, bits: u64, devices: &Devices) {
        let event = self.event();
        self.0.nth(word::VALUE).or(bits);
        raise(event, devices);
    }

    /// When the packet began and ended.
    pub(super) fn stamp(self, start: u64, end: u64) {
        self.0.nth(word::START).store(start);
        self.0.nth(word::END).store(end);
    }

    /// The number of the event that its waiters sleep on.
    fn event(self) -> Option<u32> {
        (self.0.nth(word::MAILBOX).load() != 0).then(|| self.0.nth(word::EVENT).load() as u32)
    }
}

fn raise(event: Option<u32>, devices: &Devices) {
    if let Some(event) = event {
        // An event that is gone has no waiters.
        let _ = devices.events.set(event, true);
    }
}
