//! gfx942's sums of half, bfloat16, xf32 and 8-bit products.
//!
//! Products are exact. They are aligned to the largest exponent among them (that of the factors' sum, not
//! normalised) and cut off 24 bits below it; their sum is aligned with the old value and rounded down 31 bits
//! below the larger exponent, the old value 24 bits below; the sum of both is rounded to nearest even.
//! Subnormal factors count with the exponent of the smallest normal number of their format.

use super::numerics::{NAN, power};

/// What the alignment must know of a factor's format: the smallest exponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub(super) a: i32,
    pub(super) b: i32,
}

/// Exponent of a factor that is zero: far below any other's.
const ZERO: i32 = -10_000;

/// Exponent that a factor counts with.
#[inline(always)]
fn exponent(value: f32, least: i32) -> i32 {
    let bits = value.to_bits() & 0x7fff_ffff;
    let own = ((bits >> 23) as i32 - 127).max(least);
    if bits == 0 { ZERO } else { own }
}

/// A sum of aligned products: in units of 2^(exponent - 24).
#[derive(Clone, Copy)]
struct Sums<const N: usize> {
    units: [i32; N],
    exponent: [i32; N],
}

/// Products k, k + step, … below `last` of one row. Neither products nor their aligned values may be
/// subnormal singles, unless they are cut off wholly.
#[inline(always)]
fn aligned<'b, const N: usize>(
    a: &impl Fn(usize) -> f32,
    b: &impl Fn(usize) -> &'b [f32; N],
    products: impl Iterator<Item = usize> + Clone,
    least: Least,
) -> Sums<N> {
    let mut largest = [2 * ZERO; N];
    for k in products.clone() {
        let own = exponent(a(k), least.a);
        let row = b(k);
        for j in 0..N {
            largest[j] = largest[j].max(own + exponent(row[j], least.b));
        }
    }
    let mut scale = [0f32; N];
    for j in 0..N {
        // Where all products are zero, the scale does not matter.
        scale[j] = power((24 - largest[j]).min(126)) as f32;
    }
    let mut units = [0i32; N];
    for k in products {
        let factor = a(k);
        let row = b(k);
        for j in 0..N {
            let value = factor * row[j] * scale[j];
            // SAFETY: the factors are finite and the largest product is below 4, so the value is below 2^26.
            units[j] += unsafe { value.to_int_unchecked::<i32>() };
        }
    }
    Sums { units, exponent: largest }
}

/// Add sums to the old values. `reach`: bits that the old value may lie below the sum before it is dropped.
#[inline(always)]
fn add<const N: usize>(sums: Sums<N>, d: &mut [f32; N], reach: i32) {
    for (j, value) in d.iter_mut().enumerate() {
        let old = *value;
        let bits = old.to_bits();
        let field = (bits >> 23 & 0xff) as i32;
        let old_exponent = field.max(1) - 127;
        let magnitude = (bits & 0x7f_ffff | if field == 0 { 0 } else { 0x80_0000 }) as i32;
        let significand = if bits >> 31 != 0 { -magnitude } else { magnitude };
        let unit = sums.exponent[j].max(old_exponent);
        let down = (sums.exponent[j] - unit).max(-1000);
        let sum = (f64::from(sums.units[j]) * power(7 + down)).floor();
        let old_down = (old_exponent - unit).max(-1000);
        let kept = (f64::from(significand) * power(1 + old_down)).floor() * 128.0;
        let kept = if old_down < -reach { 0.0 } else { kept };
        let total = ((sum + kept) * power(unit - 31)) as f32;
        // What is not finite stays: moderate products do not change an infinity.
        *value = if field == 255 { old } else { total };
    }
}

/// One row of N columns in groups of products. All factors are of moderate size.
#[inline(always)]
pub(super) fn row<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    (depth, group): (usize, usize),
    least: Least,
    d: &mut [f32; N],
) {
    let mut k = 0;
    while k < depth {
        let last = (k + group).min(depth);
        add(aligned(&a, &b, k..last, least), d, i32::MAX);
        k = last;
    }
    clean(d);
}

/// One row of N columns in groups of products of 8-bit formats. Even and odd products are summed apart, and
/// these sums aligned and rounded down.
#[inline(always)]
pub(super) fn row_of_two<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    (depth, group): (usize, usize),
    least: Least,
    d: &mut [f32; N],
) {
    let mut k = 0;
    while k < depth {
        let last = (k + group).min(depth);
        let even: Sums<N> = aligned(&a, &b, (k..last).step_by(2), least);
        let odd: Sums<N> = aligned(&a, &b, (k + 1..last).step_by(2), least);
        let mut both = even;
        for j in 0..N {
            let unit = even.exponent[j].max(odd.exponent[j]);
            let even_down = (unit - even.exponent[j]).min(31);
            let odd_down = (unit - odd.exponent[j]).min(31);
            both.units[j] = (even.units[j] >> even_down) + (odd.units[j] >> odd_down);
            both.exponent[j] = unit;
        }
        add(both, d, 25);
        k = last;
    }
    clean(d);
}

#[inline(always)]
fn clean<const N: usize>(d: &mut [f32; N]) {
    for value in d {
        *value = if value.is_nan() { NAN } else { *value };
    }
}

/// One element with factors of any size, infinities and NaNs among them. `in_two` as for [`row_of_two`].
#[inline(never)]
pub(super) fn element(factors: &[(f32, f32)], group: usize, least: Least, in_two: bool, old: f32) -> f32 {
    let mut sum = old;
    for factors in factors.chunks(group) {
        sum = group_sum(factors, least, in_two, sum);
    }
    sum
}

fn group_sum(factors: &[(f32, f32)], least: Least, in_two: bool, old: f32) -> f32 {
    let products = factors.iter().map(|(a, b)| f64::from(*a) * f64::from(*b));
    let ieee = products.clone().sum::<f64>() + f64::from(old);
    if !ieee.is_finite() {
        return if ieee.is_nan() { NAN } else { ieee as f32 };
    }
    // A product that overflows single precision counts as infinite, whatever the sum is.
    let beyond = |sign: f64| products.clone().any(|product| product * sign >= power(128));
    match (beyond(1.0), beyond(-1.0)) {
        (true, true) => return NAN,
        (true, false) => return f32::INFINITY,
        (false, true) => return f32::NEG_INFINITY,
        (false, false) => {}
    }
    let sum_of = |step: usize, first: usize| -> Sums<1> {
        let chosen = || factors.iter().skip(first).step_by(step);
        let exponent_of = |(a, b): &(f32, f32)| exponent(*a, least.a) + exponent(*b, least.b);
        let largest = chosen().map(exponent_of).max().unwrap_or(2 * ZERO).max(2 * ZERO);
        let units = chosen().fold(0i32, |units, (a, b)| {
            let product = f64::from(*a) * f64::from(*b);
            units + if product == 0.0 { 0 } else { (product * power(24 - largest)) as i32 }
        });
        Sums { units: [units], exponent: [largest] }
    };
    let mut result = [old];
    if in_two {
        let (even, odd) = (sum_of(2, 0), sum_of(2, 1));
        let unit = even.exponent[0].max(odd.exponent[0]);
        let shifted = |sums: Sums<1>| sums.units[0] >> (unit - sums.exponent[0]).min(31);
        add(Sums { units: [shifted(even) + shifted(odd)], exponent: [unit] }, &mut result, 25);
    } else {
        add(sum_of(1, 0), &mut result, i32::MAX);
    }
    result[0]
}
