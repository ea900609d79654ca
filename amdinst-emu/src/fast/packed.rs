//! Packed singles: two results a lane, in two rows. OP_SEL picks a dword of each source for each result.

use std::marker::PhantomData;

use super::level::{Level, Room};
use super::mode::FloatMode;
use super::valu::{Floats, Operation, no_nan, replace_nans};
use super::{Body, PARTS, SCALAR, parts, put, rows};
use crate::program::{Context, Hot};
use crate::wave::{LANES, Wave};

/// Modifiers of a source in `hot.imm`, for the low result; those for the high one are two bits further.
pub(super) const HIGH: u32 = 1;
/// The source is negated.
pub(super) const NEGATIVE: u32 = 2;

/// One result's source: a row, or a scalar register in every lane; and the sign to flip.
struct Source<L: Level> {
    row: Option<*const u32>,
    same: L::V,
    sign: L::V,
}

impl<L: Level> Source<L> {
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn of(w: &mut Wave, hot: &Hot, slot: usize, result: u32) -> Self {
        let bits = hot.imm[slot] >> (2 * result);
        let (src, high) = (hot.src[slot], bits & HIGH);
        // SAFETY: a source below SCALAR is a pair of rows of the register file.
        unsafe {
            let sign = L::splat(if bits & NEGATIVE != 0 { 1 << 31 } else { 0 });
            if src < SCALAR {
                let row = rows(w).add((src + high * LANES as u32) as usize).cast_const();
                return Self { row: Some(row), same: sign, sign };
            }
            let value = w.s[((src + high) & 127) as usize];
            Self { row: None, same: L::splat(value), sign }
        }
    }

    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn get(&self, part: usize) -> L::V {
        // SAFETY: within the row.
        unsafe {
            let value = match self.row {
                Some(row) => L::load(row.add(part * L::N)),
                None => self.same,
            };
            L::xor(value, self.sign)
        }
    }
}

/// `O` on `SOURCES` sources, twice.
pub(super) struct Packed<O, const SOURCES: usize>(PhantomData<O>);

impl<O: Operation, const SOURCES: usize> Body for Packed<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            if O::FLOATS != Floats::None && !w.plain32() {
                return L::apart::<InMode<O, SOURCES>>(context, hot);
            }
            let mut results = [[L::splat(0); PARTS]; 2];
            for (result, values) in results.iter_mut().enumerate() {
                let a = Source::<L>::of(w, hot, 0, result as u32);
                let b = Source::<L>::of(w, hot, 1, result as u32);
                let c = Source::<L>::of(w, hot, if SOURCES == 3 { 2 } else { 1 }, result as u32);
                for i in 0..parts::<L>() {
                    values[i] = O::apply::<L>(a.get(i), b.get(i), c.get(i));
                }
                if O::FLOATS == Floats::First && !no_nan::<L>(values) {
                    for i in 0..parts::<L>() {
                        values[i] = replace_nans::<L>(values[i], [a.get(i), b.get(i), c.get(i)]);
                    }
                }
            }
            put::<L>(w, hot.dst, &results[0]);
            put::<L>(w, hot.dst + LANES as u32, &results[1]);
        }
        hot.next
    }
}

/// `O` in every mode. See [`Packed`].
struct InMode<O, const SOURCES: usize>(PhantomData<O>);

impl<O: Operation, const SOURCES: usize> Body for InMode<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        // SAFETY: as for `Packed`.
        unsafe {
            let mut results = [[L::splat(0); PARTS]; 2];
            for (result, values) in results.iter_mut().enumerate() {
                let mut sources = [const { Room::<L>::new() }; SOURCES];
                for slot in 0..SOURCES {
                    let source = Source::<L>::of(w, hot, slot, result as u32);
                    for i in 0..parts::<L>() {
                        sources[slot].set(i, source.get(i));
                    }
                }
                let [a, b, c] = [&sources[0], &sources[1], &sources[SOURCES - 1]];
                let mut room = Room::<L>::new();
                O::in_mode::<L>(mode, [a.as_ptr(), b.as_ptr(), c.as_ptr()], &mut room);
                for i in 0..parts::<L>() {
                    values[i] = room.get(i);
                }
                if !no_nan::<L>(values) {
                    for i in 0..parts::<L>() {
                        values[i] = replace_nans::<L>(values[i], [a.get(i), b.get(i), c.get(i)]);
                    }
                }
            }
            put::<L>(w, hot.dst, &results[0]);
            put::<L>(w, hot.dst + LANES as u32, &results[1]);
        }
        hot.next
    }
}

/// `v_pk_mov_b32`: the low result is a dword of source 0, the high one of source 1.
pub(super) struct Move;

impl Body for Move {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: as for `Packed`.
        unsafe {
            let a = Source::<L>::of(w, hot, 0, 0);
            let b = Source::<L>::of(w, hot, 1, 0);
            let mut results = [[L::splat(0); PARTS]; 2];
            for i in 0..parts::<L>() {
                results[0][i] = a.get(i);
                results[1][i] = b.get(i);
            }
            put::<L>(w, hot.dst, &results[0]);
            put::<L>(w, hot.dst + LANES as u32, &results[1]);
        }
        hot.next
    }
}
