//! Everything that a kernel may take, as the host passes it.

use features::arguments::{
    Body, Buffers, Mixed, Pair, WORDS, add_up, colour, count_narrow, first_of_group, in_workgroups_of_64,
    look_up, many, mix, mix_bytes, move_bodies, safe_saxpy, scale_halves, squares, sum_rows, tell_structure,
};
use harness::{Buffer, Device, Launch as _, LaunchError, TestResult};

/// The structure stands between a byte and a halfword; fields keep their signs, their padding and their order.
#[harness::test]
fn structures_come_as_they_are(device: &Device) -> TestResult {
    let pairs = [Pair { left: 1, right: 2 }, Pair { left: 0x8000, right: 0xffff }];
    let mixed = Mixed { byte: 200, word: 0xdead_beef, half: -2, is: true, wide: 1e9, pairs };
    let mut output = device.zeroed(3 * WORDS);
    tell_structure.launch(device, 1, 64, (7, mixed, 65_000, &mut output))?;
    let words = [7, 200, 0xdead_beef, -2_i32 as u32, 1, 1_000_000_000, 0x1_0002, 0x8000_ffff, 65_000];
    for (item, found) in (0..).zip(output.to_vec().chunks(WORDS)) {
        assert_eq!(found, [&words[..], &[item]].concat());
    }
    Ok(())
}

/// Buffers of structures, and of arrays of such.
#[harness::test]
fn structures_in_buffers(device: &Device) -> TestResult {
    let body = |i: usize| Body { at: [i as f32, 1.0, -2.0], mass: 0.5 * i as f32 };
    let pairs: Vec<[Body; 2]> = (0..50).map(|i| [body(2 * i + 3), body(2 * i + 4)]).collect();
    let all: Vec<Body> = (0..70).map(body).collect();
    let (mut bodies, mut masses) = (device.buffer(&all), device.zeroed::<f32>(100));
    move_bodies.launch(device, 2, 64, (&device.buffer(&pairs), &mut bodies, &mut masses))?;
    let moved =
        |Body { at, mass }: Body| Body { at: [at[0] + mass * 3.0, at[1] + mass, at[2] + mass * -2.0], mass };
    assert_eq!(bodies.to_vec(), all.into_iter().map(moved).collect::<Vec<_>>());
    assert_eq!(masses.to_vec(), pairs.iter().flatten().map(|body| body.mass).collect::<Vec<_>>());
    assert_eq!(device.zeroed::<Body>(1).to_vec(), [Body { at: [0.0; 3], mass: 0.0 }]);
    Ok(())
}

/// More elements than `Default` has arrays for.
#[harness::test]
fn long_rows(device: &Device) -> TestResult {
    let rows: Vec<[u32; 64]> = (0..10).map(|row| std::array::from_fn(|i| row * i as u32)).collect();
    let mut sums = device.zeroed(10);
    sum_rows.launch_1d(device, 10, (&device.buffer(&rows), &mut sums))?;
    assert_eq!(sums.to_vec(), (0..10).map(|row| row * (63 * 64 / 2)).collect::<Vec<u32>>());
    Ok(())
}

/// 128 work-items: 43 of the remainders 0 and 1, 42 of 2. The buffers end with a dword, all of which the instructions read.
#[harness::test]
fn narrow_atomics(device: &Device) -> TestResult {
    let (mut bytes, mut halves) = (device.zeroed::<u8>(4), device.zeroed::<u16>(4));
    count_narrow.launch(device, 2, 64, (&mut bytes, &mut halves))?;
    assert_eq!((bytes.to_vec(), halves.to_vec()), (vec![43, 43, 42, 0], vec![126, 127, 125, 0]));
    Ok(())
}

#[harness::test]
fn arrays_are_indexed(device: &Device) -> TestResult {
    let table: [f32; 16] = std::array::from_fn(|i| 0.5 * i as f32);
    let mut output = device.zeroed(100);
    look_up.launch(device, 2, 64, (table, &mut output))?;
    let expected: Vec<f32> = (0..100).map(|i| table[i % 16]).collect();
    assert_eq!(output.to_vec(), expected);
    Ok(())
}

/// 1 + … + 100; with the others: each of 128 work-items adds 5, 7 and 1 + 2 + 3.
#[harness::test]
fn pointers_may_be_null(device: &Device) -> TestResult {
    let values = device.buffer(&Vec::from_iter(1..=100_u32));
    let first = Buffers { values: values.as_ptr(), count: 100 };
    let (five, mut seven) = (device.buffer(&[5_u32]), device.buffer(&[7_u32]));
    let some = device.buffer(&[9_u32, 1, 2, 3, 9]);
    let mut sum = device.zeroed::<u32>(1);
    let none = None::<&Buffer<u32>>;
    add_up.launch(device, 2, 64, (first, none, None::<&mut Buffer<u32>>, none, &mut sum))?;
    assert_eq!(sum.to_vec(), [5050]);
    let fourth = some.slice(1..4);
    add_up.launch(device, 2, 64, (first, Some(&five), Some(&mut seven), Some(fourth), &mut sum))?;
    assert_eq!(sum.to_vec(), [5050 + 5050 + 128 * (5 + 7 + 6)]);
    Ok(())
}

/// The last 28 of 128 work-items have no element.
#[harness::test]
fn each_work_item_writes_its_element(device: &Device) -> TestResult {
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut y = device.buffer(&[1.0_f32; 100]);
    safe_saxpy.launch(device, 2, 64, (2.0, &device.buffer(&x), &mut y))?;
    assert_eq!(y.to_vec(), x.iter().map(|x| 1.0 + 2.0 * x).collect::<Vec<_>>());
    Ok(())
}

/// A part of a buffer is all that a kernel sees of it.
#[harness::test]
fn parts_of_buffers(device: &Device) -> TestResult {
    let mut both = device.buffer(&[1.0_f32; 20]);
    let x = device.buffer(&Vec::from_iter((0..10).map(|i| i as f32)));
    let (_, right) = both.split_at_mut(12);
    safe_saxpy.launch(device, 1, 64, (1.0, x.slice(2..), right))?;
    let expected: Vec<f32> = (0..20).map(|i| if i < 12 { 1.0 } else { 1.0 + (i - 12 + 2) as f32 }).collect();
    assert_eq!(both.to_vec(), expected);
    Ok(())
}

/// What a slice does not have is a panic, which the fault tells.
#[harness::test]
fn slices_are_checked(device: &Device) {
    let x = device.buffer(&[1.0_f32; 10]);
    let launched = safe_saxpy.launch(device, 1, 64, (2.0, &x, &mut device.zeroed(11)));
    let error = launched.unwrap_err().to_string();
    assert!(error.contains("index out of bounds") || !device.is_emulator(), "{error}");
}

#[harness::test]
fn strided_elements_are_all_written(device: &Device) -> TestResult {
    let mut output = device.zeroed(1000);
    squares.launch(device, 2, 64, (&mut output,))?;
    assert_eq!(output.to_vec(), (0..1000).map(|i| i * i).collect::<Vec<u32>>());
    Ok(())
}

#[harness::test]
fn one_element_a_workgroup(device: &Device) -> TestResult {
    let input = device.buffer(&Vec::from_iter(100..500_u32));
    let mut output = device.zeroed(3);
    first_of_group.launch(device, 4, 64, (&input, 100, &mut output))?;
    assert_eq!(output.to_vec(), [100, 1 << 16 | 200, 2 << 16 | 300]);
    Ok(())
}

/// A work-item's place in x alone would be that of several.
#[harness::test]
fn what_is_for_one_dimension_is_not_launched_in_two(device: &Device) {
    for (grid, block) in [((1, 2), (64, 1)), ((1, 1), (32, 2))] {
        let launched = squares.launch(device, grid, block, (&mut device.zeroed(64),));
        let error = launched.unwrap_err();
        assert!(
            matches!(&error, LaunchError::Dimensions { parameter, .. } if parameter == "output"),
            "{error}"
        );
    }
}

/// Arguments of many sizes, by their offsets in the note.
#[harness::test]
fn more_than_sixteen_parameters(device: &Device) -> TestResult {
    let mut output = device.zeroed(1);
    let arguments = (
        255,
        1 << 40,
        65_535,
        1 << 31,
        1,
        1 << 50,
        2,
        3,
        4,
        5,
        -100,
        1 << 30,
        6,
        7,
        8,
        9,
        10,
        11,
        &mut output,
    );
    many.launch(device, 1, 1, arguments)?;
    let sum: i64 = (1 << 40) + (1 << 50) + (1 << 31) + (1 << 30) + 255 + 65_535 + 1 + 2 + 3 + 4 + 5 - 100
        + 6
        + 7
        + 8
        + 9
        + 10
        + 11;
    assert_eq!(output.to_vec(), [sum as u64]);
    Ok(())
}

#[harness::test]
fn halves(device: &Device) -> TestResult {
    let x: Vec<half::f16> = (0..64).map(|i| half::f16::from_f32(i as f32 / 7.0)).collect();
    let a = half::f16::from_f32(0.1);
    let mut y = device.zeroed(64);
    scale_halves.launch(device, 1, 64, (a, &device.buffer(&x), &mut y))?;
    assert_eq!(y.to_vec(), x.iter().map(|&x| a * x).collect::<Vec<_>>());
    Ok(())
}

#[harness::test]
fn products_of_bytes(device: &Device) -> TestResult {
    let bytes: Vec<[u8; 4]> = (0..=255).map(|i: u8| [i, i ^ 0x35, i.wrapping_mul(7), 255 - i]).collect();
    let mut mixed = device.zeroed(bytes.len());
    mix_bytes.launch(device, 4, 64, (&device.buffer(&bytes), &mut mixed))?;
    assert_eq!(mixed.to_vec(), bytes.into_iter().map(mix).collect::<Vec<_>>());
    Ok(())
}

/// Workgroups are chosen; what no work-item has is told of.
#[harness::test]
fn launches_over_elements(device: &Device) -> TestResult {
    let x = device.buffer(&[1.0_f32; 1000]);
    let mut y = device.buffer(&[1.0_f32; 1000]);
    let run = safe_saxpy.launch_1d(device, 1000, (2.0, &x, &mut y))?;
    assert_eq!((y.to_vec(), run.warnings().len()), (vec![3.0; 1000], 0));
    let run = safe_saxpy.launch_1d(device, 500, (2.0, &x, &mut y))?;
    assert_eq!(
        run.warnings(),
        [
            "kernel `safe_saxpy`: 488 of 1000 elements of `y` have no work-item in a launch of 512, so that nothing writes them"
        ]
    );
    assert_eq!(y.to_vec(), (0..1000).map(|i| if i < 512 { 5.0 } else { 3.0 }).collect::<Vec<_>>());
    let run = safe_saxpy.launch(device, 1, 64, (2.0, x.slice(..100), y.slice_mut(..100)))?;
    assert_eq!(
        run.warnings(),
        [
            "kernel `safe_saxpy`: 36 of 100 elements of `y` have no work-item in a launch of 64, so that nothing writes them"
        ]
    );
    let mut image = device.zeroed(20 * 35);
    colour.launch_2d(device, (20, 35), (20, 35, &mut image))?;
    let expected: Vec<u32> = (0..35).flat_map(|y| (0..20).map(move |x| y << 16 | x)).collect();
    assert_eq!(image.to_vec(), expected);
    let mut numbers = device.zeroed(1000);
    in_workgroups_of_64.launch_1d(device, 1000, (&mut numbers,))?;
    assert_eq!(numbers.to_vec(), (0..1000).collect::<Vec<u32>>());
    let nothing = safe_saxpy.launch_1d(device, 0, (2.0, &x, &mut y));
    assert!(matches!(nothing, Err(LaunchError::NoWorkItems { .. })));
    Ok(())
}

/// A kernel is told of by its names.
#[harness::test]
fn a_handle_knows_its_parameters(_: &Device) {
    assert_eq!(safe_saxpy.parameters(), ["a", "x", "y"]);
    assert_eq!((safe_saxpy.name(), safe_saxpy.module()), ("safe_saxpy", "features::arguments"));
}
