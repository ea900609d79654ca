//! Vector extensions of the host: one trait, an implementation a level.
//!
//! A handler is written once, over [`Level`], and compiled once a level; which one runs is decided when a
//! program is made ready. [`Vectors::Baseline`](crate::vectors::Vectors) is plain Rust, for every processor;
//! the others are x86-64's.

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
use std::mem::MaybeUninit;

use super::PARTS;
use super::mode::FloatMode;

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

/// Room in memory for a wave's vectors, which assembly reads and writes: nothing is written that is not asked
/// for.
pub(crate) struct Room<L: Level>(MaybeUninit<Vectors32<L>>);

impl<L: Level> Room<L> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const L::V {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut L::V {
        self.0.as_mut_ptr().cast()
    }

    /// Sets the `part`th vector, which there is.
    #[inline(always)]
    pub(crate) unsafe fn set(&mut self, part: usize, value: L::V) {
        // SAFETY: the caller's.
        unsafe { self.as_mut_ptr().add(part).write(value) };
    }

    /// Flushes the results of an operation of [`in_mode`], of which there are as many as a wave has.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn flush<const OPERATION: u8>(&mut self) {
        for part in 0..super::parts::<L>() {
            // SAFETY: the caller's.
            unsafe { self.set(part, flushed::<L, OPERATION>(self.get(part))) };
        }
    }

    /// The `part`th vector, which has been set.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, part: usize) -> L::V {
        // SAFETY: the caller's.
        unsafe { self.as_ptr().add(part).read() }
    }
}

/// The numbers of an operation of [`in_mode`], without subnormals.
#[inline(always)]
unsafe fn flushed<L: Level, const OPERATION: u8>(value: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { if in_mode::is_of_doubles(OPERATION) { L::flush_f64(value) } else { L::flush_f32(value) } }
}

/// Vectors of 32-bit lanes, and how many lanes the waves have that are computed with them. Lane masks are the
/// low [`Level::N`] bits of a number.
///
/// # Safety
/// All functions: the host has the level's extensions, and pointers are valid for [`Level::N`] lanes.
pub(crate) trait Level: 'static {
    /// [`Level::N`] lanes.
    type V: Copy;
    /// Lanes of a vector.
    const N: usize;
    /// Lanes of a wave, which are whole vectors: an even number of them.
    const LANES: usize;

    unsafe fn load(from: *const u32) -> Self::V;
    unsafe fn store(to: *mut u32, value: Self::V);
    /// Store the lanes whose bit is set.
    unsafe fn store_if(to: *mut u32, value: Self::V, bits: u32);
    unsafe fn splat(value: u32) -> Self::V;
    /// The lanes of `set` where the bit is set, of `clear` elsewhere.
    unsafe fn blend(bits: u32, clear: Self::V, set: Self::V) -> Self::V;

    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    /// Low half of the product.
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    /// High half of the unsigned product.
    unsafe fn mul_high(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn and(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn or(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn xor(a: Self::V, b: Self::V) -> Self::V;
    /// `a & !b`.
    unsafe fn and_not(a: Self::V, b: Self::V) -> Self::V;
    /// `a` shifted by the low five bits of `count`.
    unsafe fn shl(a: Self::V, count: Self::V) -> Self::V;
    unsafe fn shr(a: Self::V, count: Self::V) -> Self::V;
    unsafe fn sar(a: Self::V, count: Self::V) -> Self::V;
    unsafe fn min_signed(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max_signed(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn min_unsigned(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max_unsigned(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn equal(a: Self::V, b: Self::V) -> u32;
    unsafe fn less_signed(a: Self::V, b: Self::V) -> u32;
    unsafe fn less_unsigned(a: Self::V, b: Self::V) -> u32;

    unsafe fn add_f32(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub_f32(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul_f32(a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    unsafe fn fma_f32(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The smaller; of two zeros the negative one. No operand is a NaN.
    unsafe fn min_f32(a: Self::V, b: Self::V) -> Self::V;
    /// The larger; of two zeros the positive one. No operand is a NaN.
    unsafe fn max_f32(a: Self::V, b: Self::V) -> Self::V;
    /// A [`relation`] of floats.
    unsafe fn compare_f32<const RELATION: i32>(a: Self::V, b: Self::V) -> u32;
    unsafe fn f32_from_signed(a: Self::V) -> Self::V;
    unsafe fn f32_from_unsigned(a: Self::V) -> Self::V;

    /// Zero with the sign of a subnormal; other numbers as they are.
    unsafe fn flush_f32(a: Self::V) -> Self::V;

    /// The halves in the low 16 bits of the lanes, as singles; exact. A NaN stays one.
    unsafe fn f32_from_f16(a: Self::V) -> Self::V;
    /// Singles as halves with zeros above them, rounded as MODE.FP_ROUND numbers it. A NaN stays one.
    unsafe fn f16_from_f32<const ROUND: u32>(a: Self::V) -> Self::V;

    /// The lanes of two rows, which are the halves of doubles, as two vectors of doubles, in an order of the
    /// level's own.
    unsafe fn doubles(low: Self::V, high: Self::V) -> [Self::V; 2];
    /// The way back from [`Level::doubles`]: low and high halves.
    unsafe fn halves(doubles: [Self::V; 2]) -> [Self::V; 2];
    /// A bit for each lane from those for the doubles of two such vectors.
    unsafe fn bits_of_doubles(bits: [u32; 2]) -> u32;
    unsafe fn add_f64(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul_f64(a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    unsafe fn fma_f64(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// As [`Level::min_f32`].
    unsafe fn min_f64(a: Self::V, b: Self::V) -> Self::V;
    /// As [`Level::max_f32`].
    unsafe fn max_f64(a: Self::V, b: Self::V) -> Self::V;
    /// A [`relation`] of doubles.
    unsafe fn compare_f64<const RELATION: i32>(a: Self::V, b: Self::V) -> u32;
    /// The doubles of `set` where the bit is set, of `clear` elsewhere.
    unsafe fn blend_f64(bits: u32, clear: Self::V, set: Self::V) -> Self::V;
    /// As [`Level::flush_f32`].
    unsafe fn flush_f64(a: Self::V) -> Self::V;

    /// An operation of [`in_mode`] on rows: as many vectors from each pointer as a wave's row has. Their
    /// alignment doesn't matter. Of NaNs it makes NaNs, or what it likes.
    unsafe fn in_mode<const OPERATION: u8>(
        mode: FloatMode,
        sources: [*const Self::V; 3],
        result: &mut Room<Self>,
    ) where
        Self: Sized;

    /// The dwords at byte offsets from `from` in the lanes whose bit is set; zero elsewhere. They may be
    /// unaligned, offsets are below 2^31.
    unsafe fn gather(from: *const u8, offsets: Self::V, bits: u32) -> Self::V;
    /// Write the lanes whose bit is set to byte offsets from `to`, which are multiples of 4 and below 2^31.
    /// Of several lanes with one offset the last counts.
    unsafe fn scatter(to: *mut u8, offsets: Self::V, values: Self::V, bits: u32);

    /// Run a body, out of line.
    unsafe fn rarely<B: super::Body>(context: &mut Context<'_>, hot: &Hot) -> u32;
    /// Run a body, out of line, that may run often: as a handler of its own does.
    unsafe fn apart<B: super::Body>(context: &mut Context<'_>, hot: &Hot) -> u32;

    /// Loads a vector as [`Level::load`] does, from memory that other threads may be writing: each dword is
    /// read as by a relaxed atomic.
    unsafe fn load_shared(from: *const u32) -> Self::V;
    /// Stores a vector as [`Level::store`] does, to memory that other threads may be using: each dword is
    /// written as by a relaxed atomic.
    unsafe fn store_shared(to: *mut u32, value: Self::V);
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
