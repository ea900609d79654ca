//! Lane-wise work: the straight loops that the compiler turns into vector code.
//!
//! A row is one 32-bit register of all 64 lanes; a 64-bit value is two rows. Work goes in chunks of 8 lanes: every
//! source of a chunk is read before its result is written, so a destination may be any of the sources.

use super::{MASK_ROW, ROWS, Wave};

/// Lanes of a wave.
pub(crate) const LANES: usize = 64;
/// The lanes of a mask, in order of number.
pub(crate) fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.checked_sub(1)?;
        Some(lane)
    })
}

/// One 32-bit register of all lanes.
pub(crate) type Row = [u32; LANES];
/// Lanes worked on at a time.
const CHUNK: usize = 8;
type Rows = [Row; ROWS];

/// The bits of a half-precision number, or any 16-bit value in the low half of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

/// What a lane of an operand can be read as.
pub(crate) trait Elem: Copy + Default {
    fn get(rows: &Rows, row: usize, lane: usize) -> Self;
    fn set(self, rows: &mut Rows, row: usize, lane: usize, keep: u32);
}

macro_rules! narrow {
    ($type:ty, $bits:ident => $from:expr, $value:ident => $to:expr) => {
        impl Elem for $type {
            #[inline(always)]
            fn get(rows: &Rows, row: usize, lane: usize) -> Self {
                let $bits = rows[row][lane];
                $from
            }
            #[inline(always)]
            fn set(self, rows: &mut Rows, row: usize, lane: usize, mask: u32) {
                let $value = self;
                let new: u32 = $to;
                let old = &mut rows[row][lane];
                *old = (new & mask) | (*old & !mask);
            }
        }
    };
}

macro_rules! wide {
    ($type:ty, $bits:ident => $from:expr, $value:ident => $to:expr) => {
        impl Elem for $type {
            #[inline(always)]
            fn get(rows: &Rows, row: usize, lane: usize) -> Self {
                let $bits = u64::from(rows[row][lane]) | u64::from(rows[row + 1][lane]) << 32;
                $from
            }
            #[inline(always)]
            fn set(self, rows: &mut Rows, row: usize, lane: usize, mask: u32) {
                let $value = self;
                let new: u64 = $to;
                let low = &mut rows[row][lane];
                *low = (new as u32 & mask) | (*low & !mask);
                let high = &mut rows[row + 1][lane];
                *high = ((new >> 32) as u32 & mask) | (*high & !mask);
            }
        }
    };
}

narrow!(u32, bits => bits, value => value);
narrow!(i32, bits => bits as i32, value => value as u32);
narrow!(f32, bits => f32::from_bits(bits), value => value.to_bits());
narrow!(u16, bits => bits as u16, value => u32::from(value));
narrow!(i16, bits => bits as i16, value => u32::from(value as u16));
narrow!(Half, bits => Half(bits as u16), value => u32::from(value.0));
wide!(u64, bits => bits, value => value);
wide!(i64, bits => bits as i64, value => value as u64);
wide!(f64, bits => f64::from_bits(bits), value => value.to_bits());

/// An array made in a plain loop: `std::array::from_fn` is not always inlined, and what is not inlined into a function
/// that is compiled for the host's vector extensions does not use them.
#[inline(always)]
fn array<T: Elem>(mut f: impl FnMut(usize) -> T) -> [T; CHUNK] {
    let mut result = [T::default(); CHUNK];
    for (lane, slot) in result.iter_mut().enumerate() {
        *slot = f(lane);
    }
    result
}

#[inline(always)]
fn chunk<T: Elem>(rows: &Rows, row: u16, base: usize) -> [T; CHUNK] {
    array(|lane| T::get(rows, usize::from(row), base + lane))
}

impl Wave {
    /// Write f of each chunk to the active lanes of the result.
    #[inline(always)]
    fn each<T: Elem>(&mut self, mut f: impl FnMut(&Rows, usize) -> [T; CHUNK]) {
        let (dst, lanes) = (usize::from(self.dst), self.lanes());
        let rows = &mut *self.rows;
        for base in (0..lanes).step_by(CHUNK) {
            let result = f(rows, base);
            let masks: [u32; CHUNK] = chunk(rows, MASK_ROW, base);
            for (lane, value) in result.into_iter().enumerate() {
                value.set(rows, dst, base + lane, masks[lane]);
            }
        }
    }

    /// Runs `f` for each chunk of lanes as [`Wave::each`] does, with a loop of its own for when every lane is active: for
    /// the commonest operations.
    #[inline(always)]
    fn each_hot<T: Elem>(&mut self, mut f: impl FnMut(&Rows, usize) -> [T; CHUNK]) {
        if self.exec != self.all_lanes() {
            return self.each(f);
        }
        let (dst, lanes) = (usize::from(self.dst), self.lanes());
        let rows = &mut *self.rows;
        for base in (0..lanes).step_by(CHUNK) {
            let result = f(rows, base);
            for (lane, value) in result.into_iter().enumerate() {
                value.set(rows, dst, base + lane, !0);
            }
        }
    }

    /// [`Wave::map1`] for common operations.
    #[inline(always)]
    pub(crate) fn hot1<A: Elem, D: Elem>(&mut self, f: impl Fn(A) -> D) {
        let [a, ..] = self.src;
        self.each_hot(|rows, base| {
            let a = chunk::<A>(rows, a, base);
            array(|lane| f(a[lane]))
        });
    }

    /// [`Wave::map2`] for common operations.
    #[inline(always)]
    pub(crate) fn hot2<A: Elem, B: Elem, D: Elem>(&mut self, f: impl Fn(A, B) -> D) {
        let [a, b, ..] = self.src;
        self.each_hot(|rows, base| {
            let (a, b) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base));
            array(|lane| f(a[lane], b[lane]))
        });
    }

    /// [`Wave::map3`] for common operations.
    #[inline(always)]
    pub(crate) fn hot3<A: Elem, B: Elem, C: Elem, D: Elem>(&mut self, f: impl Fn(A, B, C) -> D) {
        let [a, b, c, _] = self.src;
        self.each_hot(|rows, base| {
            let (a, b, c) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base), chunk::<C>(rows, c, base));
            array(|lane| f(a[lane], b[lane], c[lane]))
        });
    }

    /// Result = f(source 0).
    #[inline(always)]
    pub(crate) fn map1<A: Elem, D: Elem>(&mut self, f: impl Fn(A) -> D) {
        let [a, ..] = self.src;
        self.each(|rows, base| {
            let a = chunk::<A>(rows, a, base);
            array(|lane| f(a[lane]))
        });
    }

    /// Result = f(source 0, source 1).
    #[inline(always)]
    pub(crate) fn map2<A: Elem, B: Elem, D: Elem>(&mut self, f: impl Fn(A, B) -> D) {
        let [a, b, ..] = self.src;
        self.each(|rows, base| {
            let (a, b) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base));
            array(|lane| f(a[lane], b[lane]))
        });
    }

    /// Result = f(source 0, source 1, source 2).
    #[inline(always)]
    pub(crate) fn map3<A: Elem, B: Elem, C: Elem, D: Elem>(&mut self, f: impl Fn(A, B, C) -> D) {
        let [a, b, c, _] = self.src;
        self.each(|rows, base| {
            let (a, b, c) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base), chunk::<C>(rows, c, base));
            array(|lane| f(a[lane], b[lane], c[lane]))
        });
    }

    /// Result = f(source 0, source 1, old result).
    #[inline(always)]
    pub(crate) fn accumulate<A: Elem, B: Elem, D: Elem>(&mut self, f: impl Fn(A, B, D) -> D) {
        self.src[2] = self.src[3];
        self.map3(f);
    }

    /// Result = f(source 0, source 1, bit of a 64-bit mask).
    #[inline(always)]
    pub(crate) fn map2_bit<A: Elem, B: Elem, D: Elem>(&mut self, bits: u64, f: impl Fn(A, B, bool) -> D) {
        let [a, b, ..] = self.src;
        self.each(|rows, base| {
            let (a, b) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base));
            array(|lane| f(a[lane], b[lane], bits >> (base + lane) & 1 != 0))
        });
    }

    /// Result = f(source 0, source 1, source 2, bit of a 64-bit mask).
    #[inline(always)]
    pub(crate) fn map3_bit<A: Elem, B: Elem, C: Elem, D: Elem>(
        &mut self,
        bits: u64,
        f: impl Fn(A, B, C, bool) -> D,
    ) {
        let [a, b, c, _] = self.src;
        self.each(|rows, base| {
            let (a, b, c) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base), chunk::<C>(rows, c, base));
            array(|lane| f(a[lane], b[lane], c[lane], bits >> (base + lane) & 1 != 0))
        });
    }

    /// The lanes, active or not, for which f(source 0, source 1, lane's bit of a mask) holds.
    #[inline(always)]
    pub(crate) fn test2_bit<A: Elem, B: Elem>(&self, bits: u64, f: impl Fn(A, B, bool) -> bool) -> u64 {
        let [a, b, ..] = self.src;
        let mut mask = 0;
        for base in (0..self.lanes()).step_by(CHUNK) {
            let (a, b) = (chunk::<A>(&self.rows, a, base), chunk::<B>(&self.rows, b, base));
            let mut part = 0u64;
            for lane in 0..CHUNK {
                part |= u64::from(f(a[lane], b[lane], bits >> (base + lane) & 1 != 0)) << lane;
            }
            mask |= part << base;
        }
        mask
    }

    /// The lanes, active or not, for which f(source 0, source 1) holds.
    #[inline(always)]
    pub(crate) fn test2<A: Elem, B: Elem>(&self, f: impl Fn(A, B) -> bool) -> u64 {
        self.test2_bit(0, |a, b, _| f(a, b))
    }

    /// Result and a bit a lane = f(source 0, source 1, source 2).
    #[inline(always)]
    pub(crate) fn map3_carry<A: Elem, B: Elem, C: Elem, D: Elem>(
        &mut self,
        f: impl Fn(A, B, C) -> (D, bool),
    ) -> u64 {
        let [a, b, c, _] = self.src;
        let mut bits = 0;
        self.each(|rows, base| {
            let (a, b, c) = (chunk::<A>(rows, a, base), chunk::<B>(rows, b, base), chunk::<C>(rows, c, base));
            array(|lane| {
                let (value, bit) = f(a[lane], b[lane], c[lane]);
                bits |= u64::from(bit) << (base + lane);
                value
            })
        });
        bits
    }

    /// Rewrite the rows of a value in place, for every lane of the wave.
    #[inline(always)]
    pub(crate) fn remake<A: Elem, D: Elem>(&mut self, from: u16, to: u16, f: impl Fn(A) -> D) {
        for base in (0..self.lanes()).step_by(CHUNK) {
            let values = chunk::<A>(&self.rows, from, base);
            for (lane, value) in values.into_iter().enumerate() {
                f(value).set(&mut self.rows, usize::from(to), base + lane, !0);
            }
        }
    }

    /// Write f(old, new) to the active lanes of a row, `new` being those of another.
    #[inline(always)]
    pub(crate) fn merge(&mut self, from: u16, to: u16, f: impl Fn(u32, u32) -> u32) {
        for base in (0..self.lanes()).step_by(CHUNK) {
            let new = chunk::<u32>(&self.rows, from, base);
            let old = chunk::<u32>(&self.rows, to, base);
            let masks = chunk::<u32>(&self.rows, MASK_ROW, base);
            for lane in 0..CHUNK {
                f(old[lane], new[lane]).set(&mut self.rows, usize::from(to), base + lane, masks[lane]);
            }
        }
    }

    /// One lane of a value.
    #[inline(always)]
    pub(crate) fn lane<T: Elem>(&self, row: u16, lane: usize) -> T {
        T::get(&self.rows, usize::from(row), lane & (LANES - 1))
    }

    /// Write one lane of a value, active or not.
    #[inline(always)]
    pub(crate) fn set_lane<T: Elem>(&mut self, row: u16, lane: usize, value: T) {
        value.set(&mut self.rows, usize::from(row), lane & (LANES - 1), !0);
    }
}
