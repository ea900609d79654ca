//! The lane functions, in waves of either size.

use harness::{Device, Launch as _, TestResult};
use test_kernels::lanes::{WORDS, reference, tell_lanes};

/// Workgroups of 64, whose waves are whole in either size, and of 100, whose last ones are not. Lanes ask for each other in order and
/// backwards, across the middle of 64, for themselves, for lanes that stand aside, and beyond the last.
#[harness::test]
fn lanes_know_each_other_in_waves_of_either_size(device: &Device) -> TestResult {
    let size = tell_lanes.wave_size(device)? as usize;
    let patterns: [fn(u32) -> u32; 6] = [
        |i| i,
        |i| 63 - i % 64,
        |i| i ^ 32,
        |i| i.wrapping_mul(2_654_435_769) >> 7,
        |_| 40,
        |i| i.wrapping_sub(1),
    ];
    for (block, pattern) in
        [64_u32, 100].into_iter().flat_map(|block| patterns.map(|pattern| (block, pattern)))
    {
        let count = 3 * block;
        let values: Vec<u32> =
            (0..count).map(|i: u32| i.wrapping_mul(1_664_525).wrapping_add(11) >> 3).collect();
        let asked: Vec<u32> = (0..count).map(pattern).collect();
        let mut output = device.zeroed(WORDS * count as usize);
        tell_lanes.launch(
            device,
            3,
            block,
            (&device.buffer(&values), &device.buffer(&asked), &mut output),
        )?;
        let expected = reference(&values, &asked, block as usize, size);
        for (item, (words, expected)) in output.to_vec().chunks(WORDS).zip(expected.chunks(WORDS)).enumerate()
        {
            assert_eq!(words, expected, "work-item {item} of workgroups of {block}");
        }
    }
    Ok(())
}
