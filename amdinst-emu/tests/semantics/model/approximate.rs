//! Reciprocals, roots and transcendentals as the emulator documents its approximations: computed in double
//! precision, rounded once. That they are near enough to the exact values is `crate::approximate`'s matter;
//! here it is modifiers, encodings and MODE.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::float::{default_nan, finish, flush, is_nan, limited, nan, sources};
use super::{Answer, Args, Kind, Operation, operations};

/// Of a double, on the host.
type Function = fn(f64) -> f64;

fn rcp(x: f64) -> f64 {
    1.0 / x
}

fn rsq(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Of turns, however many ("Full range input is supported", CDNA3 ISA manual); exact at their quarters.
fn turns(x: f64, f: Function) -> f64 {
    if x.is_infinite() {
        f64::NAN
    } else if x == 0.0 {
        f(x)
    } else {
        let turn = x - x.round();
        let value = f(turn * std::f64::consts::TAU);
        if (4.0 * turn).fract() == 0.0 { value.round() } else { value }
    }
}

fn sin(x: f64) -> f64 {
    turns(x, f64::sin)
}

fn cos(x: f64) -> f64 {
    turns(x, f64::cos)
}

/// Rounded to nearest whatever MODE says; subnormals are flushed, but for sine and cosine.
fn single(a: &Args, f: Function, flushes: bool) -> Answer {
    let [x, ..] = sources::<Single>(a);
    let x = flush::<Single>(x, !flushes);
    if is_nan::<Single>(x) {
        return finish::<Single>(nan::<Single>(&[x]), a.mode).into();
    }
    let value = f(f64::from(f32::from_bits(x as u32)));
    let bits = if value.is_nan() { default_nan::<Single>() } else { (value as f32).to_bits().into() };
    finish::<Single>(flush::<Single>(bits, !flushes), a.mode).into()
}

fn half(a: &Args, f: Function) -> Answer {
    let [x, ..] = sources::<Half>(a);
    if is_nan::<Half>(x) {
        return finish::<Half>(nan::<Half>(&[x]), a.mode).into();
    }
    let wide: Double = Half::from_bits(x).convert(&mut false).value;
    let x = f64::from_bits(wide.to_bits() as u64);
    let value = f(x);
    let bits = if value.is_nan() {
        default_nan::<Half>()
    } else {
        let value = Double::from_bits(value.to_bits().into());
        let rounded: Half = value.convert_r(a.mode.round(Kind::F16), &mut false).value;
        // Zero's reciprocal and logarithm are infinite; what a finite argument's power is, overflows.
        if value.is_finite() { limited::<Half>(rounded.to_bits(), a.mode) } else { rounded.to_bits() }
    };
    finish::<Half>(bits, a.mode).into()
}

/// A half's power of two is never infinite in double precision if the exponent is kept in reach.
fn exp2(x: f64) -> f64 {
    if x.is_finite() { x.min(1000.0).exp2() } else { x.exp2() }
}

fn double(a: &Args, f: Function) -> Answer {
    let [x, ..] = sources::<Double>(a);
    if is_nan::<Double>(x) {
        return finish::<Double>(nan::<Double>(&[x]), a.mode).into();
    }
    let value = f(f64::from_bits(x as u64));
    let bits = if value.is_nan() { default_nan::<Double>() } else { value.to_bits().into() };
    finish::<Double>(bits, a.mode).into()
}

pub(crate) const OPERATIONS: &[Operation] = operations! {
    v_rcp_f16: F16 = F16 => |a| half(a, rcp);
    v_rcp_f32: F32 = F32 => |a| single(a, rcp, true);
    v_rcp_iflag_f32: F32 = F32 => |a| single(a, rcp, true);
    v_rcp_f64: F64 = F64 => |a| double(a, rcp);
    v_rsq_f16: F16 = F16 => |a| half(a, rsq);
    v_rsq_f32: F32 = F32 => |a| single(a, rsq, true);
    v_rsq_f64: F64 = F64 => |a| double(a, rsq);
    v_sqrt_f16: F16 = F16 => |a| half(a, f64::sqrt);
    v_sqrt_f32: F32 = F32 => |a| single(a, f64::sqrt, true);
    v_sqrt_f64: F64 = F64 => |a| double(a, f64::sqrt);
    v_exp_f16: F16 = F16 => |a| half(a, exp2);
    v_exp_f32: F32 = F32 => |a| single(a, f64::exp2, true);
    v_exp_legacy_f32: F32 = F32 => |a| single(a, f64::exp2, true);
    v_log_f16: F16 = F16 => |a| half(a, f64::log2);
    v_log_f32: F32 = F32 => |a| single(a, f64::log2, true);
    v_log_legacy_f32: F32 = F32 => |a| single(a, f64::log2, true);
    v_sin_f16: F16 = F16 => |a| half(a, sin);
    v_sin_f32: F32 = F32 => |a| single(a, sin, false);
    v_cos_f16: F16 = F16 => |a| half(a, cos);
    v_cos_f32: F32 = F32 => |a| single(a, cos, false);
};
