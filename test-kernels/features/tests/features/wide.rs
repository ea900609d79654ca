//! Integers of 128 bits and floats, bit for bit as the host has them.

use features::wide::{kernel_of_f32, kernel_of_f64, kernel_of_integers, of_integers, products};
use harness::{Device, Launch as _, TestResult};

/// Edges: about powers of two that types end at, halves between two floats, what is no number.
fn edges() -> Vec<f64> {
    let mut values = vec![0.0, -0.0, 0.5, -0.5, 0.999, -0.999, 1.5, f64::MIN_POSITIVE, 5e-324, f64::MAX];
    for power in [23, 24, 31, 32, 52, 53, 62, 63, 64, 65, 100, 126, 127, 128, 129, 200] {
        let edge = 2f64.powi(power);
        values.extend([edge, -edge, edge.next_down(), edge.next_up(), -edge.next_up(), -edge.next_down()]);
        values.extend([f64::from((edge as f32).next_down()), f64::from(-(edge as f32).next_up())]);
    }
    values.extend([
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e30,
        -1e30,
        3.75e37,
        -123_456.789,
    ]);
    values
}

/// Numbers of a generator (xorshift).
fn random(n: usize) -> impl Iterator<Item = u64> {
    let step = |state: &u64| {
        let mut next = *state;
        next ^= next << 13;
        next ^= next >> 7;
        Some(next ^ next << 17)
    };
    std::iter::successors(Some(0x9e37_79b9_7f4a_7c15), step).take(n)
}

fn exponents(n: usize) -> Vec<i32> {
    let edges = [0, 1, -1, 2, -2, 3, -3, 7, 31, -32, 127, -150, 1023, i32::MAX, i32::MIN];
    (0..n).map(|i| edges[i % edges.len()]).collect()
}

fn wide(parts: &[u64]) -> Vec<u128> {
    parts.chunks(2).map(|parts| u128::from(parts[0]) | u128::from(parts[1]) << 64).collect()
}

/// Whether results are equal; the last two may be any NaN.
fn same(found: &[u128], expected: &[u128], is_nan: impl Fn(u128) -> bool) -> bool {
    let floats = expected.len() - 2;
    let equal = |(i, (a, b)): (usize, (&u128, &u128))| a == b || i >= floats && is_nan(*a) && is_nan(*b);
    found.iter().zip(expected).enumerate().all(equal)
}

macro_rules! of_float {
    ($name:ident, $kernel:ident, $float:ident, $bits:ident) => {
        #[harness::test]
        fn $name(device: &Device) -> TestResult {
            let mut input: Vec<$bits> = edges().iter().map(|x| (*x as $float).to_bits()).collect();
            input.extend(random(200).map(|bits| (bits >> (64 - $bits::BITS)) as $bits));
            let n = input.len();
            let others: Vec<$bits> = (0..n).map(|i| input[(i * 7 + 3) % n]).collect();
            let exponents = exponents(n);
            let mut output = device.zeroed(16 * n);
            let arguments =
                (&device.buffer(&input), &device.buffer(&others), &device.buffer(&exponents), &mut output);
            $kernel.launch_1d(device, n as u32, arguments)?;
            for (i, found) in output.to_vec().chunks(16).enumerate() {
                let (x, y) = ($float::from_bits(input[i]), $float::from_bits(others[i]));
                let expected = features::wide::$name(input[i], others[i], exponents[i]);
                let is_nan = |bits: u128| $float::from_bits(bits as $bits).is_nan();
                let found = wide(found);
                assert!(
                    same(&found, &expected, is_nan),
                    "{x:e}, {y:e}, {}: {found:x?}, not {expected:x?}",
                    exponents[i]
                );
            }
            Ok(())
        }
    };
}

of_float!(of_f32, kernel_of_f32, f32, u32);
of_float!(of_f64, kernel_of_f64, f64, u64);

#[harness::test]
fn integers(device: &Device) -> TestResult {
    let mut values: Vec<u128> =
        vec![0, 1, 2, 7, u128::MAX, i128::MAX as u128, i128::MIN as u128, u128::MAX - 6];
    values.extend([u64::MAX.into(), 1 << 64, (1 << 64) + 1, (1 << 53) + 1, (1 << 100) + (1 << 76) + 1]);
    let parts: Vec<_> = random(120).collect();
    values.extend(wide(&parts).iter().enumerate().map(|(i, value)| value >> (i * 5 % 128)));
    let n = values.len();
    let others: Vec<u128> = (0..n).map(|i| values[(i * 5 + i / 7) % n]).collect();
    let parts =
        |values: &[u128]| values.iter().flat_map(|x| [*x as u64, (x >> 64) as u64]).collect::<Vec<_>>();
    let (a, b) = (parts(&values), parts(&others));
    let mut output = device.zeroed(24 * n);
    kernel_of_integers.launch_1d(device, n as u32, (&device.buffer(&a), &device.buffer(&b), &mut output))?;
    for (i, found) in output.to_vec().chunks(24).enumerate() {
        let (a, b) = (values[i], others[i]);
        assert_eq!(wide(found), of_integers(a, b), "{a:#x}, {b:#x}");
    }
    Ok(())
}

/// Buffers hold integers of 128 bits, and arrays of them.
#[harness::test]
fn buffers_of_integers(device: &Device) -> TestResult {
    let a: Vec<u128> = (0..100).map(|i| (u128::MAX / (i + 1)) ^ (i << 70)).collect();
    let b: Vec<i128> = (0..100).map(|i| (i - 50) * ((1 << 66) + 3)).collect();
    let (mut found, mut quotients) = (device.zeroed::<u128>(100), device.zeroed::<[i128; 2]>(100));
    let arguments = (&device.buffer(&a), &device.buffer(&b), &mut found, &mut quotients);
    products.launch_1d(device, 100, arguments)?;
    let pairs = || a.iter().zip(&b);
    assert_eq!(found.to_vec(), pairs().map(|(a, b)| a.wrapping_mul(*b as u128)).collect::<Vec<_>>());
    let quotient = |(a, b): (&u128, &i128)| [(*a as i128).checked_div(*b).unwrap_or(0), *b];
    assert_eq!(quotients.to_vec(), pairs().map(quotient).collect::<Vec<_>>());
    Ok(())
}
