//! Kernels of two dimensions and with arrays in LDS, which have no `unsafe`; tests look for races by default.

use features::tiles::{SCANNED, SIDE, histogram, matmul, part, reference, scan, stencil, transpose, turn};
use harness::{Device, Launch as _, LaunchError, TestResult};

/// Small whole numbers, so that sums are exact but for the order that the reference has as well.
fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect()
}

fn floats(count: usize) -> Vec<f32> {
    numbers(count).into_iter().map(|number| number as f32 / 7.0).collect()
}

/// Neither size is a multiple of a tile's.
#[harness::test]
fn a_stencil(device: &Device) -> TestResult {
    let (width, height) = (50, 21);
    let from = floats(width * height);
    let mut to = device.zeroed(width * height);
    let run = stencil.launch_2d(
        device,
        (width as u32, height as u32),
        (device.buffer(&from).rows(width), to.rows_mut(width)),
    )?;
    assert_eq!(to.to_vec(), reference::stencil(width, &from));
    assert!(run.warnings().is_empty(), "{:?}", run.warnings());
    // In the last of four columns of workgroups, two of 16 work-items of a row have an element: each wave there parts, but for those below
    // the last row.
    assert!(run.report().branch("inside").diverged() > 0);
    Ok(())
}

#[harness::test]
fn a_transpose(device: &Device) -> TestResult {
    let (width, height) = (40, 25);
    let from = numbers(width * height);
    let mut to = device.zeroed(width * height);
    let rows = device.buffer(&from);
    transpose.launch_2d(device, (height as u32, width as u32), (rows.rows(width), to.rows_mut(height)))?;
    let expected: Vec<u32> = (0..from.len()).map(|i| from[i % height * width + i / height]).collect();
    assert_eq!(to.to_vec(), expected);
    Ok(())
}

/// 20 by 37 times 37 by 33.
#[harness::test]
fn a_product(device: &Device) -> TestResult {
    let (height, inner, width) = (20, 37, 33);
    let (a, b) = (floats(height * inner), floats(inner * width));
    let mut c = device.zeroed(height * width);
    let (of_a, of_b) = (device.buffer(&a), device.buffer(&b));
    let grid = ((width.div_ceil(SIDE)) as u32, (height.div_ceil(SIDE)) as u32);
    let block = (SIDE as u32, SIDE as u32);
    matmul.launch(device, grid, block, (of_a.rows(inner), of_b.rows(width), c.rows_mut(width)))?;
    assert_eq!(c.to_vec(), reference::matmul(inner, width, &a, &b));
    Ok(())
}

/// Workgroups smaller than the bins, and larger.
#[harness::test]
fn a_histogram(device: &Device) -> TestResult {
    let bytes: Vec<u8> = numbers(3000).into_iter().map(|number| (number % 200) as u8).collect();
    let mut expected = vec![0_u32; 256];
    for &byte in &bytes {
        expected[usize::from(byte)] += 1;
    }
    for block in [64, 256, 320] {
        let mut counts = device.zeroed::<u32>(256);
        let grid = (bytes.len() as u32).div_ceil(block);
        histogram.launch(device, grid, block, (&device.buffer(&bytes), &mut counts))?;
        assert_eq!(counts.to_vec(), expected, "workgroups of {block}");
    }
    Ok(())
}

#[harness::test]
fn a_scan(device: &Device) -> TestResult {
    let numbers = numbers(600);
    let mut values = device.buffer(&numbers);
    scan.launch(device, 3, SCANNED as u32, (&mut values,))?;
    let sums = |group: &[u32]| {
        let mut sum = 0;
        group
            .iter()
            .map(|value| {
                sum += value;
                sum
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(values.to_vec(), numbers.chunks(SCANNED).flat_map(sums).collect::<Vec<_>>());
    Ok(())
}

/// Each instance has an array of its own size.
#[harness::test]
fn arrays_of_generic_kernels(device: &Device) -> TestResult {
    let up: Vec<u16> = (0..128).collect();
    let mut values = device.buffer(&up);
    turn::<128>.launch(device, 1, 128, (&mut values,))?;
    assert_eq!(values.to_vec(), up.iter().rev().copied().collect::<Vec<_>>());
    turn::<64>.launch(device, 2, 64, (&mut values,))?;
    assert_eq!(values.to_vec(), (64..128).chain(0..64).collect::<Vec<u16>>());
    Ok(())
}

/// What the compiler does not see, the emulator does.
#[harness::test]
fn all_work_items_share(device: &Device) {
    let mut values = device.buffer(&Vec::from_iter(0..64_u32));
    let launched = part.launch(device, 1, 64, (&mut values,));
    if device.is_emulator() {
        let error = launched.unwrap_err().to_string();
        assert!(error.contains("work-items are not at it"), "{error}");
    }
}

/// What has no work-item in x, or in y, is told of; more dimensions are refused.
#[harness::test]
fn rows_that_are_left_over(device: &Device) -> TestResult {
    let from = device.zeroed::<u32>(40 * 20);
    let mut to = device.zeroed::<u32>(20 * 40);
    let run = transpose.launch(device, (1, 3), (16, 16), (from.rows(40), to.rows_mut(20)))?;
    assert_eq!(
        run.warnings(),
        [
            "kernel `transpose`: 160 of 800 elements of `to` have no work-item in a launch of 768, so that nothing writes them"
        ]
    );
    let launched = transpose.launch(device, (2, 3), (16, 16, 2), (from.rows(40), to.rows_mut(20)));
    let error = launched.unwrap_err();
    assert!(matches!(&error, LaunchError::Dimensions { parameter, .. } if parameter == "to"), "{error}");
    Ok(())
}
