//! The host's side of `kernels/vectors.cl`.

use half::f16;

use crate::foreign::bytes::{fractions, random32};
use crate::foreign::case::{Case, changed, input, output, value};

pub(super) fn cases() -> Vec<Case> {
    vec![rotate_points(), blend(), pairs_of_halves(), polynomial()]
}

/// Work-items with something to do.
const N: usize = 90;

fn rotate_points() -> Case {
    let single = |count, seed| -> Vec<f32> { fractions(count, seed).iter().map(|x| *x as f32).collect() };
    let (before, matrix) = (single(4 * N, 1), single(16, 2));
    let row = |p: &[f32]| {
        // The order of the source: ((x m0 + y m1) + z m2) + w m3.
        let p: [f32; 4] = p.try_into().expect("four components");
        let sum =
            |c: usize| p[0] * matrix[c] + p[1] * matrix[4 + c] + p[2] * matrix[8 + c] + p[3] * matrix[12 + c];
        [sum(0), sum(1), sum(2), sum(3)]
    };
    let after: Vec<f32> = before.chunks(4).flat_map(row).collect();
    Case::new("rotate_points", 2, 64, vec![changed(&before, &after), input(&matrix), value(N as u32)])
}

fn blend() -> Case {
    let pixels = |seed| -> Vec<u8> { random32(4 * N, seed).iter().map(|x| *x as u8).collect() };
    let (a, b, weight) = (pixels(3), pixels(4), 77u16);
    let one = |(a, b): (&u8, &u8)| ((u16::from(*a) * weight + u16::from(*b) * (256 - weight)) >> 8) as u8;
    let mut expected: Vec<u8> = a.iter().zip(&b).map(one).collect();
    expected.chunks_mut(4).for_each(<[u8]>::reverse);
    Case::new("blend", 2, 64, vec![input(&a), input(&b), output(&expected), value(N as u32), value(weight)])
}

fn pairs_of_halves() -> Case {
    let halves =
        |seed| -> Vec<f16> { fractions(2 * N, seed).iter().map(|x| f16::from_f64(x * 30.0)).collect() };
    let (a, b) = (halves(5), halves(6));
    let one = |i: usize| {
        let product = f16::from_f64(a[i].to_f64() * b[i ^ 1].to_f64());
        let larger = if a[i] > b[i] { a[i] } else { b[i] };
        f16::from_f64(product.to_f64() - larger.to_f64())
    };
    let expected: Vec<f16> = (0..2 * N).map(one).collect();
    Case::new("pairs_of_halves", 2, 64, vec![input(&a), input(&b), output(&expected), value(N as u32)])
}

fn polynomial() -> Case {
    let x = fractions(2 * N, 7);
    let one = |i: usize| {
        let constant = |k: i32| if i & 1 == 0 { f64::from(k) - 2.5 } else { f64::from(k) * 0.25 };
        (0..6).fold(1.0, |y, k| y * x[i] + constant(k))
    };
    let expected: Vec<f64> = (0..2 * N).map(|i| one(i ^ 1)).collect();
    Case::new("polynomial", 2, 64, vec![input(&x), output(&expected), value(N as u32)])
}
