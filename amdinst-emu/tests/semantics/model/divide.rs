//! The steps of division, and the reduction of large angles.

use rustc_apfloat::Round;
use rustc_apfloat::ieee::{Double, Half, Single};

use super::float::{
    Format, default_nan, exponent, finish, infinity, is_nan, is_zero, mask, nan, quiet, sign, sources,
};
use super::{Answer, Args, Operation, operations};

/// Figures of a format's division: exponent distance at which the quotient comes close to overflow, scale,
/// largest exponent of a tiny numerator, distance at which the quotient vanishes (V_DIV_SCALE_F32,
/// V_DIV_FIXUP_F32 and their F64 forms).
struct Figures {
    far: i32,
    scale: i32,
    tiny: i32,
    under: i32,
}

const SINGLE: Figures = Figures { far: 96, scale: 64, tiny: 23, under: -150 };
const DOUBLE: Figures = Figures { far: 768, scale: 128, tiny: 53, under: -1075 };

/// V_DIV_SCALE's pseudocode, with two readings: "== DENORM" of a quotient is taken to include one that rounds
/// to zero, and where both reciprocal and quotient are subnormal the denominator is scaled down (the manual's
/// "up" would make it infinite, and the division's result zero).
fn scale<F: Format>(a: &Args, figures: &Figures) -> Answer {
    let [s0, s1, s2] = sources::<F>(a);
    let [x, denominator, numerator] = [s0, s1, s2].map(F::from_bits);
    let scaled = |power: i32| {
        if is_nan::<F>(s0) { quiet::<F>(s0) } else { x.scalbn_r(power, a.mode.round(F::KIND)).to_bits() }
    };
    let below = |value: F| value.is_finite() && exponent::<F>(value.to_bits()) == 0;
    let least = i32::from(a.scales_as_rdna);
    let small = |value: F| value.is_finite() && exponent::<F>(value.to_bits()) <= least;
    let one = F::from_i128(1).value;
    let nearest = Round::NearestTiesToEven;
    let reciprocal_below = denominator.is_finite_non_zero() && below(one.div_r(denominator, nearest).value);
    let quotient_below = denominator.is_finite_non_zero()
        && numerator.is_finite_non_zero()
        && small(numerator.div_r(denominator, nearest).value);
    let (value, bit) = if is_zero::<F>(s2) || is_zero::<F>(s1) {
        (default_nan::<F>() & !sign::<F>(), a.scales_as_rdna)
    } else if exponent::<F>(s2) - exponent::<F>(s1) >= figures.far {
        (if x == denominator { scaled(figures.scale) } else { s0 }, true)
    } else if exponent::<F>(s1) == 0 {
        (scaled(figures.scale), false)
    } else if reciprocal_below && quotient_below {
        (if x == denominator { scaled(-figures.scale) } else { s0 }, true)
    } else if reciprocal_below {
        (scaled(-figures.scale), false)
    } else if quotient_below {
        (if x == numerator { scaled(figures.scale) } else { s0 }, true)
    } else if exponent::<F>(s2) <= figures.tiny {
        (scaled(figures.scale), false)
    } else {
        (s0, false)
    };
    Answer { value: finish::<F>(value, a.mode), bit }
}

/// V_DIV_FMAS: the scale of V_DIV_SCALE undone with one rounding. The manuals say 2^32 and 2^64, which does
/// not undo what V_DIV_SCALE did; what compiled divisions need (`tests/kernels.rs`) does: up if the addend is
/// large, else down.
fn fmas<F: Format>(a: &Args, figures: &Figures) -> Answer {
    // "Input denormals are not flushed."
    let s = a.s.map(mask::<F>);
    let result = if s.iter().any(|bits| is_nan::<F>(*bits)) {
        nan::<F>(&s)
    } else {
        let bias = (1 << (F::KIND.bits() - F::MANTISSA - 2)) - 1;
        let power = match a.bit {
            false => 0,
            true if exponent::<F>(s[2]) > bias => figures.scale,
            true => -figures.scale,
        };
        scaled_fma::<F>(s, power, a.mode.round(F::KIND))
    };
    finish::<F>(result, a.mode).into()
}

/// (x × y + z) × 2^power with one rounding: the sum is made in quadruple precision, where it is exact or has
/// its last bit odd (rounding towards zero, then a sticky bit), so that the second rounding is the only one.
fn scaled_fma<F: Format>(s: [u128; 3], power: i32, round: Round) -> u128 {
    use rustc_apfloat::ieee::Quad;
    use rustc_apfloat::{Float, FloatConvert};
    let single = F::KIND == super::Kind::F32;
    let wide = |bits: u128| -> Quad {
        if single {
            Single::from_bits(bits).convert(&mut false).value
        } else {
            Double::from_bits(bits).convert(&mut false).value
        }
    };
    let [x, y, z] = s.map(wide);
    let sum = x.mul_add_r(y, z, Round::TowardZero);
    if !sum.value.is_finite() {
        let negative = if sum.value.is_negative() { sign::<F>() } else { 0 };
        return if sum.value.is_nan() { default_nan::<F>() } else { negative | infinity::<F>() };
    }
    if sum.value.is_zero() {
        // An exact zero has the sign of the rounding mode.
        let exact = x.mul_add_r(y, z, round).value;
        return if exact.is_negative() { sign::<F>() } else { 0 };
    }
    let inexact = sum.status.contains(rustc_apfloat::Status::INEXACT);
    let odd = Quad::from_bits(sum.value.to_bits() | u128::from(inexact)).scalbn(power);
    if single {
        let value: Single = odd.convert_r(round, &mut false).value;
        value.to_bits()
    } else {
        let value: Double = odd.convert_r(round, &mut false).value;
        value.to_bits()
    }
}

/// V_DIV_FIXUP's pseudocode. UNDERFLOW and OVERFLOW are what the quotient is rounded to there: zero and
/// infinity.
#[expect(clippy::if_same_then_else, reason = "branch by branch as the manual has it")]
fn fixup<F: Format>(a: &Args, figures: Option<&Figures>) -> Answer {
    let [quotient, denominator, numerator] = sources::<F>(a);
    let out = (denominator ^ numerator) & sign::<F>();
    let magnitude = |bits: u128| bits & !sign::<F>();
    let infinite = |bits: u128| magnitude(bits) == infinity::<F>();
    let value = if is_nan::<F>(numerator) {
        quiet::<F>(numerator)
    } else if is_nan::<F>(denominator) {
        quiet::<F>(denominator)
    } else if is_zero::<F>(denominator) && is_zero::<F>(numerator)
        || infinite(denominator) && infinite(numerator)
    {
        default_nan::<F>()
    } else if is_zero::<F>(denominator) || infinite(numerator) {
        out | infinity::<F>()
    } else if infinite(denominator) || is_zero::<F>(numerator) {
        out
    } else if figures
        .is_some_and(|figures| exponent::<F>(numerator) - exponent::<F>(denominator) < figures.under)
    {
        out
    } else if is_nan::<F>(quotient) && figures.is_some() {
        // Not in the pseudocode: the refinement of an infinite quotient ends in a NaN.
        out | infinity::<F>()
    } else {
        out | magnitude(quotient)
    };
    finish::<F>(value, a.mode).into()
}

/// 1201 bits of 2/π after the point, the most significant first, as words of 64 bits.
fn two_over_pi_bit(index: u32) -> u128 {
    const WORDS: [u64; 19] = TWO_OVER_PI;
    u128::from(WORDS[(index / 64) as usize] >> (63 - index % 64) & 1)
}

include!("two_over_pi.rs");

/// V_TRIG_PREOP_F64's pseudocode, bit by bit.
fn trig_preop(a: &Args) -> Answer {
    let [s0, ..] = sources::<Double>(a);
    let mut shift = (a.u(1) & 31) * 53;
    let field = exponent::<Double>(s0);
    if field > 1077 {
        shift += (field - 1077) as u32;
    }
    // The 53 bits that the shift brings above the point of the 1201-bit fraction.
    let bit = |index: u32| if index < 1201 { two_over_pi_bit(index) } else { 0 };
    let whole = (0..53).fold(0_u128, |value, index| value << 1 | bit(shift + index));
    let mut power = -53 - shift as i32;
    if field >= 1968 {
        power += 128;
    }
    use rustc_apfloat::Float;
    let result = Double::from_u128(whole).value.scalbn_r(power, Round::TowardZero);
    finish::<Double>(result.to_bits(), a.mode).into()
}

pub(crate) const OPERATIONS: &[Operation] = operations! {
    v_div_scale_f32: F32 = F32 F32 F32 => |a| scale::<Single>(a, &SINGLE);
    v_div_scale_f64: F64 = F64 F64 F64 => |a| scale::<Double>(a, &DOUBLE);
    v_div_fmas_f32: F32 = F32 F32 F32 => |a| fmas::<Single>(a, &SINGLE);
    v_div_fmas_f64: F64 = F64 F64 F64 => |a| fmas::<Double>(a, &DOUBLE);
    v_div_fixup_f32: F32 = F32 F32 F32 => |a| fixup::<Single>(a, Some(&SINGLE));
    v_div_fixup_f64: F64 = F64 F64 F64 => |a| fixup::<Double>(a, Some(&DOUBLE));
    v_div_fixup_f16: F16 = F16 F16 F16 => |a| fixup::<Half>(a, None);
    v_div_fixup_legacy_f16: F16 = F16 F16 F16 => |a| fixup::<Half>(a, None);
    v_trig_preop_f64: F64 = F64 I32 => trig_preop;
};
