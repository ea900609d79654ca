//! Places in LDS.

use std::cell::Cell;
use std::marker::PhantomData;

use super::are_side_by_side;
use crate::fast::level::{Level, Vectors32};
use crate::fast::{PARTS, all_lanes, part, parts};
use crate::wave::{Row, lanes_of};

/// Whether `reach` bytes from each of the active lanes' addresses on are among `len`, and below 2^31.
#[inline(always)]
fn are_inside<L: Level>(level: L, addresses: &Vectors32<L>, exec: u64, reach: usize, len: usize) -> bool {
    let Some(last) = len.checked_sub(reach) else { return false };
    let last = level.splat(last.min(i32::MAX as usize) as u32);
    let mut beyond = 0;
    for i in 0..parts::<L>() {
        beyond |= level.less_unsigned(last, addresses[i]) & part::<L>(exec, i);
    }
    beyond == 0
}

/// How the addresses of a vector's lanes lie.
#[derive(Clone, Copy)]
enum Kind {
    /// All lanes are active, each 4 bytes behind the one before.
    Consecutive(u32),
    /// The addresses of the active lanes are equal.
    Same(u32),
    /// Any other way, or no lane is active.
    Scattered,
}

impl Kind {
    #[inline(always)]
    fn of<L: Level>(level: L, row: &Row, vector: usize, bits: u32) -> Self {
        if bits == 0 {
            return Self::Scattered;
        }
        let (addresses, lane) = (level.load(row, vector), bits.trailing_zeros() as usize % L::N);
        let first = row[vector * L::N + lane];
        let whole = bits == ((1u64 << L::N) - 1) as u32;
        if whole && are_side_by_side(level, addresses, first) {
            Self::Consecutive(first)
        } else if level.equal(addresses, level.splat(first)) & bits == bits {
            Self::Same(first)
        } else {
            Self::Scattered
        }
    }
}

/// What lanes read at addresses: at each of `COUNT` offsets `DWORDS`, in vectors.
pub(crate) struct Reads<'a, L: Level, const DWORDS: usize, const COUNT: usize> {
    level: L,
    lds: &'a [u8],
    addresses: &'a Vectors32<L>,
    kinds: [Kind; PARTS],
    offsets: &'a [u32; 3],
    exec: u64,
}

impl<'a, L: Level, const DWORDS: usize, const COUNT: usize> Reads<'a, L, DWORDS, COUNT> {
    /// Takes the addresses out of a row; `None` if not all bytes are in `lds`.
    #[inline(always)]
    pub(crate) fn of(
        level: L,
        lds: &'a [u8],
        row: &Row,
        addresses: &'a mut Vectors32<L>,
        offsets: &'a [u32; 3],
        exec: u64,
    ) -> Option<Self> {
        let exec = exec & all_lanes::<L>();
        let mut kinds = [Kind::Scattered; PARTS];
        for i in 0..parts::<L>() {
            addresses[i] = level.load(row, i);
        }
        let farthest = offsets[..COUNT].iter().copied().fold(0, u32::max) as usize;
        if !are_inside(level, addresses, exec, farthest + 4 * DWORDS, lds.len()) {
            return None;
        }
        for i in 0..parts::<L>() {
            kinds[i] = Kind::of(level, row, i, part::<L>(exec, i));
        }
        Some(Self { level, lds, addresses, kinds, offsets, exec })
    }

    /// A dword of each of a vector's active lanes.
    #[inline(always)]
    pub(crate) fn get(&self, slot: usize, dword: usize, vector: usize) -> L::V {
        assert!(slot < COUNT && dword < DWORDS, "dwords that have been looked at");
        let (level, bits) = (self.level, part::<L>(self.exec, vector));
        // SAFETY: `of` has found as many bytes from each active lane's address on, and `Kind` says where
        // these are.
        unsafe {
            let from = self.lds.as_ptr().add(self.offsets[slot] as usize + 4 * dword);
            match self.kinds[vector] {
                Kind::Consecutive(first) => level.read(from.add(first as usize).cast()),
                Kind::Same(first) => {
                    let value = from.add(first as usize).cast::<u32>().read_unaligned();
                    level.splat(u32::from_le(value))
                }
                Kind::Scattered => level.gather(from, self.addresses[vector], bits),
            }
        }
    }
}

/// Where each active lane has so many bytes in LDS, from its address on.
pub(crate) struct LanesInLds<'a> {
    lds: &'a [Cell<u8>],
    addresses: &'a Row,
    exec: u64,
    reach: usize,
}

impl<'a> LanesInLds<'a> {
    /// `None` if not all of them are in `lds`.
    #[inline(always)]
    pub(crate) fn of<L: Level>(
        level: L,
        lds: &'a mut [u8],
        addresses: &'a Row,
        exec: u64,
        reach: usize,
    ) -> Option<Self> {
        let mut all = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            all[i] = level.load(addresses, i);
        }
        let exec = exec & all_lanes::<L>();
        let lanes = Self { lds: Cell::from_mut(lds).as_slice_of_cells(), addresses, exec, reach };
        are_inside(level, &all, exec, reach, lanes.lds.len()).then_some(lanes)
    }

    /// Sets the dwords of a vector's active lanes, at an offset, where they are aligned. Of several
    /// lanes with one address the last counts.
    #[inline(always)]
    pub(crate) fn scatter<L: Level>(&self, level: L, vector: usize, offset: usize, values: L::V) {
        assert!(offset + 4 <= self.reach, "the lanes' own");
        let (addresses, bits) = (level.load(self.addresses, vector), part::<L>(self.exec, vector));
        // SAFETY: `of` has found so many bytes from each active lane's address on, and cells may be written.
        unsafe {
            let to = self.lds.as_ptr().cast::<u8>().cast_mut().add(offset);
            level.scatter(to, addresses, values, bits);
        }
    }

    /// The active lanes, each with its spot.
    #[inline(always)]
    pub(crate) fn spots(&self) -> impl Iterator<Item = (usize, Spot<'_>)> {
        let Self { lds, addresses, reach: bytes, .. } = *self;
        let spot = move |lane: usize| {
            // SAFETY: `of` has found so many bytes from each active lane's address on.
            let at = unsafe { lds.as_ptr().add(addresses[lane] as usize) };
            Spot { at: at.cast::<u8>().cast_mut(), bytes, lds: PhantomData }
        };
        lanes_of(self.exec).map(move |lane| (lane, spot(lane)))
    }
}

/// A lane's bytes, from its address on.
pub(crate) struct Spot<'a> {
    at: *mut u8,
    bytes: usize,
    lds: PhantomData<&'a [Cell<u8>]>,
}

impl Spot<'_> {
    /// `N` of the bytes.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, from: usize) -> [u8; N] {
        assert!(from + N <= self.bytes, "the lane's own");
        // SAFETY: they are cells of LDS.
        unsafe { self.at.add(from).cast::<[u8; N]>().read() }
    }

    /// Sets `N` of the bytes.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&self, from: usize, bytes: [u8; N]) {
        assert!(from + N <= self.bytes, "the lane's own");
        // SAFETY: as above.
        unsafe { self.at.add(from).cast::<[u8; N]>().write(bytes) };
    }
}
