//! Float arithmetic beyond what the host's operators give: NaN results, rounding modes ([`soft`](super::soft)), division
//! steps.
//!
//! NaNs follow one rule: the first NaN operand, quieted; an invalid operation gives the negative quiet NaN with no
//! payload. (The host's own choice differs from machine to machine.)
//!
//! Rounding: 0 to nearest even, 1 towards +∞, 2 towards -∞, 3 towards zero, as MODE.FP_ROUND has it.

macro_rules! format {
    ($module:ident, $layout:ident, $float:ty, $bits:ty, $mantissa:expr, $bias:expr, $far:expr, $shift:expr, $tiny:expr, $under:expr) => {
        /// Operations on one format.
        pub(crate) mod $module {
            use super::$layout;
            use crate::wave::Nans;

            /// Exponent field's bits.
            const EXPONENT: $bits = <$float>::INFINITY.to_bits();
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            /// The bit that tells quiet NaNs.
            const QUIET: $bits = 1 << ($mantissa - 1);
            /// What an invalid operation gives.
            const DEFAULT_NAN: $float = <$float>::from_bits(SIGN | EXPONENT | QUIET);

            /// The NaN, quiet.
            #[inline(always)]
            pub(crate) fn quiet(a: $float) -> $float {
                <$float>::from_bits(a.to_bits() | QUIET)
            }

            /// A signalling NaN.
            #[inline(always)]
            pub(crate) fn is_signalling(a: $float) -> bool {
                a.is_nan() && a.to_bits() & QUIET == 0
            }

            #[inline(always)]
            fn nan2(a: $float, b: $float) -> $float {
                if a.is_nan() {
                    quiet(a)
                } else if b.is_nan() {
                    quiet(b)
                } else {
                    DEFAULT_NAN
                }
            }

            #[inline(always)]
            fn nan3(a: $float, b: $float, c: $float) -> $float {
                if a.is_nan() { quiet(a) } else { nan2(b, c) }
            }

            /// The result of an operation on one operand, with the NaN that the device gives.
            #[inline(always)]
            pub(crate) fn fix1(a: $float, result: $float) -> $float {
                if result.is_nan() { nan2(a, a) } else { result }
            }

            /// a + b, to nearest.
            #[inline(always)]
            pub(crate) fn add(a: $float, b: $float) -> $float {
                let result = a + b;
                if result.is_nan() { nan2(a, b) } else { result }
            }

            /// a × b, to nearest.
            #[inline(always)]
            pub(crate) fn mul(a: $float, b: $float) -> $float {
                let result = a * b;
                if result.is_nan() { nan2(a, b) } else { result }
            }

            /// a × b + c with one rounding, to nearest.
            #[inline(always)]
            pub(crate) fn fma(a: $float, b: $float, c: $float) -> $float {
                let result = a.mul_add(b, c);
                if result.is_nan() { nan3(a, b, c) } else { result }
            }

            fn bits(a: $float) -> u64 {
                u64::from(a.to_bits())
            }

            fn of(bits: u64) -> $float {
                <$float>::from_bits(bits as $bits)
            }

            /// a + b in a rounding mode.
            #[inline(never)]
            pub(crate) fn add_round(a: $float, b: $float, round: u32) -> $float {
                if a.is_finite() && b.is_finite() {
                    return of($layout.add(bits(a), bits(b), round));
                }
                add(a, b)
            }

            /// a - b in a rounding mode.
            #[inline(always)]
            pub(crate) fn sub_round(a: $float, b: $float, round: u32) -> $float {
                add_round(a, if b.is_nan() { b } else { -b }, round)
            }

            /// a × b + c in a rounding mode.
            #[inline(never)]
            pub(crate) fn fma_round(a: $float, b: $float, c: $float, round: u32) -> $float {
                if a.is_finite() && b.is_finite() && c.is_finite() {
                    return of($layout.fma([bits(a), bits(b), bits(c)], 0, round));
                }
                fma(a, b, c)
            }

            /// a × b in a rounding mode.
            #[inline(never)]
            pub(crate) fn mul_round(a: $float, b: $float, round: u32) -> $float {
                if a.is_finite() && b.is_finite() {
                    return of($layout.mul(bits(a), bits(b), round));
                }
                mul(a, b)
            }

            /// Biased exponent.
            #[inline(always)]
            fn exponent(a: $float) -> i32 {
                ((a.to_bits() & EXPONENT) >> $mantissa) as i32
            }

            fn is_subnormal(a: $float) -> bool {
                a != 0.0 && exponent(a) == 0
            }

            /// a × 2^n, rounded once.
            #[inline(never)]
            pub(crate) fn ldexp(a: $float, n: i32, round: u32) -> $float {
                if a.is_finite() { of($layout.scale(bits(a), n, round)) } else { fix1(a, a) }
            }

            /// `v_div_scale`: what division scales the source by, and whether the quotient has to be scaled back.
            /// `a` is numerator or denominator.
            ///
            /// The manual's "== DENORM" of a quotient is taken to include one that rounds to zero. Where quotient and
            /// reciprocal are both subnormal, it scales a denominator above 2^126 (double: 2^1022) up, to infinity; it is
            /// scaled down here, as in the next case, without which divisions such as 1 / 2^127 would give zero.
            #[inline(never)]
            pub(crate) fn div_scale(
                a: $float,
                denominator: $float,
                numerator: $float,
                round: u32,
                rules: &crate::rules::DivScale,
            ) -> ($float, bool) {
                let ldexp = |a: $float, n: i32| ldexp(a, n, round);
                let is_denominator = a == denominator;
                let is_numerator = a == numerator;
                if denominator == 0.0 || numerator == 0.0 {
                    return (<$float>::from_bits(EXPONENT | QUIET), rules.marks_zeros);
                }
                let reciprocal_small = denominator.is_finite()
                    && exponent(denominator) > 2 * $bias - 2
                    && is_subnormal(1.0 / denominator);
                let quotient = numerator / denominator;
                let quotient_small =
                    numerator.is_finite() && denominator.is_finite() && exponent(quotient) <= rules.small;
                if exponent(numerator) - exponent(denominator) >= $far {
                    (if is_denominator { ldexp(a, $shift) } else { a }, true)
                } else if is_subnormal(denominator) {
                    (ldexp(a, $shift), false)
                } else if reciprocal_small && quotient_small {
                    (if is_denominator { ldexp(a, -$shift) } else { a }, true)
                } else if reciprocal_small {
                    (ldexp(a, -$shift), false)
                } else if quotient_small {
                    (if is_numerator { ldexp(a, $shift) } else { a }, true)
                } else if exponent(numerator) <= $tiny {
                    (ldexp(a, $shift), false)
                } else {
                    (a, false)
                }
            }

            /// `v_div_fmas`: a × b + c, scaled back if `scale`, with one rounding.
            ///
            /// The manuals scale by 2^32 (double: 2^64), which does not undo what `v_div_scale` did. What compiled divisions
            /// need does: up if the addend is large, else down, by the same power.
            #[inline(never)]
            pub(crate) fn div_fmas(a: $float, b: $float, c: $float, scale: bool, round: u32) -> $float {
                if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                    return fma(a, b, c);
                }
                let power = match scale {
                    false => 0,
                    true if exponent(c) > $bias => $shift,
                    true => -$shift,
                };
                of($layout.fma([bits(a), bits(b), bits(c)], power, round))
            }

            /// `v_div_fixup`: the quotient, or what division gives in a special case.
            #[inline(never)]
            pub(crate) fn div_fixup(quotient: $float, denominator: $float, numerator: $float) -> $float {
                let sign = (denominator.to_bits() ^ numerator.to_bits()) & SIGN;
                let signed = |a: $float| <$float>::from_bits(a.to_bits() & !SIGN | sign);
                if numerator.is_nan() {
                    quiet(numerator)
                } else if denominator.is_nan() {
                    quiet(denominator)
                } else if denominator == 0.0 && numerator == 0.0
                    || denominator.is_infinite() && numerator.is_infinite()
                {
                    <$float>::from_bits(SIGN | EXPONENT | QUIET)
                } else if denominator == 0.0 || numerator.is_infinite() {
                    signed(<$float>::INFINITY)
                } else if denominator.is_infinite() || numerator == 0.0 {
                    signed(0.0)
                } else if exponent(numerator) - exponent(denominator) < $under {
                    signed(0.0)
                } else if quotient.is_nan() {
                    // The refinement of an infinite quotient of finite operands ends in a NaN: an overflow.
                    signed(<$float>::INFINITY)
                } else {
                    signed(quotient)
                }
            }

            /// The operand that a minimum or maximum takes before it compares, because one is a NaN.
            #[inline(always)]
            fn decided(a: $float, b: $float, nans: Nans) -> Option<$float> {
                if nans == Nans::Signal && is_signalling(a)
                    || nans == Nans::Number && a.is_nan() && b.is_nan()
                {
                    Some(quiet(a))
                } else if nans == Nans::Signal && is_signalling(b) {
                    Some(quiet(b))
                } else if a.is_nan() {
                    Some(b)
                } else if b.is_nan() {
                    Some(a)
                } else {
                    None
                }
            }

            /// The smaller operand. -0 is smaller than +0.
            #[inline(always)]
            pub(crate) fn min(a: $float, b: $float, nans: Nans) -> $float {
                if let Some(decided) = decided(a, b, nans) {
                    decided
                } else if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() | b.to_bits())
                } else if a < b {
                    a
                } else {
                    b
                }
            }

            /// The larger operand. +0 is larger than -0.
            #[inline(always)]
            pub(crate) fn max(a: $float, b: $float, nans: Nans) -> $float {
                if let Some(decided) = decided(a, b, nans) {
                    decided
                } else if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() & b.to_bits())
                } else if a >= b {
                    a
                } else {
                    b
                }
            }

            /// The NaN that IEEE 754-2019's minimum and maximum give, if an operand is one: quiet, of one that signals first (RDNA4
            /// ISA, `V_MINIMUM_F32`).
            #[inline(always)]
            fn propagated(a: $float, b: $float) -> Option<$float> {
                match (is_signalling(a), is_signalling(b)) {
                    (true, _) => Some(quiet(a)),
                    (false, true) => Some(quiet(b)),
                    (false, false) if a.is_nan() => Some(a),
                    (false, false) if b.is_nan() => Some(b),
                    (false, false) => None,
                }
            }

            /// IEEE 754-2019 minimum. -0 is smaller than +0.
            #[inline(always)]
            pub(crate) fn minimum(a: $float, b: $float) -> $float {
                propagated(a, b).unwrap_or(min(a, b, Nans::Lose))
            }

            /// IEEE 754-2019 maximum. +0 is larger than -0.
            #[inline(always)]
            pub(crate) fn maximum(a: $float, b: $float) -> $float {
                propagated(a, b).unwrap_or(max(a, b, Nans::Lose))
            }

            /// a - floor(a), below 1.
            #[inline(never)]
            pub(crate) fn fract(a: $float, round: u32) -> $float {
                let below_one = <$float>::from_bits((1.0 as $float).to_bits() - 1);
                let result = if round == 0 { a - a.floor() } else { sub_round(a, a.floor(), round) };
                if result.is_nan() {
                    fix1(a, result)
                } else if result > below_one {
                    below_one
                } else {
                    result
                }
            }

            /// The significand in ±[0.5, 1).
            #[inline(never)]
            pub(crate) fn frexp_mantissa(a: $float) -> $float {
                if a == 0.0 || !a.is_finite() {
                    return if a.is_nan() { quiet(a) } else { a };
                }
                ldexp(a, -frexp_exponent(a), 0)
            }

            /// The exponent that goes with [`frexp_mantissa`].
            #[inline(never)]
            pub(crate) fn frexp_exponent(a: $float) -> i32 {
                if a == 0.0 || !a.is_finite() {
                    return 0;
                }
                if exponent(a) > 0 {
                    return exponent(a) - ($bias - 1);
                }
                let significand = a.to_bits() & !SIGN;
                let up = significand.leading_zeros() as i32 - (<$bits>::BITS as i32 - 1 - $mantissa);
                1 - up - ($bias - 1)
            }

            /// Which of the ten classes of `v_cmp_class` the value is in, as one bit of ten.
            #[inline(never)]
            pub(crate) fn class(a: $float) -> u32 {
                let negative = a.to_bits() & SIGN != 0;
                let pick = |if_negative: u32, if_positive: u32| {
                    1 << if negative { if_negative } else { if_positive }
                };
                if a.is_nan() {
                    if is_signalling(a) { 1 } else { 2 }
                } else if a.is_infinite() {
                    pick(2, 9)
                } else if a == 0.0 {
                    pick(5, 6)
                } else if is_subnormal(a) {
                    pick(4, 7)
                } else {
                    pick(3, 8)
                }
            }

            /// Zero with the sign of a subnormal; other values as they are.
            #[inline(always)]
            pub(crate) fn flush(a: $float) -> $float {
                if a.to_bits() & EXPONENT == 0 { <$float>::from_bits(a.to_bits() & SIGN) } else { a }
            }

            /// The output modifier: × 2^power, without subnormals or -0.
            #[inline(never)]
            pub(crate) fn omod(a: $float, power: i32, round: u32) -> $float {
                if a.is_nan() {
                    return a;
                }
                let a = flush(ldexp(a, power, round));
                if a == 0.0 { 0.0 } else { a }
            }

            /// Clamp to [0, 1]; NaN to zero if `nan_to_zero`.
            #[inline(always)]
            pub(crate) fn clamp(a: $float, nan_to_zero: bool) -> $float {
                if a.is_nan() {
                    if nan_to_zero { 0.0 } else { a }
                } else if a <= 0.0 {
                    0.0
                } else if a > 1.0 {
                    1.0
                } else {
                    a
                }
            }
        }
    };
}

// Format: mantissa bits, bias, then of the division steps: exponent distance that overflows, scale exponent, largest
// exponent of a tiny numerator, exponent distance that underflows.
use super::soft::{DOUBLE, SINGLE};

format!(single, SINGLE, f32, u32, 23, 127, 96, 64, 23, -150);
format!(double, DOUBLE, f64, u64, 52, 1023, 768, 128, 53, -1075);

/// To single precision in a rounding mode.
pub(crate) fn narrow(a: f64, round: u32) -> f32 {
    let nearest = a as f32;
    if a.is_nan() {
        return f32::from_bits(
            ((a.to_bits() >> 32) as u32 & 0x8000_0000) | 0x7fc0_0000 | (a.to_bits() >> 29) as u32 & 0x3f_ffff,
        );
    }
    let back = f64::from(nearest);
    match round {
        1 if back < a => nearest.next_up(),
        2 if back > a => nearest.next_down(),
        3 if back.abs() > a.abs() => {
            if a > 0.0 {
                nearest.next_down()
            } else {
                nearest.next_up()
            }
        }
        _ => nearest,
    }
}

/// To double precision: exact.
#[inline(always)]
pub(crate) fn widen(a: f32) -> f64 {
    if a.is_nan() {
        let bits = u64::from(single::quiet(a).to_bits());
        return f64::from_bits((bits & 0x8000_0000) << 32 | 0x7ff0_0000_0000_0000 | (bits & 0x7f_ffff) << 29);
    }
    f64::from(a)
}
