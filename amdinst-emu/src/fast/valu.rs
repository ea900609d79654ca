//! Lane-wise 32-bit arithmetic: one, two and three sources, selections and carries.

use std::marker::PhantomData;

use super::in_mode::InMode;
use super::level::{Level, in_mode, relation};
use super::mode::FloatMode;
use super::{Body, Lanes, Operands, PARTS, exec_written, leave, mask, part, parts, put, set_mask};
use crate::program::{Context, Hot};
use crate::wave::{EXEC, Nans, Row};

/// What an operation does with NaNs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Floats {
    /// There are no floats.
    None,
    /// A result that is a NaN is that of the first source that is one, quiet (`exec::float`).
    First,
    /// A result that is a NaN is that of the first source that is one, quiet, the second source coming before
    /// the first.
    FirstReversed,
    /// A source that is a NaN loses against the other one.
    Loses,
    /// So it is among three sources. Those lanes go the general way.
    LosesOfThree,
    /// The operation makes no NaN.
    Makes,
}

impl Floats {
    /// Whether MODE tells on the operation.
    pub(super) const fn are_there(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether there is a rule for NaNs.
    pub(super) const fn have_nans(self) -> bool {
        matches!(self, Self::First | Self::FirstReversed | Self::Loses | Self::LosesOfThree)
    }
}

/// An operation on vectors; operations on fewer sources ignore the others.
pub(super) trait Operation {
    const FLOATS: Floats;
    /// Whether [`Operation::in_mode`] does it in every MODE.
    const IN_MODE: bool;
    /// Whether it can make a subnormal of numbers that are none.
    const SHRINKS: bool;
    /// Whether [`Operation::arranged`] changes the sources.
    const ARRANGES: bool;
    fn apply<L: Level>(level: L, a: L::V, b: L::V, c: L::V) -> L::V;
    /// The sources of the operation of [`in_mode`] that it is.
    fn arranged<L: Level>(_: L, a: L::V, b: L::V, c: L::V) -> [L::V; 3] {
        [a, b, c]
    }
    /// The same as `apply` in any MODE, for a wave's rows of arranged sources ([`Level::in_mode`]).
    fn in_mode<L: Level>(_: L, _: FloatMode, _: [&Row; 3], _: &mut Row) {}
}

macro_rules! operations {
    ($($floats:ident $name:ident = |$level:ident, $a:ident, $b:ident, $c:ident| $body:expr $(, $in_mode:ident $(of $sources:expr)?)?;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const FLOATS: Floats = Floats::$floats;
            const SHRINKS: bool = matches!(Floats::$floats, Floats::First | Floats::FirstReversed);
            #[inline(always)]
            fn apply<L: Level>($level: L, $a: L::V, $b: L::V, $c: L::V) -> L::V {
                $body
            }
            operations!(@in_mode [$level, $a, $b, $c] $($in_mode $($sources)?)?);
        }
    )*};
    (@in_mode [$level:ident, $a:ident, $b:ident, $c:ident]) => {
        const IN_MODE: bool = false;
        const ARRANGES: bool = false;
    };
    (@in_mode [$level:ident, $a:ident, $b:ident, $c:ident] $in_mode:ident) => {
        const ARRANGES: bool = false;
        operations!(@operation $in_mode);
    };
    (@in_mode [$level:ident, $a:ident, $b:ident, $c:ident] $in_mode:ident $sources:expr) => {
        const ARRANGES: bool = true;
        #[allow(unused_variables, reason = "some change the order alone")]
        #[inline(always)]
        fn arranged<L: Level>($level: L, $a: L::V, $b: L::V, $c: L::V) -> [L::V; 3] {
            $sources
        }
        operations!(@operation $in_mode);
    };
    (@operation $in_mode:ident) => {
        const IN_MODE: bool = true;
        #[inline(always)]
        fn in_mode<L: Level>(level: L, mode: FloatMode, sources: [&Row; 3], result: &mut Row) {
            level.in_mode::<{ in_mode::$in_mode }>(mode, sources, result)
        }
    };
}

operations! {
    None Not = |level, a, _b, _c| level.xor(a, level.splat(!0));
    Makes FromSigned = |level, a, _b, _c| level.f32_from_signed(a), FROM_SIGNED;
    Makes FromUnsigned = |level, a, _b, _c| level.f32_from_unsigned(a),
        // Both halves are exact as floats; one rounding when they are added.
        FMA_F32 of {
            let high = level.f32_from_signed(level.shr(a, level.splat(16)));
            [high, level.splat(65536f32.to_bits()), level.f32_from_signed(level.and(a, level.splat(0xffff)))]
        };

    None Add = |level, a, b, _c| level.add(a, b);
    None Sub = |level, a, b, _c| level.sub(a, b);
    None SubReverse = |level, a, b, _c| level.sub(b, a);
    None Multiply = |level, a, b, _c| level.mul(a, b);
    None MultiplyHigh = |level, a, b, _c| level.mul_high(a, b);
    None Multiply24 = |level, a, b, _c| level.mul(low24(level, a), low24(level, b));
    None MultiplySigned24 = |level, a, b, _c| level.mul(extend24(level, a), extend24(level, b));
    None And = |level, a, b, _c| level.and(a, b);
    None Or = |level, a, b, _c| level.or(a, b);
    None Xor = |level, a, b, _c| level.xor(a, b);
    None Xnor = |level, a, b, _c| level.xor(level.xor(a, b), level.splat(!0));
    None ShiftLeft = |level, a, b, _c| level.shl(b, a);
    None ShiftRight = |level, a, b, _c| level.shr(b, a);
    None ShiftRightSigned = |level, a, b, _c| level.sar(b, a);
    None MinSigned = |level, a, b, _c| level.min_signed(a, b);
    None MaxSigned = |level, a, b, _c| level.max_signed(a, b);
    None MinUnsigned = |level, a, b, _c| level.min_unsigned(a, b);
    None MaxUnsigned = |level, a, b, _c| level.max_unsigned(a, b);
    First AddF32 = |level, a, b, _c| level.add_f32(a, b), ADD_F32;
    First SubF32 = |level, a, b, _c| level.sub_f32(a, b), SUB_F32;
    FirstReversed SubReverseF32 = |level, a, b, _c| level.sub_f32(b, a), SUB_F32 of [b, a, a];
    First MultiplyF32 = |level, a, b, _c| level.mul_f32(a, b), MUL_F32;
    Loses MinF32 = |level, a, b, _c| level.min_f32(a, b), MIN_F32;
    Loses MaxF32 = |level, a, b, _c| level.max_f32(a, b), MAX_F32;

    LosesOfThree Min3F32 = |level, a, b, c| level.min_f32(level.min_f32(a, b), c);
    LosesOfThree Max3F32 = |level, a, b, c| level.max_f32(level.max_f32(a, b), c);
    LosesOfThree MinMaxF32 = |level, a, b, c| level.max_f32(level.min_f32(a, b), c);
    LosesOfThree MaxMinF32 = |level, a, b, c| level.min_f32(level.max_f32(a, b), c);
    LosesOfThree Med3F32 = |level, a, b, c| {
        let largest = level.max_f32(level.max_f32(a, b), c);
        let is_first = level.compare_f32::<{ relation::EQ }>(largest, a);
        let is_second = level.compare_f32::<{ relation::EQ }>(largest, b);
        let others = level.blend(is_second, level.max_f32(a, b), level.max_f32(a, c));
        level.blend(is_first, others, level.max_f32(b, c))
    };
    First FmaF32 = |level, a, b, c| level.fma_f32(a, b, c), FMA_F32;
    None Multiply24Add = |level, a, b, c| level.add(level.mul(low24(level, a), low24(level, b)), c);
    None MultiplySigned24Add = |level, a, b, c| {
        level.add(level.mul(extend24(level, a), extend24(level, b)), c)
    };
    None FieldUnsigned = |level, a, b, c| {
        let one = level.splat(1);
        level.and(level.shr(a, b), level.sub(level.shl(one, c), one))
    };
    None FieldInsert = |level, a, b, c| level.or(level.and(a, b), level.and_not(c, a));
    // A shift by 32 is one by 1 and one by 31.
    None AlignBits = |level, a, b, c| {
        let left = level.xor(level.and(c, level.splat(31)), level.splat(31));
        level.or(level.shr(b, c), level.shl(level.add(a, a), left))
    };
    None XorAdd = |level, a, b, c| level.add(level.xor(a, b), c);
    None ShiftLeftAdd = |level, a, b, c| level.add(level.shl(a, b), c);
    None AddShiftLeft = |level, a, b, c| level.shl(level.add(a, b), c);
    None Add3 = |level, a, b, c| level.add(level.add(a, b), c);
    None ShiftLeftOr = |level, a, b, c| level.or(level.shl(a, b), c);
    None AndOr = |level, a, b, c| level.or(level.and(a, b), c);
    None Or3 = |level, a, b, c| level.or(level.or(a, b), c);
    None Xor3 = |level, a, b, c| level.xor(level.xor(a, b), c);
    None Min3Signed = |level, a, b, c| level.min_signed(level.min_signed(a, b), c);
    None Max3Signed = |level, a, b, c| level.max_signed(level.max_signed(a, b), c);
    None Med3Signed = |level, a, b, c| {
        level.min_signed(level.max_signed(a, b), level.max_signed(level.min_signed(a, b), c))
    };
    None Min3Unsigned = |level, a, b, c| level.min_unsigned(level.min_unsigned(a, b), c);
    None Max3Unsigned = |level, a, b, c| level.max_unsigned(level.max_unsigned(a, b), c);
    None Med3Unsigned = |level, a, b, c| {
        level.min_unsigned(level.max_unsigned(a, b), level.max_unsigned(level.min_unsigned(a, b), c))
    };
    None MaxMinSigned = |level, a, b, c| level.min_signed(level.max_signed(a, b), c);
    None MinMaxSigned = |level, a, b, c| level.max_signed(level.min_signed(a, b), c);
    None MaxMinUnsigned = |level, a, b, c| level.min_unsigned(level.max_unsigned(a, b), c);
    None MinMaxUnsigned = |level, a, b, c| level.max_unsigned(level.min_unsigned(a, b), c);
}

pub(super) struct Move;

impl Operation for Move {
    const FLOATS: Floats = Floats::None;
    const IN_MODE: bool = false;
    const SHRINKS: bool = false;
    const ARRANGES: bool = false;
    #[inline(always)]
    fn apply<L: Level>(_: L, a: L::V, _: L::V, _: L::V) -> L::V {
        a
    }
}

/// Bits 0-23.
#[inline(always)]
fn low24<L: Level>(level: L, a: L::V) -> L::V {
    level.and(a, level.splat(0xff_ffff))
}

/// Bits 0-23 as a signed number.
#[inline(always)]
fn extend24<L: Level>(level: L, a: L::V) -> L::V {
    level.sar(level.shl(a, level.splat(8)), level.splat(8))
}

/// The bit that tells quiet NaNs.
const QUIET: u32 = 1 << 22;

/// The lanes whose value is a NaN.
#[inline(always)]
pub(super) fn nan<L: Level>(level: L, value: L::V) -> u32 {
    level.compare_f32::<{ relation::UNORDERED }>(value, value)
}

/// Whether none of the values is a NaN.
#[inline(always)]
pub(super) fn no_nan<L: Level>(level: L, values: &[L::V; PARTS]) -> bool {
    let mut nan = 0;
    for pair in 0..parts::<L>() / 2 {
        nan |= level.compare_f32::<{ relation::UNORDERED }>(values[2 * pair], values[2 * pair + 1]);
    }
    nan == 0
}

#[inline(always)]
fn quiet<L: Level>(level: L, value: L::V) -> L::V {
    level.or(value, level.splat(QUIET))
}

/// The lanes whose value is a signalling NaN.
#[inline(always)]
fn signals<L: Level>(level: L, value: L::V) -> u32 {
    nan(level, value) & !level.equal(level.and(value, level.splat(QUIET)), level.splat(QUIET))
}

/// The source, quiet, where it is a NaN; else the other value.
#[inline(always)]
fn or_source<L: Level>(level: L, other: L::V, source: L::V) -> L::V {
    level.blend(nan(level, source), other, quiet(level, source))
}

/// The NaN that stands for a result that is one: the first source that is one, quiet, or else what an invalid
/// operation gives. The host's own choice depends on how the compiler orders operands.
#[inline(always)]
pub(super) fn replace_nans<L: Level>(level: L, result: L::V, [a, b, c]: [L::V; 3]) -> L::V {
    const INVALID: u32 = 0xffc0_0000;
    let found = or_source(level, or_source(level, or_source(level, level.splat(INVALID), c), b), a);
    level.blend(nan(level, result), result, found)
}

/// `minmax`, but where a source is a NaN.
#[inline(always)]
pub(super) fn without_nans<L: Level>(level: L, minmax: L::V, a: L::V, b: L::V, nans: Nans) -> L::V {
    let result = level.blend(nan(level, a), level.blend(nan(level, b), minmax, a), b);
    match nans {
        Nans::Lose => result,
        Nans::Number => level.blend(nan(level, a) & nan(level, b), result, quiet(level, a)),
        Nans::Signal => {
            let second = level.blend(signals(level, b), result, quiet(level, b));
            level.blend(signals(level, a), second, quiet(level, a))
        }
    }
}

/// Sources that are not rows, as bits of a handler's `SAME`.
pub(super) const FIRST: u8 = 1;
pub(super) const SECOND: u8 = 2;
pub(super) const THIRD: u8 = 4;

/// `O` on as many sources as it has, of which `SAME` says which are the same for all lanes.
///
/// Results are looked at for NaNs, which are rare; where there is one, the instruction is done once more, by
/// [`Settled`]. Conditions that an operation never meets are constants, so that what it would leave to then
/// is not compiled.
pub(super) struct Do<O, const SOURCES: usize, const SAME: u8>(PhantomData<O>);

/// `O` where results are NaNs, which follow the rule of [`Floats`]. See [`Do`].
struct Settled<O, const SOURCES: usize>(PhantomData<O>);

/// The sources. Those that an operation does not have are the last that it has.
#[inline(always)]
pub(super) fn sources<'a, L: Level, const SOURCES: usize, const SAME: u8>(
    level: L,
    operands: Operands<'a>,
    hot: &Hot,
) -> [Lanes<'a, L>; 3] {
    let a = Lanes::known(level, operands, hot, 0, SAME & FIRST != 0);
    let b = if SOURCES < 2 { a } else { Lanes::known(level, operands, hot, 1, SAME & SECOND != 0) };
    let c = if SOURCES < 3 { b } else { Lanes::known(level, operands, hot, 2, SAME & THIRD != 0) };
    [a, b, c]
}

/// As [`sources`] has them, whichever are the same for all lanes.
#[inline(always)]
pub(super) fn any_sources<'a, L: Level, const SOURCES: usize>(
    level: L,
    operands: Operands<'a>,
    hot: &Hot,
) -> [Lanes<'a, L>; 3] {
    let last = SOURCES - 1;
    [
        Lanes::of(level, operands, hot, 0),
        Lanes::of(level, operands, hot, last.min(1)),
        Lanes::of(level, operands, hot, last),
    ]
}

impl<O: Operation, const SOURCES: usize, const SAME: u8> Body for Do<O, SOURCES, SAME> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        if const { O::FLOATS.are_there() } && !w.plain32() {
            return level.apart::<InMode<O, SOURCES, false>>(context, hot);
        }
        let [a, b, c] = sources::<L, SOURCES, SAME>(level, Operands::of(w), hot);
        let mut result = [level.splat(0); PARTS];
        let mut unordered = 0;
        for i in 0..parts::<L>() {
            result[i] = O::apply(level, a.get(i), b.get(i), c.get(i));
            unordered |= match O::FLOATS {
                Floats::Loses => level.compare_f32::<{ relation::UNORDERED }>(a.get(i), b.get(i)),
                Floats::LosesOfThree => {
                    level.compare_f32::<{ relation::UNORDERED }>(a.get(i), b.get(i)) | nan(level, c.get(i))
                }
                Floats::First | Floats::FirstReversed if i % 2 == 1 => {
                    level.compare_f32::<{ relation::UNORDERED }>(result[i - 1], result[i])
                }
                _ => 0,
            };
        }
        if const { O::FLOATS.have_nans() } && unordered != 0 {
            return match O::FLOATS {
                Floats::LosesOfThree => leave(context, hot),
                _ => level.rarely::<Settled<O, SOURCES>>(context, hot),
            };
        }
        put(level, w, hot.dst, &result);
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for Settled<O, SOURCES> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let [a, b, c] = any_sources::<L, SOURCES>(level, Operands::of(w), hot);
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            result[i] = O::apply(level, a.get(i), b.get(i), c.get(i));
            result[i] = match O::FLOATS {
                Floats::Loses => without_nans(level, result[i], a.get(i), b.get(i), w.nans()),
                Floats::First => replace_nans(level, result[i], [a.get(i), b.get(i), c.get(i)]),
                Floats::FirstReversed => replace_nans(level, result[i], [b.get(i), a.get(i), a.get(i)]),
                Floats::None | Floats::Makes | Floats::LosesOfThree => result[i],
            };
        }
        put(level, w, hot.dst, &result);
        hot.next
    }
}

/// `v_cndmask_b32`: the mask is in scalar registers, from number `hot.src[2]` on.
pub(super) struct Select<const SAME: u8>;

impl<const SAME: u8> Body for Select<SAME> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mask = mask::<L>(w, hot.src[2].register());
        let [a, b, _] = sources::<L, 2, SAME>(level, Operands::of(w), hot);
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            result[i] = level.blend(part::<L>(mask, i), a.get(i), b.get(i));
        }
        put(level, w, hot.dst, &result);
        hot.next
    }
}

/// How a [`Carry`] computes.
pub(super) const ADD: u8 = 0;
pub(super) const SUB: u8 = 1;
pub(super) const SUB_REVERSE: u8 = 2;

/// Additions and subtractions with a carry out, to a mask in `hot.sdst`, and if `IN` with one in, from
/// `hot.src[2]`.
pub(super) struct Carry<const KIND: u8, const IN: bool>;

impl<const KIND: u8, const IN: bool> Body for Carry<KIND, IN> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let carry_in = if IN { mask::<L>(w, hot.src[2].register()) } else { 0 };
        let mut carries = 0u64;
        let operands = Operands::of(w);
        let (a, b) = (Lanes::of(level, operands, hot, 0), Lanes::of(level, operands, hot, 1));
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let (a, b) = if KIND == SUB_REVERSE { (b.get(i), a.get(i)) } else { (a.get(i), b.get(i)) };
            let bit = if IN {
                level.blend(part::<L>(carry_in, i), level.splat(0), level.splat(1))
            } else {
                level.splat(0)
            };
            let out;
            if KIND == ADD {
                let sum = level.add(a, b);
                result[i] = if IN { level.add(sum, bit) } else { sum };
                let first = level.less_unsigned(sum, a);
                out = if IN { first | level.less_unsigned(result[i], sum) } else { first };
            } else {
                let difference = level.sub(a, b);
                result[i] = if IN { level.sub(difference, bit) } else { difference };
                let first = level.less_unsigned(a, b);
                out = if IN { first | level.less_unsigned(difference, bit) } else { first };
            }
            carries |= u64::from(out) << (i * L::N);
        }
        put(level, w, hot.dst, &result);
        let carries = carries & w.exec;
        set_mask::<L>(w, hot.sdst as u8, carries);
        hot.next
    }
}

/// `v_readfirstlane_b32`.
pub(super) struct ReadFirst;

impl Body for ReadFirst {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let lane = w.first_lane();
        let value = hot.src[0].row.row(w.rows.file())[lane];
        w.set_s32(hot.sdst as u8, value);
        hot.next
    }
}

/// `v_readlane_b32` with a scalar or constant lane.
pub(super) struct ReadLane;

impl Body for ReadLane {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let asked = Operands::of(w).scalar(hot, 1);
        if w.lacks_lane(asked) {
            w.note_missing_lane(hot.next - 1, asked, None);
        }
        let lane = asked as usize & (L::LANES - 1);
        let value = hot.src[0].row.row(w.rows.file())[lane];
        w.set_s32(hot.sdst as u8, value);
        hot.next
    }
}

/// `v_writelane_b32`: EXEC is ignored.
pub(super) struct WriteLane;

impl Body for WriteLane {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let (value, lane) = (Operands::of(w).scalar(hot, 0), Operands::of(w).scalar(hot, 1));
        hot.dst.group_mut(w.rows.file_mut())[0][lane as usize & (L::LANES - 1)] = value;
        hot.next
    }
}

/// Comparisons of [`super::compare`] write a mask to scalar registers, and EXEC if it is that.
#[inline(always)]
pub(super) fn put_mask<L: Level>(context: &mut Context<'_>, hot: &Hot, bits: u64, to_exec: bool) {
    let w = &mut *context.wave;
    let bits = bits & w.exec;
    set_mask::<L>(w, hot.sdst as u8, bits);
    if to_exec {
        set_mask::<L>(w, EXEC, bits);
        exec_written::<L>(context, hot);
    }
}
