//! Arithmetic of singles, rounded once in any mode, by doubles.
//!
//! A double holds a product of two singles. A sum it holds but for an error that is known exactly (Knuth's
//! two-sum). Where there is one, the nearest double to the sum gives way to the neighbour on the other side
//! of the sum if that is the odd one: then its last bit, far behind those of singles, says on which side of
//! them the sum lies, and to round the double is to round the sum (Boldo and Melquiond, "Emulation of FMA and
//! correctly rounded sums: proved algorithms using rounding to odd").
//!
//! There are no branches, so that loops over lanes become vector code.

use super::float::{choose, narrow, single};

/// As MODE.FP_ROUND has it.
const DOWN: u32 = 2;

/// a + b.
#[inline(always)]
pub(crate) fn add(a: f32, b: f32, round: u32) -> f32 {
    choose(a.is_finite() & b.is_finite(), sum(a.into(), b.into(), 1.0, round), single::add(a, b))
}

/// a × b.
#[inline(always)]
pub(crate) fn mul(a: f32, b: f32, round: u32) -> f32 {
    let product = narrow(f64::from(a) * f64::from(b), round);
    choose(a.is_finite() & b.is_finite(), product, single::mul(a, b))
}

/// (a × b + c) × 2^power, of which single precision has the power.
#[inline(always)]
pub(crate) fn fma(a: f32, b: f32, c: f32, power: i32, round: u32) -> f32 {
    let result = sum(f64::from(a) * f64::from(b), c.into(), two_to(power), round);
    choose(a.is_finite() & b.is_finite() & c.is_finite(), result, single::fma(a, b, c))
}

/// a × 2^n.
#[inline(always)]
pub(crate) fn ldexp(a: f32, n: i32, round: u32) -> f32 {
    // No single is so large or so small that a double could not hold it 2^300 times as large or as small.
    let result = narrow(f64::from(a) * two_to(n.clamp(-300, 300)), round);
    choose(a.is_finite(), result, single::fix1(a, a))
}

/// 2^n, which is normal.
#[inline(always)]
fn two_to(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// (a + b) × power, where a and b are singles or products of two.
#[inline(always)]
fn sum(a: f64, b: f64, power: f64, round: u32) -> f32 {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    // Towards the error is one up or down in the magnitude. A sum of zero is exact.
    let away = (error > 0.0) == (sum > 0.0);
    let bits = sum.to_bits();
    let beside = bits.wrapping_add(choose(away, 1, u64::MAX));
    let odd = f64::from_bits(choose((error != 0.0) & (bits & 1 == 0), beside, bits));
    let result = narrow(odd * power, round);
    // A sum that is zero is a negative one if it is rounded down, unless it is that of positive zeros.
    let is_positive = a.to_bits() | b.to_bits() == 0;
    choose((round == DOWN) & (sum == 0.0) & !is_positive, -0.0, result)
}
