//! The kernels of `kernels.cl`, for the host: what results are compared with, and what rates are related to.
//!
//! Each function computes a run of the output's words, so that the same code serves one thread and all of them.

/// Computes `out`, which begins at word `first` of the output, from the inputs and the size.
pub(crate) type Host = fn(inputs: &[Vec<u32>], n: u32, first: usize, out: &mut [u32]);

/// Functions that are compiled for AVX2 and FMA as well, and use them where the host has them.
macro_rules! host {
    ($($(#[$doc:meta])* fn $name:ident($inputs:ident, $n:ident, $first:ident, $out:ident) $body:block)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($inputs: &[Vec<u32>], $n: u32, $first: usize, $out: &mut [u32]) {
            #[inline(always)]
            fn body($inputs: &[Vec<u32>], $n: u32, $first: usize, $out: &mut [u32]) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn wide($inputs: &[Vec<u32>], $n: u32, $first: usize, $out: &mut [u32]) {
                    body($inputs, $n, $first, $out);
                }
                use std::is_x86_feature_detected as has;
                if has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") {
                    // SAFETY: the host has the features.
                    return unsafe { wide($inputs, $n, $first, $out) };
                }
            }
            body($inputs, $n, $first, $out);
        }
    )*};
}

/// One work-item of the loop of `ALU_LOOP`.
#[inline(always)]
fn alu_item(id: u32, n: u32) -> u32 {
    let (mut a, mut b, mut c, mut d) = (id, id.wrapping_mul(3), 7u32, 1u32);
    let (mut x, mut y, mut z, mut w) = (0f32, 1f32, 2f32, 3f32);
    for _ in 0..n {
        a = a.wrapping_add(b);
        b ^= a;
        c = c << 5 | c >> 3;
        d = d.wrapping_mul(a).wrapping_add(0x3c6e_f35f);
        a = a.wrapping_add(b << 2);
        b = b.wrapping_add(a & d);
        c = c.rotate_right(7);
        d = d.wrapping_sub(c);
        b = if a > d { c } else { b };
        c = c.wrapping_add(d).wrapping_add(1);
        let t = a >> 8 & 0xff;
        d ^= t;
        x = t.min(b) as f32;
        y = y.mul_add(0.5, x);
        z = z * 0.5 + y;
        w = x.mul_add(y, w) * 0.5;
        x = (y - z).max(w);
        z = z.mul_add(0.5, 1.0);
        y = (y + 1.0).min(w);
        w = (w * 0.5).mul_add(0.5, x);
        x += z;
    }
    [x, y, z, w].iter().fold(a ^ b ^ c ^ d, |result, float| result ^ float.to_bits())
}

host! {
    /// `alu`.
    fn alu(_inputs, n, first, out) {
        for (at, word) in out.iter_mut().enumerate() {
            *word = alu_item((first + at) as u32, n);
        }
    }

    /// `alu_partial`.
    fn alu_partial(_inputs, n, first, out) {
        for (at, word) in out.iter_mut().enumerate() {
            let id = (first + at) as u32;
            *word = alu_item(id, if id.is_multiple_of(3) { 0 } else { n });
        }
    }

    /// `vector_add`.
    fn vector_add(inputs, _n, first, out) {
        let (a, b) = (&inputs[0][first..], &inputs[1][first..]);
        for ((word, a), b) in out.iter_mut().zip(a).zip(b) {
            *word = (f32::from_bits(*a) + f32::from_bits(*b)).to_bits();
        }
    }

    /// `collatz`.
    fn collatz(_inputs, _n, first, out) {
        for (at, word) in out.iter_mut().enumerate() {
            let (mut value, mut steps) = ((first + at) as u32 + 1, 0);
            while value != 1 {
                value = if value & 1 != 0 { value.wrapping_mul(3).wrapping_add(1) } else { value / 2 };
                steps += 1;
            }
            *word = steps;
        }
    }

    /// `transpose`, whole rows.
    fn transpose(inputs, n, first, out) {
        let n = n as usize;
        for (at, word) in out.iter_mut().enumerate() {
            let (row, column) = ((first + at) / n, (first + at) % n);
            *word = inputs[0][column * n + row];
        }
    }

    /// `matmul` and `mfma_gemm`, whole rows.
    fn matmul(inputs, n, first, out) {
        let n = n as usize;
        let mut sums = vec![0f32; n];
        for (at, row) in out.chunks_exact_mut(n).enumerate() {
            sums.fill(0.0);
            let left = &inputs[0][first + at * n..][..n];
            for (k, a) in left.iter().enumerate() {
                let a = f32::from_bits(*a);
                for (sum, b) in sums.iter_mut().zip(&inputs[1][k * n..][..n]) {
                    *sum += a * f32::from_bits(*b);
                }
            }
            for (word, sum) in row.iter_mut().zip(&sums) {
                *word = sum.to_bits();
            }
        }
    }
}
