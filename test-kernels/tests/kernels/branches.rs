//! Ifs, early returns and a match.

use std::collections::BTreeSet;

use harness::{Device, Launch as _, TestResult, branch_counts};
use test_kernels::{classify, early_return, histogram, nested};

use crate::{branches, optimised};

/// The first workgroup has the values 0 to 63: half of them are even, and 0, 2, …, 30 of these 32 are below 32. The second has the even
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
        let lanes = nested::nested.wave_size(device)?;
        let is_even = |&value: &u32| value.is_multiple_of(2);
        let expected = branches(input.iter().map(|value| Some(is_even(value))), 64, lanes);
        let even = run.report().branch("even");
        assert_eq!(
            (even.executions(), even.diverged(), even.lanes_in()),
            (expected.executions, expected.diverged, expected.lanes_in)
        );
        let below = run.report().branch("below").of_kind("if");
        let expected =
            branch_counts(input.iter().map(|value| is_even(value).then_some(*value < 32)), 64, lanes);
        assert_eq!(
            below.waves().iter().map(|wave| wave.counts.diverged).collect::<Vec<_>>(),
            expected.iter().map(|wave| wave.diverged).collect::<Vec<_>>()
        );
    }
    Ok(())
}

/// 100 elements on 128 work-items, every third active: 34 reach the work.
#[harness::test]
fn early_returns_leave_the_wave_partial(device: &Device) -> TestResult {
    let active: Vec<u32> = (0..100).map(|i| u32::from(i % 3 == 0)).collect();
    let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut buffer = device.buffer(&values);
    let arguments = (100, 0.25, &device.buffer(&active), &mut buffer);
    let run = early_return::early_return.launch(device, 1, 128, arguments)?;
    assert_eq!(buffer.to_vec(), early_return::reference(0.25, &active, &values));

    if optimised(&run) {
        let lanes = early_return::early_return.wave_size(device)?;
        let expected = branches((0..128).map(|i| Some(i < 100)), 128, lanes);
        let outside = run.report().branch("outside");
        assert_eq!(
            (outside.executions(), outside.diverged(), outside.lanes_in()),
            (expected.executions, expected.diverged, 128)
        );
        let expected = branches(active.iter().map(|&active| Some(active != 0)), 128, lanes);
        let inactive = run.report().branch("inactive");
        assert_eq!((inactive.executions(), inactive.diverged()), (expected.executions, expected.diverged));
        assert_eq!((inactive.lanes_in(), inactive.lanes_taken()), (100, 34));
    }
    Ok(())
}

/// The first workgroup has all five operations among its lanes, the second only look-ups, the third two operations in halves. However the
/// compiler orders its tests: a wave of one operation never diverges, and one of several has a split less than these.
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
    let lanes = classify::classify.wave_size(device)? as usize;
    let arms = operations.chunks(lanes).map(|wave| wave.iter().collect::<BTreeSet<_>>().len() as u64);
    assert_eq!(diverged.len(), 192 / lanes);
    for (diverged, arms) in diverged.into_iter().zip(arms) {
        assert!(diverged >= arms - 1 && (arms > 1 || diverged == 0), "{diverged} splits of {arms} arms");
    }
    Ok(())
}

/// 1000 bytes on 1024 work-items. Byte `i` is `7 · i mod 256`, which is the ignored 0 for i = 0, 256, 512 and 768: in one lane each of
/// four waves.
#[harness::test]
fn atomics_count_every_byte_once(device: &Device) -> TestResult {
    let data: Vec<u8> = (0..1000_u32).map(|i| (7 * i) as u8).collect();
    let mut buckets = device.zeroed(histogram::BUCKETS);
    let run = histogram::histogram.launch(device, 4, 256, (1000, 0, &device.buffer(&data), &mut buckets))?;
    assert_eq!(buckets.to_vec(), histogram::reference(0, &data));

    if optimised(&run) {
        let lanes = histogram::histogram.wave_size(device)?;
        let expected = branches((0..1024).map(|i| Some(i < 1000)), 256, lanes);
        let tail = run.report().branch("tail");
        assert_eq!(
            (tail.executions(), tail.all(), tail.diverged()),
            (expected.executions, expected.all, expected.diverged)
        );
        let expected = branches(data.iter().map(|&byte| Some(byte != 0)), 256, lanes);
        let counted = run.report().branch("counted");
        assert_eq!(
            (counted.executions(), counted.diverged(), counted.lanes_in()),
            (expected.executions, 4, 1000)
        );
        assert_eq!(counted.diverged_waves(), 4);
    }
    Ok(())
}
