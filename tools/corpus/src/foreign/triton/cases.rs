//! The host's side of `kernels.py`.

use half::{bf16, f16};

use crate::foreign::bytes::{Plain, fractions, random32};
use crate::foreign::case::{Arg, Case, Tolerance, changed, input, near, output, value};
use crate::foreign::rocrand::engines::Philox;

/// Workgroups in x, y and z; the size of one is Triton's business.
fn case(kernel: &str, grid: [usize; 2], args: Vec<Arg>) -> Case {
    Case::new(kernel, 1, 1, args).sized([grid[0] as u32, grid[1] as u32, 1], [1, 1, 1])
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        vector_add(),
        softmax(),
        layer_norm(),
        matmul("matmul_fp16", |x| f16::from_f64(f64::from(x) / 8.0), |sum| (f64::from(sum) / 64.0) as f32),
        matmul("matmul_bf16", |x| bf16::from_f64(f64::from(x) / 8.0), |sum| (f64::from(sum) / 64.0) as f32),
        matmul("matmul_fp32", |x| x as f32 / 8.0, |sum| (f64::from(sum) / 64.0) as f32),
        matmul("matmul_i8", |x| x as i8, |sum| sum),
        attention(),
        histogram(),
        sum_and_largest(),
        running_sum(),
        sort_rows(),
        random_bits(),
        transpose(),
        gelu(),
    ]
}

fn singles(count: usize, seed: u64, scale: f64) -> Vec<f32> {
    fractions(count, seed).iter().map(|x| (x * scale) as f32).collect()
}

fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|x| f64::from(*x)).collect()
}

fn narrow(numbers: Vec<f64>) -> Vec<f32> {
    numbers.into_iter().map(|x| x as f32).collect()
}

fn vector_add() -> Case {
    let n = 1300;
    let (x, y) = (singles(n, 1, 100.0), singles(n, 2, 1.0));
    let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    case("vector_add", [3, 1], vec![input(&x), input(&y), output(&sums), value(n as i32)])
}

/// Rows and columns of the kernels that take a row at a time.
const ROWS: usize = 5;
/// Fewer than a workgroup has work-items.
const COLUMNS: usize = 203;

fn softmax() -> Case {
    let x = singles(ROWS * COLUMNS, 3, 6.0);
    let row = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = row.iter().map(|x| (x - largest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| power / sum).collect::<Vec<f64>>()
    };
    let expected = narrow(wide(&x).chunks(COLUMNS).flat_map(row).collect());
    let tolerance = Tolerance { relative: 3e-6, absolute: 0.0 };
    case("softmax", [ROWS, 1], vec![input(&x), near(expected, tolerance), value(COLUMNS as i32)])
}

fn layer_norm() -> Case {
    let x = singles(ROWS * COLUMNS, 4, 3.0);
    let (weight, bias, epsilon) = (singles(COLUMNS, 5, 1.0), singles(COLUMNS, 6, 1.0), 1e-5f32);
    let row = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / COLUMNS as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COLUMNS as f64;
        let scale = 1.0 / (variance + f64::from(epsilon)).sqrt();
        let one = |(i, x): (usize, &f64)| (x - mean) * scale * f64::from(weight[i]) + f64::from(bias[i]);
        row.iter().enumerate().map(one).collect::<Vec<f64>>()
    };
    let expected = narrow(wide(&x).chunks(COLUMNS).flat_map(row).collect());
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6 };
    let args = vec![
        input(&x),
        input(&weight),
        input(&bias),
        near(expected, tolerance),
        value(COLUMNS as i32),
        value(epsilon),
    ];
    case("layer_norm", [ROWS, 1], args)
}

/// A product of small whole numbers, or of eighths of them: exact in every format, in whatever order it is
/// added.
fn matmul<A: Plain, C: Plain>(name: &str, operand: fn(i32) -> A, result: fn(i32) -> C) -> Case {
    let (m, n, k) = (50, 70, 100);
    let small = |count, seed| -> Vec<i32> {
        random32(count, seed).iter().map(|x| (x >> 9) as i32 % 65 - 32).collect()
    };
    let (a, b) = (small(m * k, 7), small(k * n, 8));
    let element = |i: usize| (0..k).map(|step| a[i / n * k + step] * b[step * n + i % n]).sum::<i32>();
    let expected: Vec<C> = (0..m * n).map(|i| result(element(i))).collect();
    let operands = |numbers: &[i32]| numbers.iter().map(|x| operand(*x)).collect::<Vec<A>>();
    let sides = [m, n, k].map(|side| value(side as i32));
    let args = [input(&operands(&a)), input(&operands(&b)), output(&expected)];
    case(name, [m.div_ceil(32), n.div_ceil(32)], args.into_iter().chain(sides).collect())
}

fn attention() -> Case {
    let (length, width, scale) = (75usize, 32usize, 0.176_776_69f32);
    let halves = |seed| -> Vec<f16> {
        fractions(length * width, seed).iter().map(|x| f16::from_f64(x * 2.0)).collect()
    };
    let (q, k, v) = (halves(9), halves(10), halves(11));
    let at = |matrix: &[f16], row: usize, column: usize| matrix[row * width + column].to_f64();
    let mut expected = Vec::new();
    for row in 0..length {
        let score =
            |other| (0..width).map(|i| at(&q, row, i) * at(&k, other, i)).sum::<f64>() * f64::from(scale);
        let scores: Vec<f64> = (0..length).map(score).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        let blend = |i| powers.iter().enumerate().map(|(other, p)| p * at(&v, other, i)).sum::<f64>() / sum;
        expected.extend((0..width).map(blend));
    }
    // Weights are rounded to halves before they meet the values.
    let tolerance = Tolerance { relative: 0.0, absolute: 5e-4 };
    let args = vec![
        input(&q),
        input(&k),
        input(&v),
        near(narrow(expected), tolerance),
        value(length as i32),
        value(scale),
    ];
    case("attention", [length.div_ceil(32), 1], args)
}

fn histogram() -> Case {
    let n = 1000;
    let x: Vec<i32> = random32(n, 12).iter().map(|x| (x >> 7 & 63) as i32).collect();
    let mut bins = [0i32; 64];
    x.iter().for_each(|x| bins[*x as usize] += 1);
    case("histogram", [4, 1], vec![input(&x), output(&bins), value(n as i32)])
}

fn sum_and_largest() -> Case {
    let n = 1900;
    let x: Vec<i32> = random32(n, 13).iter().map(|x| *x as i32).collect();
    let total = x.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
    let largest = x.iter().copied().max().unwrap_or(i32::MIN);
    let args = vec![input(&x), output(&[total]), changed(&[i32::MIN], &[largest]), value(n as i32)];
    case("sum_and_largest", [4, 1], args)
}

fn running_sum() -> Case {
    let x: Vec<i32> = random32(ROWS * COLUMNS, 14).iter().map(|x| *x as i32).collect();
    let row = |row: &[i32]| {
        let add = |sum: &mut i32, x: &i32| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        };
        row.iter().scan(0, add).collect::<Vec<i32>>()
    };
    let expected: Vec<i32> = x.chunks(COLUMNS).flat_map(row).collect();
    case("running_sum", [ROWS, 1], vec![input(&x), output(&expected), value(COLUMNS as i32)])
}

fn sort_rows() -> Case {
    let x: Vec<i32> = random32(ROWS * 128, 15).iter().map(|x| *x as i32).collect();
    let mut expected = x.clone();
    expected.chunks_mut(128).for_each(<[i32]>::sort);
    case("sort_rows", [ROWS, 1], vec![input(&x), output(&expected)])
}

fn random_bits() -> Case {
    let (n, seed) = (700, 1234);
    let engine = Philox::new(seed, 0);
    // The first number of each counter.
    let expected: Vec<u32> = (0..n).map(|i| engine.number(4 * i)).collect();
    case("random_bits", [3, 1], vec![output(&expected), value(seed as i32), value(n as i32)])
}

fn transpose() -> Case {
    let (rows, columns) = (45, 70);
    let x = random32(rows * columns, 16);
    let expected: Vec<u32> = (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect();
    let args = vec![input(&x), output(&expected), value(rows as i32), value(columns as i32)];
    case("transpose", [rows.div_ceil(32), columns.div_ceil(32)], args)
}

fn gelu() -> Case {
    let x = singles(700, 17, 4.0);
    let expected = narrow(wide(&x).into_iter().map(|x| 0.5 * x * (1.0 + erf(x * 0.5f64.sqrt()))).collect());
    let tolerance = Tolerance { relative: 1e-6, absolute: 5e-7 };
    case("gelu", [3, 1], vec![input(&x), near(expected, tolerance), value(700i32)])
}

/// The error function, by its series (Abramowitz and Stegun, 7.1.5): for arguments of a few units.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..100 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}
