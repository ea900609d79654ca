//! The kernels of `kernels.cl`, for the host: what results are compared with, and what rates are related to.
//!
//! Each function computes a run of the output's words, so that the same code serves one thread and all of
//! them.

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

/// A number as half precision has it, to the nearest; finite.
#[inline(always)]
fn half(number: f64) -> f64 {
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let unit = f64::from_bits(((exponent.max(-14) - 10 + 1023) as u64) << 52);
    (number / unit).round_ties_even() * unit
}

/// The bits of a half that is no NaN.
#[inline(always)]
fn half_bits(number: f64) -> u32 {
    let bits = number.to_bits();
    let (sign, exponent) = ((bits >> 48) as u32 & 0x8000, (bits >> 52 & 0x7ff) as i32 - 1023);
    let magnitude = match exponent {
        // Subnormals count in 2^-24.
        ..-14 => (number.abs() * f64::from(1 << 24)) as u32,
        _ => ((exponent + 15) as u32) << 10 | (bits >> 42) as u32 & 0x3ff,
    };
    sign | magnitude
}

/// The number of a half's bits, which are no NaN's.
#[inline(always)]
fn half_value(bits: u32) -> f64 {
    let (exponent, significand) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => significand,
        _ => (significand + 1024.0) * f64::from(1 << (exponent - 1)),
    };
    let number = magnitude / f64::from(1 << 24);
    if bits & 0x8000 != 0 { -number } else { number }
}

host! {
    /// `half_alu`.
    fn half_alu(_inputs, n, first, out) {
        for (at, word) in out.iter_mut().enumerate() {
            let id = (first + at) as u32;
            let (mut a, mut b) = (f64::from(id & 63), 1.0);
            let (mut p, mut q) = ([a, b], [2.0, 0.25]);
            for _ in 0..n {
                a = half(a * 0.5 + b);
                b = half(b * 0.75);
                b = half(b + a).min(3.0);
                for (p, q) in p.iter_mut().zip(&mut q) {
                    *p = half(*p * 0.5 + *q);
                    *q = half(*q * *p);
                    *q = half(*q + 0.125).min(2.0);
                }
                a = half(f64::from(a as f32 * 0.5 + q[0] as f32));
            }
            let pair = |[low, high]: [f64; 2]| half_bits(low) | half_bits(high) << 16;
            *word = pair(p) ^ pair(q) ^ pair([a, b]);
        }
    }

    /// `half_axpy`.
    fn half_axpy(inputs, _n, first, out) {
        let (x, y) = (&inputs[0][first..], &inputs[1][first..]);
        for ((word, x), y) in out.iter_mut().zip(x).zip(y) {
            let one = |shift: u32| half_bits(half(half_value(x >> shift) * 3.0 + half_value(y >> shift)));
            *word = one(0) | one(16) << 16;
        }
    }

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

    /// `gather`.
    fn gather(inputs, _n, first, out) {
        for (word, place) in out.iter_mut().zip(&inputs[1][first..]) {
            *word = inputs[0][*place as usize];
        }
    }

    /// `smallest_of_key`, all of the output.
    fn smallest_of_key(inputs, _n, _first, out) {
        out.fill(u32::MAX);
        for (key, number) in inputs[0].iter().zip(&inputs[1]) {
            let smallest = &mut out[*key as usize];
            *smallest = (*number).min(*smallest);
        }
    }

    /// `n_body`.
    fn n_body(inputs, n, first, out) {
        let double = |at: usize| {
            f64::from_bits(u64::from(inputs[0][2 * at]) | u64::from(inputs[0][2 * at + 1]) << 32)
        };
        for (at, words) in out.chunks_exact_mut(2).enumerate() {
            let body = first / 2 + at;
            let (x, y, mut pull) = (double(3 * body), double(3 * body + 1), 0.0f64);
            for other in 0..n as usize {
                let (dx, dy) = (double(3 * other) - x, double(3 * other + 1) - y);
                let square = dx.mul_add(dx, dy.mul_add(dy, 0.0625));
                pull = dx.mul_add(double(3 * other + 2) / (square * square.sqrt()), pull);
            }
            (words[0], words[1]) = (pull.to_bits() as u32, (pull.to_bits() >> 32) as u32);
        }
    }

    /// `softmax`, whole rows.
    fn softmax(inputs, _n, first, out) {
        for (row, out) in out.chunks_exact_mut(256).enumerate() {
            let row = &inputs[0][first + 256 * row..][..256];
            let largest = row.iter().map(|word| f32::from_bits(*word)).fold(f32::NEG_INFINITY, f32::max);
            let mut sums = [0f32; 256];
            for (sum, word) in sums.iter_mut().zip(row) {
                *sum = f64::from(f32::from_bits(*word) - largest).exp2() as f32;
            }
            let powers = sums;
            for half in [128, 64, 32, 16, 8, 4, 2, 1] {
                for lane in 0..half {
                    sums[lane] += sums[lane + half];
                }
            }
            let factor = (1.0 / f64::from(sums[0])) as f32;
            for (word, power) in out.iter_mut().zip(powers) {
                *word = (power * factor).to_bits();
            }
        }
    }

    /// `fft`, whole transforms.
    fn fft(inputs, _n, first, out) {
        let number = |words: &[u32], at: usize| [f32::from_bits(words[2 * at]), f32::from_bits(words[2 * at + 1])];
        for (transform, out) in out.chunks_exact_mut(512).enumerate() {
            let input = &inputs[0][first + 512 * transform..][..512];
            let mut points = [[0f32; 2]; 256];
            for (at, point) in points.iter_mut().enumerate() {
                *point = number(input, usize::from((at as u8).reverse_bits()));
            }
            for width in [1, 2, 4, 8, 16, 32, 64, 128] {
                for lane in 0..128 {
                    let within = lane & (width - 1);
                    let low = 2 * (lane - within) + within;
                    let [cos, sin] = number(&inputs[1], within * (128 / width));
                    let ([a, b], [x, y]) = (points[low], points[low + width]);
                    let turned = [x * cos - y * sin, x * sin + y * cos];
                    points[low] = [a + turned[0], b + turned[1]];
                    points[low + width] = [a - turned[0], b - turned[1]];
                }
            }
            for (words, point) in out.chunks_exact_mut(2).zip(points) {
                (words[0], words[1]) = (point[0].to_bits(), point[1].to_bits());
            }
        }
    }

    /// `wmma_gemm`, whole rows.
    fn wmma_gemm(inputs, n, first, out) {
        let n = n as usize;
        let wide = |matrix: &[u32]| -> Vec<f32> {
            matrix.iter().flat_map(|pair| [half_value(*pair) as f32, half_value(pair >> 16) as f32]).collect()
        };
        let left = wide(&inputs[0][first / 2..][..out.len() / 2]);
        let right = wide(&inputs[1]);
        for (row, left) in out.chunks_exact_mut(n).zip(left.chunks_exact(n)) {
            for (word, column) in row.iter_mut().zip(right.chunks_exact(n)) {
                let mut sums = [0f32; 8];
                for (left, right) in left.chunks_exact(8).zip(column.chunks_exact(8)) {
                    for (sum, (a, b)) in sums.iter_mut().zip(left.iter().zip(right)) {
                        *sum += a * b;
                    }
                }
                *word = sums.iter().sum::<f32>().to_bits();
            }
        }
    }
}
