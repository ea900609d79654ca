//! Arithmetic of singles in every MODE, and with an instruction's own modifiers: what the handlers of `valu`
//! leave to.
//!
//! It is apart from them for the compiler's sake as well, which has a file's handlers in one unit.

use std::marker::PhantomData;

use super::level::{Level, Room, in_mode as operation, relation};
use super::mode::{FloatMode, Modifiers, Signs, finish};
use super::valu::{Floats, Operation, any_sources, nan, no_nan, replace_nans, without_nans};
use super::{Body, Lanes, PARTS, leave, parts, put};
use crate::program::{Context, Hot};
use crate::wave::{Nans, Wave};

/// `O` in every mode, and if it is `MODIFIED` with the instruction's own modifiers. See
/// [`Do`](super::valu::Do).
pub(super) struct InMode<O, const SOURCES: usize, const MODIFIED: bool>(PhantomData<O>);

/// A source, with the instruction's own modifiers if it is `MODIFIED`.
struct Source<L: Level, const MODIFIED: bool> {
    lanes: Lanes<L>,
    signs: Signs<L>,
}

impl<L: Level, const MODIFIED: bool> Source<L, MODIFIED> {
    /// As many sources as an operation has; those that it does not have are the last that it has.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn all<const SOURCES: usize>(w: &mut Wave, hot: &Hot, modifiers: Modifiers) -> [Self; 3] {
        let last = SOURCES - 1;
        // SAFETY: the caller's.
        unsafe {
            let [a, b, c] = any_sources::<L, SOURCES>(w, hot);
            [
                Self { lanes: a, signs: Signs::of(modifiers, 0) },
                Self { lanes: b, signs: Signs::of(modifiers, last.min(1)) },
                Self { lanes: c, signs: Signs::of(modifiers, last) },
            ]
        }
    }

    /// The `part`th vector.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn get(&self, part: usize) -> L::V {
        // SAFETY: the caller's.
        unsafe {
            let value = self.lanes.get(part);
            if MODIFIED { self.signs.apply(value) } else { value }
        }
    }

    /// Where its vectors are, in the register file or in `room`.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn row(&self, room: &mut Room<L>) -> *const L::V {
        match self.lanes {
            Lanes::Row(row) if !MODIFIED => row.cast(),
            _ => {
                for i in 0..parts::<L>() {
                    // SAFETY: the caller's.
                    unsafe { room.set(i, self.get(i)) };
                }
                room.as_ptr()
            }
        }
    }
}

/// The `part`th vectors of the sources.
#[inline(always)]
unsafe fn part_of<L: Level, const MODIFIED: bool>(
    sources: &[Source<L, MODIFIED>; 3],
    part: usize,
) -> [L::V; 3] {
    // SAFETY: the caller's.
    unsafe { [sources[0].get(part), sources[1].get(part), sources[2].get(part)] }
}

/// Whether a result is to be looked at again because of a NaN: a bit for each lane of a vector.
#[inline(always)]
unsafe fn unordered<L: Level, O: Operation>([a, b, c]: [L::V; 3], result: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        match O::FLOATS {
            Floats::Loses => L::compare_f32::<{ relation::UNORDERED }>(a, b),
            Floats::LosesOfThree => L::compare_f32::<{ relation::UNORDERED }>(a, b) | nan::<L>(c),
            Floats::First | Floats::FirstReversed => nan::<L>(result),
            Floats::None | Floats::Makes => 0,
        }
    }
}

/// The result by the rule of [`Floats`], where there is a NaN.
#[inline(always)]
unsafe fn settled<L: Level, O: Operation>([a, b, c]: [L::V; 3], result: L::V, nans: Nans) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        match O::FLOATS {
            Floats::First => replace_nans::<L>(result, [a, b, c]),
            Floats::FirstReversed => replace_nans::<L>(result, [b, a, a]),
            Floats::Loses => without_nans::<L>(result, a, b, nans),
            Floats::None | Floats::Makes | Floats::LosesOfThree => result,
        }
    }
}

/// The `part`th result as MODE flushes sources: in vector code of its own. `None`: it must be left, for its
/// NaNs.
#[inline(always)]
unsafe fn here<L: Level, O: Operation>(mut values: [L::V; 3], flushes: bool, nans: Nans) -> Option<L::V> {
    // SAFETY: the caller's.
    unsafe {
        if flushes {
            values = [L::flush_f32(values[0]), L::flush_f32(values[1]), L::flush_f32(values[2])];
        }
        let result = O::apply::<L>(values[0], values[1], values[2]);
        if unordered::<L, O>(values, result) == 0 {
            return Some(result);
        }
        if O::FLOATS == Floats::LosesOfThree {
            return None;
        }
        Some(settled::<L, O>(values, result, nans))
    }
}

/// The results in a mode that is not the default, by [`Level::in_mode`].
#[inline(always)]
unsafe fn in_mode<L: Level, O: Operation, const SOURCES: usize, const MODIFIED: bool>(
    mode: FloatMode,
    sources: &[Source<L, MODIFIED>; 3],
    nans: Nans,
) -> Room<L> {
    // SAFETY: the caller's.
    unsafe {
        let mut rooms = [const { Room::<L>::new() }; 3];
        let rows = if O::ARRANGES {
            for i in 0..parts::<L>() {
                let [a, b, c] = part_of(sources, i);
                let arranged = O::arranged::<L>(a, b, c);
                for slot in 0..3 {
                    rooms[slot].set(i, arranged[slot]);
                }
            }
            [rooms[0].as_ptr(), rooms[1].as_ptr(), rooms[2].as_ptr()]
        } else {
            let [first, second, third] = &mut rooms;
            let a = sources[0].row(first);
            let b = if SOURCES < 2 { a } else { sources[1].row(second) };
            [a, b, if SOURCES < 3 { b } else { sources[2].row(third) }]
        };
        let mut room = Room::<L>::new();
        O::in_mode::<L>(mode, rows, &mut room);
        let mut unordered = 0;
        for i in 0..parts::<L>() {
            unordered |= match O::FLOATS {
                Floats::Loses => {
                    L::compare_f32::<{ relation::UNORDERED }>(sources[0].get(i), sources[1].get(i))
                }
                Floats::First | Floats::FirstReversed if i % 2 == 1 => {
                    L::compare_f32::<{ relation::UNORDERED }>(room.get(i - 1), room.get(i))
                }
                _ => 0,
            };
        }
        if unordered != 0 {
            for i in 0..parts::<L>() {
                room.set(i, with_nans::<L, O>(mode, part_of(sources, i), room.get(i), nans));
            }
        }
        room
    }
}

/// A result of [`in_mode`] where there are NaNs.
#[inline(always)]
unsafe fn with_nans<L: Level, O: Operation>(
    mode: FloatMode,
    [a, b, c]: [L::V; 3],
    result: L::V,
    nans: Nans,
) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let result = settled::<L, O>([a, b, c], result, nans);
        // What a NaN has lost against is the source as it was.
        let is_source = O::FLOATS == Floats::Loses && (mode.flushes_sources || mode.flushes_results);
        if is_source { L::flush_f32(result) } else { result }
    }
}

impl<O: Operation, const SOURCES: usize, const MODIFIED: bool> Body for InMode<O, SOURCES, MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        // SAFETY: as for `Do`.
        unsafe {
            let sources = Source::<L, MODIFIED>::all::<SOURCES>(w, hot, modifiers);
            // What rounds to the nearest and makes no subnormal, or is in the default mode but for the
            // instruction's own modifiers.
            let is_default = mode.directed.is_none() && O::FLOATS == Floats::Makes || MODIFIED && w.plain32();
            let mut result = [L::splat(0); PARTS];
            let mut are_flushed = true;
            if const { O::IN_MODE } && !is_default {
                let room = in_mode::<L, O, SOURCES, MODIFIED>(mode, &sources, w.nans());
                for i in 0..parts::<L>() {
                    result[i] = room.get(i);
                }
            } else {
                let flushes = mode.flushes_sources && O::FLOATS != Floats::Makes;
                for i in 0..parts::<L>() {
                    let values = part_of(&sources, i);
                    let Some(value) = here::<L, O>(values, flushes, w.nans()) else {
                        return leave(context, hot);
                    };
                    result[i] = value;
                }
                are_flushed = O::FLOATS == Floats::Makes || mode.flushes_sources && !O::SHRINKS;
            }
            finish::<L>(w, mode, modifiers, are_flushed, &mut result);
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

/// `v_mad_f32` and `v_mac_f32`: a product, rounded, and a sum, rounded, without subnormals anywhere, whatever
/// MODE says of them. If it is `MODIFIED`, with the instruction's own modifiers.
pub(super) struct MultiplyAddTwice<const MODIFIED: bool>;

impl<const MODIFIED: bool> Body for MultiplyAddTwice<MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let flushing = FloatMode { flushes_sources: true, flushes_results: true, ..mode };
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        // SAFETY: as for `Do`.
        unsafe {
            let sources = Source::<L, MODIFIED>::all::<3>(w, hot, modifiers);
            let [mut first, mut second, mut third] = [const { Room::<L>::new() }; 3];
            let rows = [sources[0].row(&mut first), sources[1].row(&mut second), sources[2].row(&mut third)];
            let mut room = Room::<L>::new();
            L::in_mode::<{ operation::MUL_ADD_F32 }>(flushing, rows, &mut room);
            let mut result = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                result[i] = room.get(i);
            }
            if !no_nan::<L>(&result) {
                // A product that is a NaN is the first source that is one, or of the operation: that is one
                // before the third source.
                for i in 0..parts::<L>() {
                    let [a, b, c] = part_of(&sources, i);
                    let product = L::mul_f32(L::flush_f32(a), L::flush_f32(b));
                    let product = replace_nans::<L>(product, [a, b, b]);
                    result[i] = replace_nans::<L>(result[i], [product, c, c]);
                }
            }
            finish::<L>(w, mode, modifiers, true, &mut result);
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}
