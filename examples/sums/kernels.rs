//! The test of the guide's page "Fix a divergent kernel".

use harness::{Device, Launch as _, TestResult};
use sums::sum;

#[harness::test]
fn workgroups_are_summed_up(device: &Device) -> TestResult {
    let input: Vec<u32> = (0..1024).collect();
    let mut sums = device.zeroed(4);
    sum.launch(device, 4, 256, (&device.buffer(&input), &mut sums))?;
    let expected: Vec<u32> = input.chunks(256).map(|group| group.iter().sum()).collect();
    assert_eq!(sums.to_vec(), expected);
    Ok(())
}

harness::main!();
