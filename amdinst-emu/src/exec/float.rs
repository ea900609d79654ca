//! Float arithmetic beyond what the host's operators give: NaN results, directed rounding, division steps.
//!
//! NaNs follow one rule: the first NaN operand, quieted; an invalid operation gives the negative quiet NaN with no
//! payload. (The host's own choice differs from machine to machine.)
//!
//! Rounding: 0 to nearest even, 1 towards +∞, 2 towards -∞, 3 towards zero, as MODE.FP_ROUND has it.

macro_rules! format {
    ($module:ident, $float:ty, $bits:ty, $mantissa:expr, $bias:expr, $far:expr, $shift:expr, $tiny:expr, $under:expr) => {
        /// Operations on one format.
        pub(crate) mod $module {
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

            /// `nearest`, moved to its neighbour if that is where the mode rounds; `error` has the sign of exact minus
            /// nearest.
            #[inline(never)]
            fn directed(nearest: $float, error: $float, round: u32) -> $float {
                if nearest.is_nan() || error == 0.0 || error.is_nan() {
                    return nearest;
                }
                let up = match round {
                    1 => true,
                    2 => false,
                    3 => nearest < 0.0,
                    _ => return nearest,
                };
                match (up, error > 0.0) {
                    (true, true) => nearest.next_up(),
                    (false, false) => nearest.next_down(),
                    _ => nearest,
                }
            }

            /// Exact sum minus rounded sum (Knuth's TwoSum); for an overflow, the sign that leads back to the range.
            fn sum_error(a: $float, b: $float, sum: $float) -> $float {
                if sum.is_infinite() {
                    return if a.is_infinite() || b.is_infinite() { 0.0 } else { -sum };
                }
                let b_part = sum - a;
                let a_part = sum - b_part;
                (a - a_part) + (b - b_part)
            }

            /// a + b in a rounding mode.
            #[inline(never)]
            pub(crate) fn add_round(a: $float, b: $float, round: u32) -> $float {
                let sum = add(a, b);
                if sum == 0.0 && a == -b && a != 0.0 {
                    return if round == 2 { -0.0 } else { 0.0 };
                }
                directed(sum, sum_error(a, b, sum), round)
            }

            /// a × b + c in a rounding mode.
            #[inline(never)]
            pub(crate) fn fma_round(a: $float, b: $float, c: $float, round: u32) -> $float {
                let result = fma(a, b, c);
                directed(result, fma_error(a, b, c, result), round)
            }

            /// a × b in a rounding mode.
            #[inline(never)]
            pub(crate) fn mul_round(a: $float, b: $float, round: u32) -> $float {
                let result = mul(a, b);
                directed(result, fma_error(a, b, 0.0, result), round)
            }

            /// A value with the sign of a × b + c minus its rounded value; 0 if that is exact.
            #[inline(never)]
            fn fma_error(a: $float, b: $float, c: $float, result: $float) -> $float {
                if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                    return 0.0;
                }
                if result.is_infinite() {
                    return -result;
                }
                // Scale the factors into the middle of the range, so that no partial product is subnormal.
                let product = a * b;
                if product.is_infinite()
                    || (product != 0.0 && product.abs() < <$float>::MIN_POSITIVE / <$float>::EPSILON)
                    || (product == 0.0 && a != 0.0 && b != 0.0)
                {
                    // c - result is exact when they are close; else it decides the sign alone.
                    let rest = a.mul_add(b, c - result);
                    return if rest == 0.0 && product == 0.0 && a != 0.0 && b != 0.0 && c == result {
                        if (a < 0.0) == (b < 0.0) { 1.0 } else { -1.0 }
                    } else {
                        rest
                    };
                }
                let low = a.mul_add(b, -product);
                let sum = product + c;
                let rest = sum_error(product, c, sum);
                ((sum - result) + rest) + low
            }

            /// Biased exponent.
            #[inline(always)]
            fn exponent(a: $float) -> i32 {
                ((a.to_bits() & EXPONENT) >> $mantissa) as i32
            }

            fn is_subnormal(a: $float) -> bool {
                a != 0.0 && exponent(a) == 0
            }

            /// a × 2^n, rounded once, to nearest even.
            #[inline(never)]
            pub(crate) fn ldexp(a: $float, n: i32) -> $float {
                scaled(a, n, 0.0)
            }

            /// (a + error) × 2^n, rounded once, where a is that sum rounded to nearest and `error` the sign of what
            /// it lost.
            #[inline(never)]
            fn scaled(a: $float, n: i32, error: $float) -> $float {
                if a == 0.0 || !a.is_finite() {
                    return if a.is_nan() { quiet(a) } else { a };
                }
                let sign = a.to_bits() & SIGN;
                let field = exponent(a);
                let mut significand = a.to_bits() & !(SIGN | EXPONENT);
                let mut power = field;
                if field == 0 {
                    let up = significand.leading_zeros() as i32 - (<$bits>::BITS as i32 - 1 - $mantissa);
                    significand <<= up;
                    power = 1 - up;
                } else {
                    significand |= 1 << $mantissa;
                }
                let power = i64::from(power) + i64::from(n);
                if power > 2 * $bias {
                    return <$float>::from_bits(sign | EXPONENT);
                }
                if power >= 1 {
                    let bits = (power as $bits) << $mantissa | significand & ((1 << $mantissa) - 1);
                    return <$float>::from_bits(sign | bits);
                }
                let down = 1 - power;
                if down > $mantissa + 2 {
                    return <$float>::from_bits(sign);
                }
                let kept = significand >> down;
                let lost = significand & ((1 << down) - 1);
                let half = 1 << (down - 1);
                let error = if sign == 0 { error } else { -error };
                let up = lost > half || lost == half && (error > 0.0 || error == 0.0 && kept & 1 == 1);
                <$float>::from_bits(sign | (kept + <$bits>::from(up)))
            }

            /// `v_div_scale`: what division scales the source by, and whether the quotient has to be scaled back.
            /// `a` is numerator or denominator.
            #[inline(never)]
            pub(crate) fn div_scale(a: $float, denominator: $float, numerator: $float) -> ($float, bool) {
                let is_denominator = a.to_bits() == denominator.to_bits();
                let is_numerator = a.to_bits() == numerator.to_bits();
                if denominator == 0.0 || numerator == 0.0 {
                    return (<$float>::NAN, false);
                }
                let reciprocal_small = denominator.is_finite()
                    && exponent(denominator) > 2 * $bias - 2
                    && is_subnormal(1.0 / denominator);
                let quotient = numerator / denominator;
                let quotient_small =
                    numerator.is_finite() && denominator.is_finite() && exponent(quotient) == 0;
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
            #[inline(always)]
            pub(crate) fn div_fmas(a: $float, b: $float, c: $float, scale: bool) -> $float {
                let result = fma(a, b, c);
                if !scale || !result.is_finite() {
                    return result;
                }
                let n = if exponent(c) > $bias { $shift } else { -$shift };
                scaled(result, n, fma_error(a, b, c, result))
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

            /// The smaller operand; a NaN loses against a number. -0 is smaller than +0.
            #[inline(always)]
            pub(crate) fn min(a: $float, b: $float, ieee: bool) -> $float {
                if ieee && is_signalling(a) {
                    quiet(a)
                } else if ieee && is_signalling(b) {
                    quiet(b)
                } else if a.is_nan() {
                    b
                } else if b.is_nan() {
                    a
                } else if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() | b.to_bits())
                } else if a < b {
                    a
                } else {
                    b
                }
            }

            /// The larger operand; a NaN loses against a number. +0 is larger than -0.
            #[inline(always)]
            pub(crate) fn max(a: $float, b: $float, ieee: bool) -> $float {
                if ieee && is_signalling(a) {
                    quiet(a)
                } else if ieee && is_signalling(b) {
                    quiet(b)
                } else if a.is_nan() {
                    b
                } else if b.is_nan() {
                    a
                } else if a == 0.0 && b == 0.0 {
                    <$float>::from_bits(a.to_bits() & b.to_bits())
                } else if a >= b {
                    a
                } else {
                    b
                }
            }

            /// a - floor(a), below 1.
            #[inline(never)]
            pub(crate) fn fract(a: $float) -> $float {
                let result = a - a.floor();
                let below_one = <$float>::from_bits((1.0 as $float).to_bits() - 1);
                if result.is_nan() { fix1(a, result) } else { result.min(below_one) }
            }

            /// The significand in ±[0.5, 1).
            #[inline(never)]
            pub(crate) fn frexp_mantissa(a: $float) -> $float {
                if a == 0.0 || !a.is_finite() {
                    return if a.is_nan() { quiet(a) } else { a };
                }
                ldexp(a, -frexp_exponent(a))
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
format!(single, f32, u32, 23, 127, 96, 64, 23, -150);
format!(double, f64, u64, 52, 1023, 768, 128, 53, -1075);

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

/// IEEE 754-2019 minimum: a NaN operand is the result, quieted. -0 is smaller than +0.
#[inline(always)]
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        single::quiet(a)
    } else if b.is_nan() {
        single::quiet(b)
    } else {
        single::min(a, b, false)
    }
}

/// IEEE 754-2019 maximum: a NaN operand is the result, quieted. +0 is larger than -0.
#[inline(always)]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        single::quiet(a)
    } else if b.is_nan() {
        single::quiet(b)
    } else {
        single::max(a, b, false)
    }
}
