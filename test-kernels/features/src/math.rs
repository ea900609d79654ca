//! Mathematics: rounded correctly, in software, and the hardware's own.

use amdinst_device::math::{self, fast};
use amdinst_device::{PerItem, global_id_x, kernel};

/// Results for each value.
pub const RESULTS: usize = 27;

/// All functions in software of the value and its neighbor.
pub fn software<T: math::Real>(x: T, y: T) -> [T; RESULTS] {
    let (sine, cosine) = math::sin_cos(x);
    [
        sine,
        cosine,
        math::sin(x),
        math::cos(x),
        math::tan(x),
        math::atan(x),
        math::sinh(x),
        math::cosh(x),
        math::tanh(x),
        math::exp(x),
        math::exp2(x),
        math::ln(x),
        math::log2(x),
        math::log10(x),
        math::cbrt(x),
        math::pow(x, y),
        math::atan2(x, y),
        math::hypot(x, y),
        math::asin(x),
        math::acos(x),
        math::asinh(x),
        math::acosh(x),
        math::atanh(x),
        math::exp_m1(x),
        math::ln_1p(x),
        math::powi(x, 5),
        math::powi(x, -3),
    ]
}

/// [`software`] of each value and the next one.
#[kernel(T = [f32, f64])]
pub fn compute<T: math::Real>(values: &[T], mut output: PerItem<T, RESULTS>) {
    let i = global_id_x() as usize;
    if let Some(&[x, y]) = values.get(i..i + 2) {
        output.chunk().copy_from_slice(&software(x, y));
    }
}

/// Results that are rounded correctly.
pub const ROUNDED: usize = 7;

/// All that is rounded correctly, of the value and its neighbor.
pub fn exact<T: math::Float>(x: T, y: T) -> [T; ROUNDED] {
    [
        math::sqrt(x),
        math::mul_add(x, y, y),
        math::floor(x),
        math::ceil(x),
        math::trunc(x),
        math::round(x),
        math::round_ties_even(x),
    ]
}

/// [`exact`] of each value and the next one.
#[kernel(T = [f32, f64])]
pub fn round_exactly<T: math::Float>(values: &[T], mut output: PerItem<T, ROUNDED>) {
    let i = global_id_x() as usize;
    if let Some(&[x, y]) = values.get(i..i + 2) {
        output.chunk().copy_from_slice(&exact(x, y));
    }
}

/// Results of the hardware's own.
pub const FAST: usize = 12;

/// All of the hardware's own.
pub fn hardware(x: f32, y: f32) -> [f32; FAST] {
    [
        fast::recip(x),
        fast::rsqrt(x),
        fast::sqrt(x),
        fast::exp2(x),
        fast::log2(x),
        fast::sin_turns(x),
        fast::cos_turns(x),
        fast::sin(x),
        fast::cos(x),
        fast::exp(x),
        fast::ln(x),
        fast::pow(x, y),
    ]
}

/// [`hardware`] of each value and the next one.
#[kernel]
pub fn compute_fast(values: &[f32], mut output: PerItem<f32, FAST>) {
    let i = global_id_x() as usize;
    if let Some(&[x, y]) = values.get(i..i + 2) {
        output.chunk().copy_from_slice(&hardware(x, y));
    }
}
