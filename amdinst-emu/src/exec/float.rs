//! Float arithmetic beyond what the host's operators give: NaN results, rounding modes
//! ([`soft`](super::soft)), division steps.
//!
//! NaNs follow one rule: the first NaN operand, quieted; an invalid operation gives the negative quiet NaN
//! with no payload. (The host's own choice differs from machine to machine.)
//!
//! Rounding: 0 to nearest even, 1 towards +∞, 2 towards -∞, 3 towards zero, as MODE.FP_ROUND has it.

/// One of two values, without a branch: loops over lanes become vector code where they have none.
pub(crate) use std::hint::select_unpredictable as choose;

macro_rules! format {
    ($module:ident, $exact:ident, $float:ty, $bits:ty, $mantissa:expr, $bias:expr, $far:expr, $shift:expr, $tiny:expr, $under:expr) => {
        /// Operations on one format.
        pub(crate) mod $module {
            use super::choose;
            use crate::exec::$exact as exact;
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

            /// a + b in a rounding mode.
            #[inline(always)]
            pub(crate) fn add_round(a: $float, b: $float, round: u32) -> $float {
                exact::add(a, b, round)
            }

            /// a - b in a rounding mode.
            #[inline(always)]
            pub(crate) fn sub_round(a: $float, b: $float, round: u32) -> $float {
                add_round(a, if b.is_nan() { b } else { -b }, round)
            }

            /// a × b + c in a rounding mode.
            #[inline(always)]
            pub(crate) fn fma_round(a: $float, b: $float, c: $float, round: u32) -> $float {
                exact::fma(a, b, c, 0, round)
            }

            /// a × b in a rounding mode.
            #[inline(always)]
            pub(crate) fn mul_round(a: $float, b: $float, round: u32) -> $float {
                exact::mul(a, b, round)
            }

            /// Biased exponent.
            #[inline(always)]
            fn exponent(a: $float) -> i32 {
                ((a.to_bits() & EXPONENT) >> $mantissa) as i32
            }

            #[inline(always)]
            fn is_subnormal(a: $float) -> bool {
                (a != 0.0) & (exponent(a) == 0)
            }

            /// 2^n, which is normal.
            #[inline(always)]
            const fn power(n: i32) -> $float {
                <$float>::from_bits((($bias + n) as $bits) << $mantissa)
            }

            /// The value with another exponent; it is normal, and so is the result.
            #[inline(always)]
            fn with_exponent(a: $float, exponent: i32) -> $float {
                <$float>::from_bits(a.to_bits() & !EXPONENT | (($bias + exponent) as $bits) << $mantissa)
            }

            /// A number whose significand is that of a finite one but zero, and which is normal; and the
            /// exponent of the finite one.
            #[inline(always)]
            fn normalised(a: $float) -> ($float, i32) {
                const UP: i32 = $mantissa + 1;
                let large = a * power(UP);
                let (normal, down) = if exponent(a) == 0 { (large, UP) } else { (a, 0) };
                (normal, exponent(normal) - $bias - down)
            }

            /// a × 2^n, rounded once.
            #[inline(always)]
            pub(crate) fn ldexp(a: $float, n: i32, round: u32) -> $float {
                if round == 0 { scaled(a, n) } else { exact::ldexp(a, n, round) }
            }

            /// a × 2^n, to nearest: the significand with an exponent from which one multiplication comes
            /// down, which rounds.
            #[inline(always)]
            fn scaled(a: $float, n: i32) -> $float {
                const UP: i32 = $mantissa + 4;
                let (normal, at) = normalised(a);
                let target = at + n.clamp(-4 * $bias, 4 * $bias);
                let small =
                    with_exponent(normal, target.clamp(-$bias - $mantissa - 2, $bias - UP) + UP) * power(-UP);
                let plain = with_exponent(normal, target.clamp(1 - $bias, $bias));
                let large = <$float>::INFINITY.copysign(a);
                let result = if target < 1 - $bias {
                    small
                } else if target > $bias {
                    large
                } else {
                    plain
                };
                if a == 0.0 || !a.is_finite() { fix1(a, a) } else { result }
            }

            /// a × 2^n, rounded once, where 2^n is normal.
            #[inline(always)]
            pub(crate) fn times_power(a: $float, n: i32, round: u32) -> $float {
                if round == 0 { fix1(a, a * power(n)) } else { ldexp(a, n, round) }
            }

            /// `v_div_scale`: what division scales the source by, and whether the quotient has to be scaled
            /// back. `a` is numerator or denominator.
            ///
            /// The manual's "== DENORM" of a quotient is taken to include one that rounds to zero. Where
            /// quotient and reciprocal are both subnormal, it scales a denominator above 2^126 (double:
            /// 2^1022) up, to infinity; it is scaled down here, as in the next case, without which divisions
            /// such as 1 / 2^127 would give zero.
            #[inline(always)]
            pub(crate) fn div_scale(
                a: $float,
                denominator: $float,
                numerator: $float,
                round: u32,
                rules: &crate::rules::DivScale,
            ) -> ($float, bool) {
                let is_finite = numerator.is_finite() & denominator.is_finite();
                let reciprocal_small = denominator.is_finite()
                    & (exponent(denominator) > 2 * $bias - 2)
                    & is_subnormal(1.0 / denominator);
                let quotient_small = is_finite & (exponent(numerator / denominator) <= rules.small);
                let overflows = exponent(numerator) - exponent(denominator) >= $far;
                let up = times_power(a, $shift, round);
                let down = times_power(a, -$shift, round);
                let denominator_up = choose(a == denominator, up, a);
                let denominator_down = choose(a == denominator, down, a);
                let numerator_up = choose(a == numerator, up, a);
                // The cases from the last to the first.
                let mut result = choose(exponent(numerator) <= $tiny, up, a);
                result = choose(quotient_small, numerator_up, result);
                result = choose(reciprocal_small, down, result);
                result = choose(reciprocal_small & quotient_small, denominator_down, result);
                result = choose(is_subnormal(denominator), up, result);
                result = choose(overflows, denominator_up, result);
                let scaled_back = overflows | !is_subnormal(denominator) & quotient_small;
                let is_zero = (denominator == 0.0) | (numerator == 0.0);
                let nan = <$float>::from_bits(EXPONENT | QUIET);
                (choose(is_zero, nan, result), choose(is_zero, rules.marks_zeros, scaled_back))
            }

            /// `v_div_fmas`: a × b + c, scaled back if `scale`, with one rounding.
            ///
            /// The manuals scale by 2^32 (double: 2^64), which does not undo what `v_div_scale` did. What
            /// compiled divisions need does: up if the addend is large, else down, by the same power.
            #[inline(always)]
            pub(crate) fn div_fmas(a: $float, b: $float, c: $float, scale: bool, round: u32) -> $float {
                if round == 0 && !scale {
                    return fma(a, b, c);
                }
                let up = exponent(c) > $bias;
                let power = choose(scale, choose(up, $shift, -$shift), 0);
                exact::fma(a, b, c, power, round)
            }

            /// `v_div_fixup`: the quotient, or what division gives in a special case.
            #[inline(always)]
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

            /// A minimum or maximum, unless one of the operands is a NaN.
            #[inline(always)]
            fn or_nan(chosen: $float, a: $float, b: $float, nans: Nans) -> $float {
                let signals = nans == Nans::Signal;
                let first = signals && is_signalling(a) || nans == Nans::Number && a.is_nan() && b.is_nan();
                if first {
                    quiet(a)
                } else if signals && is_signalling(b) {
                    quiet(b)
                } else if a.is_nan() {
                    b
                } else if b.is_nan() {
                    a
                } else {
                    chosen
                }
            }

            /// The smaller operand. -0 is smaller than +0.
            #[inline(always)]
            pub(crate) fn min(a: $float, b: $float, nans: Nans) -> $float {
                let smaller = if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() | b.to_bits())
                } else if a < b {
                    a
                } else {
                    b
                };
                or_nan(smaller, a, b, nans)
            }

            /// The larger operand. +0 is larger than -0.
            #[inline(always)]
            pub(crate) fn max(a: $float, b: $float, nans: Nans) -> $float {
                let larger = if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() & b.to_bits())
                } else if a >= b {
                    a
                } else {
                    b
                };
                or_nan(larger, a, b, nans)
            }

            /// IEEE 754-2019's minimum or maximum, or the NaN that it gives if an operand is one: quiet, of
            /// one that signals first (RDNA4 ISA, `V_MINIMUM_F32`).
            #[inline(always)]
            fn or_propagated(chosen: $float, a: $float, b: $float) -> $float {
                if is_signalling(a) {
                    quiet(a)
                } else if is_signalling(b) {
                    quiet(b)
                } else if a.is_nan() {
                    a
                } else if b.is_nan() {
                    b
                } else {
                    chosen
                }
            }

            /// IEEE 754-2019 minimum. -0 is smaller than +0.
            #[inline(always)]
            pub(crate) fn minimum(a: $float, b: $float) -> $float {
                or_propagated(min(a, b, Nans::Lose), a, b)
            }

            /// IEEE 754-2019 maximum. +0 is larger than -0.
            #[inline(always)]
            pub(crate) fn maximum(a: $float, b: $float) -> $float {
                or_propagated(max(a, b, Nans::Lose), a, b)
            }

            /// a - floor(a), below 1.
            #[inline(always)]
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
            #[inline(always)]
            pub(crate) fn frexp_mantissa(a: $float) -> $float {
                if a == 0.0 || !a.is_finite() { fix1(a, a) } else { with_exponent(normalised(a).0, -1) }
            }

            /// The exponent that goes with [`frexp_mantissa`].
            #[inline(always)]
            pub(crate) fn frexp_exponent(a: $float) -> i32 {
                if a == 0.0 || !a.is_finite() { 0 } else { normalised(a).1 + 1 }
            }

            /// Which of the ten classes of `v_cmp_class` the value is in, as one bit of ten.
            #[inline(always)]
            pub(crate) fn class(a: $float) -> u32 {
                let (if_negative, if_positive) = if a.is_infinite() {
                    (1 << 2, 1 << 9)
                } else if a == 0.0 {
                    (1 << 5, 1 << 6)
                } else if is_subnormal(a) {
                    (1 << 4, 1 << 7)
                } else {
                    (1 << 3, 1 << 8)
                };
                let number = if a.to_bits() & SIGN != 0 { if_negative } else { if_positive };
                let nan = if a.to_bits() & QUIET == 0 { 1 } else { 2 };
                if a.is_nan() { nan } else { number }
            }

            /// Zero with the sign of a subnormal; other values as they are.
            #[inline(always)]
            pub(crate) fn flush(a: $float) -> $float {
                if a.to_bits() & EXPONENT == 0 { <$float>::from_bits(a.to_bits() & SIGN) } else { a }
            }

            /// The output modifier: × 2^power, without subnormals or -0.
            #[inline(always)]
            pub(crate) fn omod(a: $float, power: i32, round: u32) -> $float {
                if a.is_nan() {
                    return a;
                }
                let a = flush(times_power(a, power, round));
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

// Format: mantissa bits, bias, then of the division steps: exponent distance that overflows, scale exponent,
// largest exponent of a tiny numerator, exponent distance that underflows.
format!(single, in_double, f32, u32, 23, 127, 96, 64, 23, -150);
format!(double, in_integers, f64, u64, 52, 1023, 768, 128, 53, -1075);

/// Conversions to integers, towards zero, that saturate and make zero of a NaN: as `as` does, in a form that
/// compilers make vector code of.
macro_rules! to_integer {
    ($name:ident, $unsigned:ident, $float:ty) => {
        /// To a signed integer.
        #[expect(clippy::manual_range_contains, reason = "both comparisons at once, without a branch")]
        #[inline(always)]
        pub(crate) fn $name(a: $float) -> i32 {
            const END: $float = 2_147_483_648.0;
            let fits = (a >= -END) & (a < END);
            // SAFETY: a number that fits, or zero.
            let integer = unsafe { choose(fits, a, 0.0).to_int_unchecked::<i32>() };
            let limit = choose(a < 0.0, i32::MIN, i32::MAX);
            choose(fits | a.is_nan(), integer, limit)
        }

        /// To an unsigned integer.
        #[inline(always)]
        pub(crate) fn $unsigned(a: $float) -> u32 {
            const HALF: $float = 2_147_483_648.0;
            let is_large = a >= HALF;
            let low = $name(choose(is_large, a - HALF, a)) as u32;
            let integer = choose(is_large, low | 1 << 31, low);
            let integer = choose(a > 0.0, integer, 0);
            choose(a >= 2.0 * HALF, u32::MAX, integer)
        }
    };
}
to_integer!(to_i32, to_u32, f32);
to_integer!(double_to_i32, double_to_u32, f64);

/// To single precision in a rounding mode.
#[inline(always)]
pub(crate) fn narrow(a: f64, round: u32) -> f32 {
    const UP: u32 = 1;
    const DOWN: u32 = 2;
    const TO_ZERO: u32 = 3;
    let nearest = a as f32;
    let back = f64::from(nearest);
    let up = (back < a) & ((round == UP) | (round == TO_ZERO) & (a < 0.0));
    let down = (back > a) & ((round == DOWN) | (round == TO_ZERO) & (a > 0.0));
    // The neighbour in the magnitude: what was rounded to zero has kept its sign.
    let is_negative = nearest.is_sign_negative();
    let step = choose(up, choose(is_negative, -1, 1), choose(down, choose(is_negative, 1, -1), 0));
    let rounded = f32::from_bits(nearest.to_bits().wrapping_add_signed(step));
    let bits = a.to_bits();
    let nan = (bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x3f_ffff;
    choose(a.is_nan(), f32::from_bits(nan), rounded)
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
