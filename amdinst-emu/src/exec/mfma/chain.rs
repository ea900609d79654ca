//! Fused multiply-adds in ascending k.

use crate::exec::float::{double, single};

/// One row of N columns: `d[j] += Σ a[k]·b[k][j]`.
#[inline(always)]
pub(super) fn singles<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    depth: usize,
    d: &mut [f32; N],
) {
    let mut sums = *d;
    for k in 0..depth {
        let factor = a(k);
        let row = b(k);
        for j in 0..N {
            sums[j] = factor.mul_add(row[j], sums[j]);
        }
    }
    if sums.iter().any(|sum| sum.is_nan()) {
        // NaNs once more, by the device's rules.
        for (j, sum) in sums.iter_mut().enumerate().filter(|(_, sum)| sum.is_nan()) {
            *sum = (0..depth).fold(d[j], |sum, k| single::fma(a(k), b(k)[j], sum));
        }
    }
    *d = sums;
}

/// One row of N columns in double precision, as a chain of fused multiply-adds over `depth`.
#[inline(always)]
pub(super) fn doubles<'b, const N: usize>(
    a: impl Fn(usize) -> f64,
    b: impl Fn(usize) -> &'b [f64; N],
    depth: usize,
    d: &mut [f64; N],
) {
    let mut sums = *d;
    for k in 0..depth {
        let factor = a(k);
        let row = b(k);
        for j in 0..N {
            sums[j] = factor.mul_add(row[j], sums[j]);
        }
    }
    if sums.iter().any(|sum| sum.is_nan()) {
        for (j, sum) in sums.iter_mut().enumerate().filter(|(_, sum)| sum.is_nan()) {
            *sum = (0..depth).fold(d[j], |sum, k| double::fma(a(k), b(k)[j], sum));
        }
    }
    *d = sums;
}

/// Integers wrap around; saturating ones are exact before.
#[inline(always)]
pub(super) fn integers<'b, const N: usize>(
    a: impl Fn(usize) -> i32,
    b: impl Fn(usize) -> &'b [i32; N],
    depth: usize,
    d: &mut [i32; N],
    saturate: bool,
) {
    if saturate {
        for (j, sum) in d.iter_mut().enumerate() {
            let exact = (0..depth).fold(i64::from(*sum), |sum, k| sum + i64::from(a(k) * b(k)[j]));
            *sum = exact.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        }
        return;
    }
    let mut sums = *d;
    for k in 0..depth {
        let factor = a(k);
        let row = b(k);
        for j in 0..N {
            sums[j] = sums[j].wrapping_add(factor.wrapping_mul(row[j]));
        }
    }
    *d = sums;
}
