//! Loops that end lane by lane.

use harness::{Device, Launch as _, TestResult};
use test_kernels::{break_continue, collatz, newton};

use crate::{assert_loop_exit, optimised};

/// Starts 2 to 129, so that every lane runs the body at least once; the trips are counted on the host.
#[harness::test]
fn collatz_goes_on_until_the_slowest_lane_is_done(device: &Device) -> TestResult {
    let start: Vec<u32> = (2..130).collect();
    let trips: Vec<u32> = start.iter().map(|&start| collatz::reference(start)).collect();
    let mut steps = device.zeroed(128);
    let run = collatz::collatz.launch(device, 2, 64, (&device.buffer(&start), &mut steps))?;
    assert_eq!(steps.to_vec(), trips);

    if optimised(&run) {
        assert_loop_exit(&run, "until one", &trips, collatz::collatz.wave_size(device)?);
    }
    Ok(())
}

/// Row `i` has its zero at column `i mod 7` and 8 columns: the waves go on for 7 columns, and lanes leave at each.
#[harness::test]
fn rows_end_where_their_zero_is(device: &Device) -> TestResult {
    let width = 8;
    let rows: Vec<i32> = (0..64 * width)
        .map(|at| {
            let (row, column) = (at / width, at % width);
            if column == row % 7 { 0 } else { (row * 31 + column * 17) % 19 - 9 }
        })
        .collect();
    let mut sums = device.zeroed(64);
    let run = break_continue::break_continue.launch(device, 1, 64, (8, &device.buffer(&rows), &mut sums))?;
    let expected: Vec<i32> = rows.chunks(8).map(break_continue::reference).collect();
    assert_eq!(sums.to_vec(), expected);

    // 64 rows hold every remainder of 7, so lanes leave at 7 columns, and each time but the last some go on.
    let report = run.report();
    assert!(report.every_site().of_kind("loop-exit").diverged() >= 6, "{report}");
    Ok(())
}

/// Cube roots of 1 to 10^6: the larger, the more steps. Arithmetic is IEEE's on both sides, so values and steps agree to
/// the last bit.
#[harness::test]
fn newton_in_f64_agrees_to_the_last_bit(device: &Device) -> TestResult {
    let values: Vec<f64> = (0..128).map(|i| 1.0 + f64::from(i * i) * 61.5).collect();
    let (expected, trips): (Vec<f64>, Vec<u32>) =
        values.iter().map(|&value| newton::reference(value)).unzip();
    let (mut roots, mut iterations) = (device.zeroed::<f64>(128), device.zeroed::<u32>(128));
    let run =
        newton::newton.launch(device, 1, 128, (&device.buffer(&values), &mut roots, &mut iterations))?;
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&roots.to_vec()), bits(&expected));
    assert_eq!(iterations.to_vec(), trips);

    if optimised(&run) {
        assert_loop_exit(&run, "converge", &trips, newton::newton.wave_size(device)?);
    }
    Ok(())
}
