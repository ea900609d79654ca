//! `f8f6f4`: sums of 32 products, scaled, added to the old value (CDNA4 ISA manual, section 7.2).

use super::numerics::{NAN, power};

/// Products that share a scale.
pub(super) const BLOCK: usize = 32;

/// An exponent with a bias of 127; the largest code is NaN.
#[inline(always)]
pub(super) fn scale(code: u8) -> f64 {
    if code == 255 { f64::NAN } else { power(i32::from(code) - 127) }
}

/// One row of N columns. `a_scales` are the row's, `b_scales` those of the columns, block by block.
#[inline(always)]
pub(super) fn row<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    depth: usize,
    (a_scales, b_scales): (impl Fn(usize) -> f64, &[f64]),
    d: &mut [f32; N],
) {
    let mut total = [0f64; N];
    for j in 0..N {
        total[j] = f64::from(d[j]);
    }
    for block in 0..depth / BLOCK {
        let mut sums = [0f64; N];
        for k in block * BLOCK..(block + 1) * BLOCK {
            let factor = a(k);
            let row = b(k);
            for j in 0..N {
                // Exact in single precision: at most 8 bits.
                sums[j] += f64::from(factor * row[j]);
            }
        }
        let own = a_scales(block);
        let scales = &b_scales[block * N..][..N];
        for j in 0..N {
            total[j] += sums[j] * (own * scales[j]);
        }
    }
    for j in 0..N {
        d[j] = if total[j].is_nan() { NAN } else { total[j] as f32 };
    }
}
