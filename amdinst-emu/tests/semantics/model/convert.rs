//! Conversions.
//!
//! The result's FP_ROUND field decides, but `v_cvt_f32_f64` takes that of half and double, as LLVM has it
//! (`llvm.fptrunc.round.f32.f64` sets MODE bits 2-3). To an integer: towards zero, saturating, NaN gives 0.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::float::{Format, finish, flush, is_nan, limited, mask, quiet, sign, sources};
use super::{Answer, Args, Kind, Operation, operations};

/// From a float to another.
fn resize<F: Format + FloatConvert<T>, T: Format>(bits: u128, a: &Args, round: Round) -> u128 {
    let bits = flush::<F>(mask::<F>(bits), a.mode.keeps_inputs(F::KIND));
    if is_nan::<F>(bits) {
        // Sign and the payload's upper bits.
        let fraction = quiet::<F>(bits) & ((1 << F::MANTISSA) - 1);
        let fraction = if T::MANTISSA > F::MANTISSA {
            fraction << (T::MANTISSA - F::MANTISSA)
        } else {
            fraction >> (F::MANTISSA - T::MANTISSA)
        };
        let negative = bits & sign::<F>() != 0;
        return (if negative { sign::<T>() } else { 0 }) | super::float::infinity::<T>() | fraction;
    }
    let mut loses = false;
    let result = F::from_bits(bits).convert_r(round, &mut loses).value.to_bits();
    if F::from_bits(bits).is_finite() { limited::<T>(result, a.mode) } else { result }
}

fn resized<F: Format + FloatConvert<T>, T: Format>(a: &Args, round: Round) -> Answer {
    finish::<T>(resize::<F, T>(a.s[0], a, round), a.mode).into()
}

fn to_signed<F: Format>(bits: u128, width: usize, round: Round) -> i128 {
    let x = F::from_bits(bits);
    if x.is_nan() { 0 } else { x.to_i128_r(width, round, &mut false).value }
}

fn to_unsigned<F: Format>(bits: u128, width: usize, round: Round) -> u128 {
    let x = F::from_bits(bits);
    if x.is_nan() { 0 } else { x.to_u128_r(width, round, &mut false).value }
}

fn signed<F: Format>(a: &Args, width: usize) -> Answer {
    let value = to_signed::<F>(sources::<F>(a)[0], width, Round::TowardZero);
    (value as u128 & ((1 << width) - 1)).into()
}

fn unsigned<F: Format>(a: &Args, width: usize) -> Answer {
    to_unsigned::<F>(sources::<F>(a)[0], width, Round::TowardZero).into()
}

fn from_integer<F: Format>(a: &Args, value: i128) -> Answer {
    let bits = F::from_i128_r(value, a.mode.round(F::KIND)).value.to_bits();
    finish::<F>(limited::<F>(bits, a.mode), a.mode).into()
}

/// Normalised: [-1, 1] or [0, 1] to the whole range of 16 bits, to nearest even of the exact product.
fn normalised<F: Format + FloatConvert<Double>>(bits: u128, a: &Args, is_signed: bool) -> u128 {
    let bits = flush::<F>(mask::<F>(bits), a.mode.keeps_inputs(F::KIND));
    if is_nan::<F>(bits) {
        return 0;
    }
    let wide = F::from_bits(bits).convert(&mut false).value;
    let (low, most) = if is_signed { (-1, 32767) } else { (0, 65535) };
    let whole = |value: i128| Double::from_i128(value).value;
    let limited = if wide < whole(low) {
        whole(low)
    } else if wide > whole(1) {
        whole(1)
    } else {
        wide
    };
    // 24 bits times 16 bits: exact in a double.
    let product = (limited * whole(most)).value;
    product.to_i128_r(32, Round::NearestTiesToEven, &mut false).value as u128 & 0xffff
}

fn pair(low: u128, high: u128) -> Answer {
    (low | high << 16).into()
}

/// floor(x + 1/2), of the exact sum.
fn nearest_up(a: &Args) -> Answer {
    let x = Single::from_bits(sources::<Single>(a)[0]);
    if x.is_nan() {
        return 0_u32.into();
    }
    let wide: Double = x.convert(&mut false).value;
    // Where the sum is not exact in a double, x is so small that rounding down gives the exact floor.
    let sum = wide.add_r(Double::from_bits(0.5_f64.to_bits().into()), Round::TowardNegative).value;
    let value = to_signed::<Double>(sum.to_bits(), 32, Round::TowardNegative);
    (value as u128 & 0xffff_ffff).into()
}

fn byte(a: &Args, number: u32) -> Answer {
    from_integer::<Single>(a, i128::from(a.u(0) >> (8 * number) & 0xff))
}

/// A single as an unsigned byte, to nearest even.
fn to_byte(a: &Args) -> u32 {
    to_unsigned::<Single>(sources::<Single>(a)[0], 8, Round::NearestTiesToEven) as u32
}

fn insert_byte(into: u32, a: &Args) -> Answer {
    let shift = 8 * (a.u(1) & 3);
    (into & !(0xff << shift) | to_byte(a) << shift).into()
}

/// Two singles as integers of 16 bits, towards zero, saturated; zero for a NaN.
fn packed_integers(a: &Args, signed: bool) -> Answer {
    let [first, second, _] = sources::<Single>(a).map(|bits| {
        let value = Single::from_bits(bits);
        if value.is_nan() {
            return 0;
        }
        let (low, high) = if signed { (-0x8000, 0x7fff) } else { (0, 0xffff) };
        value.to_i128_r(64, Round::TowardZero, &mut false).value.clamp(low, high) as u128 & 0xffff
    });
    (first | second << 16).into()
}

pub(crate) const OPERATIONS: &[Operation] = operations! {
    v_cvt_f32_i32: F32 = I32 => |a| from_integer::<Single>(a, a.i(0).into());
    v_cvt_f32_u32: F32 = I32 => |a| from_integer::<Single>(a, a.u(0).into());
    v_cvt_f64_i32: F64 = I32 => |a| from_integer::<Double>(a, a.i(0).into());
    v_cvt_f64_u32: F64 = I32 => |a| from_integer::<Double>(a, a.u(0).into());
    v_cvt_f16_i16: F16 = I16 => |a| from_integer::<Half>(a, (a.u(0) as i16).into());
    v_cvt_f16_u16: F16 = I16 => |a| from_integer::<Half>(a, (a.u(0) as u16).into());
    v_cvt_i32_f32: I32 = F32 => |a| signed::<Single>(a, 32);
    v_cvt_u32_f32: I32 = F32 => |a| unsigned::<Single>(a, 32);
    v_cvt_i32_f64: I32 = F64 => |a| signed::<Double>(a, 32);
    v_cvt_u32_f64: I32 = F64 => |a| unsigned::<Double>(a, 32);
    v_cvt_i16_f16: I16 = F16 => |a| signed::<Half>(a, 16);
    v_cvt_u16_f16: I16 = F16 => |a| unsigned::<Half>(a, 16);
    v_cvt_f16_f32: F16 = F32 => |a| resized::<Single, Half>(a, a.mode.round(Kind::F16));
    v_cvt_f32_f16: F32 = F16 => |a| resized::<Half, Single>(a, a.mode.round(Kind::F32));
    v_cvt_f32_f64: F32 = F64 => |a| resized::<Double, Single>(a, a.mode.round(Kind::F64));
    v_cvt_f64_f32: F64 = F32 => |a| resized::<Single, Double>(a, a.mode.round(Kind::F64));
    v_cvt_rpi_i32_f32: I32 = F32 => nearest_up;
    v_cvt_flr_i32_f32: I32 = F32 => |a| {
        let value = to_signed::<Single>(sources::<Single>(a)[0], 32, Round::TowardNegative);
        (value as u128 & 0xffff_ffff).into()
    };
    v_cvt_off_f32_i4: F32 = I32 => |a| {
        let eighths = i128::from((a.u(0) << 28) as i32 >> 28);
        finish::<Single>(Single::from_i128(eighths).value.scalbn(-4).to_bits(), a.mode).into()
    };
    v_cvt_f32_ubyte0: F32 = I32 => |a| byte(a, 0);
    v_cvt_f32_ubyte1: F32 = I32 => |a| byte(a, 1);
    v_cvt_f32_ubyte2: F32 = I32 => |a| byte(a, 2);
    v_cvt_f32_ubyte3: F32 = I32 => |a| byte(a, 3);
    v_cvt_norm_i16_f16: I16 = F16 => |a| normalised::<Half>(a.s[0], a, true).into();
    v_cvt_norm_u16_f16: I16 = F16 => |a| normalised::<Half>(a.s[0], a, false).into();
    v_cvt_pknorm_i16_f16: I32 = F16 F16 => |a| pair(normalised::<Half>(a.s[0], a, true), normalised::<Half>(a.s[1], a, true));
    v_cvt_pknorm_u16_f16: I32 = F16 F16 => |a| pair(normalised::<Half>(a.s[0], a, false), normalised::<Half>(a.s[1], a, false));
    v_cvt_pknorm_i16_f32: I32 = F32 F32 => |a| pair(normalised::<Single>(a.s[0], a, true), normalised::<Single>(a.s[1], a, true));
    v_cvt_pknorm_u16_f32: I32 = F32 F32 => |a| pair(normalised::<Single>(a.s[0], a, false), normalised::<Single>(a.s[1], a, false));
    v_cvt_pkrtz_f16_f32: I32 = F32 F32 => |a| {
        let one = |bits| finish::<Half>(resize::<Single, Half>(bits, a, Round::TowardZero), a.mode);
        pair(one(a.s[0]), one(a.s[1]))
    };
    v_cvt_pk_u8_f32: I32 = F32 I32 I32 => |a| insert_byte(a.u(2), a);
    v_cvt_pkaccum_u8_f32: I32 = F32 I32 => |a| insert_byte(a.old as u32, a);
    v_cvt_pk_i16_f32: I32 = F32 F32 => |a| packed_integers(a, true);
    v_cvt_pk_u16_f32: I32 = F32 F32 => |a| packed_integers(a, false);
    v_cvt_pk_u16_u32: I32 = I32 I32 => |a| pair(a.s[0].min(0xffff), a.s[1].min(0xffff));
    v_cvt_pk_i16_i32: I32 = I32 I32 => |a| {
        let one = |value: i32| u128::from(value.clamp(-0x8000, 0x7fff) as u16);
        pair(one(a.i(0)), one(a.i(1)))
    };
};
