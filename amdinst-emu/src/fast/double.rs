//! Arithmetic and comparisons of doubles, which are two rows each, in every mode and with signs changed; and
//! comparisons of 64-bit integers.

use std::marker::PhantomData;

use super::compare;
use super::level::{Level, Room, Vectors32, in_mode, relation};
use super::mode::{FloatMode, Modifiers};
use super::valu::put_mask;
use super::{Body, CONST, PARTS, SCALAR, parts, put, rows};
use crate::program::{Context, Hot};
use crate::wave::{LANES, Nans, Wave};

/// An operation on vectors of doubles; operations on fewer sources ignore the others.
pub(super) trait Operation {
    /// A source that is a NaN loses against the other one. Else a result that is a NaN is that of the first
    /// source that is one.
    const LOSES: bool;
    /// Results are rounded, so MODE says how.
    const ROUNDS: bool;
    /// # Safety
    /// As for [`Level`].
    unsafe fn apply<L: Level>(a: L::V, b: L::V, c: L::V) -> L::V;
    /// The same in any MODE, for rows of vectors ([`Level::in_mode`]). Of one that rounds.
    ///
    /// # Safety
    /// As for [`Level`].
    unsafe fn in_mode<L: Level>(_: FloatMode, _: [*const L::V; 3], _: &mut Room<L>) {}
}

macro_rules! operations {
    ($($name:ident $loses:literal = |$a:ident, $b:ident, $c:ident| $body:expr $(, $in_mode:ident)?;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const LOSES: bool = $loses;
            #[inline(always)]
            unsafe fn apply<L: Level>($a: L::V, $b: L::V, $c: L::V) -> L::V {
                // SAFETY: the caller's.
                unsafe { $body }
            }
            operations!(@in_mode $($in_mode)?);
        }
    )*};
    (@in_mode) => {
        const ROUNDS: bool = false;
    };
    (@in_mode $in_mode:ident) => {
        const ROUNDS: bool = true;
        #[inline(always)]
        unsafe fn in_mode<L: Level>(mode: FloatMode, sources: [*const L::V; 3], result: &mut Room<L>) {
            // SAFETY: the caller's.
            unsafe { L::in_mode::<{ in_mode::$in_mode }>(mode, sources, result) }
        }
    };
}

operations! {
    Add false = |a, b, _c| L::add_f64(a, b), ADD_F64;
    Multiply false = |a, b, _c| L::mul_f64(a, b), MUL_F64;
    Fma false = |a, b, c| L::fma_f64(a, b, c), FMA_F64;
    Min true = |a, b, _c| L::min_f64(a, b);
    Max true = |a, b, _c| L::max_f64(a, b);
}

/// In a source that is a constant: see [`Source`].
pub(super) const LOW: u32 = 1 << 18;

/// A source of doubles: a pair of rows, or the same value everywhere. Of a constant, `hot.imm` is the
/// high half, and the low one is zero; or with [`LOW`] the low half, which is extended by its sign.
struct Source<L: Level> {
    row: Option<*const u32>,
    low: L::V,
    high: L::V,
    stay: L::V,
    invert: L::V,
}

impl<L: Level> Clone for Source<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Level> Copy for Source<L> {}

impl<L: Level> Source<L> {
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn of(w: &mut Wave, hot: &Hot, slot: usize) -> Self {
        let src = hot.src[slot];
        let (stay, invert) = Modifiers::get(hot).signs(slot);
        // SAFETY: a source below SCALAR is a pair of rows of the register file.
        unsafe {
            let (low, high) = match src {
                _ if src & LOW != 0 => (hot.imm[slot], ((hot.imm[slot] as i32) >> 31) as u32),
                _ if src & CONST != 0 => (0, hot.imm[slot]),
                SCALAR.. => (w.s[(src & 127) as usize], w.s[((src + 1) & 127) as usize]),
                _ => (0, 0),
            };
            Self {
                row: (src < SCALAR).then(|| rows(w).add(src as usize).cast_const()),
                low: L::splat(low),
                high: L::splat(high),
                stay: L::splat(stay),
                invert: L::splat(invert),
            }
        }
    }

    /// The halves of the `part`th vector's lanes, the high ones with their signs changed.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn halves(&self, part: usize) -> [L::V; 2] {
        // SAFETY: within the rows.
        unsafe {
            let [low, high] = match self.row {
                Some(row) => [L::load(row.add(part * L::N)), L::load(row.add(LANES + part * L::N))],
                None => [self.low, self.high],
            };
            [low, L::xor(L::and(high, self.stay), self.invert)]
        }
    }

    /// The `part`th vector's lanes as doubles.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    #[inline(always)]
    unsafe fn doubles(&self, part: usize, flushes: bool) -> [L::V; 2] {
        // SAFETY: within the rows.
        unsafe {
            let [low, high] = self.halves(part);
            let [first, second] = L::doubles(low, high);
            if flushes { [L::flush_f64(first), L::flush_f64(second)] } else { [first, second] }
        }
    }
}

/// A double in all lanes.
#[inline(always)]
unsafe fn splat<L: Level>(bits: u64) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::doubles(L::splat(bits as u32), L::splat((bits >> 32) as u32))[0] }
}

const QUIET: u64 = 1 << 51;
const INVALID: u64 = 0xfff8 << 48;

#[inline(always)]
unsafe fn nan<L: Level>(value: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe { L::compare_f64::<{ relation::UNORDERED }>(value, value) }
}

/// The source, quiet, where it is a NaN; else the other value.
#[inline(always)]
unsafe fn or_source<L: Level>(other: L::V, source: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::blend_f64(nan::<L>(source), other, L::or(source, splat::<L>(QUIET))) }
}

/// The NaN that stands for a result that is one, as `valu` has it for singles.
#[inline(always)]
unsafe fn replace_nans<L: Level>(result: L::V, [a, b, c]: [L::V; 3]) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let found = or_source::<L>(or_source::<L>(or_source::<L>(splat::<L>(INVALID), c), b), a);
        L::blend_f64(nan::<L>(result), result, found)
    }
}

/// `minmax`, but where a source is a NaN.
#[inline(always)]
unsafe fn without_nans<L: Level>(minmax: L::V, a: L::V, b: L::V, nans: Nans) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let result = L::blend_f64(nan::<L>(a), L::blend_f64(nan::<L>(b), minmax, a), b);
        let quiet = splat::<L>(QUIET);
        match nans {
            Nans::Lose => result,
            Nans::Number => L::blend_f64(nan::<L>(a) & nan::<L>(b), result, L::or(a, quiet)),
            Nans::Signal => {
                let second = L::blend_f64(signals::<L>(b), result, L::or(b, quiet));
                L::blend_f64(signals::<L>(a), second, L::or(a, quiet))
            }
        }
    }
}

/// The lanes whose value is a signalling NaN: infinity with the quiet bit is a NaN, without it a number.
#[inline(always)]
unsafe fn signals<L: Level>(value: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let bit = L::or(L::and(value, splat::<L>(QUIET)), splat::<L>(f64::INFINITY.to_bits()));
        nan::<L>(value) & !nan::<L>(bit)
    }
}

/// `O` on as many sources as it has.
pub(super) struct Do<O, const SOURCES: usize>(PhantomData<O>);

/// `O` where MODE flushes or rounds otherwise. See [`Do`].
struct InMode<O, const SOURCES: usize>(PhantomData<O>);

/// `O` where there are NaNs, which follow the rule. See [`Do`].
struct Settled<O, const SOURCES: usize>(PhantomData<O>);

#[inline(always)]
unsafe fn sources<L: Level, const SOURCES: usize>(w: &mut Wave, hot: &Hot) -> [Source<L>; 3] {
    // SAFETY: the caller's.
    unsafe {
        let a = Source::of(w, hot, 0);
        let b = Source::of(w, hot, 1);
        let c = if SOURCES < 3 { b } else { Source::of(w, hot, 2) };
        [a, b, c]
    }
}

#[inline(always)]
unsafe fn write<L: Level>(w: &mut Wave, hot: &Hot, results: [Vectors32<L>; 2]) {
    // SAFETY: the caller's.
    unsafe {
        let [mut low, mut high] = results;
        for i in 0..parts::<L>() {
            [low[i], high[i]] = L::halves([low[i], high[i]]);
        }
        put::<L>(w, hot.dst, &low);
        put::<L>(w, hot.dst + LANES as u32, &high);
    }
}

/// Whether a result is to be looked at again because of a NaN: a bit for each lane of a vector.
#[inline(always)]
unsafe fn unordered<L: Level, O: Operation>([a, b, _]: [L::V; 3], result: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe { if O::LOSES { L::compare_f64::<{ relation::UNORDERED }>(a, b) } else { nan::<L>(result) } }
}

/// The `part`th vectors of three sources, as doubles: for each half, one of each source.
#[inline(always)]
unsafe fn doubles<L: Level>(sources: &[Source<L>; 3], part: usize, flushes: bool) -> [[L::V; 3]; 2] {
    // SAFETY: the caller's.
    unsafe {
        let a = sources[0].doubles(part, flushes);
        let b = sources[1].doubles(part, flushes);
        let c = sources[2].doubles(part, flushes);
        [[a[0], b[0], c[0]], [a[1], b[1], c[1]]]
    }
}

/// `O` to the nearest number; `None` if there are NaNs.
#[inline(always)]
unsafe fn to_nearest<L: Level, O: Operation>(
    sources: &[Source<L>; 3],
    flushes_sources: bool,
    flushes_results: bool,
) -> Option<[Vectors32<L>; 2]> {
    // SAFETY: the caller's.
    unsafe {
        let mut results = [[L::splat(0); PARTS]; 2];
        let mut nans = 0;
        for i in 0..parts::<L>() {
            let halves = doubles(sources, i, flushes_sources);
            for half in 0..2 {
                let [a, b, c] = halves[half];
                let result = O::apply::<L>(a, b, c);
                nans |= unordered::<L, O>([a, b, c], result);
                results[half][i] = if flushes_results { L::flush_f64(result) } else { result };
            }
        }
        (nans == 0).then_some(results)
    }
}

impl<O: Operation, const SOURCES: usize> Body for Do<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            if !w.plain64() {
                return L::apart::<InMode<O, SOURCES>>(context, hot);
            }
            let sources = sources::<L, SOURCES>(w, hot);
            let Some(results) = to_nearest::<L, O>(&sources, false, false) else {
                return L::rarely::<Settled<O, SOURCES>>(context, hot);
            };
            write::<L>(w, hot, results);
        }
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for InMode<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::double(w);
        // SAFETY: as for `Do`.
        unsafe {
            let sources = sources::<L, SOURCES>(w, hot);
            if O::ROUNDS {
                let mut rows = [const { [const { Room::<L>::new() }; 3] }; 2];
                for i in 0..parts::<L>() {
                    let halves = doubles(&sources, i, false);
                    for half in 0..2 {
                        for slot in 0..SOURCES {
                            rows[half][slot].set(i, halves[half][slot]);
                        }
                    }
                }
                let mut results = [[L::splat(0); PARTS]; 2];
                for half in 0..2 {
                    let [a, b, c] = &rows[half];
                    let c = if SOURCES < 3 { b } else { c };
                    let mut room = Room::<L>::new();
                    O::in_mode::<L>(mode, [a.as_ptr(), b.as_ptr(), c.as_ptr()], &mut room);
                    for i in 0..parts::<L>() {
                        let result = room.get(i);
                        let is_number = nan::<L>(result) == 0;
                        let nans = [a.get(i), b.get(i), c.get(i)];
                        results[half][i] = if is_number { result } else { replace_nans::<L>(result, nans) };
                    }
                }
                write::<L>(w, hot, results);
                return hot.next;
            }
            let Some(results) = to_nearest::<L, O>(&sources, mode.flushes_sources, mode.flushes_results)
            else {
                return L::apart::<Settled<O, SOURCES>>(context, hot);
            };
            write::<L>(w, hot, results);
        }
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for Settled<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // What rounds comes here in the default mode alone.
        let mode = FloatMode::double(w);
        // SAFETY: as for `Do`.
        unsafe {
            let sources = sources::<L, SOURCES>(w, hot);
            let mut results = [[L::splat(0); PARTS]; 2];
            for i in 0..parts::<L>() {
                let halves = doubles(&sources, i, mode.flushes_sources);
                for half in 0..2 {
                    let [a, b, c] = halves[half];
                    let mut value = O::apply::<L>(a, b, c);
                    if unordered::<L, O>([a, b, c], value) != 0 {
                        value = if O::LOSES {
                            without_nans::<L>(value, a, b, w.nans())
                        } else {
                            replace_nans::<L>(value, [a, b, c])
                        };
                    }
                    results[half][i] = if mode.flushes_results { L::flush_f64(value) } else { value };
                }
            }
            write::<L>(w, hot, results);
        }
        hot.next
    }
}

/// A test of two vectors of 64-bit lanes.
pub(super) trait Test {
    /// Lanes of the `part`th vectors for which it holds.
    ///
    /// # Safety
    /// As for [`super::HotHandler`].
    unsafe fn lanes<L: Level>(a: &Halves<L>, b: &Halves<L>, flushes: bool) -> u32;
}

/// The low and the high halves of a vector's lanes.
pub(super) type Halves<L> = [<L as Level>::V; 2];

/// A [`relation`] of doubles.
pub(super) struct Float<const RELATION: i32>;

impl<const RELATION: i32> Test for Float<RELATION> {
    #[inline(always)]
    unsafe fn lanes<L: Level>(a: &Halves<L>, b: &Halves<L>, flushes: bool) -> u32 {
        // SAFETY: the caller's.
        unsafe {
            let [mut a0, mut a1] = L::doubles(a[0], a[1]);
            let [mut b0, mut b1] = L::doubles(b[0], b[1]);
            if flushes {
                (a0, a1) = (L::flush_f64(a0), L::flush_f64(a1));
                (b0, b1) = (L::flush_f64(b0), L::flush_f64(b1));
            }
            L::bits_of_doubles([L::compare_f64::<RELATION>(a0, b0), L::compare_f64::<RELATION>(a1, b1)])
        }
    }
}

macro_rules! tests {
    ($($name:ident = |$a:ident, $b:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Test for $name {
            #[inline(always)]
            unsafe fn lanes<L: Level>($a: &Halves<L>, $b: &Halves<L>, _: bool) -> u32 {
                // SAFETY: the caller's.
                unsafe { $body }
            }
        }
    )*};
}

tests! {
    Equal = |a, b| L::equal(a[0], b[0]) & L::equal(a[1], b[1]);
    NotEqual = |a, b| !(L::equal(a[0], b[0]) & L::equal(a[1], b[1]));
    LessUnsigned = |a, b| L::less_unsigned(a[1], b[1]) | L::equal(a[1], b[1]) & L::less_unsigned(a[0], b[0]);
    LessEqualUnsigned = |a, b| !(L::less_unsigned(b[1], a[1]) | L::equal(a[1], b[1]) & L::less_unsigned(b[0], a[0]));
    GreaterUnsigned = |a, b| L::less_unsigned(b[1], a[1]) | L::equal(a[1], b[1]) & L::less_unsigned(b[0], a[0]);
    GreaterEqualUnsigned = |a, b| !(L::less_unsigned(a[1], b[1]) | L::equal(a[1], b[1]) & L::less_unsigned(a[0], b[0]));
    LessSigned = |a, b| L::less_signed(a[1], b[1]) | L::equal(a[1], b[1]) & L::less_unsigned(a[0], b[0]);
    LessEqualSigned = |a, b| !(L::less_signed(b[1], a[1]) | L::equal(a[1], b[1]) & L::less_unsigned(b[0], a[0]));
    GreaterSigned = |a, b| L::less_signed(b[1], a[1]) | L::equal(a[1], b[1]) & L::less_unsigned(b[0], a[0]);
    GreaterEqualSigned = |a, b| !(L::less_signed(a[1], b[1]) | L::equal(a[1], b[1]) & L::less_unsigned(a[0], b[0]));
}

/// A comparison of two sources of 64 bits; `hot.imm[2]` is [`compare::MASK_TO_EXEC`] for `v_cmpx_*`. A
/// constant is as for doubles.
pub(super) struct Compare<T>(PhantomData<T>);

impl<T: Test> Body for Compare<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let flushes = FloatMode::double(w).flushes_sources;
        let mut bits = 0;
        // SAFETY: as for `Do`.
        unsafe {
            let (a, b) = (Source::<L>::of(w, hot, 0), Source::<L>::of(w, hot, 1));
            for i in 0..parts::<L>() {
                let lanes = T::lanes::<L>(&a.halves(i), &b.halves(i), flushes);
                bits |= (u64::from(lanes) & ((1u64 << L::N) - 1)) << (i * L::N);
            }
        }
        put_mask::<L>(context, hot, bits, hot.imm[2] == compare::MASK_TO_EXEC);
        hot.next
    }
}
