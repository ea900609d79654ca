//! Half precision, through wider formats: an exact or sufficiently exact intermediate is rounded once.
//!
//! `round` is the FP_ROUND field of MODE, with [`SATURATE`] added where MODE.FP16_OVFL is set
//! (`Wave::round16`).

use super::float::{self, choose};
use super::soft::HALF;
use crate::wave::{Half, Nans, SATURATE};

const SIGN: u16 = 0x8000;
const EXPONENT: u16 = 0x7c00;
const QUIET: u16 = 0x0200;
const LARGEST: u16 = EXPONENT - 1;

/// The value; exact.
#[inline(always)]
pub(crate) fn value(a: Half) -> f32 {
    let sign = u32::from(a.0 & SIGN) << 16;
    let rest = u32::from(a.0 & !SIGN);
    let magnitude = if rest >= u32::from(EXPONENT) {
        0x7f80_0000 | (rest & 0x3ff) << 13
    } else {
        // Moves the exponent by a multiplication, which also normalises subnormals.
        (f32::from_bits(rest << 13) * f32::from_bits(0x7780_0000)).to_bits()
    };
    f32::from_bits(sign | magnitude)
}

/// Round a single to half precision, to nearest.
#[inline(always)]
fn nearest(a: f32) -> Half {
    /// Exponents count from another place: what moves them from the single's to the half's.
    const DISTANCE: u32 = (127 - 15) << 23;
    /// The smallest single that is a normal half.
    const NORMAL: u32 = (127 - 14) << 23;
    /// The smallest single that rounds to infinity.
    const TOO_LARGE: u32 = 0x477f_f000;
    // Its last place is that of the subnormal halves: adding it rounds to them.
    let unit = f32::from_bits((127 - 24 + 23) << 23);
    let bits = a.to_bits();
    let sign = (bits >> 16) as u16 & SIGN;
    let magnitude = bits & !(1 << 31);
    let subnormal = (f32::from_bits(magnitude) + unit).to_bits().wrapping_sub(unit.to_bits());
    let even = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1)).wrapping_sub(DISTANCE) >> 13;
    let finite = if magnitude < NORMAL { subnormal } else { even };
    let number = if magnitude >= TOO_LARGE { EXPONENT.into() } else { finite };
    let nan = u32::from(EXPONENT | QUIET) | magnitude >> 13 & 0x1ff;
    Half(sign | if a.is_nan() { nan } else { number } as u16)
}

/// A double as a single that is rounded to odd: where it is not the double, it is the odd one of the two
/// beside it. Rounding it to half precision gives what rounding the double does.
#[inline(always)]
fn to_odd(a: f64) -> f32 {
    let near = a as f32;
    let back = f64::from(near);
    // Infinity stands for what is far above all halves.
    let away = if back.abs() > a.abs() { u32::MAX } else { 1 };
    let odd = f32::from_bits(near.to_bits().wrapping_add(away));
    let exact = back == a || a.is_nan() || near.is_infinite();
    if exact || near.to_bits() & 1 == 1 { near } else { odd }
}

/// Round a double to half precision, once, in a rounding mode. An infinity is a true one.
#[inline(always)]
pub(crate) fn from_f64(a: f64, round: u32) -> Half {
    if round == 0 { nearest(to_odd(a)) } else { from_f64_in_mode(a, round) }
}

#[inline(never)]
fn from_f64_in_mode(a: f64, round: u32) -> Half {
    let (round, saturates) = (round & 3, round & SATURATE != 0);
    let bits = a.to_bits();
    let sign = (bits >> 48) as u16 & SIGN;
    if a.is_nan() {
        return Half(sign | EXPONENT | QUIET | (bits >> 42) as u16 & 0x1ff);
    }
    if a.is_infinite() {
        return Half(sign | EXPONENT);
    }
    if a == 0.0 {
        return Half(sign);
    }
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    // The unit of the last place is 2^(max(exponent, -14) - 10).
    let shift = 42 + (-14 - exponent).max(0);
    let (kept, lost, half) = if shift > 62 {
        (0, 1, 2)
    } else {
        (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1))
    };
    let up = match round {
        0 => lost > half || lost == half && kept & 1 == 1,
        1 => lost > 0 && sign == 0,
        2 => lost > 0 && sign != 0,
        _ => false,
    };
    let kept = kept + u64::from(up);
    // Carries run from the significand into the exponent.
    let magnitude =
        if exponent >= -14 { (i64::from(exponent + 14) << 10) + kept as i64 } else { kept as i64 };
    if magnitude >= i64::from(EXPONENT) {
        let towards_zero = round == 3 || round == 1 && sign != 0 || round == 2 && sign == 0;
        return Half(sign | if towards_zero || saturates { LARGEST } else { EXPONENT });
    }
    Half(sign | magnitude as u16)
}

/// Round single to half precision.
#[inline(always)]
pub(crate) fn from_f32(a: f32, round: u32) -> Half {
    if round == 0 { nearest(a) } else { from_f64_in_mode(float::widen(a), round) }
}

#[inline(always)]
pub(crate) fn is_nan(a: Half) -> bool {
    a.0 & !SIGN > EXPONENT
}

#[inline(always)]
fn quiet(a: Half) -> Half {
    Half(a.0 | QUIET)
}

/// The NaN of an operation: the first NaN operand, quieted, or the default.
#[inline(always)]
fn nan([a, b, c]: [Half; 3]) -> Half {
    if is_nan(a) {
        quiet(a)
    } else if is_nan(b) {
        quiet(b)
    } else if is_nan(c) {
        quiet(c)
    } else {
        Half(SIGN | EXPONENT | QUIET)
    }
}

/// A function of exact values, rounded once; the intermediate must be exact or precise enough.
#[inline(always)]
fn through(operands: [Half; 3], exact: f64, round: u32) -> Half {
    let rounded = from_f64(exact, round);
    if exact.is_nan() { nan(operands) } else { rounded }
}

#[inline(always)]
fn wide(a: Half) -> f64 {
    f64::from(value(a))
}

#[inline(always)]
pub(crate) fn is_finite(a: Half) -> bool {
    a.0 & EXPONENT != EXPONENT
}

/// A result of finite operands, clamped if the mode asks for it.
#[inline(always)]
fn limited(bits: u64, round: u32) -> Half {
    let a = Half(bits as u16);
    if round & SATURATE != 0 && !is_finite(a) { Half(a.0 & SIGN | LARGEST) } else { a }
}

/// A sum that is zero is a negative one if it is rounded down, unless it is that of positive zeros.
#[inline(always)]
fn zero_sum(sum: f64, [a, b]: [f64; 2], round: u32) -> f64 {
    const DOWN: u32 = 2;
    let positive = a.to_bits() | b.to_bits() == 0;
    if round & 3 == DOWN && sum == 0.0 && !positive { -0.0 } else { sum }
}

/// a + b. A double holds the sum of two halves; to nearest, a single has enough of it.
#[inline(always)]
pub(crate) fn add(a: Half, b: Half, round: u32) -> Half {
    if round == 0 {
        let sum = value(a) + value(b);
        return if sum.is_nan() { nan([a, b, b]) } else { nearest(sum) };
    }
    let terms = [wide(a), wide(b)];
    through([a, b, b], zero_sum(terms[0] + terms[1], terms, round), round)
}

/// a - b.
#[inline(always)]
pub(crate) fn sub(a: Half, b: Half, round: u32) -> Half {
    add(a, if is_nan(b) { b } else { Half(b.0 ^ SIGN) }, round)
}

/// a × b: 22 bits, which a single holds, and a double with all exponents.
#[inline(always)]
pub(crate) fn mul(a: Half, b: Half, round: u32) -> Half {
    if round == 0 {
        let product = value(a) * value(b);
        return if product.is_nan() { nan([a, b, b]) } else { nearest(product) };
    }
    through([a, b, b], wide(a) * wide(b), round)
}

/// a × b + c with one rounding. To nearest, the double's own rounding does not matter: where the sum has more
/// bits than a double, the product lies far below half a unit of c's last place. Else the double must lie on
/// the sum's own side of each half: it is moved to an odd neighbour where it is not the sum (rounding to odd;
/// the error is known exactly, by Knuth's two-sum).
#[inline(always)]
pub(crate) fn fma(a: Half, b: Half, c: Half, round: u32) -> Half {
    let (product, addend) = (wide(a) * wide(b), wide(c));
    let sum = product + addend;
    if round & 3 == 0 || !sum.is_finite() {
        return through([a, b, c], sum, round);
    }
    let of_addend = sum - product;
    let error = (product - (sum - of_addend)) + (addend - of_addend);
    let odd = if error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if error > 0.0 {
        sum.next_up()
    } else {
        sum.next_down()
    };
    through([a, b, c], zero_sum(odd, [product, addend], round), round)
}

/// a × b, rounded, plus c, rounded, without subnormals anywhere (`v_mad_f16`, `v_mac_f16`).
#[inline(always)]
pub(crate) fn mad(a: Half, b: Half, c: Half, round: u32) -> Half {
    let product = flush(mul(flush(a), flush(b), round));
    flush(add(product, flush(c), round))
}

/// a × 2^n, rounded once.
#[inline(always)]
pub(crate) fn ldexp(a: Half, n: i32, round: u32) -> Half {
    if round == 0 {
        // No half is so large or so small that a single could not hold it 2^100 times as large or as small.
        let power = f32::from_bits(((127 + n.clamp(-100, 100)) as u32) << 23);
        return through([a, a, a], f64::from(value(a)) * f64::from(power), 0);
    }
    if is_finite(a) {
        limited(HALF.scale(a.0.into(), n, round & 3), round)
    } else {
        through([a, a, a], wide(a), round)
    }
}

/// a - floor(a), below 1.
#[inline(always)]
pub(crate) fn fract(a: Half, round: u32) -> Half {
    const BELOW_ONE: u16 = 0x3bff;
    let result = sub(a, unary_in_single(a, value(a).floor()), round);
    if result.0 > BELOW_ONE && result.0 <= EXPONENT { Half(BELOW_ONE) } else { result }
}

/// The output modifier: × 2^power, without subnormals or -0.
#[inline(always)]
pub(crate) fn omod(a: Half, power: i32, round: u32) -> Half {
    if is_nan(a) {
        return a;
    }
    let a = flush(ldexp(a, power, round));
    if a.0 & !SIGN == 0 { Half(0) } else { a }
}

/// Clamp to [0, 1]; NaN to zero if `nan_to_zero`.
#[inline(always)]
pub(crate) fn clamp(a: Half, nan_to_zero: bool) -> Half {
    const ONE: u16 = 0x3c00;
    if is_nan(a) {
        if nan_to_zero { Half(0) } else { a }
    } else if a.0 & SIGN != 0 {
        Half(0)
    } else {
        Half(a.0.min(ONE))
    }
}

/// 2^a, for [`unary`]: finite for a finite `a`, so that its overflow is told from the infinity of an infinite
/// one.
#[inline(always)]
pub(crate) fn exp2(a: f64) -> f64 {
    f64::exp2(if a.is_finite() { a.min(1000.0) } else { a })
}

/// Any function of one operand, computed in double precision.
#[inline(always)]
pub(crate) fn unary(a: Half, round: u32, f: impl Fn(f64) -> f64) -> Half {
    through([a, a, a], f(wide(a)), round)
}

/// A function of one operand whose result, rounded to a single and then to a half, is the one that is rounded
/// once: a single has more than twice as many bits, and two more, which is enough for quotients and roots.
#[inline(always)]
pub(crate) fn unary_in_single(a: Half, result: f32) -> Half {
    let rounded = nearest(result);
    choose(result.is_nan(), nan([a, a, a]), rounded)
}

#[inline(always)]
fn is_signalling(a: Half) -> bool {
    is_nan(a) && a.0 & QUIET == 0
}

/// A minimum or maximum, unless one of the operands is a NaN.
#[inline(always)]
fn or_nan(chosen: Half, a: Half, b: Half, nans: Nans) -> Half {
    let signals = nans == Nans::Signal;
    let first = signals && is_signalling(a) || nans == Nans::Number && is_nan(a) && is_nan(b);
    if first {
        quiet(a)
    } else if signals && is_signalling(b) {
        quiet(b)
    } else if is_nan(a) {
        b
    } else if is_nan(b) {
        a
    } else {
        chosen
    }
}

/// IEEE 754-2019's minimum or maximum, or the NaN that it gives if an operand is one: quiet, of one that
/// signals first (RDNA4 ISA, `V_MINIMUM_F16`).
#[inline(always)]
fn or_propagated(chosen: Half, a: Half, b: Half) -> Half {
    if is_signalling(a) {
        quiet(a)
    } else if is_signalling(b) {
        quiet(b)
    } else if is_nan(a) {
        a
    } else if is_nan(b) {
        b
    } else {
        chosen
    }
}

/// IEEE 754-2019 minimum. -0 is smaller than +0.
#[inline(always)]
pub(crate) fn minimum(a: Half, b: Half) -> Half {
    or_propagated(min(a, b, Nans::Lose), a, b)
}

/// IEEE 754-2019 maximum. +0 is larger than -0.
#[inline(always)]
pub(crate) fn maximum(a: Half, b: Half) -> Half {
    or_propagated(max(a, b, Nans::Lose), a, b)
}

/// The number's place among all numbers; -0 is below +0.
#[inline(always)]
fn order(a: Half) -> i32 {
    let magnitude = i32::from(a.0 & !SIGN);
    if a.0 & SIGN != 0 { -1 - magnitude } else { magnitude }
}

/// The smaller operand. -0 is smaller than +0.
#[inline(always)]
pub(crate) fn min(a: Half, b: Half, nans: Nans) -> Half {
    or_nan(if order(a) < order(b) { a } else { b }, a, b, nans)
}

/// The larger operand. +0 is larger than -0.
#[inline(always)]
pub(crate) fn max(a: Half, b: Half, nans: Nans) -> Half {
    or_nan(if order(a) > order(b) { a } else { b }, a, b, nans)
}

/// The middle one of three; the smallest if one of them is a NaN.
#[inline(always)]
pub(crate) fn med3(a: Half, b: Half, c: Half, nans: Nans) -> Half {
    if is_nan(a) || is_nan(b) || is_nan(c) {
        return min(min(a, b, nans), c, nans);
    }
    // As the manual compares: zeros of both signs are equal.
    let largest = value(max(max(a, b, nans), c, nans));
    if largest == value(a) {
        max(b, c, nans)
    } else if largest == value(b) {
        max(a, c, nans)
    } else {
        max(a, b, nans)
    }
}

/// The significand in ±[0.5, 1).
#[inline(always)]
pub(crate) fn frexp_mantissa(a: Half) -> Half {
    from_f32(float::single::frexp_mantissa(value(a)), 0)
}

/// `v_div_fixup_f16`.
#[inline(always)]
pub(crate) fn div_fixup(quotient: Half, denominator: Half, numerator: Half) -> Half {
    let sign = (denominator.0 ^ numerator.0) & SIGN;
    let (d, n) = (value(denominator), value(numerator));
    if is_nan(numerator) {
        quiet(numerator)
    } else if is_nan(denominator) {
        quiet(denominator)
    } else if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() {
        Half(SIGN | EXPONENT | QUIET)
    } else if d == 0.0 || n.is_infinite() {
        Half(sign | EXPONENT)
    } else if d.is_infinite() || n == 0.0 {
        Half(sign)
    } else {
        Half(quotient.0 & !SIGN | sign)
    }
}

/// Zero for a subnormal.
#[inline(always)]
pub(crate) fn flush(a: Half) -> Half {
    if a.0 & EXPONENT == 0 { Half(a.0 & SIGN) } else { a }
}

/// A bfloat16's value.
#[inline(always)]
pub(crate) fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Round to bfloat16, to nearest even.
#[inline(always)]
pub(crate) fn to_bf16(a: f32) -> u16 {
    let bits = a.to_bits();
    if a.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singles_are_enough_for_all_halves() {
        type Function = (&'static str, fn(f32) -> f32, fn(f64) -> f64);
        let functions: [Function; 6] = [
            ("reciprocal", |a| 1.0 / a, |a| 1.0 / a),
            ("root", f32::sqrt, f64::sqrt),
            ("floor", f32::floor, f64::floor),
            ("ceil", f32::ceil, f64::ceil),
            ("trunc", f32::trunc, f64::trunc),
            ("nearest", f32::round_ties_even, f64::round_ties_even),
        ];
        for (name, in_single, in_double) in functions {
            for a in (0..=u16::MAX).map(Half) {
                let expected = through([a, a, a], in_double(wide(a)), 0);
                assert_eq!(unary_in_single(a, in_single(value(a))), expected, "{name} of {:#x}", a.0);
            }
        }
    }

    #[test]
    fn to_nearest_it_is_the_same_by_both_ways() {
        // Singles, and doubles beside each, a prime number of places apart.
        for bits in (0..=u32::MAX).step_by(1009) {
            let single = f32::from_bits(bits);
            let wide = float::widen(single);
            assert_eq!(from_f32(single, 0), from_f64_in_mode(wide, 0), "{single:e}");
            for near in [wide.next_up(), wide.next_down(), wide * (1.0 + 1e-9)] {
                assert_eq!(from_f64(near, 0), from_f64_in_mode(near, 0), "{near:e}");
            }
        }
    }
}
