//! Arithmetic of singles in every MODE, and with an instruction's own modifiers: what the handlers of `valu` leave to.
//!
//! It is apart from them for the compiler's sake as well, which has a file's handlers in one unit.

use std::marker::PhantomData;

use super::level::{Level, Vectors32, relation};
use super::mode::{FloatMode, Modifiers, Signs, finish};
use super::valu::{AddF32, Floats, MultiplyF32, Operation, any_sources, nan, replace_nans, without_nans};
use super::{Body, Hot, Lanes, PARTS, leave, parts, put};
use crate::exec::Context;
use crate::wave::Wave;

/// `O` in every mode, and if it is `MODIFIED` with the instruction's own modifiers. See [`Do`](super::valu::Do).
pub(super) struct InMode<O, const SOURCES: usize, const MODIFIED: bool>(PhantomData<O>);

/// The same, rounded other than to the nearest, or with NaNs that follow the rule of [`Floats`]. See [`InMode`].
struct SettledInMode<O, const SOURCES: usize, const MODIFIED: bool>(PhantomData<O>);

/// Sources as MODE and the instruction's modifiers want them.
struct Prepared<L: Level, const MODIFIED: bool> {
    lanes: [Lanes<L>; 3],
    signs: [Signs<L>; 3],
    flushes: bool,
}

impl<L: Level, const MODIFIED: bool> Prepared<L, MODIFIED> {
    /// # Safety
    /// As for [`super::Handler`].
    #[inline(always)]
    unsafe fn of<const SOURCES: usize>(w: &mut Wave, hot: &Hot, modifiers: Modifiers, flushes: bool) -> Self {
        // Those that an operation does not have are the last that it has.
        let last = SOURCES - 1;
        // SAFETY: the caller's.
        unsafe {
            let lanes = any_sources::<L, SOURCES>(w, hot);
            let signs =
                [Signs::of(modifiers, 0), Signs::of(modifiers, last.min(1)), Signs::of(modifiers, last)];
            Self { lanes, signs, flushes }
        }
    }

    /// The `part`th vectors.
    ///
    /// # Safety
    /// As for [`super::Handler`].
    #[inline(always)]
    unsafe fn get(&self, part: usize) -> [L::V; 3] {
        // SAFETY: the caller's.
        unsafe { [self.source(0, part), self.source(1, part), self.source(2, part)] }
    }

    /// # Safety
    /// As for [`super::Handler`].
    #[inline(always)]
    unsafe fn source(&self, slot: usize, part: usize) -> L::V {
        // SAFETY: the caller's.
        unsafe {
            let value = self.lanes[slot].get(part);
            let value = if MODIFIED { self.signs[slot].apply(value) } else { value };
            if self.flushes { L::flush_f32(value) } else { value }
        }
    }
}

/// Whether a result is to be looked at again because of a NaN: a bit for each lane of a vector.
#[inline(always)]
unsafe fn unordered<L: Level, O: Operation>([a, b, c]: [L::V; 3], result: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        match O::FLOATS {
            Floats::Loses => L::compare_f32::<{ relation::UNORDERED }>(a, b),
            Floats::LosesOfThree => L::compare_f32::<{ relation::UNORDERED }>(a, b) | nan::<L>(c),
            Floats::First | Floats::FirstReversed => {
                L::compare_f32::<{ relation::UNORDERED }>(result, result)
            }
            Floats::None | Floats::Makes => 0,
        }
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
            if const { O::ROUNDED.is_some() } && mode.directed.is_some() {
                return L::apart::<SettledInMode<O, SOURCES, MODIFIED>>(context, hot);
            }
            let flushes = mode.flushes_sources && O::FLOATS != Floats::Makes;
            let sources = Prepared::<L, MODIFIED>::of::<SOURCES>(w, hot, modifiers, flushes);
            let mut result = [L::splat(0); PARTS];
            let mut nans = 0;
            for i in 0..parts::<L>() {
                let [a, b, c] = sources.get(i);
                result[i] = O::apply::<L>(a, b, c);
                nans |= unordered::<L, O>([a, b, c], result[i]);
            }
            if const { O::FLOATS.have_nans() } && nans != 0 {
                return match O::FLOATS {
                    Floats::LosesOfThree => leave(context, hot),
                    _ => L::apart::<SettledInMode<O, SOURCES, MODIFIED>>(context, hot),
                };
            }
            finish::<L>(w, mode, modifiers, &mut result);
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize, const MODIFIED: bool> Body for SettledInMode<O, SOURCES, MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        // SAFETY: as for `Do`.
        unsafe {
            let flushes = mode.flushes_sources && O::FLOATS != Floats::Makes;
            let sources = Prepared::<L, MODIFIED>::of::<SOURCES>(w, hot, modifiers, flushes);
            let mut result = [L::splat(0); PARTS];
            match (mode.directed, O::ROUNDED) {
                (Some(round), Some(_)) => {
                    let (mut second, mut third) = (result, result);
                    for i in 0..parts::<L>() {
                        let [a, b, c] = sources.get(i);
                        [result[i], second[i], third[i]] = O::arranged::<L>(a, b, c);
                    }
                    O::directed::<L>(round, &mut result, &second, &third);
                }
                _ => {
                    for i in 0..parts::<L>() {
                        let [a, b, c] = sources.get(i);
                        result[i] = O::apply::<L>(a, b, c);
                    }
                }
            }
            for i in 0..parts::<L>() {
                let [a, b, c] = sources.get(i);
                if unordered::<L, O>([a, b, c], result[i]) == 0 {
                    continue;
                }
                result[i] = match O::FLOATS {
                    Floats::First => replace_nans::<L>(result[i], [a, b, c]),
                    Floats::FirstReversed => replace_nans::<L>(result[i], [b, a, a]),
                    Floats::Loses => without_nans::<L>(result[i], a, b, w.nans()),
                    Floats::None | Floats::Makes | Floats::LosesOfThree => result[i],
                };
            }
            finish::<L>(w, mode, modifiers, &mut result);
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

/// `v_mad_f32` and `v_mac_f32`: a product, rounded, and a sum, rounded, without subnormals anywhere, whatever MODE says of them. If it is
/// `MODIFIED`, with the instruction's own modifiers.
pub(super) struct MultiplyAddTwice<const MODIFIED: bool>;

impl<const MODIFIED: bool> Body for MultiplyAddTwice<MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: as for `Do`.
        unsafe {
            if MODIFIED || !w.nearest32() {
                return L::apart::<MultiplyAddInMode<MODIFIED>>(context, hot);
            }
            let [a, b, c] = any_sources::<L, 3>(w, hot);
            let mut result = [L::splat(0); PARTS];
            let mut unordered = 0;
            for i in 0..parts::<L>() {
                let (a, b, c) = (L::flush_f32(a.get(i)), L::flush_f32(b.get(i)), L::flush_f32(c.get(i)));
                let product = L::flush_f32(L::mul_f32(a, b));
                result[i] = L::flush_f32(L::add_f32(product, c));
                unordered |= L::compare_f32::<{ relation::UNORDERED }>(result[i], result[i]);
            }
            // A product that is a NaN makes the sum one.
            if unordered != 0 {
                return L::rarely::<MultiplyAddInMode<MODIFIED>>(context, hot);
            }
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

/// The same in every mode, and with NaNs. See [`MultiplyAddTwice`].
struct MultiplyAddInMode<const MODIFIED: bool>;

impl<const MODIFIED: bool> Body for MultiplyAddInMode<MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::single(w);
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        // SAFETY: as for `Do`.
        unsafe {
            let mut sources = [[L::splat(0); PARTS]; 3];
            for slot in 0..3 {
                let (source, signs) = (Lanes::<L>::of(w, hot, slot), Signs::<L>::of(modifiers, slot));
                for i in 0..parts::<L>() {
                    sources[slot][i] = L::flush_f32(signs.apply(source.get(i)));
                }
            }
            let [a, b, c] = sources;
            let product = step_of_two::<L, MultiplyF32>(mode, &a, &b);
            let mut result = step_of_two::<L, AddF32>(mode, &product, &c);
            finish::<L>(w, mode, modifiers, &mut result);
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

/// One of the two operations: the result of two sources, rounded, with the NaN of the rule, without subnormals.
///
/// # Safety
/// As for [`Level`].
#[inline(always)]
unsafe fn step_of_two<L: Level, O: Operation>(
    mode: FloatMode,
    a: &Vectors32<L>,
    b: &Vectors32<L>,
) -> Vectors32<L> {
    // SAFETY: the caller's.
    unsafe {
        let mut result = *a;
        match mode.directed {
            Some(round) => O::directed::<L>(round, &mut result, b, b),
            None => {
                for i in 0..parts::<L>() {
                    result[i] = O::apply::<L>(a[i], b[i], b[i]);
                }
            }
        }
        for i in 0..parts::<L>() {
            result[i] = L::flush_f32(replace_nans::<L>(result[i], [a[i], b[i], b[i]]));
        }
        result
    }
}
