//! Lane-wise arithmetic of 16 bits: half precision, integers, comparisons; in halves of registers, or packed,
//! two a register.
//!
//! Halves are computed as singles. Products of two are exact there. A sum, rounded to a single and then to a
//! half, is what rounding once gives where both go to the nearest number: a single has more than twice a
//! half's bits, and two more. Where a third term comes to a product, or the second rounding goes another way,
//! the first one rounds to odd ([`sum_to_odd`]). What gives a NaN, and what MODE.FP16_OVFL saturates, goes
//! the general way.
//!
//! Work on vectors stands in plain loops: closures that are not inlined would not use the host's vectors.

use std::marker::PhantomData;

use amdgpu_isa::{NumberKind, Op};

use super::compare::{self, Test};
use super::compile::{mask_result, mask_source, result_fits, source};
use super::level::{Level, relation};
use super::valu::put_mask;
use super::{Body, Form, Lanes, Operands, PARTS, at, leave, mask, part, parts, put};
use crate::program::{Context, Hot, HotHandler, HotSource, Step};
use crate::wave::{SATURATE, Wave};

/// What an instruction asks of its operands, in `hot.target`: a bit for each source from each of these on.
mod ask {
    /// The absolute value; of packed ones the high result's source is the high half.
    pub(super) const ABS: u32 = 0;
    pub(super) const NEG: u32 = 3;
    /// The source is the high half of its register.
    pub(super) const HIGH: u32 = 6;
    /// The high result's source, negated; of mixed ones: the source is a half.
    pub(super) const SECOND: u32 = 9;
    /// The result goes to the high half.
    pub(super) const HIGH_RESULT: u32 = 12;
    /// The result leaves the other half of its register.
    pub(super) const KEEPS: u32 = 13;
}

const fn asks(hot: &Hot, from: u32, slot: usize) -> bool {
    hot.target >> (from + slot as u32) & 1 != 0
}

/// What MODE says of halves, and of singles that become halves or come of them.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    round: u32,
    flushes_sources: bool,
    flushes_results: bool,
    flushes_single_sources: bool,
    flushes_single_results: bool,
}

impl Mode {
    /// IEEE's defaults.
    const PLAIN: Self = Self {
        round: 0,
        flushes_sources: false,
        flushes_results: false,
        flushes_single_sources: false,
        flushes_single_results: false,
    };

    #[inline(always)]
    fn of(w: &Wave) -> Self {
        let flushes = |bit: u32| w.mode >> bit & 1 == 0;
        Self {
            round: w.round64(),
            flushes_single_sources: flushes(4),
            flushes_single_results: flushes(5),
            flushes_sources: flushes(6),
            flushes_results: flushes(7),
        }
    }

    /// Singles as halves.
    #[inline(always)]
    fn round<L: Level>(self, level: L, a: L::V) -> L::V {
        match self.round {
            0 => level.f16_from_f32::<0>(a),
            1 => level.f16_from_f32::<1>(a),
            2 => level.f16_from_f32::<2>(a),
            _ => level.f16_from_f32::<3>(a),
        }
    }
}

/// Zero with the sign of a half that is subnormal; other halves as they are.
#[inline(always)]
fn flush<L: Level>(level: L, a: L::V) -> L::V {
    let subnormal = level.equal(level.and(a, level.splat(0x7c00)), level.splat(0));
    level.blend(subnormal, a, level.and(a, level.splat(!0x7fff)))
}

/// An operation on halves of registers; those on fewer sources ignore the others.
pub(super) trait Operation {
    const SOURCES: usize;
    /// MODE has a say.
    const FLOATS: bool;
    /// Sources are singles.
    const FROM_SINGLES: bool;
    /// The result is a single.
    const TO_SINGLE: bool;
    /// Of halves with anything above them; the result has zeros there, or is masked if there are no floats.
    /// And the lanes whose result is to be looked at the general way.
    fn apply<L: Level>(level: L, mode: Mode, sources: [L::V; 3]) -> (L::V, u32);
}

macro_rules! integers {
    ($($name:ident $sources:literal = |$level:ident, $a:ident, $b:ident, $c:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const SOURCES: usize = $sources;
            const FLOATS: bool = false;
            const FROM_SINGLES: bool = false;
            const TO_SINGLE: bool = false;
            #[inline(always)]
            fn apply<L: Level>($level: L, _: Mode, [$a, $b, $c]: [L::V; 3]) -> (L::V, u32) {
                ($body, 0)
            }
        }
    )*};
}

macro_rules! floats {
    ($($name:ident $sources:literal $from_singles:literal $to_single:literal = |$level:ident, $mode:ident, $a:ident, $b:ident, $c:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Operation for $name {
            const SOURCES: usize = $sources;
            const FLOATS: bool = true;
            const FROM_SINGLES: bool = $from_singles;
            const TO_SINGLE: bool = $to_single;
            #[inline(always)]
            fn apply<L: Level>($level: L, $mode: Mode, [$a, $b, $c]: [L::V; 3]) -> (L::V, u32) {
                $body
            }
        }
    )*};
}

integers! {
    Not 1 = |level, a, _b, _c| level.xor(a, level.splat(!0));
    AddInteger 2 = |level, a, b, _c| level.add(a, b);
    SubInteger 2 = |level, a, b, _c| level.sub(a, b);
    SubReverseInteger 2 = |level, a, b, _c| level.sub(b, a);
    MultiplyInteger 2 = |level, a, b, _c| level.mul(a, b);
    MultiplyAddInteger 3 = |level, a, b, c| level.add(level.mul(a, b), c);
    And 2 = |level, a, b, _c| level.and(a, b);
    Or 2 = |level, a, b, _c| level.or(a, b);
    Xor 2 = |level, a, b, _c| level.xor(a, b);
    ShiftLeft 2 = |level, a, b, _c| level.shl(b, level.and(a, level.splat(15)));
    ShiftRight 2 = |level, a, b, _c| {
        level.shr(level.and(b, level.splat(0xffff)), level.and(a, level.splat(15)))
    };
    ShiftRightSigned 2 = |level, a, b, _c| {
        level.sar(level.sar(top(level, b), level.splat(16)), level.and(a, level.splat(15)))
    };
    MinSigned 2 = |level, a, b, _c| low(level, level.min_signed(top(level, a), top(level, b)));
    MaxSigned 2 = |level, a, b, _c| low(level, level.max_signed(top(level, a), top(level, b)));
    MinUnsigned 2 = |level, a, b, _c| low(level, level.min_unsigned(top(level, a), top(level, b)));
    MaxUnsigned 2 = |level, a, b, _c| low(level, level.max_unsigned(top(level, a), top(level, b)));
}

/// The half as it is.
pub(super) struct Move;

impl Operation for Move {
    const SOURCES: usize = 1;
    const FLOATS: bool = false;
    const FROM_SINGLES: bool = false;
    const TO_SINGLE: bool = false;
    #[inline(always)]
    fn apply<L: Level>(_: L, _: Mode, [a, ..]: [L::V; 3]) -> (L::V, u32) {
        (a, 0)
    }
}

floats! {
    Add 2 false false = |level, mode, a, b, _c| {
        sum(level, mode, level.f32_from_f16(a), level.f32_from_f16(b))
    };
    Sub 2 false false = |level, mode, a, b, _c| {
        sum(level, mode, level.f32_from_f16(a), negative(level, level.f32_from_f16(b)))
    };
    SubReverse 2 false false = |level, mode, a, b, _c| {
        sum(level, mode, level.f32_from_f16(b), negative(level, level.f32_from_f16(a)))
    };
    Multiply 2 false false = |level, mode, a, b, _c| {
        rounded(level, mode, level.mul_f32(level.f32_from_f16(a), level.f32_from_f16(b)))
    };
    Fma 3 false false = |level, mode, a, b, c| {
        let product = level.mul_f32(level.f32_from_f16(a), level.f32_from_f16(b));
        rounded(level, mode, sum_to_odd(level, mode, product, level.f32_from_f16(c)))
    };
    Min 2 false false = |level, _mode, a, b, _c| {
        let smaller = level.min_signed(ordered(level, top(level, a)), ordered(level, top(level, b)));
        (low(level, ordered(level, smaller)), nan(level, a) | nan(level, b))
    };
    Max 2 false false = |level, _mode, a, b, _c| {
        let larger = level.max_signed(ordered(level, top(level, a)), ordered(level, top(level, b)));
        (low(level, ordered(level, larger)), nan(level, a) | nan(level, b))
    };
    FromSingle 1 true false = |level, mode, a, _b, _c| rounded(level, mode, a);
    ToSingle 1 false true = |level, _mode, a, _b, _c| {
        let single = level.f32_from_f16(a);
        (single, level.compare_f32::<{ relation::UNORDERED }>(single, single))
    };
}

/// The low half in the place of the high one.
#[inline(always)]
fn top<L: Level>(level: L, a: L::V) -> L::V {
    level.shl(a, level.splat(16))
}

#[inline(always)]
fn low<L: Level>(level: L, a: L::V) -> L::V {
    level.shr(a, level.splat(16))
}

#[inline(always)]
fn negative<L: Level>(level: L, a: L::V) -> L::V {
    level.xor(a, level.splat(1 << 31))
}

/// Sign and magnitude as a signed number in the order of floats, and the way back.
#[inline(always)]
fn ordered<L: Level>(level: L, a: L::V) -> L::V {
    level.xor(a, level.shr(level.sar(a, level.splat(31)), level.splat(1)))
}

/// The lanes whose half is a NaN.
#[inline(always)]
fn nan<L: Level>(level: L, a: L::V) -> u32 {
    level.less_signed(level.splat(0x7c00), level.and(a, level.splat(0x7fff)))
}

/// Singles as halves, and the lanes in which they are NaNs.
#[inline(always)]
fn rounded<L: Level>(level: L, mode: Mode, a: L::V) -> (L::V, u32) {
    (mode.round(level, a), level.compare_f32::<{ relation::UNORDERED }>(a, a))
}

/// A sum of halves.
#[inline(always)]
fn sum<L: Level>(level: L, mode: Mode, a: L::V, b: L::V) -> (L::V, u32) {
    let sum = if mode.round == 0 { level.add_f32(a, b) } else { sum_to_odd(level, mode, a, b) };
    rounded(level, mode, sum)
}

/// A sum, of which one that is not exact is the odd one of the two numbers beside it: rounding it again then
/// gives what rounding the exact one does. The error of a sum that is rounded to the nearest number is known
/// exactly, by Knuth's two-sum. A sum that is zero is a negative one if MODE rounds down, unless it is that
/// of positive zeros.
#[inline(always)]
fn sum_to_odd<L: Level>(level: L, mode: Mode, a: L::V, b: L::V) -> L::V {
    const DOWN: u32 = 2;
    let sum = level.add_f32(a, b);
    let of_b = level.add_f32(sum, negative(level, a));
    let of_a = level.add_f32(sum, negative(level, of_b));
    let error =
        level.add_f32(level.add_f32(a, negative(level, of_a)), level.add_f32(b, negative(level, of_b)));
    let (zero, one) = (level.splat(0), level.splat(1));
    let inexact = level.compare_f32::<{ relation::LG }>(error, zero);
    let even = level.equal(level.and(sum, one), zero);
    let shrinks = level.less_signed(level.xor(error, sum), zero);
    let odd = level.add(sum, level.blend(shrinks, one, level.splat(!0)));
    let sum = level.blend(inexact & even, sum, odd);
    if mode.round != DOWN {
        return sum;
    }
    let becomes_negative = level.equal(sum, zero) & !level.equal(level.or(a, b), zero);
    level.blend(becomes_negative, sum, level.splat(1 << 31))
}

/// A source as its instruction asks for it.
struct Source<'a, L: Level> {
    level: L,
    lanes: Lanes<'a, L>,
    shift: L::V,
    stay: L::V,
    invert: L::V,
}

impl<'a, L: Level> Source<'a, L> {
    #[inline(always)]
    fn of(level: L, operands: Operands<'a>, hot: &Hot, slot: usize, sign: u32) -> Self {
        Self {
            level,
            lanes: Lanes::of(level, operands, hot, slot),
            shift: level.splat(if asks(hot, ask::HIGH, slot) { 16 } else { 0 }),
            stay: level.splat(if asks(hot, ask::ABS, slot) { !sign } else { !0 }),
            invert: level.splat(if asks(hot, ask::NEG, slot) { sign } else { 0 }),
        }
    }

    #[inline(always)]
    fn get(&self, part: usize) -> L::V {
        let level = self.level;
        level.xor(level.and(level.shr(self.lanes.get(part), self.shift), self.stay), self.invert)
    }
}

const SIGN: u32 = 1 << 15;
const SINGLE_SIGN: u32 = 1 << 31;

/// Whether MODE asks for nothing but IEEE's defaults of what an operation works on.
#[inline(always)]
fn is_plain<O: Operation>(w: &Wave) -> bool {
    w.plain16() && (!(O::FROM_SINGLES || O::TO_SINGLE) || w.keeps_subnormals32())
}

/// MODE as `O` works by it, for a handler that is `PLAIN`, or for `Modal`, which takes every mode. Where the
/// handler cannot work by it, the next step, after another has run this one.
#[inline(always)]
fn mode_of<O: Operation, const PLAIN: bool, Modal: Body, L: Level>(
    level: L,
    context: &mut Context<'_>,
    hot: &Hot,
) -> Result<Mode, u32> {
    if !O::FLOATS || PLAIN && is_plain::<O>(context.wave) {
        return Ok(Mode::PLAIN);
    }
    if PLAIN {
        return Err(level.apart::<Modal>(context, hot));
    }
    if context.wave.round16() & SATURATE != 0 {
        return Err(leave(context, hot));
    }
    Ok(Mode::of(context.wave))
}

/// `O` on halves of registers; if it is not `PLAIN` in every mode.
pub(super) struct Do<O, const PLAIN: bool>(PhantomData<O>);

impl<O: Operation, const PLAIN: bool> Body for Do<O, PLAIN> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let mode = match mode_of::<O, PLAIN, Do<O, false>, L>(level, context, hot) {
            Ok(mode) => mode,
            Err(next) => return next,
        };
        let w = &mut *context.wave;
        let exec = w.exec;
        let sign = if O::FROM_SINGLES { SINGLE_SIGN } else { SIGN };
        let last = O::SOURCES - 1;
        let operands = Operands::of(w);
        let a = Source::of(level, operands, hot, 0, sign);
        let b = Source::of(level, operands, hot, last.min(1), sign);
        let c = Source::of(level, operands, hot, last, sign);
        let mut result = [level.splat(0); PARTS];
        let mut nans = 0;
        for i in 0..parts::<L>() {
            let mut sources = [a.get(i), b.get(i), c.get(i)];
            if O::FLOATS && !PLAIN {
                for source in &mut sources {
                    *source = match O::FROM_SINGLES {
                        true if mode.flushes_single_sources => level.flush_f32(*source),
                        false if mode.flushes_sources => flush(level, *source),
                        _ => *source,
                    };
                }
            }
            let (value, odd) = O::apply(level, mode, sources);
            result[i] = match (O::FLOATS, O::TO_SINGLE) {
                (false, _) => level.and(value, level.splat(0xffff)),
                (true, false) if mode.flushes_results => flush(level, value),
                (true, true) if mode.flushes_single_results => level.flush_f32(value),
                _ => value,
            };
            nans |= odd & part::<L>(exec, i);
        }
        if nans != 0 {
            return leave(context, hot);
        }
        put_half(level, w, hot, &mut result);
        hot.next
    }
}

/// Write results, which have zeros above a half, as the instruction asks.
#[inline(always)]
fn put_half<L: Level>(level: L, w: &mut Wave, hot: &Hot, result: &mut [L::V; PARTS]) {
    if asks(hot, ask::KEEPS, 0) {
        let high = asks(hot, ask::HIGH_RESULT, 0);
        let (shift, other) = if high { (16, 0xffff) } else { (0, 0xffff_0000) };
        let (shift, other) = (level.splat(shift), level.splat(other));
        let row = hot.dst.row(w.rows.file());
        for i in 0..parts::<L>() {
            let old = level.load(row, i);
            result[i] = level.or(level.and(old, other), level.shl(result[i], shift));
        }
    }
    put(level, w, hot.dst, result);
}

/// `O` on both halves of registers: OP_SEL says of each source which half is for the low result, OP_SEL_HI
/// which is for the high one.
pub(super) struct Packed<O, const PLAIN: bool>(PhantomData<O>);

impl<O: Operation, const PLAIN: bool> Body for Packed<O, PLAIN> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let mode = match mode_of::<O, PLAIN, Packed<O, false>, L>(level, context, hot) {
            Ok(mode) => mode,
            Err(next) => return next,
        };
        let w = &mut *context.wave;
        let exec = w.exec;
        let last = O::SOURCES - 1;
        let lanes = [
            Lanes::of(level, Operands::of(w), hot, 0),
            Lanes::of(level, Operands::of(w), hot, last.min(1)),
            Lanes::of(level, Operands::of(w), hot, last),
        ];
        let (mut shifts, mut inverts) = ([[level.splat(0); 3]; 2], [[level.splat(0); 3]; 2]);
        for (half, (high, negative)) in
            [(ask::HIGH, ask::NEG), (ask::ABS, ask::SECOND)].into_iter().enumerate()
        {
            for slot in 0..3 {
                shifts[half][slot] = level.splat(if asks(hot, high, slot.min(last)) { 16 } else { 0 });
                inverts[half][slot] = level.splat(if asks(hot, negative, slot.min(last)) { SIGN } else { 0 });
            }
        }
        let mut result = [level.splat(0); PARTS];
        let mut nans = 0;
        for i in 0..parts::<L>() {
            let mut halves = [level.splat(0); 2];
            for half in 0..2 {
                let mut sources = [lanes[0].get(i), lanes[1].get(i), lanes[2].get(i)];
                for slot in 0..O::SOURCES {
                    let value = level.shr(sources[slot], shifts[half][slot]);
                    let value = level.xor(value, inverts[half][slot]);
                    sources[slot] = if mode.flushes_sources { flush(level, value) } else { value };
                }
                let (value, odd) = O::apply(level, mode, sources);
                halves[half] = if mode.flushes_results { flush(level, value) } else { value };
                nans |= odd & part::<L>(exec, i);
            }
            let [lower, upper] = halves;
            let lower = if O::FLOATS { lower } else { level.and(lower, level.splat(0xffff)) };
            result[i] = level.or(lower, level.shl(upper, level.splat(16)));
        }
        if nans != 0 {
            return leave(context, hot);
        }
        put(level, w, hot.dst, &result);
        hot.next
    }
}

/// Where a [`Mix`]'s result goes.
pub(super) const TO_SINGLE: u8 = 0;
pub(super) const TO_LOW: u8 = 1;
pub(super) const TO_HIGH: u8 = 2;

/// `v_fma_mix_f32` and its kin: a fused multiply-add of singles, each of whose sources is one, or a half.
pub(super) struct Mix<const TO: u8>;

impl<const TO: u8> Body for Mix<TO> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let exec = w.exec;
        if !w.nearest32() || TO != TO_SINGLE && w.round16() & SATURATE != 0 {
            return leave(context, hot);
        }
        let mode = Mode::of(w);
        let halves = [asks(hot, ask::SECOND, 0), asks(hot, ask::SECOND, 1), asks(hot, ask::SECOND, 2)];
        let operands = Operands::of(w);
        let sources = [
            Source::of(level, operands, hot, 0, if halves[0] { SIGN } else { SINGLE_SIGN }),
            Source::of(level, operands, hot, 1, if halves[1] { SIGN } else { SINGLE_SIGN }),
            Source::of(level, operands, hot, 2, if halves[2] { SIGN } else { SINGLE_SIGN }),
        ];
        let mut result = [level.splat(0); PARTS];
        let mut nans = 0;
        for i in 0..parts::<L>() {
            let mut values = [sources[0].get(i), sources[1].get(i), sources[2].get(i)];
            for slot in 0..3 {
                values[slot] = match halves[slot] {
                    true if mode.flushes_sources => level.f32_from_f16(flush(level, values[slot])),
                    true => level.f32_from_f16(values[slot]),
                    false if mode.flushes_single_sources => level.flush_f32(values[slot]),
                    false => values[slot],
                };
            }
            let [a, b, c] = values;
            let single = level.fma_f32(a, b, c);
            let single = if mode.flushes_single_results { level.flush_f32(single) } else { single };
            nans |= level.compare_f32::<{ relation::UNORDERED }>(single, single) & part::<L>(exec, i);
            result[i] = single;
            if TO != TO_SINGLE {
                let half = mode.round(level, single);
                result[i] = if mode.flushes_results { flush(level, half) } else { half };
            }
        }
        if nans != 0 {
            return leave(context, hot);
        }
        if TO == TO_SINGLE {
            put(level, w, hot.dst, &result);
        } else {
            put_half(level, w, hot, &mut result);
        }
        hot.next
    }
}

/// `v_pack_b32_f16`, and if `ROUNDS` `v_cvt_pkrtz_f16_f32`: two halves of a register from two sources.
pub(super) struct Pack<const ROUNDS: bool>;

impl<const ROUNDS: bool> Body for Pack<ROUNDS> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        const TO_ZERO: u32 = 3;
        let w = &mut *context.wave;
        let exec = w.exec;
        let mode = if ROUNDS { Mode::of(w) } else { Mode::PLAIN };
        let sign = if ROUNDS { SINGLE_SIGN } else { SIGN };
        let operands = Operands::of(w);
        let sources = [Source::of(level, operands, hot, 0, sign), Source::of(level, operands, hot, 1, sign)];
        let mut result = [level.splat(0); PARTS];
        let mut nans = 0;
        for i in 0..parts::<L>() {
            let mut halves = [sources[0].get(i), sources[1].get(i)];
            for half in &mut halves {
                if !ROUNDS {
                    *half = level.and(*half, level.splat(0xffff));
                    continue;
                }
                nans |= level.compare_f32::<{ relation::UNORDERED }>(*half, *half) & part::<L>(exec, i);
                let value = if mode.flushes_single_sources { level.flush_f32(*half) } else { *half };
                let rounded = level.f16_from_f32::<TO_ZERO>(value);
                *half = if mode.flushes_results { flush(level, rounded) } else { rounded };
            }
            let [lower, upper] = halves;
            result[i] = level.or(lower, level.shl(upper, level.splat(16)));
        }
        if nans != 0 {
            return leave(context, hot);
        }
        put(level, w, hot.dst, &result);
        hot.next
    }
}

/// `v_cndmask_b16`: the mask is in scalar registers, from number `hot.src[2]` on.
pub(super) struct Select;

impl Body for Select {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mask = mask::<L>(w, hot.src[2].register());
        let operands = Operands::of(w);
        let (a, b) = (Source::of(level, operands, hot, 0, SIGN), Source::of(level, operands, hot, 1, SIGN));
        let mut result = [level.splat(0); PARTS];
        for i in 0..parts::<L>() {
            let value = level.blend(part::<L>(mask, i), a.get(i), b.get(i));
            result[i] = level.and(value, level.splat(0xffff));
        }
        put_half(level, w, hot, &mut result);
        hot.next
    }
}

/// A comparison of halves, or of integers of 16 bits; `hot.imm[2]` is [`compare::MASK_TO_EXEC`] for
/// `v_cmpx_*`.
pub(super) struct Compare<T>(PhantomData<T>);

impl<T: Test> Body for Compare<T> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let flushes = T::FLOAT && Mode::of(w).flushes_sources;
        let mut bits = 0;
        let operands = Operands::of(w);
        let sources = [Source::of(level, operands, hot, 0, SIGN), Source::of(level, operands, hot, 1, SIGN)];
        for i in 0..parts::<L>() {
            let mut values = [sources[0].get(i), sources[1].get(i)];
            for value in &mut values {
                *value = match (T::FLOAT, flushes) {
                    // Integers have their order in the high half, too.
                    (false, _) => top(level, *value),
                    (true, true) => level.f32_from_f16(flush(level, *value)),
                    (true, false) => level.f32_from_f16(*value),
                };
            }
            let [a, b] = values;
            let lanes = u64::from(T::test(level, a, b)) & ((1u64 << L::N) - 1);
            bits |= lanes << (i * L::N);
        }
        put_mask::<L>(context, hot, bits, hot.imm[2] == compare::MASK_TO_EXEC);
        hot.next
    }
}

/// The handler of a step that works on halves of registers, if it has one; completes the operands.
pub(super) fn handler(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let extra = step.extra.as_ref()?;
    let mods = &extra.inst.mods;
    if mods.sdwa.is_some() || mods.omod != 0 || mods.clamp {
        return None;
    }
    if extra.inst.encoding.is_vop3p() {
        return in_parts(step, hot, form);
    }
    let (abs, neg) = (u32::from(mods.abs & 7), u32::from(mods.neg & 7));
    let mut high = 0;
    for slot in 0..3 {
        if matches!(extra.numbers.sources[slot], NumberKind::F16 | NumberKind::Bits16) {
            high |= u32::from(extra.high_halves) & 1 << slot;
        }
    }
    let is_high = mods.op_sel & 8 != 0;
    hot.target = abs << ask::ABS
        | neg << ask::NEG
        | high << ask::HIGH
        | u32::from(is_high) << ask::HIGH_RESULT
        | u32::from(extra.keep_half) << ask::KEEPS;
    macro_rules! of {
        ($operation:ident) => {{
            for slot in 0..<$operation as Operation>::SOURCES {
                source(step, hot, slot, 1)?;
            }
            at::<Do<$operation, true>>(form)
        }};
    }
    let run = match step.op {
        Op::v_add_f16 => of!(Add),
        Op::v_sub_f16 => of!(Sub),
        Op::v_subrev_f16 => of!(SubReverse),
        Op::v_mul_f16 => of!(Multiply),
        Op::v_min_f16 => of!(Min),
        Op::v_max_f16 => of!(Max),
        Op::v_fma_f16 | Op::v_fmamk_f16 | Op::v_fmaak_f16 => of!(Fma),
        Op::v_fmac_f16 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            hot.src[2] = HotSource::row(step.dst);
            if is_high && extra.keep_half {
                hot.target |= 4 << ask::HIGH;
            }
            at::<Do<Fma, true>>(form)
        }
        Op::v_cvt_f16_f32 => of!(FromSingle),
        Op::v_cvt_f32_f16 => of!(ToSingle),
        Op::v_cvt_pkrtz_f16_f32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            at::<Pack<true>>(form)
        }
        Op::v_pack_b32_f16 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            at::<Pack<false>>(form)
        }
        Op::v_mov_b16 => of!(Move),
        Op::v_not_b16 => of!(Not),
        Op::v_and_b16 => of!(And),
        Op::v_or_b16 => of!(Or),
        Op::v_xor_b16 => of!(Xor),
        Op::v_add_u16 | Op::v_add_i16 => of!(AddInteger),
        Op::v_sub_u16 | Op::v_sub_i16 => of!(SubInteger),
        Op::v_subrev_u16 => of!(SubReverseInteger),
        Op::v_mul_lo_u16 => of!(MultiplyInteger),
        Op::v_mad_u16 | Op::v_mad_i16 => of!(MultiplyAddInteger),
        Op::v_lshlrev_b16 => of!(ShiftLeft),
        Op::v_lshrrev_b16 => of!(ShiftRight),
        Op::v_ashrrev_i16 => of!(ShiftRightSigned),
        Op::v_min_i16 => of!(MinSigned),
        Op::v_max_i16 => of!(MaxSigned),
        Op::v_min_u16 => of!(MinUnsigned),
        Op::v_max_u16 => of!(MaxUnsigned),
        Op::v_cndmask_b16 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            mask_source(step, hot)?;
            at::<Select>(form)
        }
        _ => return comparison(step, hot, form),
    };
    result_fits(step, 1).then_some(run)
}

/// Packed and mixed instructions.
fn in_parts(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let mods = &step.extra.as_ref()?.inst.mods;
    let [low, high, neg, neg_high] =
        [mods.op_sel, mods.op_sel_hi, mods.neg, mods.neg_hi].map(|bits| u32::from(bits & 7));
    let is_float;
    macro_rules! of {
        ($operation:ident) => {{
            for slot in 0..<$operation as Operation>::SOURCES {
                source(step, hot, slot, 1)?;
            }
            is_float = <$operation as Operation>::FLOATS;
            at::<Packed<$operation, true>>(form)
        }};
    }
    macro_rules! mix {
        ($to:ident) => {{
            for slot in 0..3 {
                source(step, hot, slot, 1)?;
            }
            let places = match $to {
                TO_SINGLE => 0,
                TO_LOW => 1 << ask::KEEPS,
                _ => 1 << ask::KEEPS | 1 << ask::HIGH_RESULT,
            };
            // OP_SEL chooses among halves alone.
            hot.target = neg_high << ask::ABS
                | neg << ask::NEG
                | (low & high) << ask::HIGH
                | high << ask::SECOND
                | places;
            return result_fits(step, 1).then(|| at::<Mix<$to>>(form));
        }};
    }
    let run = match step.op {
        Op::v_pk_add_f16 => of!(Add),
        Op::v_pk_mul_f16 => of!(Multiply),
        Op::v_pk_fma_f16 => of!(Fma),
        Op::v_pk_min_f16 => of!(Min),
        Op::v_pk_max_f16 => of!(Max),
        Op::v_pk_add_u16 | Op::v_pk_add_i16 => of!(AddInteger),
        Op::v_pk_sub_u16 | Op::v_pk_sub_i16 => of!(SubInteger),
        Op::v_pk_mul_lo_u16 => of!(MultiplyInteger),
        Op::v_pk_mad_u16 | Op::v_pk_mad_i16 => of!(MultiplyAddInteger),
        Op::v_pk_lshlrev_b16 => of!(ShiftLeft),
        Op::v_pk_lshrrev_b16 => of!(ShiftRight),
        Op::v_pk_ashrrev_i16 => of!(ShiftRightSigned),
        Op::v_pk_min_i16 => of!(MinSigned),
        Op::v_pk_max_i16 => of!(MaxSigned),
        Op::v_pk_min_u16 => of!(MinUnsigned),
        Op::v_pk_max_u16 => of!(MaxUnsigned),
        Op::v_fma_mix_f32 => mix!(TO_SINGLE),
        Op::v_fma_mixlo_f16 => mix!(TO_LOW),
        Op::v_fma_mixhi_f16 => mix!(TO_HIGH),
        _ => return None,
    };
    hot.target = high << ask::ABS | low << ask::HIGH;
    if is_float {
        hot.target |= neg << ask::NEG | neg_high << ask::SECOND;
    }
    result_fits(step, 1).then_some(run)
}

fn comparison(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    macro_rules! compare {
        ($($plain:ident $to_exec:ident $test:ty),* $(,)?) => {
            match step.op {
                $(Op::$plain => (false, at::<Compare<$test>>(form)),
                Op::$to_exec => (true, at::<Compare<$test>>(form)),)*
                _ => return None,
            }
        };
    }
    let (to_exec, run) = compare! {
        v_cmp_eq_u16 v_cmpx_eq_u16 compare::Equal,
        v_cmp_eq_i16 v_cmpx_eq_i16 compare::Equal,
        v_cmp_ne_u16 v_cmpx_ne_u16 compare::NotEqual,
        v_cmp_ne_i16 v_cmpx_ne_i16 compare::NotEqual,
        v_cmp_lt_i16 v_cmpx_lt_i16 compare::LessSigned,
        v_cmp_le_i16 v_cmpx_le_i16 compare::LessEqualSigned,
        v_cmp_gt_i16 v_cmpx_gt_i16 compare::GreaterSigned,
        v_cmp_ge_i16 v_cmpx_ge_i16 compare::GreaterEqualSigned,
        v_cmp_lt_u16 v_cmpx_lt_u16 compare::LessUnsigned,
        v_cmp_le_u16 v_cmpx_le_u16 compare::LessEqualUnsigned,
        v_cmp_gt_u16 v_cmpx_gt_u16 compare::GreaterUnsigned,
        v_cmp_ge_u16 v_cmpx_ge_u16 compare::GreaterEqualUnsigned,
        v_cmp_lt_f16 v_cmpx_lt_f16 compare::Float<{ relation::LT }>,
        v_cmp_eq_f16 v_cmpx_eq_f16 compare::Float<{ relation::EQ }>,
        v_cmp_le_f16 v_cmpx_le_f16 compare::Float<{ relation::LE }>,
        v_cmp_gt_f16 v_cmpx_gt_f16 compare::Float<{ relation::GT }>,
        v_cmp_lg_f16 v_cmpx_lg_f16 compare::Float<{ relation::LG }>,
        v_cmp_ge_f16 v_cmpx_ge_f16 compare::Float<{ relation::GE }>,
        v_cmp_o_f16 v_cmpx_o_f16 compare::Float<{ relation::ORDERED }>,
        v_cmp_u_f16 v_cmpx_u_f16 compare::Float<{ relation::UNORDERED }>,
        v_cmp_nge_f16 v_cmpx_nge_f16 compare::Float<{ relation::NGE }>,
        v_cmp_nlg_f16 v_cmpx_nlg_f16 compare::Float<{ relation::NLG }>,
        v_cmp_ngt_f16 v_cmpx_ngt_f16 compare::Float<{ relation::NGT }>,
        v_cmp_nle_f16 v_cmpx_nle_f16 compare::Float<{ relation::NLE }>,
        v_cmp_neq_f16 v_cmpx_neq_f16 compare::Float<{ relation::NEQ }>,
        v_cmp_nlt_f16 v_cmpx_nlt_f16 compare::Float<{ relation::NLT }>,
    };
    source(step, hot, 0, 1)?;
    source(step, hot, 1, 1)?;
    mask_result(step, hot, form, to_exec, run)
}
