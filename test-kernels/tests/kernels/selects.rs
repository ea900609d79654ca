//! A branch that the compiler makes a select of.

use harness::{Device, Launch as _, Outcome, TestResult};
use test_kernels::relu::{reference, relu};

use crate::optimised;

/// Half of the lanes are negative, so a branch would diverge in both waves; a select never does, and the report says
/// that it is one instead of showing zeros.
#[harness::test]
fn a_select_is_told_from_a_branch_that_never_diverged(device: &Device) -> TestResult {
    let input: Vec<f32> = (0..128).map(|i| if i % 2 == 0 { i as f32 } else { -(i as f32) }).collect();
    let mut output = device.zeroed(128);
    let run = relu.launch(device, 2, 64, (&device.buffer(&input), &mut output))?;
    assert_eq!(output.to_vec(), reference(&input));

    if optimised(&run) {
        assert_eq!(run.report().probe("leak").outcome, Outcome::IfConverted);
        let told = run.report().find("leak").unwrap_err().to_string();
        assert!(told.contains("if-converted"), "{told}");
    } else {
        let waves = 128 / relu.wave_size(device)?;
        assert_eq!(run.report().branch("leak").diverged(), u64::from(waves));
    }
    Ok(())
}
