//! Arithmetic of singles in every MODE, and with an instruction's own modifiers: what the handlers of `valu`
//! leave to.
//!
//! It is apart from them for the compiler's sake as well, which has a file's handlers in one unit.

use std::marker::PhantomData;

use super::level::{Level, in_mode as operation, relation};
use super::mode::{FloatMode, Modifiers, Signs, finish};
use super::valu::{Floats, Operation, any_sources, nan, no_nan, replace_nans, without_nans};
use super::{Body, Lanes, Operands, PARTS, leave, parts, put};
use crate::program::{Context, Hot};
use crate::wave::{Nans, ROOMS, Row};

/// `O` in every mode, and if it is `MODIFIED` with the instruction's own modifiers. See
/// [`Do`](super::valu::Do).
pub(super) struct InMode<O, const SOURCES: usize, const MODIFIED: bool>(PhantomData<O>);

/// A source, with the instruction's own modifiers if it is `MODIFIED`.
struct Source<'a, L: Level, const MODIFIED: bool> {
    lanes: Lanes<'a, L>,
    signs: Signs<L>,
}

impl<'a, L: Level, const MODIFIED: bool> Source<'a, L, MODIFIED> {
    /// As many sources as an operation has; those that it does not have are the last that it has.
    #[inline(always)]
    fn all<const SOURCES: usize>(
        level: L,
        operands: Operands<'a>,
        hot: &Hot,
        modifiers: Modifiers,
    ) -> [Self; 3] {
        let last = SOURCES - 1;
        let [a, b, c] = any_sources::<L, SOURCES>(level, operands, hot);
        [
            Self { lanes: a, signs: Signs::of(level, modifiers, 0) },
            Self { lanes: b, signs: Signs::of(level, modifiers, last.min(1)) },
            Self { lanes: c, signs: Signs::of(level, modifiers, last) },
        ]
    }

    /// The `part`th vector.
    #[inline(always)]
    fn get(&self, part: usize) -> L::V {
        let value = self.lanes.get(part);
        if MODIFIED { self.signs.apply(value) } else { value }
    }

    /// Where its vectors are, in the register file or in `room`.
    #[inline(always)]
    fn row<'r>(&self, level: L, room: &'r mut Row) -> &'r Row
    where
        'a: 'r,
    {
        match self.lanes {
            Lanes::Row(_, row) if !MODIFIED => row,
            _ => {
                for i in 0..parts::<L>() {
                    level.store(room, i, self.get(i));
                }
                room
            }
        }
    }
}

/// The `part`th vectors of the sources.
#[inline(always)]
fn part_of<L: Level, const MODIFIED: bool>(sources: &[Source<'_, L, MODIFIED>; 3], part: usize) -> [L::V; 3] {
    [sources[0].get(part), sources[1].get(part), sources[2].get(part)]
}

/// Whether a result is to be looked at again because of a NaN: a bit for each lane of a vector.
#[inline(always)]
fn unordered<L: Level, O: Operation>(level: L, [a, b, c]: [L::V; 3], result: L::V) -> u32 {
    match O::FLOATS {
        Floats::Loses => level.compare_f32::<{ relation::UNORDERED }>(a, b),
        Floats::LosesOfThree => level.compare_f32::<{ relation::UNORDERED }>(a, b) | nan(level, c),
        Floats::First | Floats::FirstReversed => nan(level, result),
        Floats::None | Floats::Makes => 0,
    }
}

/// The result by the rule of [`Floats`], where there is a NaN.
#[inline(always)]
fn settled<L: Level, O: Operation>(level: L, [a, b, c]: [L::V; 3], result: L::V, nans: Nans) -> L::V {
    match O::FLOATS {
        Floats::First => replace_nans(level, result, [a, b, c]),
        Floats::FirstReversed => replace_nans(level, result, [b, a, a]),
        Floats::Loses => without_nans(level, result, a, b, nans),
        Floats::None | Floats::Makes | Floats::LosesOfThree => result,
    }
}

/// The `part`th result as MODE flushes sources: in vector code of its own. `None`: it must be left, for its
/// NaNs.
#[inline(always)]
fn here<L: Level, O: Operation>(level: L, mut values: [L::V; 3], flushes: bool, nans: Nans) -> Option<L::V> {
    if flushes {
        values = [level.flush_f32(values[0]), level.flush_f32(values[1]), level.flush_f32(values[2])];
    }
    let result = O::apply(level, values[0], values[1], values[2]);
    if unordered::<L, O>(level, values, result) == 0 {
        return Some(result);
    }
    if O::FLOATS == Floats::LosesOfThree {
        return None;
    }
    Some(settled::<L, O>(level, values, result, nans))
}

/// The results in a mode that is not the default, by [`Level::in_mode`]: in one of the rooms.
#[inline(always)]
fn in_mode<'r, L: Level, O: Operation, const SOURCES: usize, const MODIFIED: bool>(
    level: L,
    mode: FloatMode,
    sources: &[Source<'_, L, MODIFIED>; 3],
    [first, second, third, results, ..]: &'r mut [Row; ROOMS],
    nans: Nans,
) -> &'r Row {
    let rows = if O::ARRANGES {
        for i in 0..parts::<L>() {
            let [a, b, c] = part_of(sources, i);
            let [a, b, c] = O::arranged(level, a, b, c);
            level.store(first, i, a);
            level.store(second, i, b);
            level.store(third, i, c);
        }
        [&*first, second, third]
    } else {
        let a = sources[0].row(level, first);
        let b = if SOURCES < 2 { a } else { sources[1].row(level, second) };
        [a, b, if SOURCES < 3 { b } else { sources[2].row(level, third) }]
    };
    O::in_mode(level, mode, rows, results);
    let mut unordered = 0;
    for i in 0..parts::<L>() {
        unordered |= match O::FLOATS {
            Floats::Loses => {
                level.compare_f32::<{ relation::UNORDERED }>(sources[0].get(i), sources[1].get(i))
            }
            Floats::First | Floats::FirstReversed if i % 2 == 1 => {
                let (a, b) = (level.load(results, i - 1), level.load(results, i));
                level.compare_f32::<{ relation::UNORDERED }>(a, b)
            }
            _ => 0,
        };
    }
    if unordered != 0 {
        for i in 0..parts::<L>() {
            let result = level.load(results, i);
            let result = with_nans::<L, O>(level, mode, part_of(sources, i), result, nans);
            level.store(results, i, result);
        }
    }
    results
}

/// A result of [`in_mode`] where there are NaNs.
#[inline(always)]
fn with_nans<L: Level, O: Operation>(
    level: L,
    mode: FloatMode,
    [a, b, c]: [L::V; 3],
    result: L::V,
    nans: Nans,
) -> L::V {
    let result = settled::<L, O>(level, [a, b, c], result, nans);
    // What a NaN has lost against is the source as it was.
    let is_source = O::FLOATS == Floats::Loses && (mode.flushes_sources || mode.flushes_results);
    if is_source { level.flush_f32(result) } else { result }
}

impl<O: Operation, const SOURCES: usize, const MODIFIED: bool> Body for InMode<O, SOURCES, MODIFIED> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        // What rounds to the nearest and makes no subnormal, or is in the default mode but for the
        // instruction's own modifiers.
        let is_default = mode.directed.is_none() && O::FLOATS == Floats::Makes || MODIFIED && w.plain32();
        let nans = w.nans();
        let (operands, rooms) = Operands::with_rooms(w);
        let sources = Source::<L, MODIFIED>::all::<SOURCES>(level, operands, hot, modifiers);
        let mut result = [level.splat(0); PARTS];
        let mut are_flushed = true;
        if const { O::IN_MODE } && !is_default {
            let results = in_mode::<L, O, SOURCES, MODIFIED>(level, mode, &sources, rooms, nans);
            for i in 0..parts::<L>() {
                result[i] = level.load(results, i);
            }
        } else {
            let flushes = mode.flushes_sources && O::FLOATS != Floats::Makes;
            for i in 0..parts::<L>() {
                let values = part_of(&sources, i);
                let Some(value) = here::<L, O>(level, values, flushes, nans) else {
                    return leave(context, hot);
                };
                result[i] = value;
            }
            are_flushed = O::FLOATS == Floats::Makes || mode.flushes_sources && !O::SHRINKS;
        }
        finish(level, w, mode, modifiers, are_flushed, &mut result);
        put(level, w, hot.dst, &result);
        hot.next
    }
}

/// `v_mad_f32` and `v_mac_f32`: a product, rounded, and a sum, rounded, without subnormals anywhere, whatever
/// MODE says of them. If it is `MODIFIED`, with the instruction's own modifiers.
pub(super) struct MultiplyAddTwice<const MODIFIED: bool>;

impl<const MODIFIED: bool> Body for MultiplyAddTwice<MODIFIED> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let flushing = FloatMode { flushes_sources: true, flushes_results: true, ..mode };
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        let (operands, rooms) = Operands::with_rooms(w);
        let sources = Source::<L, MODIFIED>::all::<3>(level, operands, hot, modifiers);
        let [first, second, third, results, ..] = rooms;
        let rows =
            [sources[0].row(level, first), sources[1].row(level, second), sources[2].row(level, third)];
        level.in_mode::<{ operation::MUL_ADD_F32 }>(flushing, rows, results);
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            result[i] = level.load(results, i);
        }
        if !no_nan(level, &result) {
            // A product that is a NaN is the first source that is one, or of the operation: that is one
            // before the third source.
            for i in 0..parts::<L>() {
                let [a, b, c] = part_of(&sources, i);
                let product = level.mul_f32(level.flush_f32(a), level.flush_f32(b));
                let product = replace_nans(level, product, [a, b, b]);
                result[i] = replace_nans(level, result[i], [product, c, c]);
            }
        }
        finish(level, w, mode, modifiers, true, &mut result);
        put(level, w, hot.dst, &result);
        hot.next
    }
}
