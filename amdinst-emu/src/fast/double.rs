//! Arithmetic and comparisons of doubles, which are two rows each, in every mode and with signs changed; and
//! comparisons of 64-bit integers.

use std::marker::PhantomData;

use super::compare;
use super::level::{Level, Vectors32, in_mode, relation};
use super::mode::{FloatMode, Modifiers};
use super::valu::put_mask;
use super::{Body, Operands, PARTS, parts, put_pair};
use crate::program::{Context, Hot, HotSource};
use crate::wave::{GROUP, Nans, Row, Wave};

/// An operation on vectors of doubles; operations on fewer sources ignore the others.
pub(super) trait Operation {
    /// A source that is a NaN loses against the other one. Else a result that is a NaN is that of the first
    /// source that is one.
    const LOSES: bool;
    /// Results are rounded, so MODE says how.
    const ROUNDS: bool;
    fn apply<L: Level>(level: L, a: L::V, b: L::V, c: L::V) -> L::V;
    /// The same in any MODE, for rows of vectors ([`Level::in_mode`]). Of one that rounds.
    fn in_mode<L: Level>(_: L, _: FloatMode, _: [&Row; 3], _: &mut Row) {}
}

macro_rules! operations {
    ($($name:ident $loses:literal = |$level:ident, $a:ident, $b:ident, $c:ident| $body:expr $(, $in_mode:ident)?;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const LOSES: bool = $loses;
            #[inline(always)]
            fn apply<L: Level>($level: L, $a: L::V, $b: L::V, $c: L::V) -> L::V {
                $body
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
        fn in_mode<L: Level>(level: L, mode: FloatMode, sources: [&Row; 3], result: &mut Row) {
            level.in_mode::<{ in_mode::$in_mode }>(mode, sources, result)
        }
    };
}

operations! {
    Add false = |level, a, b, _c| level.add_f64(a, b), ADD_F64;
    Multiply false = |level, a, b, _c| level.mul_f64(a, b), MUL_F64;
    Fma false = |level, a, b, c| level.fma_f64(a, b, c), FMA_F64;
    Min true = |level, a, b, _c| level.min_f64(a, b);
    Max true = |level, a, b, _c| level.max_f64(a, b);
}

/// In a source that is a constant: see [`Source`].
pub(super) const LOW: HotSource =
    HotSource { mark: HotSource::CONSTANT.mark | HotSource::OWN, ..HotSource::CONSTANT };

/// A source of doubles: a pair of rows, or the same value everywhere. Of a constant, `hot.imm` is the
/// high half, and the low one is zero; or with [`LOW`] the low half, which is extended by its sign.
struct Source<'a, L: Level> {
    level: L,
    rows: Option<&'a [Row; GROUP]>,
    low: L::V,
    high: L::V,
    stay: L::V,
    invert: L::V,
}

impl<L: Level> Clone for Source<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Level> Copy for Source<'_, L> {}

impl<'a, L: Level> Source<'a, L> {
    #[inline(always)]
    fn of(level: L, operands: Operands<'a>, hot: &Hot, slot: usize) -> Self {
        let source = hot.src[slot];
        let (stay, invert) = Modifiers::get(hot).signs(slot);
        let scalar = |behind: u16| operands.scalars[usize::from((source.mark + behind) & 127)];
        let (low, high) = if source.is_constant() {
            let imm = hot.imm[slot];
            if source.mark & HotSource::OWN != 0 { (imm, ((imm as i32) >> 31) as u32) } else { (0, imm) }
        } else if source.is_row() {
            (0, 0)
        } else {
            (scalar(0), scalar(1))
        };
        Self {
            level,
            rows: source.is_row().then(|| source.row.group(operands.file)),
            low: level.splat(low),
            high: level.splat(high),
            stay: level.splat(stay),
            invert: level.splat(invert),
        }
    }

    /// The halves of the `part`th vector's lanes, the high ones with their signs changed.
    #[inline(always)]
    fn halves(&self, part: usize) -> [L::V; 2] {
        let level = self.level;
        let [low, high] = match self.rows {
            Some([low, high, ..]) => [level.load(low, part), level.load(high, part)],
            None => [self.low, self.high],
        };
        [low, level.xor(level.and(high, self.stay), self.invert)]
    }

    /// The `part`th vector's lanes as doubles.
    #[inline(always)]
    fn doubles(&self, part: usize, flushes: bool) -> [L::V; 2] {
        let level = self.level;
        let [low, high] = self.halves(part);
        let [first, second] = level.doubles(low, high);
        if flushes { [level.flush_f64(first), level.flush_f64(second)] } else { [first, second] }
    }
}

/// A double in all lanes.
#[inline(always)]
fn splat<L: Level>(level: L, bits: u64) -> L::V {
    level.doubles(level.splat(bits as u32), level.splat((bits >> 32) as u32))[0]
}

const QUIET: u64 = 1 << 51;
const INVALID: u64 = 0xfff8 << 48;

#[inline(always)]
fn nan<L: Level>(level: L, value: L::V) -> u32 {
    level.compare_f64::<{ relation::UNORDERED }>(value, value)
}

/// The source, quiet, where it is a NaN; else the other value.
#[inline(always)]
fn or_source<L: Level>(level: L, other: L::V, source: L::V) -> L::V {
    level.blend_f64(nan(level, source), other, level.or(source, splat(level, QUIET)))
}

/// The NaN that stands for a result that is one, as `valu` has it for singles.
#[inline(always)]
fn replace_nans<L: Level>(level: L, result: L::V, [a, b, c]: [L::V; 3]) -> L::V {
    let found = or_source(level, or_source(level, or_source(level, splat(level, INVALID), c), b), a);
    level.blend_f64(nan(level, result), result, found)
}

/// `minmax`, but where a source is a NaN.
#[inline(always)]
fn without_nans<L: Level>(level: L, minmax: L::V, a: L::V, b: L::V, nans: Nans) -> L::V {
    let result = level.blend_f64(nan(level, a), level.blend_f64(nan(level, b), minmax, a), b);
    let quiet = splat(level, QUIET);
    match nans {
        Nans::Lose => result,
        Nans::Number => level.blend_f64(nan(level, a) & nan(level, b), result, level.or(a, quiet)),
        Nans::Signal => {
            let second = level.blend_f64(signals(level, b), result, level.or(b, quiet));
            level.blend_f64(signals(level, a), second, level.or(a, quiet))
        }
    }
}

/// The lanes whose value is a signalling NaN: infinity with the quiet bit is a NaN, without it a number.
#[inline(always)]
fn signals<L: Level>(level: L, value: L::V) -> u32 {
    let bit = level.or(level.and(value, splat(level, QUIET)), splat(level, f64::INFINITY.to_bits()));
    nan(level, value) & !nan(level, bit)
}

/// `O` on as many sources as it has.
pub(super) struct Do<O, const SOURCES: usize>(PhantomData<O>);

/// `O` where MODE flushes or rounds otherwise. See [`Do`].
struct InMode<O, const SOURCES: usize>(PhantomData<O>);

/// `O` where there are NaNs, which follow the rule. See [`Do`].
struct Settled<O, const SOURCES: usize>(PhantomData<O>);

#[inline(always)]
fn sources<'a, L: Level, const SOURCES: usize>(
    level: L,
    operands: Operands<'a>,
    hot: &Hot,
) -> [Source<'a, L>; 3] {
    let a = Source::of(level, operands, hot, 0);
    let b = Source::of(level, operands, hot, 1);
    let c = if SOURCES < 3 { b } else { Source::of(level, operands, hot, 2) };
    [a, b, c]
}

#[inline(always)]
fn write<L: Level>(level: L, w: &mut Wave, hot: &Hot, results: [Vectors32<L>; 2]) {
    let [mut low, mut high] = results;
    for i in 0..parts::<L>() {
        [low[i], high[i]] = level.halves([low[i], high[i]]);
    }
    put_pair(level, w, hot.dst, &low, &high);
}

/// Whether a result is to be looked at again because of a NaN: a bit for each lane of a vector.
#[inline(always)]
fn unordered<L: Level, O: Operation>(level: L, [a, b, _]: [L::V; 3], result: L::V) -> u32 {
    if O::LOSES { level.compare_f64::<{ relation::UNORDERED }>(a, b) } else { nan(level, result) }
}

/// The `part`th vectors of three sources, as doubles: for each half, one of each source.
#[inline(always)]
fn doubles<L: Level>(sources: &[Source<'_, L>; 3], part: usize, flushes: bool) -> [[L::V; 3]; 2] {
    let a = sources[0].doubles(part, flushes);
    let b = sources[1].doubles(part, flushes);
    let c = sources[2].doubles(part, flushes);
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]]]
}

/// `O` to the nearest number; `None` if there are NaNs.
#[inline(always)]
fn to_nearest<L: Level, O: Operation>(
    level: L,
    sources: &[Source<'_, L>; 3],
    flushes_sources: bool,
    flushes_results: bool,
) -> Option<[Vectors32<L>; 2]> {
    let mut results = [[level.splat(0); PARTS]; 2];
    let mut nans = 0;
    for i in 0..parts::<L>() {
        let halves = doubles(sources, i, flushes_sources);
        for half in 0..2 {
            let [a, b, c] = halves[half];
            let result = O::apply(level, a, b, c);
            nans |= unordered::<L, O>(level, [a, b, c], result);
            results[half][i] = if flushes_results { level.flush_f64(result) } else { result };
        }
    }
    (nans == 0).then_some(results)
}

impl<O: Operation, const SOURCES: usize> Body for Do<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        if !w.plain64() {
            return level.apart::<InMode<O, SOURCES>>(context, hot);
        }
        let sources = sources::<L, SOURCES>(level, Operands::of(w), hot);
        let Some(results) = to_nearest::<L, O>(level, &sources, false, false) else {
            return level.rarely::<Settled<O, SOURCES>>(context, hot);
        };
        write(level, w, hot, results);
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for InMode<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mode = FloatMode::double(w);
        let (operands, rooms) = Operands::with_rooms(w);
        let sources = sources::<L, SOURCES>(level, operands, hot);
        if O::ROUNDS {
            let [a0, b0, c0, a1, b1, c1, first, second] = rooms;
            for i in 0..parts::<L>() {
                let [[d0, e0, f0], [d1, e1, f1]] = doubles(&sources, i, false);
                level.store(a0, i, d0);
                level.store(b0, i, e0);
                level.store(a1, i, d1);
                level.store(b1, i, e1);
                if SOURCES > 2 {
                    level.store(c0, i, f0);
                    level.store(c1, i, f1);
                }
            }
            for ([a, b, c], room) in [([&*a0, b0, c0], &mut *first), ([&*a1, b1, c1], second)] {
                let c = if SOURCES > 2 { c } else { b };
                O::in_mode(level, mode, [a, b, c], room);
                let mut unordered = 0;
                for pair in 0..parts::<L>() / 2 {
                    let (one, other) = (level.load(room, 2 * pair), level.load(room, 2 * pair + 1));
                    unordered |= level.compare_f64::<{ relation::UNORDERED }>(one, other);
                }
                if unordered != 0 {
                    for i in 0..parts::<L>() {
                        let sources = [level.load(a, i), level.load(b, i), level.load(c, i)];
                        let result = replace_nans(level, level.load(room, i), sources);
                        level.store(room, i, result);
                    }
                }
            }
            let mut results = [[level.splat(0); PARTS]; 2];
            for i in 0..parts::<L>() {
                results[0][i] = level.load(first, i);
                results[1][i] = level.load(second, i);
            }
            write(level, w, hot, results);
            return hot.next;
        }
        let Some(results) = to_nearest::<L, O>(level, &sources, mode.flushes_sources, mode.flushes_results)
        else {
            return level.apart::<Settled<O, SOURCES>>(context, hot);
        };
        write(level, w, hot, results);
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for Settled<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // What rounds comes here in the default mode alone.
        let mode = FloatMode::double(w);
        let sources = sources::<L, SOURCES>(level, Operands::of(w), hot);
        let mut results = [[level.splat(0); PARTS]; 2];
        for i in 0..parts::<L>() {
            let halves = doubles(&sources, i, mode.flushes_sources);
            for half in 0..2 {
                let [a, b, c] = halves[half];
                let mut value = O::apply(level, a, b, c);
                if unordered::<L, O>(level, [a, b, c], value) != 0 {
                    value = if O::LOSES {
                        without_nans(level, value, a, b, w.nans())
                    } else {
                        replace_nans(level, value, [a, b, c])
                    };
                }
                results[half][i] = if mode.flushes_results { level.flush_f64(value) } else { value };
            }
        }
        write(level, w, hot, results);
        hot.next
    }
}

/// A test of two vectors of 64-bit lanes.
pub(super) trait Test {
    /// Lanes of the `part`th vectors for which it holds.
    fn lanes<L: Level>(level: L, a: &Halves<L>, b: &Halves<L>, flushes: bool) -> u32;
}

/// The low and the high halves of a vector's lanes.
pub(super) type Halves<L> = [<L as Level>::V; 2];

/// A [`relation`] of doubles.
pub(super) struct Float<const RELATION: i32>;

impl<const RELATION: i32> Test for Float<RELATION> {
    #[inline(always)]
    fn lanes<L: Level>(level: L, a: &Halves<L>, b: &Halves<L>, flushes: bool) -> u32 {
        let [mut a0, mut a1] = level.doubles(a[0], a[1]);
        let [mut b0, mut b1] = level.doubles(b[0], b[1]);
        if flushes {
            (a0, a1) = (level.flush_f64(a0), level.flush_f64(a1));
            (b0, b1) = (level.flush_f64(b0), level.flush_f64(b1));
        }
        level.bits_of_doubles([level.compare_f64::<RELATION>(a0, b0), level.compare_f64::<RELATION>(a1, b1)])
    }
}

macro_rules! tests {
    ($($name:ident = |$level:ident, $a:ident, $b:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Test for $name {
            #[inline(always)]
            fn lanes<L: Level>($level: L, $a: &Halves<L>, $b: &Halves<L>, _: bool) -> u32 {
                $body
            }
        }
    )*};
}

tests! {
    Equal = |level, a, b| equal(level, a, b);
    NotEqual = |level, a, b| !equal(level, a, b);
    LessUnsigned = |level, a, b| less_unsigned(level, a, b);
    LessEqualUnsigned = |level, a, b| !less_unsigned(level, b, a);
    GreaterUnsigned = |level, a, b| less_unsigned(level, b, a);
    GreaterEqualUnsigned = |level, a, b| !less_unsigned(level, a, b);
    LessSigned = |level, a, b| less_signed(level, a, b);
    LessEqualSigned = |level, a, b| !less_signed(level, b, a);
    GreaterSigned = |level, a, b| less_signed(level, b, a);
    GreaterEqualSigned = |level, a, b| !less_signed(level, a, b);
}

#[inline(always)]
fn equal<L: Level>(level: L, a: &Halves<L>, b: &Halves<L>) -> u32 {
    level.equal(a[0], b[0]) & level.equal(a[1], b[1])
}

#[inline(always)]
fn less_unsigned<L: Level>(level: L, a: &Halves<L>, b: &Halves<L>) -> u32 {
    level.less_unsigned(a[1], b[1]) | level.equal(a[1], b[1]) & level.less_unsigned(a[0], b[0])
}

#[inline(always)]
fn less_signed<L: Level>(level: L, a: &Halves<L>, b: &Halves<L>) -> u32 {
    level.less_signed(a[1], b[1]) | level.equal(a[1], b[1]) & level.less_unsigned(a[0], b[0])
}

/// A comparison of two sources of 64 bits; `hot.imm[2]` is [`compare::MASK_TO_EXEC`] for `v_cmpx_*`. A
/// constant is as for doubles.
pub(super) struct Compare<T>(PhantomData<T>);

impl<T: Test> Body for Compare<T> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let flushes = FloatMode::double(w).flushes_sources;
        let mut bits = 0;
        let operands = Operands::of(w);
        let (a, b) = (Source::of(level, operands, hot, 0), Source::of(level, operands, hot, 1));
        for i in 0..parts::<L>() {
            let lanes = T::lanes(level, &a.halves(i), &b.halves(i), flushes);
            bits |= (u64::from(lanes) & ((1u64 << L::N) - 1)) << (i * L::N);
        }
        put_mask::<L>(context, hot, bits, hot.imm[2] == compare::MASK_TO_EXEC);
        hot.next
    }
}
