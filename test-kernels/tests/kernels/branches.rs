//! Ifs, early returns and a match.

use harness::{Device, Launch as _, TestResult};
use test_kernels::{classify, early_return, histogram, nested};

use crate::optimised;

/// Wave 0 has the values 0 to 63: half of them are even, and 0, 2, …, 30 of these 32 are below 32. Wave 1 has the even
/// values 128 to 254: all take the same way twice.
#[harness::test]
fn nested_ifs_diverge_where_lanes_differ(device: &Device) -> TestResult {
    let input: Vec<u32> = (0..128).map(|i| if i < 64 { i } else { 2 * i }).collect();
    let table: [u32; 16] = std::array::from_fn(|i| 1000 + i as u32);
    let mut output = device.zeroed(128);
    let arguments = (32, 5, &device.buffer(&table), &device.buffer(&input), &mut output);
    let run = nested::nested.launch(device, 2, 64, arguments)?;
    assert_eq!(output.to_vec(), nested::reference(32, 5, &table, &input));

    if optimised(&run) {
        let even = run.report().site("even");
        assert_eq!((even.executions(), even.diverged(), even.lanes_in()), (2, 1, 128));
        let below = run.report().site("below").of_kind("if");
        assert_eq!(below.waves().iter().map(|wave| wave.counts.diverged).collect::<Vec<_>>(), [1, 0]);
    }
    Ok(())
}

/// 100 elements on two waves, every third active: wave 1 has 36 lanes in range. Of the lanes 0 to 63, 22 are active; of
/// 64 to 99, 12 are (66, 69, …, 99). Those 34 reach the work.
#[harness::test]
fn early_returns_leave_the_wave_partial(device: &Device) -> TestResult {
    let active: Vec<u32> = (0..100).map(|i| u32::from(i % 3 == 0)).collect();
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut buffer = device.buffer(&values);
    let arguments = (100, 0.25, &device.buffer(&active), &mut buffer);
    let run = early_return::early_return.launch(device, 1, 128, arguments)?;
    assert_eq!(buffer.to_vec(), early_return::reference(0.25, &active, &values));

    if optimised(&run) {
        let outside = run.report().site("outside");
        assert_eq!((outside.executions(), outside.diverged(), outside.lanes_in()), (2, 1, 128));
        let inactive = run.report().site("inactive");
        assert_eq!((inactive.executions(), inactive.diverged()), (2, 2));
        assert_eq!((inactive.lanes_in(), inactive.lanes_taken()), (100, 34));
    }
    Ok(())
}

/// Wave 0 has all five operations among its lanes, wave 1 only look-ups, wave 2 two operations in halves. However the
/// compiler orders its tests: a wave of one operation never diverges, and the others do.
#[harness::test]
fn a_match_diverges_only_where_arms_differ(device: &Device) -> TestResult {
    let operations: Vec<u32> = (0..192)
        .map(|i| match i / 64 {
            0 => i % 5,
            1 => 1,
            _ => u32::from(i % 2 == 0) * 3,
        })
        .collect();
    let operands: Vec<u32> = (0..192_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let table: [u32; 256] = std::array::from_fn(|i| i as u32 * 3);
    let mut results = device.zeroed(192);
    let arguments =
        (&device.buffer(&operations), &device.buffer(&operands), &device.buffer(&table), &mut results);
    let run = classify::classify.launch(device, 3, 64, arguments)?;
    assert_eq!(results.to_vec(), classify::reference(&operations, &operands, &table));

    // The compiler's splits of a `match` have no line of their own; all sites of this kernel are such.
    let waves = run.report().every_site().waves();
    let diverged: Vec<_> = waves.iter().map(|wave| wave.counts.diverged).collect();
    assert_eq!(diverged.len(), 3);
    // Five arms need at least four splits, two need one.
    assert!(diverged[0] >= 4 && diverged[1] == 0 && diverged[2] >= 1, "{diverged:?}");
    Ok(())
}

/// 1000 bytes on 16 waves: the last has 40 in range. Byte `i` is `7 · i mod 256`, which is the ignored 0 for
/// i = 0, 256, 512 and 768: in one lane each of four waves.
#[harness::test]
fn atomics_count_every_byte_once(device: &Device) -> TestResult {
    let data: Vec<u8> = (0..1000_u32).map(|i| (7 * i) as u8).collect();
    let mut buckets = device.zeroed(histogram::BUCKETS);
    let run = histogram::histogram.launch(device, 4, 256, (1000, 0, &device.buffer(&data), &mut buckets))?;
    assert_eq!(buckets.to_vec(), histogram::reference(0, &data));

    if optimised(&run) {
        let tail = run.report().site("tail");
        assert_eq!((tail.executions(), tail.all(), tail.diverged()), (16, 15, 1));
        let counted = run.report().site("counted");
        assert_eq!((counted.executions(), counted.diverged(), counted.lanes_in()), (16, 4, 1000));
        assert_eq!(counted.diverged_waves(), 4);
    }
    Ok(())
}
