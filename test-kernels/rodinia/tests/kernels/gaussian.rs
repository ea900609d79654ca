//! Elimination, one step of it.

use harness::{Device, Launch as _, TestResult};
use rodinia::{fan1, fan2};

use crate::{branch, numbers, optimised};

/// 1024 rows in two workgroups of 512. At step 0, 1023 rows are below: one wave lacks its last lane. At step 600, 423 are: one wave has some,
/// others none.
#[harness::test]
fn the_last_wave_of_a_column_is_cut(device: &Device) -> TestResult {
    let n = 1024;
    let matrix: Vec<f32> = numbers(n * n, 7).iter().map(|value| value + 0.5).collect();
    let mut runs = Vec::new();
    for (t, rows) in [(0, 1023), (600, 423)] {
        let mut multipliers = device.zeroed(n * n);
        let arguments = (n as u32, t as u32, &device.buffer(&matrix), &mut multipliers);
        let run = fan1::fan1.launch(device, 2, 512, arguments)?;
        let mut expected = vec![0.0; n * n];
        fan1::reference(n, t, &matrix, &mut expected);
        assert_eq!(multipliers.to_vec(), expected);
        runs.push((run, t, rows));
    }
    for (run, t, rows) in runs {
        let expected = branch((0..n).map(|row| row < rows), 512, fan1::fan1.wave_size(device)?);
        let below = run.report().branch("below");
        assert_eq!(
            (below.all(), below.none(), below.diverged()),
            (expected.all, expected.none, 1),
            "step {t}"
        );
        assert_eq!(below.lanes_taken(), rows as u64, "step {t}");
    }
    Ok(())
}

/// A matrix of 16 in workgroups of 4 by 4: a wave has 16 lanes and is no more divergent for it. At step 0, column 0 is
/// that of the first row of work-items: 4 of the 16 lanes in each workgroup of the first row, 3 in the last of them, as 15
/// rows are below.
#[harness::test]
fn four_lanes_of_sixteen_have_the_right_side(device: &Device) -> TestResult {
    let n = 16;
    let (multipliers, matrix, right) = (numbers(n * n, 8), numbers(n * n, 9), numbers(n, 10));
    let (mut new, mut side) = (device.buffer(&matrix), device.buffer(&right));
    let arguments = (n as u32, 0, &device.buffer(&multipliers), &mut new, &mut side);
    let run = fan2::fan2.launch(device, (4, 4), (4, 4), arguments)?;
    let (mut expected, mut expected_side) = (matrix, right);
    fan2::reference(n, 0, &multipliers, &mut expected, &mut expected_side);
    assert_eq!((new.to_vec(), side.to_vec()), (expected, expected_side));

    if optimised(&run) {
        let right = run.report().branch("right");
        assert_eq!((right.executions(), right.none(), right.diverged()), (16, 12, 4));
        assert_eq!((right.lanes_in(), right.lanes_taken()), (16 * 15, 15));
    }
    Ok(())
}
