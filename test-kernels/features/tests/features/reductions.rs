//! The library's sum takes fewer instructions than the one by hand, and that fewer than a loop that compares and swaps.

use features::reductions::{by_hand, by_library, by_loop};
use harness::{Device, Launch as _, TestResult};

/// 4,096 quarters, whose sum is exact in any order.
#[harness::test]
fn one_sum_in_three_ways(device: &Device) -> TestResult {
    let values: Vec<f32> =
        (0..4096).map(|i: u32| (i.wrapping_mul(2_654_435_769) >> 24) as f32 * 0.25).collect();
    let expected: f32 = values.iter().sum();
    let input = device.buffer(&values);
    let mut sum = device.zeroed::<f32>(1);
    let library = by_library.launch(device, 16, 256, (&input, &mut sum))?;
    assert_eq!(sum.to_vec(), [expected]);
    sum.write(&[0.0]);
    let hand = by_hand.launch(device, 16, 256, (&input, &mut sum))?;
    assert_eq!(sum.to_vec(), [expected]);
    let mut bits = device.zeroed::<u32>(1);
    let looped = by_loop.launch(device, 16, 256, (&input, &mut bits))?;
    assert_eq!(bits.to_vec(), [expected.to_bits()]);
    // At opt-level 0 calls cost most.
    let optimised = library.profile() != "dev";
    // RDNA 1 and 2 exchange nothing between the halves of 64 lanes, so that a shuffle is a loop over lanes there.
    let exchanges = by_library.wave_size(device)? == 32 || !device.cpu().starts_with("gfx10");
    let counts = [library, hand, looped].map(|run| run.wave_instructions());
    if let ([Some(library), Some(hand), Some(looped)], true) = (counts, optimised) {
        println!("wave-instructions on {}: library {library}, by hand {hand}, loop {looped}", device.cpu());
        assert!((library < hand) == exchanges && hand < looped, "{counts:?}");
    }
    Ok(())
}
