//! gfx908's half and bfloat16 sums: a few products and the old value are added exactly and rounded once.

use super::numerics::NAN;

/// One row of N columns, in groups of at most four products.
#[inline(always)]
pub(super) fn row<'b, const N: usize>(
    a: impl Fn(usize) -> f32,
    b: impl Fn(usize) -> &'b [f32; N],
    (depth, group): (usize, usize),
    d: &mut [f32; N],
) {
    let mut k = 0;
    while k < depth {
        let last = (k + group).min(depth);
        // Errors of the additions, which are mostly exact in double precision: the sum then needs no more
        // care.
        let mut sums = [0f64; N];
        let mut errors = [0f64; N];
        for j in 0..N {
            sums[j] = f64::from(d[j]);
        }
        for q in k..last {
            let factor = f64::from(a(q));
            let row = b(q);
            for j in 0..N {
                let (sum, error) = two_sum(sums[j], factor * f64::from(row[j]));
                sums[j] = sum;
                errors[j] += error.abs();
            }
        }
        for j in 0..N {
            let old = d[j];
            d[j] = sums[j] as f32;
            // An error that is no number comes of a sum that is none.
            if errors[j] != 0.0 && sums[j].is_finite() {
                let mut terms = [0f64; 5];
                terms[0] = f64::from(old);
                for (term, q) in terms[1..].iter_mut().zip(k..last) {
                    *term = f64::from(a(q)) * f64::from(b(q)[j]);
                }
                d[j] = rounded_sum(terms);
            }
        }
        k = last;
    }
    for value in d {
        *value = if value.is_nan() { NAN } else { *value };
    }
}

/// A sum and what it lost (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// The exact sum, rounded once. No partial sum may overflow a double.
#[inline(never)]
fn rounded_sum(mut terms: [f64; 5]) -> f32 {
    // Distillation: after as many passes as there are terms, none of them overlaps another and the last is
    // the largest.
    for _ in 0..terms.len() {
        for at in 1..terms.len() {
            let (sum, error) = two_sum(terms[at], terms[at - 1]);
            terms[at] = sum;
            terms[at - 1] = error;
        }
    }
    let [.., nearest] = terms;
    let rest = terms[..4].iter().rev().copied().find(|term| *term != 0.0).unwrap_or(0.0);
    // Round to odd, which a second rounding does not spoil.
    let bits = nearest.to_bits();
    if rest == 0.0 || bits & 1 == 1 {
        return nearest as f32;
    }
    let away = (rest < 0.0) == (nearest < 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums that double precision rounds onto a tie.
    #[test]
    fn sums_are_rounded_once() {
        let tiny = (-60f64).exp2();
        let half_ulp = (-24f64).exp2();
        let up = f32::from_bits(1f32.to_bits() + 1);
        assert_eq!(rounded_sum([1.0, half_ulp, 0.0, 0.0, 0.0]), 1.0);
        assert_eq!(rounded_sum([1.0, half_ulp, tiny, 0.0, 0.0]), up);
        assert_eq!(rounded_sum([tiny, half_ulp, 1.0, 0.0, 0.0]), up);
        assert_eq!(rounded_sum([1.0, half_ulp, -tiny, 0.0, 0.0]), 1.0);
        assert_eq!(rounded_sum([1e30, 1.0, -1e30, half_ulp, tiny]), up);
        assert_eq!(rounded_sum([-1e30, -1.0, 1e30, -half_ulp, -tiny]), -up);
    }
}
