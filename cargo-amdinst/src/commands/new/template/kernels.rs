//! Run with `cargo amdinst test`; `cargo amdinst report` shows under the source lines how the branches diverged.

use harness::{Device, Launch as _, TestResult};

use PACKAGE::saxpy;

/// 100 elements, and 2 workgroups of 64 work-items: the last wave has lanes without an element.
#[harness::test]
fn only_the_last_wave_diverges(device: &Device) -> TestResult {
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut y = device.buffer(&[1.0_f32; 100]);
    let run = saxpy.launch(device, 2, 64, (100, 2.0, &device.buffer(&x), &mut y))?;

    let expected: Vec<f32> = x.iter().map(|x| 1.0 + 2.0 * x).collect();
    y.assert_eq(expected);

    let tail = run.report().branch("tail");
    let lanes = u64::from(saxpy.wave_size(device)?);
    assert_eq!((tail.executions(), tail.diverged()), (128 / lanes, 1));
    assert_eq!((tail.lanes_in(), tail.lanes_taken()), (128, 100));
    Ok(())
}

harness::main!();
