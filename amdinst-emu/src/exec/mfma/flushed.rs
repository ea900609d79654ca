//! gfx90a's half and bfloat16 sums: every product and sum is rounded to single precision, subnormals are
//! zero.

use super::numerics::{NAN, flush};

/// One row of N columns. Factors are not subnormal. `safe`: no product and no sum of products overflows or is
/// subnormal, so that fusing a product with the sum after it changes nothing.
#[inline(always)]
pub(super) fn row<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    (depth, group): (usize, usize),
    d: &mut [f32; N],
    safe: bool,
) {
    let mut sums = *d;
    for sum in &mut sums {
        // The old value loses its sign, too.
        *sum = if sum.abs() < f32::MIN_POSITIVE { 0.0 } else { *sum };
    }
    let mut k = 0;
    while k < depth {
        let at = |q: usize| b(k + q);
        if group == 4 {
            let (a0, a1, a2, a3) = (a(k), a(k + 1), a(k + 2), a(k + 3));
            let (b0, b1, b2, b3) = (at(0), at(1), at(2), at(3));
            for j in 0..N {
                sums[j] = if safe {
                    let low = a0.mul_add(b0[j], a1 * b1[j]);
                    let high = a2.mul_add(b2[j], a3 * b3[j]);
                    flush(sums[j] + (low + high))
                } else {
                    let low = flush(flush(a0 * b0[j]) + flush(a1 * b1[j]));
                    let high = flush(flush(a2 * b2[j]) + flush(a3 * b3[j]));
                    flush(sums[j] + flush(low + high))
                };
            }
        } else {
            let (a0, a1) = (a(k), a(k + 1));
            let (b0, b1) = (at(0), at(1));
            for j in 0..N {
                sums[j] = if safe {
                    flush(sums[j] + a0.mul_add(b0[j], a1 * b1[j]))
                } else {
                    flush(sums[j] + flush(flush(a0 * b0[j]) + flush(a1 * b1[j])))
                };
            }
        }
        k += group;
    }
    for sum in &mut sums {
        *sum = if sum.is_nan() { NAN } else { *sum };
    }
    *d = sums;
}
