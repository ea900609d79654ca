//! The host's side of `kernels/arithmetic.hip`.

use half::f16;

use crate::foreign::bytes::{fractions, random, random32};
use crate::foreign::case::{Case, Tolerance, changed, input, near, output, value};

pub(super) fn cases() -> Vec<Case> {
    vec![
        matmul(),
        gemm_of_doubles(),
        mandelbrot(),
        gravity(),
        quotients_of_doubles(),
        spills(),
        saxpy_of_halves(),
        wide_integers(),
        conversions(),
        sha256(),
        crc32(),
    ]
}

fn matmul() -> Case {
    let (m, n, k) = (35usize, 27, 41);
    let a: Vec<f32> = fractions(m * k, 1).iter().map(|x| *x as f32).collect();
    let b: Vec<f32> = fractions(k * n, 2).iter().map(|x| *x as f32).collect();
    let element = |i: usize| {
        let sum = (0..k).fold(0f32, |sum, step| a[i / n * k + step].mul_add(b[step * n + i % n], sum));
        // The kernel goes on with zeros to the end of the tile, which changes nothing.
        sum + 0.0
    };
    let c: Vec<f32> = (0..m * n).map(element).collect();
    let sides = [m, n, k].map(|side| value(side as u32));
    let args = [input(&a), input(&b), output(&c)].into_iter().chain(sides).collect();
    Case::new("matmul", 1, 1, args).sized([2, 3, 1], [16, 16, 1])
}

fn gemm_of_doubles() -> Case {
    let n = 19;
    let (a, b, before) = (fractions(n * n, 3), fractions(n * n, 4), fractions(n * n, 5));
    let (alpha, beta) = (1.75, -0.3);
    let element = |i: usize| {
        let sum = (0..n).fold(0f64, |sum, k| a[i / n * n + k].mul_add(b[k * n + i % n], sum));
        alpha * sum + beta * before[i]
    };
    let after: Vec<f64> = (0..n * n).map(element).collect();
    let args =
        vec![input(&a), input(&b), changed(&before, &after), value(n as u32), value(alpha), value(beta)];
    Case::new("gemm_of_doubles", 3, 128, args)
}

fn mandelbrot() -> Case {
    let (width, height, scale) = (40u32, 30u32, 0.08f32);
    let one = |i: u32| {
        let (re, im) = ((i % width) as f32 * scale - 2.0, (i / width) as f32 * scale - 1.25);
        let (mut a, mut b, mut steps) = (0f32, 0f32, 0u32);
        while a * a + b * b <= 4.0 && steps < 200 {
            let next = a * a - b * b + re;
            b = 2.0 * a * b + im;
            a = next;
            steps += 1;
        }
        steps
    };
    let expected: Vec<u32> = (0..width * height).map(one).collect();
    let args = vec![output(&expected), value(width), value(height), value(scale)];
    Case::new("mandelbrot", 1, 1, args).sized([3, 4, 1], [16, 8, 1])
}

fn gravity() -> Case {
    let n = 70usize;
    let positions: Vec<f32> = fractions(2 * n, 6).iter().map(|x| 10.0 * *x as f32).collect();
    let mut forces = Vec::new();
    for i in 0..n {
        let (mut fx, mut fy) = (0f32, 0f32);
        for k in 0..n {
            let (dx, dy) = (positions[2 * k] - positions[2 * i], positions[2 * k + 1] - positions[2 * i + 1]);
            let square = dx * dx + dy * dy + 0.01;
            let force = 1.0 / (square * square.sqrt());
            fx += force * dx;
            fy += force * dy;
        }
        forces.extend([fx, fy]);
    }
    Case::new("gravity", 2, 64, vec![input(&positions), output(&forces), value(n as u32)])
}

fn quotients_of_doubles() -> Case {
    // Of all magnitudes, a few of them denormal or infinite.
    let odd = [0.0, -0.0, 5e-324, 1e-310, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 1.0];
    let of_bits = |bits: Vec<u64>| -> Vec<f64> {
        let finite = bits.into_iter().map(f64::from_bits).map(|x| if x.is_nan() { 2.5 } else { x });
        odd.into_iter().chain(finite).collect()
    };
    let (a, mut b) = (of_bits(random(200, 7)), of_bits(random(200, 8)));
    b[..8].rotate_left(3);
    let mut expected = Vec::new();
    for (a, b) in a.iter().zip(&b) {
        expected.extend([a / b, a.abs().sqrt(), a.floor() + b.trunc() * a.round_ties_even()]);
    }
    // Which NaN an invalid operation gives is the machine's choice.
    let n = a.len() as u32;
    let judged = near(expected, Tolerance { relative: 0.0, absolute: 0.0 });
    Case::new("quotients_of_doubles", 2, 128, vec![input(&a), input(&b), judged, value(n)])
}

fn spills() -> Case {
    let n = 100;
    let x = random32(96 * n, 9);
    let mut expected = Vec::new();
    for i in 0..n {
        let mut live: Vec<u32> = x[i * 96..][..96].to_vec();
        for _ in 0..(x[i] & 3) + 2 {
            (0..96).for_each(|k| live[k] = live[k].wrapping_mul(5).wrapping_add(live[(k * 7 + 1) % 96]));
        }
        expected.extend(live);
    }
    Case::new("spills", 2, 64, vec![input(&x), output(&expected), value(n as u32)])
}

fn saxpy_of_halves() -> Case {
    let halves =
        |seed| -> Vec<f16> { fractions(170, seed).iter().map(|x| f16::from_f64(x * 90.0)).collect() };
    let (x, before, a) = (halves(10), halves(11), f16::from_f64(-1.83));
    // Products of halves are exact in a double, and so are sums: each is rounded once.
    let one =
        |(x, y): (&f16, &f16)| f16::from_f64(f16::from_f64(a.to_f64() * x.to_f64()).to_f64() + y.to_f64());
    let after: Vec<f16> = x.iter().zip(&before).map(one).collect();
    Case::new("saxpy_of_halves", 2, 96, vec![input(&x), changed(&before, &after), value(a), value(170u32)])
}

fn wide_integers() -> Case {
    let n = 130;
    let mut a = random(n, 12);
    // Divisors of all lengths.
    let b: Vec<u64> = random(n, 13).iter().enumerate().map(|(i, x)| x >> (i % 64)).collect();
    a[0] = 0;
    a[1] = u64::MAX;
    let mut expected = Vec::new();
    for (&x, b) in a.iter().zip(&b) {
        let y = b | 1;
        let (signed, divisor) = (x as i64, (y >> 1 | 1) as i64);
        let product = u128::from(x) * u128::from(y);
        let bits = u64::from(y.leading_zeros()) << 32
            | u64::from(x.count_ones()) << 8
            | u64::from((y << 9).trailing_zeros());
        let shifted = (x << (y & 63)) ^ (signed >> (y >> 8 & 63)) as u64;
        let quotient = signed.wrapping_div(divisor) as u64;
        let remainder = signed.wrapping_rem(divisor) as u64;
        expected.extend([
            x / y,
            x % y,
            quotient,
            remainder,
            (product >> 64) as u64,
            product as u64,
            bits,
            shifted,
        ]);
    }
    Case::new("wide_integers", 3, 64, vec![input(&a), input(&b), output(&expected), value(n as u32)])
}

fn conversions() -> Case {
    let n = 140;
    let x: Vec<i64> = random(n, 14).iter().enumerate().map(|(i, x)| *x as i64 >> (i % 63)).collect();
    let mut expected = Vec::new();
    for &x in &x {
        let half = f16::from_f64(f64::from((x >> 44) as i32 as f32));
        expected.extend([
            (x as f64).to_bits(),
            u64::from((x as f32).to_bits()),
            (x as f64 * 0.37) as i64 as u64,
            u64::from((x as u64 as f32).to_bits()),
            (x as u64 as f64).to_bits(),
            u64::from(half.to_bits()) | u64::from((x >> 57 & 255) as u8) << 32,
        ]);
    }
    Case::new("conversions", 3, 64, vec![input(&x), output(&expected), value(n as u32)])
}

fn sha256() -> Case {
    // FIPS 180-4, section 4.2.2: the constants are fractions of cube roots of the first primes.
    let primes: Vec<u32> = (2u32..312).filter(|p| (2..*p).all(|d| p % d != 0)).collect();
    let root = |p: u32, power: u32| {
        // The largest r with r^power <= p * 2^(32 * power), bit by bit.
        let fits = |r: u128| {
            // Cubes pass 128 bits, so the last factor is divided out.
            let limit = u128::from(p) << 64;
            if power == 2 { r * r <= limit } else { r * r <= (u128::from(p) << 96) / r.max(1) }
        };
        (0..36).rev().fold(0u128, |r, bit| if fits(r | 1 << bit) { r | 1 << bit } else { r }) as u32
    };
    let start: Vec<u32> = primes[..8].iter().map(|p| root(*p, 2)).collect();
    let constants: Vec<u32> = primes[..64].iter().map(|p| root(*p, 3)).collect();
    let n = 90;
    let mut blocks = random32(16 * n, 15);
    // "abc", padded: the digest of FIPS 180-4's example.
    blocks[..16].copy_from_slice(&[0x6162_6380, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24]);
    let mut digests = Vec::new();
    for block in blocks.chunks(16) {
        let mut w = block.to_vec();
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w.push(s1.wrapping_add(w[t - 7]).wrapping_add(s0).wrapping_add(w[t - 16]));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h]: [u32; 8] =
            start.clone().try_into().expect("eight words");
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(constants[t]).wrapping_add(w[t]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
        }
        digests.extend([a, b, c, d, e, f, g, h].iter().zip(&start).map(|(x, y)| x.wrapping_add(*y)));
    }
    assert_eq!(digests[..2], [0xba78_16bf, 0x8f01_cfea], "FIPS 180-4's example");
    Case::new("sha256", 2, 64, vec![input(&blocks), output(&digests), value(n as u32)])
}

fn crc32() -> Case {
    let text: Vec<u8> =
        b"123456789".iter().copied().chain(random32(1500, 16).iter().map(|x| *x as u8)).collect();
    let mut starts = vec![0u32, 9];
    starts.extend((1..80).map(|k| 9 + (k * k * 29) % 40 + k * 18));
    starts.sort_unstable();
    let n = starts.len() - 1;
    let crc = |bounds: &[u32]| {
        // By polynomial division of the reflected text, one byte's remainder at a time.
        let table: Vec<u32> = (0..256u32)
            .map(|byte| (0..8).fold(byte, |r, _| if r & 1 == 1 { r >> 1 ^ 0xedb8_8320 } else { r >> 1 }))
            .collect();
        let part = &text[bounds[0] as usize..bounds[1] as usize];
        !part.iter().fold(!0u32, |crc, byte| crc >> 8 ^ table[usize::from(crc as u8 ^ byte)])
    };
    let expected: Vec<u32> = starts.windows(2).map(crc).collect();
    assert_eq!(expected[0], 0xcbf4_3926, "the check value of CRC-32");
    let args = vec![input(&text), input(&starts), output(&expected), value(n as u32)];
    Case::new("crc32", 2, 64, args)
}
