//! Who wrote some elements last: the archive is replayed once more, and they are looked at after each call.

use super::results::Writer;

/// Some bytes that are looked at.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Calls from this place on do not count.
    pub(super) until: usize,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) value: Vec<u8>,
    pub(super) writer: Option<Writer>,
}

impl Watched {
    pub(super) const fn new(until: usize, address: u64, bytes: u64) -> Self {
        Self { until, address, bytes, value: Vec::new(), writer: None }
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

    /// The memory is a new one.
    pub(super) fn forget(&mut self) {
        self.value.clear();
        self.writer = None;
    }
}
