//! A wave's private segment.
//!
//! The hardware interleaves the work-items' private memory: dword `n` of lane `l` lies at byte `256·n + 4·l`
//! of the wave's part. It is kept that way here, since compilers address it through a swizzled buffer
//! resource whose base and scalar offset count bytes of the whole wave. A wave of 32 lanes counts half as
//! many: its rows have room for more here.

use super::LANES;

/// The private memory of all lanes, swizzled, and where it appears to be.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Swizzled storage, from the start to the end of what has been touched; from there on all of it holds
    /// `uninitialised`.
    bytes: Vec<u8>,
    /// Bytes that there are.
    size: usize,
    uninitialised: u32,
    /// Bytes a work-item has.
    per_lane: u32,
    /// Device address of the wave's part.
    base: u64,
    /// Bytes at the start that may have been written.
    dirty: usize,
}

impl Scratch {
    /// Bytes of a row: a dword of each lane.
    pub(crate) const ROW: u64 = 4 * LANES as u64;

    /// Scratch of `per_lane` bytes (a multiple of 4) a work-item, at device address `base`. Each dword holds
    /// `uninitialised`, which is the same each time.
    pub(crate) fn reset(&mut self, per_lane: u32, base: u64, uninitialised: u32) {
        let dirty = self.dirty.next_multiple_of(4).min(self.bytes.len());
        fill_dwords(&mut self.bytes[..dirty], uninitialised);
        self.dirty = 0;
        self.per_lane = per_lane;
        self.base = base;
        self.uninitialised = uninitialised;
        self.size = per_lane as usize * LANES;
        self.bytes.truncate(self.size);
    }

    /// Bytes that storage grows by, at least.
    const STEP: usize = 16 << 10;

    /// Have storage up to `end`; false if that is behind the end of all.
    #[cold]
    fn grow(&mut self, end: usize) -> bool {
        if end > self.size {
            return false;
        }
        let before = self.bytes.len();
        self.bytes.resize(end.next_multiple_of(Self::STEP).min(self.size), 0);
        fill_dwords(&mut self.bytes[before..], self.uninitialised);
        true
    }

    /// The private memory of a lane, up to so many bytes.
    pub(crate) fn of_lane(&self, lane: usize, most: u32) -> Vec<u8> {
        let offsets = 0..u64::from(self.per_lane.min(most));
        offsets.filter_map(|offset| self.load(Self::swizzle(offset, lane) as usize)).collect()
    }

    /// What has been touched, from its start.
    pub(crate) fn touched(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes a work-item has.
    pub(crate) fn per_lane(&self) -> u32 {
        self.per_lane
    }

    /// Bytes of each work-item's memory before a device address that is at the start of a row of dwords:
    /// where a swizzled resource with that base begins.
    pub(crate) fn lane_offset_of(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base) / LANES as u64
    }

    /// Where rows of dwords of all [`LANES`] begin that a device address counts in rows of fewer lanes, as a
    /// smaller wave has them: `None` if it is not at the start of a row.
    pub(crate) fn row_of(&self, address: u64, lanes: usize) -> Option<u64> {
        if lanes == LANES {
            return Some(address);
        }
        let (offset, row) = (address.wrapping_sub(self.base), 4 * lanes as u64);
        let start = self.base.wrapping_add(offset / row * Self::ROW);
        offset.is_multiple_of(row).then_some(start)
    }

    /// The offset of a device address in the wave's part, if it is inside.
    #[inline]
    pub(crate) fn offset_of(&self, address: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.size as u64).then_some(offset as usize)
    }

    /// Where byte `offset` of a lane's private memory lies in the wave's part.
    #[inline(always)]
    pub(crate) fn swizzle(offset: u64, lane: usize) -> u64 {
        (offset & !3) * LANES as u64 + 4 * lane as u64 + (offset & 3)
    }

    /// Where a byte of the wave's part lies in its lane's private memory.
    pub(crate) fn offset_in_lane(&self, at: usize) -> u64 {
        (at / (4 * LANES) * 4 + at % 4) as u64
    }

    /// So many rows of dwords, each of all lanes, from a position in the wave's part on; to be written, if
    /// `write`.
    #[inline(always)]
    pub(crate) fn rows(&mut self, at: u64, count: usize, write: bool) -> Option<&mut [[u8; 4 * LANES]]> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(count * 4 * LANES)?;
        if end > self.bytes.len() && !self.grow(end) {
            return None;
        }
        let bytes = self.bytes.get_mut(at..end)?;
        if write {
            self.dirty = self.dirty.max(end);
        }
        Some(bytes.as_chunks_mut().0)
    }

    /// A byte of the wave's part.
    #[inline(always)]
    pub(crate) fn load(&self, at: usize) -> Option<u8> {
        let untouched = || (at < self.size).then(|| self.uninitialised.to_le_bytes()[at % 4]);
        self.bytes.get(at).copied().or_else(untouched)
    }

    /// A dword of the wave's part, at a multiple of 4.
    #[inline(always)]
    pub(crate) fn load_dword(&self, at: usize) -> Option<u32> {
        let end = at.checked_add(4)?;
        match self.bytes.get(at..end) {
            Some(bytes) => Some(u32::from_le_bytes(bytes.try_into().ok()?)),
            None => (end <= self.size).then_some(self.uninitialised),
        }
    }

    /// Write a byte of the wave's part; false if it is outside.
    #[inline(always)]
    pub(crate) fn store(&mut self, at: usize, value: u8) -> bool {
        if at >= self.bytes.len() && !self.grow(at + 1) {
            return false;
        }
        self.bytes[at] = value;
        self.dirty = self.dirty.max(at + 1);
        true
    }

    /// Write a dword of the wave's part; false if it is outside.
    #[inline(always)]
    pub(crate) fn store_dword(&mut self, at: usize, value: u32) -> bool {
        let Some(end) = at.checked_add(4) else { return false };
        if end > self.bytes.len() && !self.grow(end) {
            return false;
        }
        self.bytes[at..end].copy_from_slice(&value.to_le_bytes());
        self.dirty = self.dirty.max(at + 4);
        true
    }
}

/// Makes each dword of some bytes the same.
pub(crate) fn fill_dwords(bytes: &mut [u8], dword: u32) {
    let dword = dword.to_le_bytes();
    let (whole, rest) = bytes.as_chunks_mut();
    whole.fill(dword);
    rest.copy_from_slice(&dword[..rest.len()]);
}
