//! Arithmetic on floats.
//!
//! NaNs: the first NaN operand, quieted; an invalid operation gives the negative quiet NaN without payload
//! (the manuals show 0xffc00000 and 0xfe00 in their examples; which operand wins, they leave open).

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round};

use super::{Answer, Args, Kind, Mode, Operation, operations};

/// A format with its layout.
pub(crate) trait Format: Float {
    const KIND: Kind;
    const MANTISSA: u32;
}

impl Format for Half {
    const KIND: Kind = Kind::F16;
    const MANTISSA: u32 = 10;
}
impl Format for Single {
    const KIND: Kind = Kind::F32;
    const MANTISSA: u32 = 23;
}
impl Format for Double {
    const KIND: Kind = Kind::F64;
    const MANTISSA: u32 = 52;
}

pub(crate) fn sign<F: Format>() -> u128 {
    1 << (F::KIND.bits() - 1)
}

pub(crate) fn infinity<F: Format>() -> u128 {
    sign::<F>() - (1 << F::MANTISSA)
}

pub(crate) fn quiet<F: Format>(bits: u128) -> u128 {
    bits | 1 << (F::MANTISSA - 1)
}

pub(crate) fn default_nan<F: Format>() -> u128 {
    quiet::<F>(sign::<F>() | infinity::<F>())
}

pub(crate) fn mask<F: Format>(bits: u128) -> u128 {
    bits & (sign::<F>() * 2 - 1)
}

pub(crate) fn is_nan<F: Format>(bits: u128) -> bool {
    bits & !sign::<F>() > infinity::<F>()
}

pub(crate) fn is_signalling<F: Format>(bits: u128) -> bool {
    is_nan::<F>(bits) && quiet::<F>(bits) != bits
}

pub(crate) fn is_zero<F: Format>(bits: u128) -> bool {
    bits & !sign::<F>() == 0
}

/// The exponent field.
pub(crate) fn exponent<F: Format>(bits: u128) -> i32 {
    ((bits & infinity::<F>()) >> F::MANTISSA) as i32
}

/// Zero for a subnormal, unless they are kept.
pub(crate) fn flush<F: Format>(bits: u128, keep: bool) -> u128 {
    if exponent::<F>(bits) == 0 && !keep { bits & sign::<F>() } else { bits }
}

/// The sources as the unit sees them.
pub(crate) fn sources<F: Format>(a: &Args) -> [u128; 3] {
    a.s.map(|bits| flush::<F>(mask::<F>(bits), a.mode.keeps_inputs(F::KIND)))
}

/// The NaN of an operation whose result is one.
pub(crate) fn nan<F: Format>(sources: &[u128]) -> u128 {
    sources.iter().copied().find(|bits| is_nan::<F>(*bits)).map_or(default_nan::<F>(), quiet::<F>)
}

/// A result rounded from finite numbers: where it is infinite, it has overflowed.
pub(crate) fn limited<F: Format>(bits: u128, mode: Mode) -> u128 {
    if mode.saturates(F::KIND) && mask::<F>(bits) & !sign::<F>() == infinity::<F>() { bits - 1 } else { bits }
}

/// Flushing, output modifier and clamp.
///
/// The output modifier is ignored with MODE.IEEE, and when output subnormals are kept; where it applies, -0
/// becomes +0 (Vega ISA manual, "Output modifiers"); on RDNA 4 it always applies, and flushes. Clamping takes
/// NaN to zero with DX10_CLAMP.
pub(crate) fn finish<F: Format>(bits: u128, mode: Mode) -> u128 {
    let keep = mode.keeps_outputs(F::KIND) && (mode.omod == 0 || !mode.is_fixed);
    let mut bits = flush::<F>(bits, keep);
    if mode.omod != 0 && !mode.ieee() && !keep && !is_nan::<F>(bits) {
        let power = [0, 1, 2, -1][usize::from(mode.omod)];
        let scaled = F::from_bits(bits).scalbn_r(power, mode.round(F::KIND)).to_bits();
        let scaled = if F::from_bits(bits).is_finite() { limited::<F>(scaled, mode) } else { scaled };
        bits = flush::<F>(scaled, false);
        if is_zero::<F>(bits) {
            bits = 0;
        }
    }
    if mode.clamp {
        let one = F::from_i128(1).value.to_bits();
        if is_nan::<F>(bits) {
            return if mode.dx10_clamp() { 0 } else { bits };
        }
        if bits & sign::<F>() != 0 {
            return 0;
        }
        return bits.min(one);
    }
    bits
}

/// An operation on sources of one format.
fn arithmetic<F: Format>(a: &Args, count: usize, f: impl Fn([F; 3], Round) -> F) -> Answer {
    let sources = sources::<F>(a);
    let result = if sources[..count].iter().any(|bits| is_nan::<F>(*bits)) {
        nan::<F>(&sources[..count])
    } else {
        let value = f(sources.map(F::from_bits), a.mode.round(F::KIND));
        if value.is_nan() {
            default_nan::<F>()
        } else if sources[..count].iter().all(|bits| F::from_bits(*bits).is_finite()) {
            limited::<F>(value.to_bits(), a.mode)
        } else {
            value.to_bits()
        }
    };
    finish::<F>(result, a.mode).into()
}

fn one<F: Format>(a: &Args, f: impl Fn(F, Round) -> F) -> Answer {
    arithmetic(a, 1, |[x, ..], round| f(x, round))
}

fn two<F: Format>(a: &Args, f: impl Fn(F, F, Round) -> F) -> Answer {
    arithmetic(a, 2, |[x, y, _], round| f(x, y, round))
}

fn add<F: Format>(a: &Args) -> Answer {
    two::<F>(a, |x, y, round| x.add_r(y, round).value)
}

fn sub<F: Format>(a: &Args) -> Answer {
    two::<F>(a, |x, y, round| x.sub_r(y, round).value)
}

fn mul<F: Format>(a: &Args) -> Answer {
    two::<F>(a, |x, y, round| x.mul_r(y, round).value)
}

pub(crate) fn fma<F: Format>(a: &Args) -> Answer {
    arithmetic::<F>(a, 3, |[x, y, z], round| x.mul_add_r(y, z, round).value)
}

/// With sources 0 and 1 exchanged.
fn reversed(a: &Args) -> Args {
    Args { s: [a.s[1], a.s[0], a.s[2]], ..*a }
}

/// With the old result as the third source.
fn accumulating(a: &Args) -> Args {
    Args { s: [a.s[0], a.s[1], a.old], ..*a }
}

/// With the second and third source exchanged: `madmk` multiplies by its constant.
fn constant_factor(a: &Args) -> Args {
    Args { s: [a.s[0], a.s[2], a.s[1]], ..*a }
}

/// Multiplication, then addition, each rounded, never with subnormals.
fn mad<F: Format>(a: &Args) -> Answer {
    let [x, y, z] = a.s.map(|bits| flush::<F>(mask::<F>(bits), false));
    let round = a.mode.round(F::KIND);
    let step = |x: u128, y: u128, f: fn(F, F, Round) -> F| {
        if is_nan::<F>(x) || is_nan::<F>(y) {
            return nan::<F>(&[x, y]);
        }
        let (x, y) = (F::from_bits(x), F::from_bits(y));
        let value = f(x, y, round);
        if value.is_nan() {
            return default_nan::<F>();
        }
        let bits = if x.is_finite() && y.is_finite() {
            limited::<F>(value.to_bits(), a.mode)
        } else {
            value.to_bits()
        };
        flush::<F>(bits, false)
    };
    let product = step(x, y, |x, y, round| x.mul_r(y, round).value);
    let sum = step(product, z, |x, y, round| x.add_r(y, round).value);
    finish::<F>(sum, a.mode).into()
}

/// DX9's rule: zero times anything is zero.
fn mul_legacy(a: &Args) -> Answer {
    let [x, y, _] = sources::<Single>(a);
    if is_zero::<Single>(x) || is_zero::<Single>(y) {
        return finish::<Single>(0, a.mode).into();
    }
    mul::<Single>(a)
}

/// DX9's rule in V_FMA_DX9_ZERO_F32's pseudocode: the third source alone if a factor is zero.
fn fma_legacy(a: &Args) -> Answer {
    let [x, y, z] = sources::<Single>(a);
    if is_zero::<Single>(x) || is_zero::<Single>(y) {
        let result = if is_nan::<Single>(z) { quiet::<Single>(z) } else { z };
        return finish::<Single>(result, a.mode).into();
    }
    fma::<Single>(a)
}

/// V_MULLIT_F32's pseudocode: the least number where the second source is that, -infinity or NaN, or the
/// third is not above zero.
fn mullit(a: &Args) -> Answer {
    let [_, y, z] = sources::<Single>(a);
    let (y, z) = (f32::from_bits(y as u32), f32::from_bits(z as u32));
    if y == -f32::MAX || y == f32::NEG_INFINITY || y.is_nan() || z <= 0.0 || z.is_nan() {
        return finish::<Single>((-f32::MAX).to_bits().into(), a.mode).into();
    }
    mul_legacy(a)
}

/// The smaller of the third and the larger of the others.
fn maxmin<F: Format>(a: &Args) -> Answer {
    let ([x, y, z], mode) = (sources::<F>(a), a.mode);
    finish::<F>(min_bits::<F>(max_bits::<F>(x, y, mode), z, mode), a.mode).into()
}

/// The larger of the third and the smaller of the others.
fn minmax<F: Format>(a: &Args) -> Answer {
    let ([x, y, z], mode) = (sources::<F>(a), a.mode);
    finish::<F>(max_bits::<F>(min_bits::<F>(x, y, mode), z, mode), a.mode).into()
}

fn mad_legacy(a: &Args) -> Answer {
    let [x, y, z] = a.s.map(|bits| flush::<Single>(mask::<Single>(bits), false));
    if is_zero::<Single>(x) || is_zero::<Single>(y) {
        // 0 + z.
        return mad::<Single>(&Args { s: [0, 0, z], ..*a });
    }
    mad::<Single>(a)
}

/// V_MIN_F32's pseudocode, on bits.
#[expect(clippy::if_same_then_else, reason = "branch by branch as the manual has it")]
fn min_bits<F: Format>(x: u128, y: u128, mode: Mode) -> u128 {
    if mode.is_fixed && is_nan::<F>(x) && is_nan::<F>(y) {
        quiet::<F>(x)
    } else if mode.ieee() && is_signalling::<F>(x) {
        quiet::<F>(x)
    } else if mode.ieee() && is_signalling::<F>(y) {
        quiet::<F>(y)
    } else if is_nan::<F>(x) {
        y
    } else if is_nan::<F>(y) {
        x
    } else if x == 0 && y == sign::<F>() {
        y
    } else if x == sign::<F>() && y == 0 {
        x
    } else if F::from_bits(x) < F::from_bits(y) {
        x
    } else {
        y
    }
}

/// V_MAX_F32's pseudocode, on bits.
#[expect(clippy::if_same_then_else, reason = "branch by branch as the manual has it")]
fn max_bits<F: Format>(x: u128, y: u128, mode: Mode) -> u128 {
    if mode.is_fixed && is_nan::<F>(x) && is_nan::<F>(y) {
        quiet::<F>(x)
    } else if mode.ieee() && is_signalling::<F>(x) {
        quiet::<F>(x)
    } else if mode.ieee() && is_signalling::<F>(y) {
        quiet::<F>(y)
    } else if is_nan::<F>(x) {
        y
    } else if is_nan::<F>(y) {
        x
    } else if x == 0 && y == sign::<F>() {
        x
    } else if x == sign::<F>() && y == 0 {
        y
    } else if F::from_bits(x) > F::from_bits(y) {
        x
    } else {
        y
    }
}

fn min<F: Format>(a: &Args) -> Answer {
    let [x, y, _] = sources::<F>(a);
    finish::<F>(min_bits::<F>(x, y, a.mode), a.mode).into()
}

fn max<F: Format>(a: &Args) -> Answer {
    let [x, y, _] = sources::<F>(a);
    finish::<F>(max_bits::<F>(x, y, a.mode), a.mode).into()
}

fn min3<F: Format>(a: &Args) -> Answer {
    let ([x, y, z], mode) = (sources::<F>(a), a.mode);
    finish::<F>(min_bits::<F>(min_bits::<F>(x, y, mode), z, mode), a.mode).into()
}

fn max3<F: Format>(a: &Args) -> Answer {
    let ([x, y, z], mode) = (sources::<F>(a), a.mode);
    finish::<F>(max_bits::<F>(max_bits::<F>(x, y, mode), z, mode), a.mode).into()
}

/// V_MED3_F32's pseudocode.
fn med3<F: Format>(a: &Args) -> Answer {
    let ([x, y, z], mode) = (sources::<F>(a), a.mode);
    let result = if [x, y, z].iter().any(|bits| is_nan::<F>(*bits)) {
        min_bits::<F>(min_bits::<F>(x, y, mode), z, mode)
    } else {
        let largest = F::from_bits(max_bits::<F>(max_bits::<F>(x, y, mode), z, mode));
        if largest == F::from_bits(x) {
            max_bits::<F>(y, z, mode)
        } else if largest == F::from_bits(y) {
            max_bits::<F>(x, z, mode)
        } else {
            max_bits::<F>(x, y, mode)
        }
    };
    finish::<F>(result, a.mode).into()
}

/// V_MINIMUM_F32's pseudocode of RDNA4's manual, on bits: by `choose` if neither is a NaN.
fn with_nans<F: Format>(x: u128, y: u128, choose: impl Fn(u128, u128) -> u128) -> u128 {
    if is_signalling::<F>(x) {
        quiet::<F>(x)
    } else if is_signalling::<F>(y) {
        quiet::<F>(y)
    } else if is_nan::<F>(x) {
        x
    } else if is_nan::<F>(y) {
        y
    } else {
        choose(x, y)
    }
}

fn minimum_bits<F: Format>(x: u128, y: u128) -> u128 {
    with_nans::<F>(x, y, |x, y| min_bits::<F>(x, y, Mode::default()))
}

fn maximum_bits<F: Format>(x: u128, y: u128) -> u128 {
    with_nans::<F>(x, y, |x, y| max_bits::<F>(x, y, Mode::default()))
}

/// Two of such selections, one after the other; the second with the third source.
fn selected<F: Format>(a: &Args, [first, second]: [fn(u128, u128) -> u128; 2]) -> Answer {
    let [x, y, z] = sources::<F>(a);
    finish::<F>(second(first(x, y), z), a.mode).into()
}

fn minimum<F: Format>(a: &Args) -> Answer {
    let [x, y, _] = sources::<F>(a);
    finish::<F>(minimum_bits::<F>(x, y), a.mode).into()
}

fn maximum<F: Format>(a: &Args) -> Answer {
    let [x, y, _] = sources::<F>(a);
    finish::<F>(maximum_bits::<F>(x, y), a.mode).into()
}

fn integral<F: Format>(a: &Args, round: Round) -> Answer {
    one::<F>(a, |x, _| x.round_to_integral(round).value)
}

/// x - floor(x), below 1.
fn fract<F: Format>(a: &Args) -> Answer {
    one::<F>(a, |x, round| {
        let floor = x.round_to_integral(Round::TowardNegative).value;
        let difference = x.sub_r(floor, round).value;
        let below_one = F::from_bits(F::from_i128(1).value.to_bits() - 1);
        if difference > below_one { below_one } else { difference }
    })
}

fn frexp_mantissa<F: Format>(a: &Args) -> Answer {
    one::<F>(a, |x, _| {
        if !x.is_finite_non_zero() {
            return x;
        }
        let mut power = 0;
        x.frexp_r(&mut power, Round::NearestTiesToEven)
    })
}

fn frexp_exponent<F: Format>(a: &Args) -> Answer {
    let [x, ..] = sources::<F>(a);
    let x = F::from_bits(x);
    let mut power = 0;
    if x.is_finite_non_zero() {
        x.frexp_r(&mut power, Round::NearestTiesToEven);
    }
    Answer::from(power as u32)
}

/// × 2^n, rounded once.
fn ldexp<F: Format>(a: &Args, power: i32) -> Answer {
    // Larger powers than these overflow or vanish alike.
    one::<F>(a, |x, round| x.scalbn_r(power.clamp(-5000, 5000), round))
}

/// The face of a cube that a direction points at, by the pseudocode of V_CUBEID_F32: +x -x +y -y +z -z.
fn face(a: &Args) -> (u128, [u128; 3]) {
    let s = sources::<Single>(a);
    let [x, y, z] = s.map(|bits| f32::from_bits(bits as u32));
    let face = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { 5 } else { 4 }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { 3 } else { 2 }
    } else if x < 0.0 {
        1
    } else {
        0
    };
    (face, s)
}

fn cube(a: &Args, pick: impl Fn(u128, [u128; 3]) -> u128) -> Answer {
    let (face, s) = face(a);
    finish::<Single>(pick(face, s), a.mode).into()
}

fn negative(bits: u128) -> u128 {
    bits ^ sign::<Single>()
}

pub(crate) const OPERATIONS: &[Operation] = operations! {
    v_add_f16: F16 = F16 F16 => add::<Half>;
    v_add_f32: F32 = F32 F32 => add::<Single>;
    v_add_f64: F64 = F64 F64 => add::<Double>;
    v_sub_f16: F16 = F16 F16 => sub::<Half>;
    v_sub_f32: F32 = F32 F32 => sub::<Single>;
    v_subrev_f16: F16 = F16 F16 => |a| sub::<Half>(&reversed(a));
    v_subrev_f32: F32 = F32 F32 => |a| sub::<Single>(&reversed(a));
    v_mul_f16: F16 = F16 F16 => mul::<Half>;
    v_mul_f32: F32 = F32 F32 => mul::<Single>;
    v_mul_f64: F64 = F64 F64 => mul::<Double>;
    v_mul_legacy_f32: F32 = F32 F32 => mul_legacy;
    v_fma_f16: F16 = F16 F16 F16 => fma::<Half>;
    v_fma_legacy_f16: F16 = F16 F16 F16 => fma::<Half>;
    v_fma_f32: F32 = F32 F32 F32 => fma::<Single>;
    v_fma_f64: F64 = F64 F64 F64 => fma::<Double>;
    v_fma_legacy_f32: F32 = F32 F32 F32 => fma_legacy;
    v_fmac_legacy_f32: F32 = F32 F32 => |a| fma_legacy(&accumulating(a));
    v_fmac_f16: F16 = F16 F16 => |a| fma::<Half>(&accumulating(a));
    v_fmaak_f16: F16 = F16 F16 F16 => fma::<Half>;
    v_fmamk_f16: F16 = F16 F16 F16 => |a| fma::<Half>(&constant_factor(a));
    v_mullit_f32: F32 = F32 F32 F32 => mullit;
    v_maxmin_f16: F16 = F16 F16 F16 => maxmin::<Half>;
    v_maxmin_f32: F32 = F32 F32 F32 => maxmin::<Single>;
    v_minmax_f16: F16 = F16 F16 F16 => minmax::<Half>;
    v_minmax_f32: F32 = F32 F32 F32 => minmax::<Single>;
    v_fmac_f32: F32 = F32 F32 => |a| fma::<Single>(&accumulating(a));
    v_fmac_f64: F64 = F64 F64 => |a| fma::<Double>(&accumulating(a));
    v_fmaak_f32: F32 = F32 F32 F32 => fma::<Single>;
    v_fmamk_f32: F32 = F32 F32 F32 => |a| fma::<Single>(&constant_factor(a));
    v_mad_f16: F16 = F16 F16 F16 => mad::<Half>;
    v_mad_legacy_f16: F16 = F16 F16 F16 => mad::<Half>;
    v_mad_f32: F32 = F32 F32 F32 => mad::<Single>;
    v_mad_legacy_f32: F32 = F32 F32 F32 => mad_legacy;
    v_mac_legacy_f32: F32 = F32 F32 => |a| mad_legacy(&accumulating(a));
    v_mac_f16: F16 = F16 F16 => |a| mad::<Half>(&accumulating(a));
    v_mac_f32: F32 = F32 F32 => |a| mad::<Single>(&accumulating(a));
    v_madak_f16: F16 = F16 F16 F16 => mad::<Half>;
    v_madak_f32: F32 = F32 F32 F32 => mad::<Single>;
    v_madmk_f16: F16 = F16 F16 F16 => |a| mad::<Half>(&constant_factor(a));
    v_madmk_f32: F32 = F32 F32 F32 => |a| mad::<Single>(&constant_factor(a));
    v_min_f16: F16 = F16 F16 => min::<Half>;
    v_min_f32: F32 = F32 F32 => min::<Single>;
    v_min_f64: F64 = F64 F64 => min::<Double>;
    v_max_f16: F16 = F16 F16 => max::<Half>;
    v_max_f32: F32 = F32 F32 => max::<Single>;
    v_max_f64: F64 = F64 F64 => max::<Double>;
    v_minimum_f16: F16 = F16 F16 => minimum::<Half>;
    v_minimum_f32: F32 = F32 F32 => minimum::<Single>;
    v_minimum_f64: F64 = F64 F64 => minimum::<Double>;
    v_maximum_f16: F16 = F16 F16 => maximum::<Half>;
    v_maximum_f32: F32 = F32 F32 => maximum::<Single>;
    v_maximum_f64: F64 = F64 F64 => maximum::<Double>;
    v_minimum3_f16: F16 = F16 F16 F16 => |a| selected::<Half>(a, [minimum_bits::<Half>, minimum_bits::<Half>]);
    v_minimum3_f32: F32 = F32 F32 F32 => |a| selected::<Single>(a, [minimum_bits::<Single>, minimum_bits::<Single>]);
    v_maximum3_f16: F16 = F16 F16 F16 => |a| selected::<Half>(a, [maximum_bits::<Half>, maximum_bits::<Half>]);
    v_maximum3_f32: F32 = F32 F32 F32 => |a| selected::<Single>(a, [maximum_bits::<Single>, maximum_bits::<Single>]);
    v_minimummaximum_f16: F16 = F16 F16 F16 => |a| selected::<Half>(a, [minimum_bits::<Half>, maximum_bits::<Half>]);
    v_minimummaximum_f32: F32 = F32 F32 F32 => |a| selected::<Single>(a, [minimum_bits::<Single>, maximum_bits::<Single>]);
    v_maximumminimum_f16: F16 = F16 F16 F16 => |a| selected::<Half>(a, [maximum_bits::<Half>, minimum_bits::<Half>]);
    v_maximumminimum_f32: F32 = F32 F32 F32 => |a| selected::<Single>(a, [maximum_bits::<Single>, minimum_bits::<Single>]);
    v_min3_f16: F16 = F16 F16 F16 => min3::<Half>;
    v_min3_f32: F32 = F32 F32 F32 => min3::<Single>;
    v_max3_f16: F16 = F16 F16 F16 => max3::<Half>;
    v_max3_f32: F32 = F32 F32 F32 => max3::<Single>;
    v_med3_f16: F16 = F16 F16 F16 => med3::<Half>;
    v_med3_f32: F32 = F32 F32 F32 => med3::<Single>;
    v_trunc_f16: F16 = F16 => |a| integral::<Half>(a, Round::TowardZero);
    v_trunc_f32: F32 = F32 => |a| integral::<Single>(a, Round::TowardZero);
    v_trunc_f64: F64 = F64 => |a| integral::<Double>(a, Round::TowardZero);
    v_ceil_f16: F16 = F16 => |a| integral::<Half>(a, Round::TowardPositive);
    v_ceil_f32: F32 = F32 => |a| integral::<Single>(a, Round::TowardPositive);
    v_ceil_f64: F64 = F64 => |a| integral::<Double>(a, Round::TowardPositive);
    v_floor_f16: F16 = F16 => |a| integral::<Half>(a, Round::TowardNegative);
    v_floor_f32: F32 = F32 => |a| integral::<Single>(a, Round::TowardNegative);
    v_floor_f64: F64 = F64 => |a| integral::<Double>(a, Round::TowardNegative);
    v_rndne_f16: F16 = F16 => |a| integral::<Half>(a, Round::NearestTiesToEven);
    v_rndne_f32: F32 = F32 => |a| integral::<Single>(a, Round::NearestTiesToEven);
    v_rndne_f64: F64 = F64 => |a| integral::<Double>(a, Round::NearestTiesToEven);
    v_fract_f16: F16 = F16 => fract::<Half>;
    v_fract_f32: F32 = F32 => fract::<Single>;
    v_fract_f64: F64 = F64 => fract::<Double>;
    v_frexp_mant_f16: F16 = F16 => frexp_mantissa::<Half>;
    v_frexp_mant_f32: F32 = F32 => frexp_mantissa::<Single>;
    v_frexp_mant_f64: F64 = F64 => frexp_mantissa::<Double>;
    v_frexp_exp_i16_f16: I16 = F16 => |a| (frexp_exponent::<Half>(a).value & 0xffff).into();
    v_frexp_exp_i32_f32: I32 = F32 => frexp_exponent::<Single>;
    v_frexp_exp_i32_f64: I32 = F64 => frexp_exponent::<Double>;
    v_ldexp_f16: F16 = F16 I16 => |a| ldexp::<Half>(a, i32::from(a.u(1) as i16));
    v_ldexp_f32: F32 = F32 I32 => |a| ldexp::<Single>(a, a.i(1));
    v_ldexp_f64: F64 = F64 I32 => |a| ldexp::<Double>(a, a.i(1));
    v_cubeid_f32: F32 = F32 F32 F32 => |a| cube(a, |face, _| Single::from_i128(face as i128).value.to_bits());
    v_cubesc_f32: F32 = F32 F32 F32 => |a| cube(a, |face, [x, _, z]| match face {
        0 => negative(z),
        1 => z,
        5 => negative(x),
        _ => x,
    });
    v_cubetc_f32: F32 = F32 F32 F32 => |a| cube(a, |face, [_, y, z]| match face {
        2 => z,
        3 => negative(z),
        _ => negative(y),
    });
    v_cubema_f32: F32 = F32 F32 F32 => |a| {
        let (face, s) = face(a);
        let major = s[face as usize / 2];
        mul::<Single>(&Args { s: [Single::from_i128(2).value.to_bits(), major, 0], ..*a })
    };
};
