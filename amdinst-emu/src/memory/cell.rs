//! Bytes that several threads may read and write at once.
//!
//! Kernels race by design (atomics) and by mistake. Each access here is a relaxed atomic of the host, so that
//! a racing kernel gets some value, and the host program stays sound.
//!
//! Wide accesses are inline assembly: each aligned dword is read or written at once, as by a relaxed atomic.

use std::any::Any;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::touched::{both, touched};

/// A block of shared bytes, aligned to 8.
pub(crate) struct SharedBytes {
    /// The first byte of what `owner` keeps.
    start: *const u8,
    len: usize,
    owner: Owner,
}

/// What keeps the bytes alive.
enum Owner {
    Words(Arc<[AtomicU64]>),
    /// Pages of zeros that the system commits when they are first written.
    Pages(#[expect(dead_code, reason = "dropped with the block")] memmap2::MmapMut),
    /// Memory of the host program; dropped when no clone needs it any more.
    Host(Arc<dyn Any + Send + Sync>),
}

// SAFETY: the bytes are reached as atomics only, and live as long as their owner, which may be sent and
// shared.
unsafe impl Send for SharedBytes {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes {}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = matches!(self.owner, Owner::Host(_));
        f.debug_struct("SharedBytes").field("len", &self.len).field("host", &host).finish_non_exhaustive()
    }
}

/// A copy of the bytes; the host's memory is not copied, but shared.
impl Clone for SharedBytes {
    fn clone(&self) -> Self {
        match &self.owner {
            Owner::Words(words) => {
                Self::owned(words.iter().map(|word| AtomicU64::new(word.load(Relaxed))).collect(), self.len)
            }
            Owner::Pages(_) => {
                // Without address space for it the allocator has the last word.
                let copy = Self::zeroed(self.len).unwrap_or_else(|_| Self::words(self.len));
                copy.take_over(self);
                copy
            }
            Owner::Host(keep) => Self { start: self.start, len: self.len, owner: Owner::Host(keep.clone()) },
        }
    }
}

impl SharedBytes {
    /// Bytes from which on a block has pages of its own.
    const LARGE: usize = 4 << 20;

    /// `len` zero bytes. Those of a large block take no memory until they are written.
    ///
    /// # Errors
    /// The system gives no address space for them.
    pub(crate) fn zeroed(len: usize) -> io::Result<Self> {
        if len < Self::LARGE {
            return Ok(Self::words(len));
        }
        let mut pages = memmap2::MmapMut::map_anon(len.next_multiple_of(8))?;
        Ok(Self { start: pages.as_mut_ptr(), len, owner: Owner::Pages(pages) })
    }

    fn words(len: usize) -> Self {
        Self::owned((0..len.div_ceil(8)).map(|_| AtomicU64::new(0)).collect(), len)
    }

    fn owned(words: Arc<[AtomicU64]>, len: usize) -> Self {
        Self { start: words.as_ptr().cast(), len, owner: Owner::Words(words) }
    }

    /// `len` bytes of the host's own memory.
    ///
    /// # Safety
    /// `start` is a multiple of 8, and the bytes may be read and written, as atomics, until `keep` is
    /// dropped. What the host program does to them meanwhile must be atomic too, or ordered before and after.
    pub(crate) unsafe fn host(start: *const u8, len: usize, keep: Arc<dyn Any + Send + Sync>) -> Self {
        Self { start, len, owner: Owner::Host(keep) }
    }

    /// The first byte. All access through it must be as by relaxed atomics.
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of `offset`, checked for `size` bytes.
    #[inline(always)]
    fn at(&self, offset: usize, size: usize) -> *const u8 {
        assert!(offset <= self.len && size <= self.len - offset, "checked by the caller");
        // SAFETY: `offset` is within the block, as just asserted.
        unsafe { self.start.add(offset) }
    }

    /// Little-endian load of 1, 2, 4 or 8 bytes. Aligned loads are single-copy atomic.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, offset: usize) -> u64 {
        // SAFETY: in bounds by `at`.
        unsafe { Self::load_at::<N>(self.at(offset, N)) }
    }

    /// The same from an address.
    ///
    /// # Safety
    /// The bytes are some block's.
    #[inline(always)]
    pub(crate) unsafe fn load_at<const N: usize>(at: *const u8) -> u64 {
        // SAFETY: in bounds by the caller, aligned by the test, shared only as atomics.
        unsafe {
            match N {
                1 => u64::from((*at.cast::<AtomicU8>()).load(Relaxed)),
                2 if at.cast::<AtomicU16>().is_aligned() => {
                    u64::from((*at.cast::<AtomicU16>()).load(Relaxed))
                }
                4 if at.cast::<AtomicU32>().is_aligned() => {
                    u64::from((*at.cast::<AtomicU32>()).load(Relaxed))
                }
                8 if at.cast::<AtomicU64>().is_aligned() => (*at.cast::<AtomicU64>()).load(Relaxed),
                _ => (0..N).fold(0, |value, byte| {
                    value | u64::from((*at.add(byte).cast::<AtomicU8>()).load(Relaxed)) << (8 * byte)
                }),
            }
        }
    }

    /// Little-endian store of 1, 2, 4 or 8 bytes. Aligned stores are single-copy atomic.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&self, offset: usize, value: u64) {
        // SAFETY: in bounds by `at`.
        unsafe { Self::store_at::<N>(self.at(offset, N), value) }
    }

    /// The same to an address.
    ///
    /// # Safety
    /// The bytes are some block's.
    #[inline(always)]
    pub(crate) unsafe fn store_at<const N: usize>(at: *const u8, value: u64) {
        // SAFETY: as in `load_at`.
        unsafe {
            match N {
                1 => (*at.cast::<AtomicU8>()).store(value as u8, Relaxed),
                2 if at.cast::<AtomicU16>().is_aligned() => {
                    (*at.cast::<AtomicU16>()).store(value as u16, Relaxed);
                }
                4 if at.cast::<AtomicU32>().is_aligned() => {
                    (*at.cast::<AtomicU32>()).store(value as u32, Relaxed);
                }
                8 if at.cast::<AtomicU64>().is_aligned() => (*at.cast::<AtomicU64>()).store(value, Relaxed),
                _ => {
                    for byte in 0..N {
                        (*at.add(byte).cast::<AtomicU8>()).store((value >> (8 * byte)) as u8, Relaxed);
                    }
                }
            }
        }
    }

    /// Replace the 4 or 8 bytes at an aligned offset by `f` of them, as one atomic step; returns what was
    /// there.
    #[inline(always)]
    pub(crate) fn update<const N: usize>(&self, offset: usize, f: impl Fn(u64) -> u64) -> u64 {
        let at = self.at(offset, N);
        // SAFETY: in bounds by `at`; callers check alignment, and it is asserted here.
        unsafe {
            if N == 4 {
                let cell = at.cast::<AtomicU32>();
                assert!(cell.is_aligned(), "checked by the caller");
                u64::from((*cell).update(Relaxed, Relaxed, |old| f(u64::from(old)) as u32))
            } else {
                let cell = at.cast::<AtomicU64>();
                assert!(N == 8 && cell.is_aligned(), "checked by the caller");
                (*cell).update(Relaxed, Relaxed, f)
            }
        }
    }

    /// Whether they are the host's own memory.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.owner, Owner::Host(_))
    }

    /// The 8 bytes from a multiple of 8 on, with zeros behind the end.
    pub(crate) fn padded(&self, at: usize) -> u64 {
        match self.len - at {
            8.. => self.load::<8>(at),
            rest => (0..rest).fold(0, |value, byte| value | self.load::<1>(at + byte) << (8 * byte)),
        }
    }

    /// Become what `other` is, while all of it is zero: what stays zero takes no memory.
    fn take_over(&self, other: &Self) {
        for range in other.touched() {
            for at in range.step_by(8) {
                let word = other.padded(at);
                if word != 0 {
                    self.store_padded(at, word);
                }
            }
        }
    }

    /// The bytes that may be others than zero, from a multiple of 8 on each.
    fn touched(&self) -> Vec<Range<usize>> {
        match self.owner {
            Owner::Pages(_) => touched(self.start.addr(), self.len),
            Owner::Words(_) | Owner::Host(_) => std::iter::once(0..self.len).collect(),
        }
    }

    /// Replaces the 8 bytes from a multiple of 8 on, as far as there are any.
    fn store_padded(&self, at: usize, word: u64) {
        match self.len - at {
            8.. => self.store::<8>(at, word),
            rest => (0..rest).for_each(|byte| self.store::<1>(at + byte, word >> (8 * byte))),
        }
    }

    /// The dword at an offset, with bytes of `padding` behind the end.
    pub(crate) fn load_padded_dword(&self, offset: usize, padding: u32) -> u32 {
        let padding = padding.to_le_bytes();
        u32::from_le_bytes(std::array::from_fn(|byte| match offset + byte {
            at if at < self.len => self.load::<1>(at) as u8,
            at => padding[at % padding.len()],
        }))
    }

    /// Become what `other` is, of which there are as many.
    pub(crate) fn copy_from(&self, other: &Self) {
        assert_eq!(self.len, other.len, "of one size");
        for range in both(self.touched(), other.touched()) {
            self.copy_range(other, range);
        }
    }

    /// Takes over bytes from a multiple of 8 on.
    fn copy_range(&self, other: &Self, range: Range<usize>) {
        let (first, last) = (range.start / 8, range.end / 8);
        let (to, from) = (self.start.cast::<AtomicU64>(), other.start.cast::<AtomicU64>());
        assert!(range.end <= self.len && range.end <= other.len, "inside both");
        for word in first..last {
            // SAFETY: both blocks have so many words, aligned to 8, and are shared only as atomics.
            unsafe { (*to.add(word)).store((*from.add(word)).load(Relaxed), Relaxed) };
        }
        for at in 8 * last..range.end {
            self.store::<1>(at, other.load::<1>(at));
        }
    }

    /// Copy bytes out.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        let (head, tail) = into.split_at_mut(into.len() & !7);
        for (index, chunk) in head.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&self.load::<8>(offset + 8 * index).to_le_bytes());
        }
        let start = offset + head.len();
        for (index, byte) in tail.iter_mut().enumerate() {
            *byte = self.load::<1>(start + index) as u8;
        }
    }

    /// Copy bytes in.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) {
        let mut chunks = from.chunks_exact(8);
        let mut at = offset;
        for chunk in &mut chunks {
            let word: [u8; 8] = chunk.try_into().unwrap_or_default();
            self.store::<8>(at, u64::from_le_bytes(word));
            at += 8;
        }
        for (index, byte) in chunks.remainder().iter().enumerate() {
            self.store::<1>(at + index, u64::from(*byte));
        }
    }
}

/// All of the unsafe code above, for Miri.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_at_every_offset_up_to_the_end() {
        let bytes = SharedBytes::zeroed(21).unwrap();
        bytes.write(0, &(1..=21).collect::<Vec<u8>>());
        let expected = |offset: usize, size: usize| {
            (0..size).fold(0, |value, byte| value | (1 + (offset + byte) as u64) << (8 * byte))
        };
        for offset in 0..21 {
            assert_eq!(bytes.load::<1>(offset), expected(offset, 1));
            if offset <= 19 {
                assert_eq!(bytes.load::<2>(offset), expected(offset, 2));
            }
            if offset <= 17 {
                assert_eq!(bytes.load::<4>(offset), expected(offset, 4));
                bytes.store::<4>(offset, expected(offset, 4));
            }
            if offset <= 13 {
                assert_eq!(bytes.load::<8>(offset), expected(offset, 8));
                bytes.store::<8>(offset, expected(offset, 8));
            }
        }
        let copy = bytes.clone();
        bytes.store::<2>(19, 0);
        assert_eq!((copy.padded(16), bytes.padded(16)), (expected(16, 5), expected(16, 3)));
        bytes.copy_from(&copy);
        let mut out = [0; 13];
        bytes.read(8, &mut out);
        assert_eq!(out.to_vec(), (9..=21).collect::<Vec<u8>>());
    }

    #[test]
    #[should_panic = "checked by the caller"]
    fn nothing_is_read_behind_the_end() {
        SharedBytes::zeroed(21).unwrap().load::<4>(18);
    }

    #[test]
    fn threads_update_one_place() {
        let bytes = SharedBytes::zeroed(16).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        bytes.update::<4>(8, |old| old + 1);
                        bytes.update::<8>(0, |old| old + 2);
                    }
                });
            }
        });
        assert_eq!((bytes.load::<4>(8), bytes.load::<8>(0)), (80, 160));
    }

    #[test]
    fn memory_of_the_host_is_kept_as_long_as_it_is_needed() {
        let words: Arc<[AtomicU64]> = (0..4).map(AtomicU64::new).collect();
        let (start, weak) = (words.as_ptr().cast(), Arc::downgrade(&words));
        // SAFETY: the words are aligned, are reached as atomics only, and are what is kept.
        let bytes = unsafe { SharedBytes::host(start, 32, Arc::new(words)) };
        let shared = bytes.clone();
        drop(bytes);
        shared.store::<8>(8, 7);
        assert_eq!((shared.load::<8>(8), shared.is_host(), weak.strong_count()), (7, true, 1));
        drop(shared);
        assert_eq!(weak.strong_count(), 0);
    }
}
