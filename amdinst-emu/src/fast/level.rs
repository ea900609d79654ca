//! Vector extensions of the host: one trait, an implementation a level.
//!
//! A handler is written once, over [`Level`], and compiled once a level; which one runs is decided when a
//! program is made ready. [`Vectors::Baseline`](crate::vectors::Vectors) is plain Rust, for every processor;
//! the others are x86-64's.

/// Functions of a level that ask of the host what the level does.
#[cfg(target_arch = "x86_64")]
macro_rules! helpers {
    ($($(#[$meta:meta])* fn $name:ident($arg:ident: $type:ty) -> $result:ty { $body:expr })*) => {$(
        $(#[$meta])*
        #[inline(always)]
        unsafe fn $name($arg: $type) -> $result {
            // SAFETY: the host has the extensions (the caller's).
            unsafe { $body }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
#[cfg_attr(test, allow(dead_code, reason = "the crate's own tests run on the baseline alone"))]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(test, allow(dead_code, reason = "the crate's own tests run on the baseline alone"))]
mod avx512;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(test, allow(dead_code, reason = "the crate's own tests run on the baseline alone"))]
mod host_mode;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use portable::Portable;

use crate::program::{Context, Hot};
use crate::wave::Row;

use super::mode::FloatMode;
use super::{PARTS, parts};

/// A relation of two floats: as `_CMP_*` number the ones that never signal.
pub(crate) mod relation {
    pub(crate) const LT: i32 = 17;
    pub(crate) const EQ: i32 = 0;
    pub(crate) const LE: i32 = 18;
    pub(crate) const GT: i32 = 30;
    pub(crate) const LG: i32 = 12;
    pub(crate) const GE: i32 = 29;
    pub(crate) const ORDERED: i32 = 7;
    pub(crate) const UNORDERED: i32 = 3;
    pub(crate) const NGE: i32 = 25;
    pub(crate) const NLG: i32 = 8;
    pub(crate) const NGT: i32 = 26;
    pub(crate) const NLE: i32 = 22;
    pub(crate) const NEQ: i32 = 4;
    pub(crate) const NLT: i32 = 21;
}

/// How results are rounded that do not go to the nearest number, as MODE.FP_ROUND numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directed {
    Up = 1,
    Down = 2,
    ToZero = 3,
}

impl Directed {
    /// A field of MODE; `None`: to the nearest number, the even one of two.
    pub(crate) fn of(field: u32) -> Option<Self> {
        match field & 3 {
            0 => None,
            1 => Some(Self::Up),
            2 => Some(Self::Down),
            _ => Some(Self::ToZero),
        }
    }
}

/// Operations on which MODE tells ([`Level::in_mode`]).
pub(crate) mod in_mode {
    pub(crate) const ADD_F32: u8 = 0;
    pub(crate) const SUB_F32: u8 = 1;
    pub(crate) const MUL_F32: u8 = 2;
    pub(crate) const FMA_F32: u8 = 3;
    /// A product, rounded, and a sum, rounded.
    pub(crate) const MUL_ADD_F32: u8 = 4;
    /// See [`Level::min_f32`](super::Level::min_f32).
    pub(crate) const MIN_F32: u8 = 5;
    /// See [`Level::max_f32`](super::Level::max_f32).
    pub(crate) const MAX_F32: u8 = 6;
    /// Of one operand.
    pub(crate) const FROM_SIGNED: u8 = 7;
    pub(crate) const ADD_F64: u8 = 8;
    pub(crate) const MUL_F64: u8 = 9;
    pub(crate) const FMA_F64: u8 = 10;

    /// Whether an operation works on doubles.
    pub(crate) const fn is_of_doubles(operation: u8) -> bool {
        matches!(operation, ADD_F64 | MUL_F64 | FMA_F64)
    }
}

/// Vectors of a row.
pub(crate) type Vectors32<L> = [<L as Level>::V; PARTS];

/// The numbers of an operation of [`in_mode`], without subnormals.
#[inline(always)]
fn flushed<L: Level, const OPERATION: u8>(level: L, value: L::V) -> L::V {
    if in_mode::is_of_doubles(OPERATION) { level.flush_f64(value) } else { level.flush_f32(value) }
}

/// Flushes a row of results of an operation of [`in_mode`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn flush<L: Level, const OPERATION: u8>(level: L, row: &mut Row) {
    for part in 0..parts::<L>() {
        let value = flushed::<L, OPERATION>(level, level.load(row, part));
        level.store(row, part, value);
    }
}

/// Vectors of 32-bit lanes, and how many lanes the waves have that are computed with them. Lane masks are the
/// low [`Level::N`] bits of a number.
///
/// A value of the type is the proof that the host has the level's extensions: one is made where a handler
/// begins, and what computes takes it along.
pub(crate) trait Level: Copy + 'static {
    /// [`Level::N`] lanes.
    type V: Copy;
    /// Lanes of a vector.
    const N: usize;
    /// Lanes of a wave, which are whole vectors: an even number of them.
    const LANES: usize;

    /// The `part`th vector of a row.
    #[inline(always)]
    fn load(self, row: &[u32], part: usize) -> Self::V {
        // SAFETY: there are so many lanes.
        unsafe { self.read(row[part * Self::N..][..Self::N].as_ptr()) }
    }
    /// Set the `part`th vector of a row.
    #[inline(always)]
    fn store(self, row: &mut [u32], part: usize, value: Self::V) {
        // SAFETY: there are so many lanes.
        unsafe { self.write(row[part * Self::N..][..Self::N].as_mut_ptr(), value) };
    }
    /// Set those of its lanes whose bit is set.
    #[inline(always)]
    fn store_if(self, row: &mut [u32], part: usize, value: Self::V, bits: u32) {
        // SAFETY: there are so many lanes.
        unsafe { self.write_if(row[part * Self::N..][..Self::N].as_mut_ptr(), value, bits) };
    }
    /// The `part`th vector of a row of bytes.
    #[inline(always)]
    fn load_bytes(self, row: &[u8], part: usize) -> Self::V {
        // SAFETY: there are so many lanes.
        unsafe { self.read(row[4 * part * Self::N..][..4 * Self::N].as_ptr().cast()) }
    }
    /// Set those lanes of the `part`th vector of a row of bytes whose bit is set.
    #[inline(always)]
    fn store_bytes_if(self, row: &mut [u8], part: usize, value: Self::V, bits: u32) {
        // SAFETY: there are so many lanes.
        unsafe { self.write_if(row[4 * part * Self::N..][..4 * Self::N].as_mut_ptr().cast(), value, bits) };
    }
    /// A vector at an address, which may be unaligned.
    ///
    /// # Safety
    /// It is valid for [`Level::N`] lanes.
    unsafe fn read(self, from: *const u32) -> Self::V;
    /// Set a vector at an address, which may be unaligned.
    ///
    /// # Safety
    /// It is valid for [`Level::N`] lanes.
    unsafe fn write(self, to: *mut u32, value: Self::V);
    /// Set those of its lanes whose bit is set.
    ///
    /// # Safety
    /// It is valid for [`Level::N`] lanes.
    unsafe fn write_if(self, to: *mut u32, value: Self::V, bits: u32);
    /// The value in all lanes.
    fn splat(self, value: u32) -> Self::V;
    /// The lanes of `set` where the bit is set, of `clear` elsewhere.
    fn blend(self, bits: u32, clear: Self::V, set: Self::V) -> Self::V;

    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Low half of the product.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// High half of the unsigned product.
    fn mul_high(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a & !b`.
    fn and_not(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a` shifted by the low five bits of `count`.
    fn shl(self, a: Self::V, count: Self::V) -> Self::V;
    fn shr(self, a: Self::V, count: Self::V) -> Self::V;
    fn sar(self, a: Self::V, count: Self::V) -> Self::V;
    fn min_signed(self, a: Self::V, b: Self::V) -> Self::V;
    fn max_signed(self, a: Self::V, b: Self::V) -> Self::V;
    fn min_unsigned(self, a: Self::V, b: Self::V) -> Self::V;
    fn max_unsigned(self, a: Self::V, b: Self::V) -> Self::V;
    fn equal(self, a: Self::V, b: Self::V) -> u32;
    fn less_signed(self, a: Self::V, b: Self::V) -> u32;
    fn less_unsigned(self, a: Self::V, b: Self::V) -> u32;

    fn add_f32(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub_f32(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    fn fma_f32(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The smaller; of two zeros the negative one. No operand is a NaN.
    fn min_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The larger; of two zeros the positive one. No operand is a NaN.
    fn max_f32(self, a: Self::V, b: Self::V) -> Self::V;
    /// A [`relation`] of floats.
    fn compare_f32<const RELATION: i32>(self, a: Self::V, b: Self::V) -> u32;
    fn f32_from_signed(self, a: Self::V) -> Self::V;
    fn f32_from_unsigned(self, a: Self::V) -> Self::V;

    /// Zero with the sign of a subnormal; other numbers as they are.
    fn flush_f32(self, a: Self::V) -> Self::V;

    /// The halves in the low 16 bits of the lanes, as singles; exact. A NaN stays one.
    fn f32_from_f16(self, a: Self::V) -> Self::V;
    /// Singles as halves with zeros above them, rounded as MODE.FP_ROUND numbers it. A NaN stays one.
    fn f16_from_f32<const ROUND: u32>(self, a: Self::V) -> Self::V;

    /// The lanes of two rows, which are the halves of doubles, as two vectors of doubles, in an order of the
    /// level's own.
    fn doubles(self, low: Self::V, high: Self::V) -> [Self::V; 2];
    /// The way back from [`Level::doubles`]: low and high halves.
    fn halves(self, doubles: [Self::V; 2]) -> [Self::V; 2];
    /// A bit for each lane from those for the doubles of two such vectors.
    fn bits_of_doubles(self, bits: [u32; 2]) -> u32;
    fn add_f64(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul_f64(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    fn fma_f64(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// As [`Level::min_f32`].
    fn min_f64(self, a: Self::V, b: Self::V) -> Self::V;
    /// As [`Level::max_f32`].
    fn max_f64(self, a: Self::V, b: Self::V) -> Self::V;
    /// A [`relation`] of doubles.
    fn compare_f64<const RELATION: i32>(self, a: Self::V, b: Self::V) -> u32;
    /// The doubles of `set` where the bit is set, of `clear` elsewhere.
    fn blend_f64(self, bits: u32, clear: Self::V, set: Self::V) -> Self::V;
    /// As [`Level::flush_f32`].
    fn flush_f64(self, a: Self::V) -> Self::V;

    /// An operation of [`in_mode`] on a wave's rows. Of NaNs it makes NaNs, or what it likes.
    fn in_mode<const OPERATION: u8>(self, mode: FloatMode, sources: [&Row; 3], result: &mut Row);

    /// Run a body, out of line.
    fn rarely<B: super::Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32;
    /// Run a body, out of line, that may run often: as a handler of its own does.
    fn apart<B: super::Body>(self, context: &mut Context<'_>, hot: &Hot) -> u32;

    /// The dwords at byte offsets from `from` in the lanes whose bit is set; zero elsewhere. They may be
    /// unaligned, offsets are below 2^31.
    ///
    /// # Safety
    /// Those dwords are there.
    unsafe fn gather(self, from: *const u8, offsets: Self::V, bits: u32) -> Self::V;
    /// Write the lanes whose bit is set to byte offsets from `to`, which are below 2^31: aligned dwords. Of
    /// several lanes with one offset the last counts.
    ///
    /// # Safety
    /// As above.
    unsafe fn scatter(self, to: *mut u8, offsets: Self::V, values: Self::V, bits: u32);
    /// Reads a vector from memory that other threads may be writing: each dword, which is aligned, as by a
    /// relaxed atomic.
    ///
    /// # Safety
    /// It is valid for [`Level::N`] lanes.
    unsafe fn load_shared(self, from: *const u32) -> Self::V;
    /// The way back from [`Level::load_shared`].
    ///
    /// # Safety
    /// As there.
    unsafe fn store_shared(self, to: *mut u32, value: Self::V);
}

/// [`Level::scatter`], lane by lane.
///
/// # Safety
/// As for [`Level::scatter`].
#[inline(always)]
unsafe fn scatter_each(to: *mut u8, offsets: &[u32], values: &[u32], bits: u32) {
    for (lane, (offset, value)) in offsets.iter().zip(values).enumerate() {
        if bits >> lane & 1 != 0 {
            // SAFETY: the caller's.
            unsafe { to.add(*offset as usize).cast::<u32>().write_unaligned(value.to_le()) };
        }
    }
}
