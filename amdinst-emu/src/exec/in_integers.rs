//! Arithmetic of doubles, rounded once in any mode, by integers ([`soft`](super::soft)).

use super::float::double;
use super::soft::DOUBLE;

/// a + b.
#[inline(never)]
pub(crate) fn add(a: f64, b: f64, round: u32) -> f64 {
    if a.is_finite() && b.is_finite() {
        return f64::from_bits(DOUBLE.add(a.to_bits(), b.to_bits(), round));
    }
    double::add(a, b)
}

/// a × b.
#[inline(never)]
pub(crate) fn mul(a: f64, b: f64, round: u32) -> f64 {
    if a.is_finite() && b.is_finite() {
        return f64::from_bits(DOUBLE.mul(a.to_bits(), b.to_bits(), round));
    }
    double::mul(a, b)
}

/// (a × b + c) × 2^power.
#[inline(never)]
pub(crate) fn fma(a: f64, b: f64, c: f64, power: i32, round: u32) -> f64 {
    if a.is_finite() && b.is_finite() && c.is_finite() {
        return f64::from_bits(DOUBLE.fma([a, b, c].map(f64::to_bits), power, round));
    }
    double::fma(a, b, c)
}

/// a × 2^n.
#[inline(never)]
pub(crate) fn ldexp(a: f64, n: i32, round: u32) -> f64 {
    if a.is_finite() { f64::from_bits(DOUBLE.scale(a.to_bits(), n, round)) } else { double::fix1(a, a) }
}
