//! A kernel and its test: `cargo amdinst test --one-shot examples/one-file/scale.rs`.

use amdinst_device::{PerItem, kernel};
use harness::{Device, Launch as _, TestResult};

#[kernel]
fn scale(by: f32, mut values: PerItem<f32>) {
    for value in values.chunk() {
        *value *= by;
    }
}

#[harness::test]
fn values_are_scaled(device: &Device) -> TestResult {
    let mut values = device.buffer(&[1.0_f32, 2.0, 3.0]);
    scale.launch_1d(device, 3, (2.0, &mut values))?;
    assert_eq!(values.to_vec(), [2.0, 4.0, 6.0]);
    Ok(())
}
