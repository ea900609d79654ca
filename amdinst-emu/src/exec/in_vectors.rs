//! Powers, logarithms, sines and cosines in a form that compilers make vector code of, with the results of
//! the functions in [`math`](super::math).
//!
//! Each is a polynomial in double precision, off by less than [`DOUBT`] of its value, and tells whether that
//! could show: whether what is so much larger or smaller is another number in the format of the result. Then
//! the lane is done again, by the function itself. So it is with the values that have rules of their own:
//! zeros, infinities, NaNs.

use super::float::{choose, single};
use super::half;
use crate::wave::Half;

/// What approximations are off by, at most, of their values.
const DOUBT: f64 = 1.0 / (1u64 << 40) as f64;
/// The same where the result is a half: more than what rounding to a single first could change.
const HALF_DOUBT: f64 = 1.0 / (1u64 << 22) as f64;

/// An approximation, and the least and the most that it may stand for.
#[derive(Clone, Copy)]
pub(super) struct Near {
    value: f64,
    /// What it is off by, at most, besides [`DOUBT`] of it.
    error: f64,
    /// There is none.
    missing: bool,
}

impl Near {
    /// As a single; and whether that is in doubt.
    #[inline(always)]
    pub(super) fn single(self) -> (f32, bool) {
        let error = self.value.abs() * DOUBT + self.error;
        let (least, most) = ((self.value - error) as f32, (self.value + error) as f32);
        (least, self.missing | (least != most))
    }

    /// The same, without subnormals.
    #[inline(always)]
    pub(super) fn flushed(self) -> (f32, bool) {
        let (value, in_doubt) = self.single();
        (single::flush(value), in_doubt)
    }

    /// As a half; and whether that is in doubt.
    #[inline(always)]
    pub(super) fn half(self) -> (Half, bool) {
        let error = self.value.abs() * HALF_DOUBT + self.error;
        let least = half::from_f32((self.value - error) as f32, 0);
        let most = half::from_f32((self.value + error) as f32, 0);
        (least, self.missing | (least != most))
    }
}

/// The nearest whole number; |x| is below 2^51.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    const PLACE: f64 = 6_755_399_441_055_744.0;
    (x + PLACE) - PLACE
}

/// A polynomial, its coefficients from the highest down.
macro_rules! polynomial {
    ($x:expr; $first:expr $(, $coefficient:expr)*) => {{
        let x = $x;
        let sum = $first;
        $(let sum = sum * x + $coefficient;)*
        sum
    }};
}

/// 2^x.
#[inline(always)]
pub(super) fn exp2(x: f64) -> Near {
    // What is beyond is zero or infinity in either format.
    let limited = choose(x > 1000.0, 1000.0, choose(x < -1000.0, -1000.0, x));
    let whole = nearest(limited);
    let rest = (limited - whole) * std::f64::consts::LN_2;
    // Taylor's series: |rest| is below 0.35.
    let part = polynomial!(rest;
        1.0 / 39_916_800.0, 1.0 / 3_628_800.0, 1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0,
        1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0);
    // Where `whole` is added to 2^52 and more, it is in the low bits.
    let power = (whole + 6_755_399_441_055_744.0).to_bits() << 52;
    let value = f64::from_bits(part.to_bits().wrapping_add(power));
    Near { value, error: 0.0, missing: x.is_nan() }
}

/// The logarithm of a number that is no subnormal double to the base 2.
#[inline(always)]
pub(super) fn log2(x: f64) -> Near {
    let bits = x.to_bits();
    // The significand between the root of a half and that of two, and the exponent that goes with it.
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    let above = bits.wrapping_sub(ROOT);
    let significand = f64::from_bits((above & ((1 << 52) - 1)).wrapping_add(ROOT));
    // The exponent's bits at the lower end of a large number, whose other part is taken off.
    const PLACE: u64 = 0x4330_0000_0000_0000;
    let exponent = f64::from_bits(PLACE | (above >> 52) & 0xfff);
    let exponent = exponent - f64::from_bits(PLACE);
    let exponent = choose(exponent > 2047.0, exponent - 4096.0, exponent);
    let s = (significand - 1.0) / (significand + 1.0);
    // The series of the inverse hyperbolic tangent: |s| is below 0.172.
    let series = polynomial!(s * s;
        1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0);
    let value = exponent + series * (2.0 * s) * std::f64::consts::LOG2_E;
    Near { value, error: 0.0, missing: !((x > 0.0) & (x < f64::INFINITY)) }
}

/// An angle in turns, as quarters and the rest.
struct Angle {
    /// Between -2 and 2.
    quarters: f64,
    sine: f64,
    cosine: f64,
    error: f64,
    missing: bool,
}

#[inline(always)]
fn angle(turns: f64) -> Angle {
    // Larger singles are whole.
    let is_small = turns.abs() < 16_777_216.0;
    let fraction = choose(is_small, turns - nearest(choose(is_small, turns, 0.0)), 0.0);
    let quarters = nearest(fraction * 4.0);
    let rest = (fraction - quarters * 0.25) * std::f64::consts::TAU;
    let square = rest * rest;
    // Taylor's series: |rest| is at most π/4.
    let sine = rest
        * polynomial!(square;
            1.0 / 6_227_020_800.0, -1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0);
    let cosine = polynomial!(square;
        -1.0 / 87_178_291_200.0, 1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0);
    // The functions' own argument is rounded. Quarters have values of their own.
    let error = fraction.abs() * (8.0 * f64::EPSILON);
    let missing = (rest == 0.0) | !turns.is_finite();
    Angle { quarters, sine, cosine, error, missing }
}

impl Angle {
    /// The sine, of an angle so many quarters further on.
    #[inline(always)]
    fn sine(&self, further: f64) -> Near {
        let quarters = self.quarters + further;
        let is_odd = (quarters == 1.0) | (quarters == -1.0) | (quarters == 3.0);
        let negates = (quarters == 2.0) | (quarters == 3.0) | (quarters == -1.0) | (quarters == -2.0);
        let value = choose(is_odd, self.cosine, self.sine);
        Near { value: choose(negates, -value, value), error: self.error, missing: self.missing }
    }
}

/// sin(2πx).
#[inline(always)]
pub(super) fn sine(turns: f64) -> Near {
    angle(turns).sine(0.0)
}

/// cos(2πx).
#[inline(always)]
pub(super) fn cosine(turns: f64) -> Near {
    angle(turns).sine(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::math;

    type OfSingles = (&'static str, fn(f32) -> (f32, bool), fn(f32) -> f32);
    type OfHalves = (&'static str, fn(f64) -> Near, fn(Half) -> Half);

    const SINGLES: [OfSingles; 4] = [
        ("exp2", |a| exp2(math::operand(a)).flushed(), math::exp32),
        ("log2", |a| log2(math::operand(a)).flushed(), math::log32),
        ("sine", |a| sine(a.into()).single(), math::sin32),
        ("cosine", |a| cosine(a.into()).single(), math::cos32),
    ];
    const HALVES: [OfHalves; 4] = [
        ("exp2", exp2, math::nearest::half_exp),
        ("log2", log2, math::nearest::half_log),
        ("sine", sine, math::nearest::half_sin),
        ("cosine", cosine, math::nearest::half_cos),
    ];

    /// Singles apart from each other: a prime, so that all low bits occur.
    fn singles() -> impl Iterator<Item = f32> {
        (0..=u32::MAX).step_by(4099).map(f32::from_bits)
    }

    #[test]
    fn what_is_not_in_doubt_is_what_the_function_gives() {
        for (name, near, function) in SINGLES {
            let (mut doubts, mut usual) = (0, 0);
            for a in singles() {
                let (value, in_doubt) = near(a);
                let is_usual = (1e-3..1e3).contains(&a.abs());
                usual += u32::from(is_usual);
                if in_doubt {
                    doubts += u32::from(is_usual && !(name == "log2" && a < 0.0));
                } else {
                    assert_eq!(
                        value.to_bits(),
                        function(a).to_bits(),
                        "{name} of {a:e} ({:#x})",
                        a.to_bits()
                    );
                }
            }
            // Of numbers that programs have, next to none is done twice.
            assert!(doubts * 50 < usual, "{name}: {doubts} of {usual} in doubt");
        }
    }

    #[test]
    fn so_it_is_with_all_halves() {
        for (name, near, function) in HALVES {
            for a in (0..=u16::MAX).map(Half) {
                let (value, in_doubt) = near(half::value(a).into()).half();
                assert!(in_doubt || value == function(a), "{name} of {:#x}", a.0);
            }
        }
    }
}
