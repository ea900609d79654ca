//! Places in device memory: all active lanes' in one allocation.
//!
//! The addresses are a common 64-bit part and 32 bits a lane. One check covers the instruction: from the
//! lowest to the highest of them.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{are_side_by_side, numbers};
use crate::fast::level::Level;
use crate::fast::{all_lanes, part, parts};
use crate::memory::{Allocation, Memory, Protection, SharedBytes};
use crate::wave::{LANES, Row, RowAt, Wave, lanes_of};

/// What the lanes' addresses are: a row of offsets from a device address.
#[derive(Clone, Copy)]
pub(crate) struct Addresses {
    /// The offsets.
    pub(crate) row: RowAt,
    /// The device address, with the instruction's own offset.
    pub(crate) from: u64,
    /// The instruction's own offset.
    pub(crate) offset: u64,
    /// What an offset and the instruction's own one may reach to.
    pub(crate) end: u64,
}

/// Where each active lane has so many bytes, all in one allocation.
#[derive(Clone, Copy)]
pub(crate) struct Place<'m, 'a> {
    allocation: &'m Allocation,
    /// Each active lane's bytes follow those of the lane before.
    is_consecutive: bool,
    addresses: &'a Row,
    /// Added to an address, it gives the offset in the allocation.
    start: u64,
    /// The active lanes.
    exec: u64,
    /// Bytes of a lane.
    bytes: usize,
    /// They begin at multiples of that.
    is_aligned: bool,
}

impl<'m, 'a> Place<'m, 'a> {
    /// The place of an access of so many bytes a lane, if it is one that is handled here.
    #[inline(always)]
    pub(crate) fn find<L: Level, const STORE: bool>(
        level: L,
        w: &'a Wave,
        memory: &'m Memory,
        addresses: Addresses,
        bytes: u32,
    ) -> Option<Self> {
        let (row, exec) = (addresses.row.row(w.rows.file()), w.exec & all_lanes::<L>());
        if exec == 0 {
            return None;
        }
        let low = row[exec.trailing_zeros() as usize];
        let is_consecutive = are_consecutive(level, row, exec, bytes);
        let (lowest, highest) =
            if is_consecutive { (low, row[exec.ilog2() as usize]) } else { range(level, row, exec) };
        // A run of addresses that wraps is none.
        if highest < lowest {
            return None;
        }
        let reach = addresses.offset.checked_add(u64::from(highest) + u64::from(bytes));
        if reach.is_none_or(|reach| reach > addresses.end) {
            return None;
        }
        let from = addresses.from.wrapping_add(u64::from(lowest));
        let (allocation, _) = memory.find(from, u64::from(highest - lowest) + u64::from(bytes))?;
        if STORE && allocation.protection == Protection::ReadOnly {
            return None;
        }
        let start = addresses.from.wrapping_sub(allocation.address);
        let bytes = bytes as usize;
        Some(Self { allocation, is_consecutive, addresses: row, start, exec, bytes, is_aligned: false })
    }

    #[inline(always)]
    pub(crate) fn allocation(&self) -> &'m Allocation {
        self.allocation
    }

    /// Whether each active lane's bytes follow those of the lane before.
    #[inline(always)]
    pub(crate) fn is_consecutive(&self) -> bool {
        self.is_consecutive
    }

    /// Bytes of a lane.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same, with a copy of the addresses: registers may then be written.
    #[inline(always)]
    pub(crate) fn keep(self, room: &mut MaybeUninit<Row>) -> Place<'m, '_> {
        Place { addresses: room.write(*self.addresses), ..self }
    }

    /// The same, if each lane's bytes are aligned.
    #[inline(always)]
    pub(crate) fn aligned(self) -> Option<Self> {
        let all =
            lanes_of(self.exec).fold(self.allocation.address, |all, lane| all | self.offset(lane) as u64);
        (all & (self.bytes as u64 - 1) == 0).then_some(Self { is_aligned: true, ..self })
    }

    /// Where a lane's bytes begin in the allocation.
    #[inline(always)]
    pub(crate) fn offset(&self, lane: usize) -> usize {
        self.start.wrapping_add(u64::from(self.addresses[lane])) as usize
    }

    /// The dwords of all lanes, if they are all active, and side by side.
    #[inline(always)]
    pub(crate) fn strip<L: Level>(&self, level: L) -> Option<Strip<'m, L, true>> {
        let is_one = self.bytes == 4 && self.is_consecutive && self.exec == all_lanes::<L>();
        // SAFETY: they are active lanes', each behind the one before.
        (is_one && self.offset(0).is_multiple_of(4)).then(|| unsafe { self.strip_at(level, 0) })
    }

    /// The dwords of a vector's lanes, if they are all active, and side by side.
    #[inline(always)]
    pub(crate) fn strip_of<L: Level>(&self, level: L, vector: usize) -> Option<Strip<'m, L, false>> {
        let (first, whole) = (vector * L::N, ((1u64 << L::N) - 1) as u32);
        if self.bytes != 4 || part::<L>(self.exec, vector) != whole {
            return None;
        }
        let address = self.addresses[first];
        let is_one = self.is_consecutive
            || are_side_by_side(level, level.load(self.addresses, vector), address)
                && address.checked_add(4 * L::N as u32).is_some();
        // SAFETY: as above.
        (is_one && self.offset(first).is_multiple_of(4)).then(|| unsafe { self.strip_at(level, first) })
    }

    /// # Safety
    /// As many lanes as the strip has, from `first` on, are active, and have aligned dwords side by side.
    #[inline(always)]
    unsafe fn strip_at<L: Level, const WHOLE: bool>(&self, level: L, first: usize) -> Strip<'m, L, WHOLE> {
        // SAFETY: the bytes of each active lane are in the allocation.
        let at = unsafe { self.allocation.bytes.as_ptr().add(self.offset(first)) };
        Strip { level, at: at.cast(), memory: PhantomData }
    }

    /// The active lanes among some, each with its spot.
    #[inline(always)]
    pub(crate) fn spots(&self, among: u64) -> impl Iterator<Item = (usize, Spot<'_>)> {
        let Self { addresses, bytes, is_aligned, .. } = *self;
        let base = self.allocation.bytes.as_ptr().wrapping_add(self.start as usize);
        // The bytes of each active lane are inside.
        let spot = move |lane: usize| {
            let at = base.wrapping_add(addresses[lane] as usize);
            Spot { at, bytes, is_aligned, memory: PhantomData }
        };
        lanes_of(self.exec & among).map(move |lane| (lane, spot(lane)))
    }
}

/// The active lanes' lowest and highest value.
#[inline(always)]
fn range<L: Level>(level: L, row: &Row, exec: u64) -> (u32, u32) {
    let (mut low, mut high) = (level.splat(!0), level.splat(0));
    for i in 0..parts::<L>() {
        let (values, bits) = (level.load(row, i), part::<L>(exec, i));
        low = level.min_unsigned(low, level.blend(bits, level.splat(!0), values));
        high = level.max_unsigned(high, level.blend(bits, level.splat(0), values));
    }
    let mut spread = [0; LANES];
    level.store(&mut spread, 0, low);
    let low = spread[..L::N].iter().copied().min().unwrap_or(0);
    level.store(&mut spread, 0, high);
    (low, spread[..L::N].iter().copied().max().unwrap_or(0))
}

/// Whether the active lanes' values grow by `stride` from lane to lane.
#[inline(always)]
fn are_consecutive<L: Level>(level: L, row: &Row, exec: u64, stride: u32) -> bool {
    let first = exec.trailing_zeros();
    let start = row[first as usize].wrapping_sub(stride * first);
    let mut expected = level.add(level.splat(start), level.mul(numbers(level), level.splat(stride)));
    let further = level.splat(stride * L::N as u32);
    let mut other = 0;
    for i in 0..parts::<L>() {
        other |= !level.equal(level.load(row, i), expected) & part::<L>(exec, i);
        expected = level.add(expected, further);
    }
    other == 0
}

/// Dwords side by side, aligned: those of a `WHOLE` row, or of a vector. They move in vectors, whose pieces
/// are single dwords, as atomics are.
pub(crate) struct Strip<'m, L, const WHOLE: bool> {
    level: L,
    at: *const u32,
    memory: PhantomData<&'m SharedBytes>,
}

impl<L: Level, const WHOLE: bool> Strip<'_, L, WHOLE> {
    #[inline(always)]
    fn vector(&self, number: usize) -> *const u32 {
        assert!(number < if WHOLE { parts::<L>() } else { 1 }, "a vector of it");
        self.at.wrapping_add(number * L::N)
    }

    #[inline(always)]
    pub(crate) fn load(&self, number: usize) -> L::V {
        // SAFETY: that vector is there, and its dwords are aligned.
        unsafe { self.level.load_shared(self.vector(number)) }
    }

    #[inline(always)]
    pub(crate) fn store(&self, number: usize, value: L::V) {
        // SAFETY: as above.
        unsafe { self.level.store_shared(self.vector(number).cast_mut(), value) };
    }
}

/// A lane's bytes.
pub(crate) struct Spot<'m> {
    at: *const u8,
    bytes: usize,
    is_aligned: bool,
    memory: PhantomData<&'m SharedBytes>,
}

impl<'m> Spot<'m> {
    /// `N` of the bytes.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, from: usize) -> u64 {
        assert!(from + N <= self.bytes, "the lane's own");
        // SAFETY: they are the allocation's.
        unsafe { SharedBytes::load_at::<N>(self.at.add(from)) }
    }

    /// Sets `N` of the bytes.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&self, from: usize, value: u64) {
        assert!(from + N <= self.bytes, "the lane's own");
        // SAFETY: as above.
        unsafe { SharedBytes::store_at::<N>(self.at.add(from), value) };
    }

    /// They are a dword that is aligned.
    #[inline(always)]
    pub(crate) fn dword(&self) -> &'m AtomicU32 {
        assert!(self.is_aligned && self.bytes == 4, "an aligned dword");
        // SAFETY: allocations are aligned to 8, and reached as atomics only.
        unsafe { &*self.at.cast() }
    }

    /// They are 8 bytes that are aligned.
    #[inline(always)]
    pub(crate) fn qword(&self) -> &'m AtomicU64 {
        assert!(self.is_aligned && self.bytes == 8, "8 aligned bytes");
        // SAFETY: as above.
        unsafe { &*self.at.cast() }
    }
}
