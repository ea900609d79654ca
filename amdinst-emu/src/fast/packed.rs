//! Packed singles: two results a lane, in two rows. OP_SEL picks a dword of each source for each result.

use std::marker::PhantomData;

use super::level::Level;
use super::mode::FloatMode;
use super::valu::{Floats, Operation, no_nan, replace_nans};
use super::{Body, Lanes, Operands, PARTS, parts, put_pair};
use crate::program::{Context, Hot};

/// Modifiers of a source in `hot.imm`, for the low result; those for the high one are two bits further.
pub(super) const HIGH: u32 = 1;
/// The source is negated.
pub(super) const NEGATIVE: u32 = 2;

/// One result's source: a row, or a scalar register in every lane; and the sign to flip.
struct Source<'a, L: Level> {
    lanes: Lanes<'a, L>,
    level: L,
    sign: L::V,
}

impl<'a, L: Level> Source<'a, L> {
    #[inline(always)]
    fn of(level: L, operands: Operands<'a>, hot: &Hot, slot: usize, result: usize) -> Self {
        let bits = hot.imm[slot] >> (2 * result);
        let (source, high) = (hot.src[slot], bits & HIGH);
        let lanes = if source.is_row() {
            Lanes::Row(level, &source.row.group(operands.file)[high as usize])
        } else {
            let register = u32::from(source.register()) + high;
            Lanes::Same(level.splat(operands.scalars[register as usize & 127]))
        };
        Self { lanes, level, sign: level.splat(if bits & NEGATIVE != 0 { 1 << 31 } else { 0 }) }
    }

    #[inline(always)]
    fn get(&self, part: usize) -> L::V {
        self.level.xor(self.lanes.get(part), self.sign)
    }
}

/// `O` on `SOURCES` sources, twice.
pub(super) struct Packed<O, const SOURCES: usize>(PhantomData<O>);

impl<O: Operation, const SOURCES: usize> Body for Packed<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        if O::FLOATS != Floats::None && !w.plain32() {
            return level.apart::<InMode<O, SOURCES>>(context, hot);
        }
        let operands = Operands::of(w);
        let mut results = [[level.splat(0); PARTS]; 2];
        for (result, values) in results.iter_mut().enumerate() {
            let a = Source::of(level, operands, hot, 0, result);
            let b = Source::of(level, operands, hot, 1, result);
            let c = Source::of(level, operands, hot, if SOURCES == 3 { 2 } else { 1 }, result);
            for i in 0..parts::<L>() {
                values[i] = O::apply(level, a.get(i), b.get(i), c.get(i));
            }
            if O::FLOATS == Floats::First && !no_nan(level, values) {
                for i in 0..parts::<L>() {
                    values[i] = replace_nans(level, values[i], [a.get(i), b.get(i), c.get(i)]);
                }
            }
        }
        put_pair(level, w, hot.dst, &results[0], &results[1]);
        hot.next
    }
}

/// `O` in every mode. See [`Packed`].
struct InMode<O, const SOURCES: usize>(PhantomData<O>);

impl<O: Operation, const SOURCES: usize> Body for InMode<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let (operands, [first, second, third, room, ..]) = Operands::with_rooms(w);
        let rows = [first, second, third];
        let mut results = [[level.splat(0); PARTS]; 2];
        for (result, values) in results.iter_mut().enumerate() {
            for slot in 0..SOURCES {
                let source = Source::of(level, operands, hot, slot, result);
                for i in 0..parts::<L>() {
                    level.store(rows[slot], i, source.get(i));
                }
            }
            let [a, b, c] = [&*rows[0], &*rows[1], &*rows[SOURCES - 1]];
            O::in_mode(level, mode, [a, b, c], room);
            for i in 0..parts::<L>() {
                values[i] = level.load(room, i);
            }
            if !no_nan(level, values) {
                for i in 0..parts::<L>() {
                    let sources = [level.load(a, i), level.load(b, i), level.load(c, i)];
                    values[i] = replace_nans(level, values[i], sources);
                }
            }
        }
        put_pair(level, w, hot.dst, &results[0], &results[1]);
        hot.next
    }
}

/// `v_pk_mov_b32`: the low result is a dword of source 0, the high one of source 1.
pub(super) struct Move;

impl Body for Move {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let operands = Operands::of(w);
        let a = Source::of(level, operands, hot, 0, 0);
        let b = Source::of(level, operands, hot, 1, 0);
        let mut results = [[level.splat(0); PARTS]; 2];
        for i in 0..parts::<L>() {
            results[0][i] = a.get(i);
            results[1][i] = b.get(i);
        }
        put_pair(level, w, hot.dst, &results[0], &results[1]);
        hot.next
    }
}
