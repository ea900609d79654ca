//! 64-bit integers.

use harness::{Device, Launch as _, TestResult};
use test_kernels::integers::{integers, reference_gcd, reference_mean};

use crate::{assert_loop_exit, optimised};

/// A sequence of numbers without pattern, the same in every run.
fn numbers(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    }
}

/// Half of the operands fit 32 bits, for which the compiler's division takes a shorter way. `b` is never 0, so every lane
/// runs Euclid's loop at least once. Signed operands include the ends of the range and a divisor of 0.
#[harness::test]
fn division_and_remainder_agree_with_the_host(device: &Device) -> TestResult {
    let (mut next, count) = (numbers(1), 128);
    let a: Vec<u64> = (0..count).map(|i| if i % 2 == 0 { next() } else { next() >> 33 }).collect();
    let b: Vec<u64> = (0..count).map(|i| if i % 3 == 0 { next() | 1 } else { (next() >> 34) | 1 }).collect();
    let mut x: Vec<i64> = (0..count).map(|_| next() as i64).collect();
    let mut y: Vec<i64> = (0..count).map(|i| next() as i64 >> (i % 50)).collect();
    (x[0], y[0]) = (i64::MIN, -1);
    (x[1], y[1]) = (i64::MAX, i64::MIN);
    (x[2], y[2]) = (17, 0);
    let (mut gcds, mut means) = (device.zeroed(count), device.zeroed(count));
    let (device_a, device_b) = (device.buffer(&a), device.buffer(&b));
    let (device_x, device_y) = (device.buffer(&x), device.buffer(&y));
    let arguments = (&device_a, &device_b, &device_x, &device_y, &mut gcds, &mut means);
    let run = integers.launch(device, 2, 64, arguments)?;

    let (expected, trips): (Vec<u64>, Vec<u32>) =
        a.iter().zip(&b).map(|(&a, &b)| reference_gcd(a, b)).unzip();
    assert_eq!(gcds.to_vec(), expected);
    let expected: Vec<i64> = x.iter().zip(&y).map(|(&x, &y)| reference_mean(x, y)).collect();
    assert_eq!(means.to_vec(), expected);
    if optimised(&run) {
        assert_loop_exit(&run, "euclid", &trips, integers.wave_size(device)?);
    }
    Ok(())
}
