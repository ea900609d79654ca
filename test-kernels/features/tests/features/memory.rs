//! `alloc` in kernels, against the same functions on the host.

use features::memory::{
    again, areas, boxed, collatz, commonest, grow, maps, out_of_memory, sorted_words, texts, too_much,
};
use harness::{Device, Launch as _, TestResult};

#[harness::test]
fn lists_grow(device: &Device) -> TestResult {
    let (mut lengths, mut greatest) = (device.zeroed(256), device.zeroed(256));
    grow.launch(device, 2, 128, (&mut lengths, &mut greatest))?;
    let expected: Vec<_> = (0..256).map(collatz).collect();
    let found: Vec<_> = lengths.to_vec().into_iter().zip(greatest.to_vec()).collect();
    assert_eq!(found, expected);
    Ok(())
}

#[harness::test]
fn trait_objects_in_boxes(device: &Device) -> TestResult {
    let mut out = device.zeroed(100);
    boxed.launch(device, 1, 100, (&mut out,))?;
    assert_eq!(out.to_vec(), (0..100).map(areas).collect::<Vec<_>>());
    Ok(())
}

#[harness::test]
fn strings_and_format(device: &Device) -> TestResult {
    let mut out = device.zeroed(48 * 70);
    texts.launch(device, 1, 70, (&mut out,))?;
    for (n, bytes) in (0..70).zip(out.to_vec().chunks(48)) {
        let text = sorted_words(n);
        assert_eq!(std::str::from_utf8(bytes)?.trim_end_matches('\0'), text);
    }
    Ok(())
}

#[harness::test]
fn a_map(device: &Device) -> TestResult {
    let mut out = device.zeroed(130);
    maps.launch(device, 1, 130, (&mut out,))?;
    assert_eq!(out.to_vec(), (0..130).map(commonest).collect::<Vec<_>>());
    Ok(())
}

/// 128 work-items take 256 bytes, 300 times over: two launches would take 18.75 MiB of a heap of 16 MiB, were it not empty at each.
#[harness::test]
fn memory_comes_back_with_the_next_launch(device: &Device) -> TestResult {
    let sum = |n: u32, times: u32| {
        let values = (0..times).flat_map(|time| (0..64).map(move |i: u32| i ^ time ^ n));
        values.fold(0, u32::wrapping_add)
    };
    let mut out = device.zeroed(128);
    for times in [300, 301] {
        again.launch(device, 1, 128, (times, &mut out))?;
        assert_eq!(out.to_vec(), (0..128).map(|n| sum(n, times)).collect::<Vec<_>>());
    }
    Ok(())
}

#[harness::test]
fn there_is_an_end(device: &Device) -> TestResult {
    let mut out = device.zeroed(64);
    too_much.launch(device, 1, 64, (17 << 20, &mut out))?;
    assert_eq!(out.to_vec(), [0; 64]);
    // One of them gets it; which one is not said.
    let lanes = too_much.wave_size(device)?;
    too_much.launch(device, 1, lanes, (9 << 20, &mut out))?;
    assert_eq!(out.to_vec().iter().sum::<u32>(), 1);
    let error = out_of_memory.launch(device, 1, 64, (&mut device.zeroed(64),)).unwrap_err().to_string();
    assert!(!device.is_emulator() || error.contains("memory"), "{error}");
    Ok(())
}
