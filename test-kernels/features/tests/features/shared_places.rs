//! Atomic floats, LDS of the launch's size, clocks.

use features::memory::seen;
use features::shared_places::{be_seen, statistics, sum_of_group, tickets, time};
use harness::{Device, Launch as _, TestResult};

/// Sums of multiples of a quarter are exact in any order.
#[harness::test]
fn atomic_floats(device: &Device) -> TestResult {
    let values: Vec<f32> =
        (0..300).map(|i: u32| (i.wrapping_mul(2_654_435_769) >> 20) as f32 * 0.25 - 400.0).collect();
    let mut floats = device.buffer(&[0.0_f32, f32::INFINITY, f32::NEG_INFINITY]);
    let mut doubles = device.buffer(&[1e9_f64, 0.0, 1e9]);
    statistics.launch(device, 5, 64, (&device.buffer(&values), &mut floats, &mut doubles))?;
    let (sum, least) = (values.iter().sum::<f32>(), values.iter().copied().fold(f32::INFINITY, f32::min));
    let greatest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    assert_eq!(floats.to_vec(), [sum, least, greatest]);
    assert_eq!(doubles.to_vec(), [1e9 + f64::from(sum), f64::from(least), 1e9]);
    Ok(())
}

#[harness::test(check = "barriers,uninitialized")]
fn atomic_floats_give_what_was_there(device: &Device) -> TestResult {
    let mut counter = device.zeroed(2);
    let mut output = device.zeroed(100);
    tickets.launch(device, 1, 100, (&mut counter, &mut output))?;
    let mut found = output.to_vec();
    found.sort_by(f32::total_cmp);
    assert_eq!(found, (0..100).map(|i| i as f32).collect::<Vec<_>>());
    assert_eq!(counter.to_vec(), [100.0, 7.0]);
    Ok(())
}

#[harness::test]
fn lds_of_the_launchs_size(device: &Device) -> TestResult {
    for block in [64_u32, 96] {
        let values: Vec<f32> = (0..3 * block).map(|i| i as f32).collect();
        let mut output = device.zeroed(3);
        sum_of_group.launch_with_lds(device, 3, block, 4 * block, (&device.buffer(&values), &mut output))?;
        let expected: Vec<f32> = values.chunks(block as usize).map(|values| values.iter().sum()).collect();
        assert_eq!(output.to_vec(), expected);
    }
    Ok(())
}

#[harness::test]
fn clocks_go_on(device: &Device) -> TestResult {
    let mut output = device.zeroed(3 * 64);
    time.launch(device, 1, 64, (100, &mut output))?;
    let goes_on = |state: &[u32]| state[..2] == [1, 1];
    assert!(output.to_vec().chunks(3).all(goes_on), "{:?}", &output.to_vec()[..3]);
    Ok(())
}

/// Kernels of two files, which are compiled apart.
#[harness::test]
fn statics_are_one_for_all_kernels(device: &Device) -> TestResult {
    let mut output = device.zeroed(1);
    for times in 1..3 {
        be_seen.launch(device, 2, 32, ())?;
        seen.launch(device, 1, 1, (&mut output,))?;
        assert_eq!(output.to_vec(), [5 + 64 * times]);
    }
    Ok(())
}
