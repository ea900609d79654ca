//! Lane-wise work: the straight loops that the compiler turns into vector code.
//!
//! A row is one 32-bit register of all 64 lanes; a 64-bit value is two rows. Work goes in chunks of 32 lanes:
//! every source of a chunk is read before its result is written, so a destination may be any of the sources.
//!
//! The loops are macros: what is done with a lane is written as a closure is, but stands in the loop. A
//! closure would be a function of its own, and what is not inlined into a function that is compiled for the
//! host's vector extensions does not use them. For the same reason functions of lanes are
//! `#[inline(always)]`.

#![expect(clippy::needless_range_loop, reason = "lanes are numbered alike in several arrays")]

use super::{MASK_ROW, ROWS, Wave};

/// Lanes of a wave.
pub(crate) const LANES: usize = 64;
/// The lanes of a mask, in order of number.
#[inline(always)]
pub(crate) fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// One 32-bit register of all lanes.
pub(crate) type Row = [u32; LANES];
/// Lanes worked on at a time: as many as the smaller waves have.
pub(crate) const CHUNK: usize = 32;
/// A value for each lane of a chunk.
pub(crate) type Chunk<T> = [T; CHUNK];
type Rows = [Row; ROWS];

/// The bits of a half-precision number, or any 16-bit value in the low half of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

/// What a lane of an operand can be read as.
pub(crate) trait Elem: Copy + Default {
    /// Whether it takes two registers.
    const WIDE: bool;
    /// From the registers' values; `high` is zero for one register.
    fn of(low: u32, high: u32) -> Self;
    /// The registers' values.
    fn bits(self) -> u64;
}

macro_rules! elem {
    ($type:ty, $wide:literal, |$low:ident, $high:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Elem for $type {
            const WIDE: bool = $wide;
            #[inline(always)]
            fn of($low: u32, $high: u32) -> Self {
                $from
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                let $value = self;
                $to
            }
        }
    };
}

elem!(u32, false, |low, _high| low, |value| value.into());
elem!(i32, false, |low, _high| low as i32, |value| (value as u32).into());
elem!(f32, false, |low, _high| Self::from_bits(low), |value| value.to_bits().into());
elem!(u16, false, |low, _high| low as u16, |value| value.into());
elem!(i16, false, |low, _high| low as i16, |value| (value as u16).into());
elem!(Half, false, |low, _high| Self(low as u16), |value| value.0.into());
elem!(u64, true, |low, high| u64::from(low) | u64::from(high) << 32, |value| value);
elem!(i64, true, |low, high| (u64::from(low) | u64::from(high) << 32) as i64, |value| value as u64);
elem!(f64, true, |low, high| Self::from_bits(u64::from(low) | u64::from(high) << 32), |value| value
    .to_bits());

/// A chunk of a row.
#[inline(always)]
fn chunk(rows: &Rows, row: usize, base: usize) -> &Chunk<u32> {
    rows[row][base..].first_chunk().expect("rows are whole chunks")
}

#[inline(always)]
fn chunk_mut(rows: &mut Rows, row: usize, base: usize) -> &mut Chunk<u32> {
    rows[row][base..].first_chunk_mut().expect("rows are whole chunks")
}

/// The values of a chunk of lanes, the first of which is `base`.
#[inline(always)]
pub(crate) fn read<T: Elem>(rows: &Rows, row: u16, base: usize) -> Chunk<T> {
    let row = usize::from(row);
    let mut values = [T::default(); CHUNK];
    let low = chunk(rows, row, base);
    if T::WIDE {
        let high = chunk(rows, row + 1, base);
        for lane in 0..CHUNK {
            values[lane] = T::of(low[lane], high[lane]);
        }
    } else {
        for lane in 0..CHUNK {
            values[lane] = T::of(low[lane], 0);
        }
    }
    values
}

/// Writes the values of a chunk of lanes where `masks` are set.
#[inline(always)]
pub(crate) fn write<T: Elem>(rows: &mut Rows, row: u16, base: usize, values: &Chunk<T>, masks: &Chunk<u32>) {
    let row = usize::from(row);
    let low = chunk_mut(rows, row, base);
    for lane in 0..CHUNK {
        low[lane] = values[lane].bits() as u32 & masks[lane] | low[lane] & !masks[lane];
    }
    if T::WIDE {
        let high = chunk_mut(rows, row + 1, base);
        for lane in 0..CHUNK {
            high[lane] = (values[lane].bits() >> 32) as u32 & masks[lane] | high[lane] & !masks[lane];
        }
    }
}

/// EXEC as masks.
#[inline(always)]
pub(crate) fn masks(rows: &Rows, base: usize) -> Chunk<u32> {
    *chunk(rows, MASK_ROW.into(), base)
}

/// A bit for each lane of a chunk, from numbers that are 0 or 1.
#[inline(always)]
pub(crate) fn packed(bits: &Chunk<u32>) -> u64 {
    let mut packed = 0;
    for lane in 0..CHUNK {
        packed |= bits[lane] << lane;
    }
    packed.into()
}

/// The bits of a mask, from lane `base` on, a number for each lane.
#[inline(always)]
pub(crate) fn unpacked(mask: u64, base: usize) -> Chunk<u32> {
    let mask = (mask >> base) as u32;
    let mut bits = [0; CHUNK];
    for lane in 0..CHUNK {
        bits[lane] = mask >> lane & 1;
    }
    bits
}

/// Result = an expression of sources, each named after its number, of the active lanes.
macro_rules! map {
    ($w:expr, [$($slot:literal $source:ident $(: $type:ty)?),+], $body:expr) => {{
        let w: &mut $crate::wave::Wave = $w;
        let (src, dst) = (w.src, w.dst);
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            $(let $source = $crate::wave::read(&w.rows, src[$slot], base);)+
            let mut result = [Default::default(); $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                $(let $source $(: $type)? = $source[lane];)+
                result[lane] = $body;
            }
            let masks = $crate::wave::masks(&w.rows, base);
            $crate::wave::write(&mut w.rows, dst, base, &result, &masks);
        }
    }};
}

/// Result = f(source 0).
macro_rules! map1 {
    ($w:expr, |$a:ident $(: $a_type:ty)?| $body:expr) => {
        $crate::wave::map!($w, [0 $a $(: $a_type)?], $body)
    };
    ($w:expr, $f:expr) => {
        $crate::wave::map!($w, [0 a], $f(a))
    };
}

/// Result = f(source 0), and whether that is to be done again by another function, which few lanes are to
/// need.
macro_rules! map1_or {
    ($w:expr, |$a:tt $(: $a_type:ty)?| $body:expr, $other:path) => {{
        let w: &mut $crate::wave::Wave = $w;
        let (src, dst) = (w.src, w.dst);
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let a = $crate::wave::read(&w.rows, src[0], base);
            let mut result = [Default::default(); $crate::wave::CHUNK];
            let mut again = [0; $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let $a $(: $a_type)? = a[lane];
                let (value, is_again): (_, bool) = $body;
                (result[lane], again[lane]) = (value, u32::from(is_again));
            }
            for lane in $crate::wave::lanes_of($crate::wave::packed(&again) & w.exec >> base) {
                result[lane] = $other(a[lane]);
            }
            let masks = $crate::wave::masks(&w.rows, base);
            $crate::wave::write(&mut w.rows, dst, base, &result, &masks);
        }
    }};
}

/// Result = f(source 0, source 1).
macro_rules! map2 {
    ($w:expr, |$a:ident $(: $a_type:ty)?, $b:ident $(: $b_type:ty)?| $body:expr) => {
        $crate::wave::map!($w, [0 $a $(: $a_type)?, 1 $b $(: $b_type)?], $body)
    };
    ($w:expr, $f:expr) => {
        $crate::wave::map!($w, [0 a, 1 b], $f(a, b))
    };
}

/// Result and a bit a lane, which are returned = f(source 0, source 1, source 2, lane's bit of a mask).
macro_rules! map3_bits {
    (
        $w:expr, $bits:expr,
        |$a:tt $(: $a_type:ty)?, $b:tt $(: $b_type:ty)?, $c:tt $(: $c_type:ty)?, $bit:tt| $body:expr
    ) => {{
        let mask: u64 = $bits;
        let w: &mut $crate::wave::Wave = $w;
        let (src, dst) = (w.src, w.dst);
        let mut given = 0;
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let a = $crate::wave::read(&w.rows, src[0], base);
            let b = $crate::wave::read(&w.rows, src[1], base);
            let c = $crate::wave::read(&w.rows, src[2], base);
            let taken = $crate::wave::unpacked(mask, base);
            let mut result = [Default::default(); $crate::wave::CHUNK];
            let mut bits = [0; $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let $a $(: $a_type)? = a[lane];
                let $b $(: $b_type)? = b[lane];
                let $c $(: $c_type)? = c[lane];
                let $bit = taken[lane] != 0;
                let (value, bit): (_, bool) = $body;
                (result[lane], bits[lane]) = (value, u32::from(bit));
            }
            given |= $crate::wave::packed(&bits) << base;
            let masks = $crate::wave::masks(&w.rows, base);
            $crate::wave::write(&mut w.rows, dst, base, &result, &masks);
        }
        given
    }};
}

/// Result = f(source 0, source 1, source 2).
macro_rules! map3 {
    ($w:expr, |$a:ident $(: $a_type:ty)?, $b:ident $(: $b_type:ty)?, $c:ident $(: $c_type:ty)?| $body:expr) => {
        $crate::wave::map!($w, [0 $a $(: $a_type)?, 1 $b $(: $b_type)?, 2 $c $(: $c_type)?], $body)
    };
    ($w:expr, $f:expr) => {
        $crate::wave::map!($w, [0 a, 1 b, 2 c], $f(a, b, c))
    };
}

/// Result = f(source 0, source 1, old result).
macro_rules! accumulate {
    ($w:expr, $($f:tt)*) => {{
        let w: &mut $crate::wave::Wave = $w;
        w.src[2] = w.src[3];
        $crate::wave::map3!(w, $($f)*);
    }};
}

/// Result = f(source 0, source 1, lane's bit of a mask).
macro_rules! map2_bit {
    ($w:expr, $bits:expr, |$a:tt $(: $a_type:ty)?, $b:tt $(: $b_type:ty)?, $bit:tt| $body:expr) => {{
        let mask: u64 = $bits;
        let w: &mut $crate::wave::Wave = $w;
        let (src, dst) = (w.src, w.dst);
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let a = $crate::wave::read(&w.rows, src[0], base);
            let b = $crate::wave::read(&w.rows, src[1], base);
            let taken = $crate::wave::unpacked(mask, base);
            let mut result = [Default::default(); $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let $a $(: $a_type)? = a[lane];
                let $b $(: $b_type)? = b[lane];
                let $bit = taken[lane] != 0;
                result[lane] = $body;
            }
            let masks = $crate::wave::masks(&w.rows, base);
            $crate::wave::write(&mut w.rows, dst, base, &result, &masks);
        }
    }};
}

/// The lanes, active or not, for which f(source 0, source 1) holds.
macro_rules! test2 {
    ($w:expr, |$a:tt $(: $a_type:ty)?, $b:tt $(: $b_type:ty)?| $body:expr) => {
        $crate::wave::test2_bit!($w, 0, |$a $(: $a_type)?, $b $(: $b_type)?, _| $body)
    };
}

/// The lanes, active or not, for which f(source 0, source 1, lane's bit of a mask) holds.
macro_rules! test2_bit {
    ($w:expr, $bits:expr, |$a:tt $(: $a_type:ty)?, $b:tt $(: $b_type:ty)?, $bit:tt| $body:expr) => {{
        let mask: u64 = $bits;
        let w: &$crate::wave::Wave = $w;
        let src = w.src;
        let mut given = 0;
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let a = $crate::wave::read(&w.rows, src[0], base);
            let b = $crate::wave::read(&w.rows, src[1], base);
            let taken = $crate::wave::unpacked(mask, base);
            let mut bits = [0; $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let $a $(: $a_type)? = a[lane];
                let $b $(: $b_type)? = b[lane];
                let $bit = taken[lane] != 0;
                bits[lane] = u32::from($body);
            }
            given |= $crate::wave::packed(&bits) << base;
        }
        given
    }};
}

/// Rewrite the rows of a value, or make others of them, for every lane of the wave.
macro_rules! remake {
    ($w:expr, $from:expr, $to:expr, |$a:tt $(: $a_type:ty)?| $body:expr) => {{
        let (from, to): (u16, u16) = ($from, $to);
        let w: &mut $crate::wave::Wave = $w;
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let a = $crate::wave::read(&w.rows, from, base);
            let mut result = [Default::default(); $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let $a $(: $a_type)? = a[lane];
                result[lane] = $body;
            }
            $crate::wave::write(&mut w.rows, to, base, &result, &[!0; $crate::wave::CHUNK]);
        }
    }};
}

/// Write f(old, new) to the active lanes of a row, `new` being those of another.
macro_rules! merge {
    ($w:expr, $from:expr, $to:expr, |$old:tt, $new:tt| $body:expr) => {{
        let (from, to): (u16, u16) = ($from, $to);
        let w: &mut $crate::wave::Wave = $w;
        for base in (0..w.lanes()).step_by($crate::wave::CHUNK) {
            let new = $crate::wave::read::<u32>(&w.rows, from, base);
            let old = $crate::wave::read::<u32>(&w.rows, to, base);
            let mut result = [0u32; $crate::wave::CHUNK];
            for lane in 0..$crate::wave::CHUNK {
                let ($old, $new) = (old[lane], new[lane]);
                result[lane] = $body;
            }
            let masks = $crate::wave::masks(&w.rows, base);
            $crate::wave::write(&mut w.rows, to, base, &result, &masks);
        }
    }};
}

pub(crate) use {
    accumulate, map, map1, map1_or, map2, map2_bit, map3, map3_bits, merge, remake, test2, test2_bit,
};

impl Wave {
    /// One lane of a value.
    #[inline(always)]
    pub(crate) fn lane<T: Elem>(&self, row: u16, lane: usize) -> T {
        let (row, lane) = (usize::from(row), lane & (LANES - 1));
        T::of(self.rows[row][lane], if T::WIDE { self.rows[row + 1][lane] } else { 0 })
    }

    /// Write one lane of a value, active or not.
    #[inline(always)]
    pub(crate) fn set_lane<T: Elem>(&mut self, row: u16, lane: usize, value: T) {
        let (row, lane, bits) = (usize::from(row), lane & (LANES - 1), value.bits());
        self.rows[row][lane] = bits as u32;
        if T::WIDE {
            self.rows[row + 1][lane] = (bits >> 32) as u32;
        }
    }
}
