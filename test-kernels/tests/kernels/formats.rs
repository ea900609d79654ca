//! `core`'s formatting: calls through pointers, and functions that keep masks where return addresses were.

use harness::{Device, Launch as _, Run, TestResult};
use test_kernels::formats::{ROOM, debug, doubled, fixed, write_debug};

use crate::{branches, optimised};

/// Work-items in range, of two waves.
const COUNT: usize = 100;

/// Small and large, whole and not, zeros, what is no number; and some by chance.
fn values() -> Vec<f32> {
    let some = [0.0, -0.0, 1.5, 0.1, 2.345, 1e10, 3e38, 1e-40, f32::INFINITY, f32::NAN, -123_456.79, 0.995];
    let by_chance = (0..COUNT as u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_769) ^ 0x4000_0000));
    some.into_iter().chain(by_chance).take(COUNT).collect()
}

/// The texts that were written.
fn texts(lengths: &[u32], bytes: &[u8]) -> Vec<String> {
    let text = |(&length, bytes): (&u32, &[u8])| match length as usize {
        length @ 0..=ROOM => String::from_utf8(bytes[..length].to_vec()).expect("a text"),
        _ => "too long".to_owned(),
    };
    lengths.iter().zip(bytes.chunks(ROOM)).map(text).collect()
}

/// Of 128 work-items, 28 have nothing to write: the last ones.
#[track_caller]
fn assert_own_branch(run: &Run, lanes: u32) {
    let report = run.report();
    if !report.blocks.is_empty() || report.time.is_some() || report.not_instrumented.is_some() {
        return;
    }
    // For all of the branches of `core`, registers and LDS may have no room: memory has.
    let has_room = std::env::var("AMDINST_COUNTERS").map_or(true, |home| matches!(&*home, "auto" | "global"));
    assert!(!report.sites.is_empty() || !has_room, "refused: {:?}", report.refusals);
    if optimised(run) && !report.sites.is_empty() {
        let expected = branches((0..128).map(|i| Some(i < COUNT)), 64, lanes);
        let outside = run.report().branch("outside");
        assert_eq!(
            (outside.executions(), outside.diverged(), outside.lanes_in()),
            (expected.executions, expected.diverged, 128)
        );
        // Formatting stays in functions of its own, with some 900 sites. Inlined and unrolled it had thousands, which every build paid for.
        assert!(report.sites.len() < 1500, "{} sites", report.sites.len());
    }
}

/// Each in a wave of its own, then all that a wave has. LLVM 22 loses masks of `core`'s loops at opt-level 0, where lanes differ
/// (see the guide, "Is it the compiler?").
#[harness::test]
fn floats_are_written_as_on_the_host(device: &Device) -> TestResult {
    let values = values();
    let expected: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
    for (groups, items) in [(COUNT as u32, 1), (2, 64)] {
        let (mut lengths, mut bytes) = (device.zeroed(COUNT), device.zeroed(COUNT * ROOM));
        let arguments = (COUNT as u32, &device.buffer(&values), &mut lengths, &mut bytes);
        let run = fixed.launch(device, groups, items, arguments)?;
        assert_eq!(texts(&lengths.to_vec(), &bytes.to_vec()), expected);
        if items > 1 {
            assert_own_branch(&run, fixed.wave_size(device)?);
        }
    }
    Ok(())
}

#[harness::test]
fn what_is_written_to_debug_is_as_on_the_host(device: &Device) -> TestResult {
    let values = values();
    let (mut lengths, mut bytes) = (device.zeroed(COUNT), device.zeroed(COUNT * ROOM));
    let arguments = (COUNT as u32, &device.buffer(&values), &mut lengths, &mut bytes);
    let run = debug.launch(device, 2, 64, arguments)?;
    let written = |&value: &f32| {
        let mut text = String::new();
        write_debug(&mut text, value).map(|()| text)
    };
    let expected: Vec<String> = values.iter().map(written).collect::<Result<_, _>>()?;
    assert_eq!(texts(&lengths.to_vec(), &bytes.to_vec()), expected);
    assert_own_branch(&run, debug.wave_size(device)?);
    Ok(())
}

#[harness::test]
fn a_panic_with_a_message_that_nobody_sees_changes_nothing(device: &Device) -> TestResult {
    let mut values = device.buffer(&(0..128).map(|i| i as f32).collect::<Vec<_>>());
    doubled.launch(device, 2, 64, (128.0, &mut values))?;
    assert_eq!(values.to_vec(), (0..128).map(|i| 2.0 * i as f32).collect::<Vec<_>>());
    Ok(())
}
