//! Plain reads of what others change by atomics.
//!
//! Such a read begins each loop of compare-and-swap, which compilers make of atomics that the processor lacks
//! (additions of floats). So it is a race only if no atomic of the same wave on the same dword has followed
//! when the workgroup comes to a barrier or ends.

use std::collections::BTreeMap;
use std::ops::Range;

use super::doubts::Doubts;
use super::words::WORD;
use crate::check::Trap;

/// A race that is known of only after the later of its two accesses.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) trap: Box<Trap>,
    /// The wave of the later access: in its workgroup for LDS, in the launch for device memory.
    pub(crate) wave: u64,
    /// Its site.
    pub(crate) site: u32,
    /// Whether it is one though nothing tells that both are not atomic.
    pub(crate) certain: bool,
}

/// Plain reads that no atomic has followed yet, by the wave that has read and the dword.
#[derive(Debug, Default)]
pub(super) struct Reads(BTreeMap<(u64, u64), Late>);

impl Reads {
    /// A wave has read a byte that another changes by an atomic. `late` says what it is unless an atomic
    /// follows.
    pub(super) fn add(&mut self, wave: u64, at: u64, late: impl FnOnce() -> Late) {
        self.0.entry((wave, at / WORD as u64)).or_insert_with(late);
    }

    /// A wave does an atomic.
    pub(super) fn follow(&mut self, wave: u64, range: Range<u64>) {
        if !self.0.is_empty() {
            for dword in range.start / WORD as u64..range.end.div_ceil(WORD as u64) {
                self.0.remove(&(wave, dword));
            }
        }
    }

    /// The first of these waves' reads that no atomic has followed; those that may be none are added to
    /// `doubts`. None of them is waited for any longer.
    pub(super) fn settle(&mut self, waves: Range<u64>, doubts: &mut Doubts) -> Option<Late> {
        if self.0.is_empty() {
            return None;
        }
        let mut first = None;
        while let Some((key, _)) = self.0.range((waves.start, 0)..(waves.end, 0)).next() {
            let key = *key;
            match self.0.remove(&key) {
                Some(late) if late.certain => first = first.or(Some(late)),
                Some(late) => doubts.add_late(late),
                None => {}
            }
        }
        first
    }
}
