//! Who wrote some elements last: the archive is replayed once more, and they are looked at after each call.

use super::results::Writer;

/// Some bytes that are looked at.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Calls from this place on do not count.
    pub(super) until: usize,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// What they hold before anything is written: another value than the one whose writer is looked for, so
    /// that each writer of that one changes them.
    pub(super) unwritten: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) writer: Option<Writer>,
}

impl Watched {
    /// Bytes that hold `value` when the call at the place `until` is made.
    pub(super) fn new(until: usize, address: u64, value: &[u8]) -> Self {
        let unwritten = value.iter().map(|byte| !byte).collect();
        Self { until, address, bytes: value.len() as u64, unwritten, value: Vec::new(), writer: None }
    }

    /// Looks at the bytes after a call. It is the writer if they have changed, or if it wrote in this range.
    pub(super) fn look(&mut self, now: Vec<u8>, wrote: Option<(u64, u64)>, writer: &Writer) {
        let wrote_here = wrote.is_some_and(|(at, bytes)| {
            self.address < at.saturating_add(bytes) && at < self.address.saturating_add(self.bytes)
        });
        if wrote_here || (!self.value.is_empty() && now != self.value) {
            self.writer = Some(writer.clone());
        }
        self.value = now;
    }

    /// Whether all of them are in a range.
    pub(super) const fn is_in(&self, at: u64, bytes: u64) -> bool {
        self.address >= at && self.address - at < bytes
    }

    /// The memory is a new one, or gone.
    pub(super) fn forget(&mut self) {
        self.value.clear();
        self.writer = None;
    }
}
