//! A function that is called, not inlined.

use harness::{Device, Launch as _, TestResult};
use test_kernels::outlined::{digit_sums, harshad_numbers, reference};

use crate::{assert_loop_exit, optimised};

/// Binary digits of 2 to 129: lane `i` runs the loop once for each digit of `2 + i`. With 64 lanes, wave 0 (2 to 65) has numbers of 2 to 7
/// digits, six different trips and so 5 divergences; wave 1 (66 to 129) of 7 and 8, so 1. Both kernels count in the same
/// code.
#[harness::test]
fn both_callers_count_in_the_shared_function(device: &Device) -> TestResult {
    let (expected, trips): (Vec<u32>, Vec<u32>) = (2..130).map(|n| reference(n, 2)).unzip();
    let mut sums = device.zeroed(128);
    let summed = digit_sums.launch(device, 2, 64, (2, 2, &mut sums))?;
    assert_eq!(sums.to_vec(), expected);

    let mut divisible = device.zeroed(128);
    let divided = harshad_numbers.launch(device, 2, 64, (2, 2, &mut divisible))?;
    let harshad: Vec<u32> = expected.iter().zip(2..).map(|(&sum, n)| u32::from(n % sum == 0)).collect();
    assert_eq!(divisible.to_vec(), harshad);
    if optimised(&divided) {
        let lanes = digit_sums.wave_size(device)?;
        assert_loop_exit(&summed, "digits", &trips, lanes);
        assert_loop_exit(&divided, "digits", &trips, lanes);
        if lanes == 64 {
            assert_eq!(divided.report().branch("digits").of_kind("loop-exit").diverged(), 6);
        }
    }
    Ok(())
}
