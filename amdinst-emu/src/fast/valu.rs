//! Lane-wise 32-bit arithmetic: one, two and three sources, selections and carries.

use std::marker::PhantomData;

use super::in_mode::InMode;
use super::level::{Level, Room, in_mode, relation};
use super::mode::FloatMode;
use super::{Body, Lanes, PARTS, exec_written, leave, mask, part, parts, put, rows, scalar, set_mask};
use crate::program::{Context, Hot};
use crate::wave::{EXEC, Nans, Wave};

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
    /// # Safety
    /// As for [`Level`].
    unsafe fn apply<L: Level>(a: L::V, b: L::V, c: L::V) -> L::V;
    /// The sources of the operation of [`in_mode`] that it is.
    ///
    /// # Safety
    /// As for [`Level`].
    unsafe fn arranged<L: Level>(a: L::V, b: L::V, c: L::V) -> [L::V; 3] {
        [a, b, c]
    }
    /// The same as `apply` in any MODE, for a wave's rows of arranged sources ([`Level::in_mode`]).
    ///
    /// # Safety
    /// As for [`Level`].
    unsafe fn in_mode<L: Level>(_: FloatMode, _: [*const L::V; 3], _: &mut Room<L>) {}
}

macro_rules! operations {
    ($($floats:ident $name:ident = |$a:ident, $b:ident, $c:ident| $body:expr $(, $in_mode:ident $(of $sources:expr)?)?;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const FLOATS: Floats = Floats::$floats;
            const SHRINKS: bool = matches!(Floats::$floats, Floats::First | Floats::FirstReversed);
            #[inline(always)]
            unsafe fn apply<L: Level>($a: L::V, $b: L::V, $c: L::V) -> L::V {
                // SAFETY: the caller's.
                unsafe { $body }
            }
            operations!(@in_mode [$a, $b, $c] $($in_mode $($sources)?)?);
        }
    )*};
    (@in_mode [$a:ident, $b:ident, $c:ident]) => {
        const IN_MODE: bool = false;
        const ARRANGES: bool = false;
    };
    (@in_mode [$a:ident, $b:ident, $c:ident] $in_mode:ident) => {
        const ARRANGES: bool = false;
        operations!(@operation $in_mode);
    };
    (@in_mode [$a:ident, $b:ident, $c:ident] $in_mode:ident $sources:expr) => {
        const ARRANGES: bool = true;
        #[inline(always)]
        unsafe fn arranged<L: Level>($a: L::V, $b: L::V, $c: L::V) -> [L::V; 3] {
            $sources
        }
        operations!(@operation $in_mode);
    };
    (@operation $in_mode:ident) => {
        const IN_MODE: bool = true;
        #[inline(always)]
        unsafe fn in_mode<L: Level>(mode: FloatMode, sources: [*const L::V; 3], result: &mut Room<L>) {
            // SAFETY: the caller's.
            unsafe { L::in_mode::<{ in_mode::$in_mode }>(mode, sources, result) }
        }
    };
}

/// The constant in all lanes.
macro_rules! all {
    ($value:expr) => {
        L::splat($value)
    };
}

operations! {
    None Not = |a, _b, _c| L::xor(a, all!(!0));
    Makes FromSigned = |a, _b, _c| L::f32_from_signed(a), FROM_SIGNED;
    Makes FromUnsigned = |a, _b, _c| L::f32_from_unsigned(a),
        // Both halves are exact as floats; one rounding when they are added.
        // SAFETY: as for `apply`.
        FMA_F32 of unsafe {
            let high = L::f32_from_signed(L::shr(a, all!(16)));
            [high, all!(65536f32.to_bits()), L::f32_from_signed(L::and(a, all!(0xffff)))]
        };

    None Add = |a, b, _c| L::add(a, b);
    None Sub = |a, b, _c| L::sub(a, b);
    None SubReverse = |a, b, _c| L::sub(b, a);
    None Multiply = |a, b, _c| L::mul(a, b);
    None MultiplyHigh = |a, b, _c| L::mul_high(a, b);
    None Multiply24 = |a, b, _c| L::mul(L::and(a, all!(0xff_ffff)), L::and(b, all!(0xff_ffff)));
    None MultiplySigned24 = |a, b, _c| L::mul(extend24::<L>(a), extend24::<L>(b));
    None And = |a, b, _c| L::and(a, b);
    None Or = |a, b, _c| L::or(a, b);
    None Xor = |a, b, _c| L::xor(a, b);
    None Xnor = |a, b, _c| L::xor(L::xor(a, b), all!(!0));
    None ShiftLeft = |a, b, _c| L::shl(b, a);
    None ShiftRight = |a, b, _c| L::shr(b, a);
    None ShiftRightSigned = |a, b, _c| L::sar(b, a);
    None MinSigned = |a, b, _c| L::min_signed(a, b);
    None MaxSigned = |a, b, _c| L::max_signed(a, b);
    None MinUnsigned = |a, b, _c| L::min_unsigned(a, b);
    None MaxUnsigned = |a, b, _c| L::max_unsigned(a, b);
    First AddF32 = |a, b, _c| L::add_f32(a, b), ADD_F32;
    First SubF32 = |a, b, _c| L::sub_f32(a, b), SUB_F32;
    FirstReversed SubReverseF32 = |a, b, _c| L::sub_f32(b, a), SUB_F32 of [b, a, a];
    First MultiplyF32 = |a, b, _c| L::mul_f32(a, b), MUL_F32;
    Loses MinF32 = |a, b, _c| L::min_f32(a, b), MIN_F32;
    Loses MaxF32 = |a, b, _c| L::max_f32(a, b), MAX_F32;

    LosesOfThree Min3F32 = |a, b, c| L::min_f32(L::min_f32(a, b), c);
    LosesOfThree Max3F32 = |a, b, c| L::max_f32(L::max_f32(a, b), c);
    LosesOfThree MinMaxF32 = |a, b, c| L::max_f32(L::min_f32(a, b), c);
    LosesOfThree MaxMinF32 = |a, b, c| L::min_f32(L::max_f32(a, b), c);
    LosesOfThree Med3F32 = |a, b, c| {
        let largest = L::max_f32(L::max_f32(a, b), c);
        let is_first = L::compare_f32::<{ relation::EQ }>(largest, a);
        let is_second = L::compare_f32::<{ relation::EQ }>(largest, b);
        let others = L::blend(is_second, L::max_f32(a, b), L::max_f32(a, c));
        L::blend(is_first, others, L::max_f32(b, c))
    };
    First FmaF32 = |a, b, c| L::fma_f32(a, b, c), FMA_F32;
    None Multiply24Add = |a, b, c| L::add(L::mul(L::and(a, all!(0xff_ffff)), L::and(b, all!(0xff_ffff))), c);
    None MultiplySigned24Add = |a, b, c| L::add(L::mul(extend24::<L>(a), extend24::<L>(b)), c);
    None FieldUnsigned = |a, b, c| L::and(L::shr(a, b), L::sub(L::shl(all!(1), c), all!(1)));
    None FieldInsert = |a, b, c| L::or(L::and(a, b), L::and_not(c, a));
    // A shift by 32 is one by 1 and one by 31.
    None AlignBits = |a, b, c| {
        let left = L::xor(L::and(c, all!(31)), all!(31));
        L::or(L::shr(b, c), L::shl(L::add(a, a), left))
    };
    None XorAdd = |a, b, c| L::add(L::xor(a, b), c);
    None ShiftLeftAdd = |a, b, c| L::add(L::shl(a, b), c);
    None AddShiftLeft = |a, b, c| L::shl(L::add(a, b), c);
    None Add3 = |a, b, c| L::add(L::add(a, b), c);
    None ShiftLeftOr = |a, b, c| L::or(L::shl(a, b), c);
    None AndOr = |a, b, c| L::or(L::and(a, b), c);
    None Or3 = |a, b, c| L::or(L::or(a, b), c);
    None Xor3 = |a, b, c| L::xor(L::xor(a, b), c);
    None Min3Signed = |a, b, c| L::min_signed(L::min_signed(a, b), c);
    None Max3Signed = |a, b, c| L::max_signed(L::max_signed(a, b), c);
    None Med3Signed = |a, b, c| L::min_signed(L::max_signed(a, b), L::max_signed(L::min_signed(a, b), c));
    None Min3Unsigned = |a, b, c| L::min_unsigned(L::min_unsigned(a, b), c);
    None Max3Unsigned = |a, b, c| L::max_unsigned(L::max_unsigned(a, b), c);
    None Med3Unsigned = |a, b, c| L::min_unsigned(L::max_unsigned(a, b), L::max_unsigned(L::min_unsigned(a, b), c));
    None MaxMinSigned = |a, b, c| L::min_signed(L::max_signed(a, b), c);
    None MinMaxSigned = |a, b, c| L::max_signed(L::min_signed(a, b), c);
    None MaxMinUnsigned = |a, b, c| L::min_unsigned(L::max_unsigned(a, b), c);
    None MinMaxUnsigned = |a, b, c| L::max_unsigned(L::min_unsigned(a, b), c);
}

pub(super) struct Move;

impl Operation for Move {
    const FLOATS: Floats = Floats::None;
    const IN_MODE: bool = false;
    const SHRINKS: bool = false;
    const ARRANGES: bool = false;
    #[inline(always)]
    unsafe fn apply<L: Level>(a: L::V, _: L::V, _: L::V) -> L::V {
        a
    }
}

/// Bits 0-23 as a signed number.
#[inline(always)]
unsafe fn extend24<L: Level>(a: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::sar(L::shl(a, L::splat(8)), L::splat(8)) }
}

/// The bit that tells quiet NaNs.
const QUIET: u32 = 1 << 22;

/// The lanes whose value is a NaN.
#[inline(always)]
pub(super) unsafe fn nan<L: Level>(value: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe { L::compare_f32::<{ relation::UNORDERED }>(value, value) }
}

/// Whether none of the values is a NaN.
#[inline(always)]
pub(super) unsafe fn no_nan<L: Level>(values: &[L::V; PARTS]) -> bool {
    let mut nan = 0;
    for pair in 0..parts::<L>() / 2 {
        // SAFETY: the caller's.
        nan |= unsafe { L::compare_f32::<{ relation::UNORDERED }>(values[2 * pair], values[2 * pair + 1]) };
    }
    nan == 0
}

#[inline(always)]
unsafe fn quiet<L: Level>(value: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::or(value, L::splat(QUIET)) }
}

/// The lanes whose value is a signalling NaN.
#[inline(always)]
unsafe fn signals<L: Level>(value: L::V) -> u32 {
    // SAFETY: the caller's.
    unsafe { nan::<L>(value) & !L::equal(L::and(value, L::splat(QUIET)), L::splat(QUIET)) }
}

/// The source, quiet, where it is a NaN; else the other value.
#[inline(always)]
unsafe fn or_source<L: Level>(other: L::V, source: L::V) -> L::V {
    // SAFETY: the caller's.
    unsafe { L::blend(nan::<L>(source), other, quiet::<L>(source)) }
}

/// The NaN that stands for a result that is one: the first source that is one, quiet, or else what an invalid
/// operation gives. The host's own choice depends on how the compiler orders operands.
#[inline(always)]
pub(super) unsafe fn replace_nans<L: Level>(result: L::V, [a, b, c]: [L::V; 3]) -> L::V {
    const INVALID: u32 = 0xffc0_0000;
    // SAFETY: the caller's.
    unsafe {
        let found = or_source::<L>(or_source::<L>(or_source::<L>(L::splat(INVALID), c), b), a);
        L::blend(nan::<L>(result), result, found)
    }
}

/// `minmax`, but where a source is a NaN.
#[inline(always)]
pub(super) unsafe fn without_nans<L: Level>(minmax: L::V, a: L::V, b: L::V, nans: Nans) -> L::V {
    // SAFETY: the caller's.
    unsafe {
        let result = L::blend(nan::<L>(a), L::blend(nan::<L>(b), minmax, a), b);
        match nans {
            Nans::Lose => result,
            Nans::Number => L::blend(nan::<L>(a) & nan::<L>(b), result, quiet::<L>(a)),
            Nans::Signal => {
                let second = L::blend(signals::<L>(b), result, quiet::<L>(b));
                L::blend(signals::<L>(a), second, quiet::<L>(a))
            }
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
pub(super) unsafe fn sources<L: Level, const SOURCES: usize, const SAME: u8>(
    w: &mut Wave,
    hot: &Hot,
) -> [Lanes<L>; 3] {
    // SAFETY: the caller's.
    unsafe {
        let a = Lanes::known(w, hot, 0, SAME & FIRST != 0);
        let b = if SOURCES < 2 { a } else { Lanes::known(w, hot, 1, SAME & SECOND != 0) };
        let c = if SOURCES < 3 { b } else { Lanes::known(w, hot, 2, SAME & THIRD != 0) };
        [a, b, c]
    }
}

/// As [`sources`] has them, whichever are the same for all lanes.
#[inline(always)]
pub(super) unsafe fn any_sources<L: Level, const SOURCES: usize>(w: &mut Wave, hot: &Hot) -> [Lanes<L>; 3] {
    let last = SOURCES - 1;
    // SAFETY: the caller's.
    unsafe { [Lanes::of(w, hot, 0), Lanes::of(w, hot, last.min(1)), Lanes::of(w, hot, last)] }
}

impl<O: Operation, const SOURCES: usize, const SAME: u8> Body for Do<O, SOURCES, SAME> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            if const { O::FLOATS.are_there() } && !w.plain32() {
                return L::apart::<InMode<O, SOURCES, false>>(context, hot);
            }
            let [a, b, c] = sources::<L, SOURCES, SAME>(w, hot);
            let mut result = [L::splat(0); PARTS];
            let mut unordered = 0;
            for i in 0..parts::<L>() {
                result[i] = O::apply::<L>(a.get(i), b.get(i), c.get(i));
                unordered |= match O::FLOATS {
                    Floats::Loses => L::compare_f32::<{ relation::UNORDERED }>(a.get(i), b.get(i)),
                    Floats::LosesOfThree => {
                        L::compare_f32::<{ relation::UNORDERED }>(a.get(i), b.get(i)) | nan::<L>(c.get(i))
                    }
                    Floats::First | Floats::FirstReversed if i % 2 == 1 => {
                        L::compare_f32::<{ relation::UNORDERED }>(result[i - 1], result[i])
                    }
                    _ => 0,
                };
            }
            if const { O::FLOATS.have_nans() } && unordered != 0 {
                return match O::FLOATS {
                    Floats::LosesOfThree => leave(context, hot),
                    _ => L::rarely::<Settled<O, SOURCES>>(context, hot),
                };
            }
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

impl<O: Operation, const SOURCES: usize> Body for Settled<O, SOURCES> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // SAFETY: as for `Do`.
        unsafe {
            let [a, b, c] = any_sources::<L, SOURCES>(w, hot);
            let mut result = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                result[i] = O::apply::<L>(a.get(i), b.get(i), c.get(i));
                result[i] = match O::FLOATS {
                    Floats::Loses => without_nans::<L>(result[i], a.get(i), b.get(i), w.nans()),
                    Floats::First => replace_nans::<L>(result[i], [a.get(i), b.get(i), c.get(i)]),
                    Floats::FirstReversed => replace_nans::<L>(result[i], [b.get(i), a.get(i), a.get(i)]),
                    Floats::None | Floats::Makes | Floats::LosesOfThree => result[i],
                };
            }
            put::<L>(w, hot.dst, &result);
        }
        hot.next
    }
}

/// `v_cndmask_b32`: the mask is in scalar registers, from number `hot.src[2]` on.
pub(super) struct Select<const SAME: u8>;

impl<const SAME: u8> Body for Select<SAME> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mask = mask::<L>(w, (hot.src[2] & 127) as u8);
        // SAFETY: as for `Do`.
        unsafe {
            let [a, b, _] = sources::<L, 2, SAME>(w, hot);
            let mut result = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                result[i] = L::blend(part::<L>(mask, i), a.get(i), b.get(i));
            }
            put::<L>(w, hot.dst, &result);
        }
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
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let carry_in = if IN { mask::<L>(w, (hot.src[2] & 127) as u8) } else { 0 };
        let mut carries = 0u64;
        // SAFETY: as for `Do`.
        unsafe {
            let a = Lanes::<L>::of(w, hot, 0);
            let b = Lanes::<L>::of(w, hot, 1);
            let mut result = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                let (a, b) = if KIND == SUB_REVERSE { (b.get(i), a.get(i)) } else { (a.get(i), b.get(i)) };
                let bit =
                    if IN { L::blend(part::<L>(carry_in, i), L::splat(0), L::splat(1)) } else { L::splat(0) };
                let out;
                if KIND == ADD {
                    let sum = L::add(a, b);
                    result[i] = if IN { L::add(sum, bit) } else { sum };
                    let first = L::less_unsigned(sum, a);
                    out = if IN { first | L::less_unsigned(result[i], sum) } else { first };
                } else {
                    let difference = L::sub(a, b);
                    result[i] = if IN { L::sub(difference, bit) } else { difference };
                    let first = L::less_unsigned(a, b);
                    out = if IN { first | L::less_unsigned(difference, bit) } else { first };
                }
                carries |= u64::from(out) << (i * L::N);
            }
            put::<L>(w, hot.dst, &result);
        }
        let carries = carries & w.exec;
        set_mask::<L>(w, hot.sdst as u8, carries);
        hot.next
    }
}

/// `v_readfirstlane_b32`.
pub(super) struct ReadFirst;

impl Body for ReadFirst {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let lane = w.first_lane();
        // SAFETY: as for `Do`.
        let value = unsafe { rows(w).add(hot.src[0] as usize + lane).read() };
        w.set_s32(hot.sdst as u8, value);
        hot.next
    }
}

/// `v_readlane_b32` with a scalar or constant lane.
pub(super) struct ReadLane;

impl Body for ReadLane {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let asked = scalar(w, hot.src[1], hot.imm[1]);
        if w.lacks_lane(asked) {
            w.note_missing_lane(hot.next - 1, asked, None);
        }
        let lane = asked as usize & (L::LANES - 1);
        // SAFETY: as for `Do`.
        let value = unsafe { rows(w).add(hot.src[0] as usize + lane).read() };
        w.set_s32(hot.sdst as u8, value);
        hot.next
    }
}

/// `v_writelane_b32`: EXEC is ignored.
pub(super) struct WriteLane;

impl Body for WriteLane {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let value = scalar(w, hot.src[0], hot.imm[0]);
        let lane = scalar(w, hot.src[1], hot.imm[1]) as usize & (L::LANES - 1);
        // SAFETY: as for `Do`.
        unsafe { rows(w).add(hot.dst as usize + lane).write(value) };
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
