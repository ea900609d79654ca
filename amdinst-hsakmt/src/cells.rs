//! Words of memory that the runtime and this library share: ring buffers, indices, doorbells, signals.

use std::ptr;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::SeqCst};

/// A word of 64 bits that others read and write at any time, as atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell64(u64);

impl Cell64 {
    /// The word at an address.
    ///
    /// # Safety
    /// The address is a multiple of 8, and the word is mapped for as long as the value is used.
    pub(crate) const unsafe fn at(address: u64) -> Self {
        Self(address)
    }

    /// Its address.
    pub(crate) const fn address(self) -> u64 {
        self.0
    }

    /// The word that many words behind it, which is the caller's too.
    pub(crate) const fn nth(self, index: usize) -> Self {
        Self(self.0 + 8 * index as u64)
    }

    fn word<'a>(self) -> &'a AtomicU64 {
        // SAFETY: aligned and mapped, as `at` asks; shared as atomics only.
        unsafe { &*ptr::with_exposed_provenance(self.0 as usize) }
    }

    pub(crate) fn load(self) -> u64 {
        self.word().load(SeqCst)
    }

    pub(crate) fn store(self, value: u64) {
        self.word().store(value, SeqCst);
    }

    pub(crate) fn swap(self, value: u64) -> u64 {
        self.word().swap(value, SeqCst)
    }

    pub(crate) fn decrement(self) {
        self.word().fetch_sub(1, SeqCst);
    }

    pub(crate) fn or(self, bits: u64) {
        self.word().fetch_or(bits, SeqCst);
    }

    /// The half word that it begins with.
    fn half<'a>(self) -> &'a AtomicU16 {
        // SAFETY: as in `word`. Packets' headers are written as half words, the rest of the word before that.
        unsafe { &*ptr::with_exposed_provenance(self.0 as usize) }
    }

    pub(crate) fn load_half(self) -> u16 {
        self.half().load(SeqCst)
    }

    pub(crate) fn store_half(self, value: u16) {
        self.half().store(value, SeqCst);
    }
}
