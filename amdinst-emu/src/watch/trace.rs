//! The store that an address had last, and reads of LDS that nothing had written.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::wave::{UnwrittenRead, Wave};

/// Who stored to an address last, and what was read in LDS before it was written.
#[derive(Debug)]
pub(crate) struct Trace {
    address: u64,
    pub(crate) last: Option<Store>,
    /// By the workgroup of that store: the first such read of each wave.
    pub(crate) reads: Vec<UnwrittenRead>,
}

/// A store to device memory.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// The wave's number in the launch.
    pub(crate) wave: u64,
    pub(crate) lane: Option<usize>,
    pub(crate) step: u32,
    /// Steps of the calls that led to the store, innermost first.
    pub(crate) calls: Vec<u32>,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

impl Trace {
    /// Of stores to an address.
    pub(crate) const fn new(address: u64) -> Self {
        Self { address, last: None, reads: Vec::new() }
    }

    /// Notes a wave's stores: first byte, size, and lane of each, if it is not the wave as a whole.
    pub(crate) fn note(
        trace: &Mutex<Self>,
        w: &Wave,
        stores: impl IntoIterator<Item = (u64, usize, Option<usize>)>,
    ) {
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        for (address, bytes, lane) in stores {
            trace.note_one(w, address, bytes, lane);
        }
    }

    fn note_one(&mut self, w: &Wave, address: u64, bytes: usize, lane: Option<usize>) {
        if (address..address + bytes as u64).contains(&self.address) {
            let calls = w.calls.steps().collect();
            self.last = Some(Store { wave: w.index, lane, step: w.current, calls, address, bytes });
        }
    }

    /// The workgroup of these waves has ended, which has read this in LDS.
    pub(crate) fn end_group(&mut self, waves: Range<u64>, reads: Vec<UnwrittenRead>) {
        if self.last.as_ref().is_some_and(|store| waves.contains(&store.wave)) {
            self.reads = reads;
        }
    }
}
