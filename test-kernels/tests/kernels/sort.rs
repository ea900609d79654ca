//! `core`'s sorts, where the compiler's own fault shows (guide: "Is it the compiler?").

use harness::{Device, Launch as _, TestResult};
use test_kernels::sort::{RUN, merge_step, sort};

/// Keys of pairs are distinct, so that there is one right order. Runs are random, sorted, falling, and all equal.
#[harness::test]
fn small_arrays_are_sorted_as_on_the_host(device: &Device) -> TestResult {
    let (items, mut state) = (96, 7_u64);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let number = |item: usize, i: usize, random: u32| match item % 4 {
        0 | 1 => random,
        2 if item % 8 == 2 => i as u32,
        2 => (RUN - i) as u32,
        _ => 5,
    };
    let numbers: Vec<u32> = (0..items * RUN).map(|at| number(at / RUN, at % RUN, next())).collect();
    let pairs: Vec<(u32, i64)> =
        (0..items * RUN).map(|at| (at as u32, (i64::from(next()) << 16 | at as i64) - (1 << 46))).collect();

    let mut on_device = device.buffer(&numbers);
    let mut firsts = device.buffer(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let mut seconds = device.buffer(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    sort.launch(device, 2, items as u32 / 2, (&mut on_device, &mut firsts, &mut seconds))?;

    let mut expected = numbers;
    expected.chunks_mut(RUN).for_each(<[u32]>::sort);
    assert_eq!(on_device.to_vec(), expected);
    let mut expected = pairs;
    expected.chunks_mut(RUN).for_each(|run| run.sort_by_key(|pair| std::cmp::Reverse(pair.1)));
    let sorted: Vec<(u32, i64)> = firsts.to_vec().into_iter().zip(seconds.to_vec()).collect();
    assert_eq!(sorted, expected);
    Ok(())
}

#[harness::test]
fn one_step_of_a_merge_takes_from_the_right_half(device: &Device) -> TestResult {
    let items = 128_u32;
    let values: Vec<u32> = (0..RUN as u32).map(|i| 1000 + i).collect();
    let (left, right): (Vec<u32>, Vec<u32>) = (0..items).map(|i| (i * 7 % 13, i * 5 % 11)).unzip();
    let mut taken = device.zeroed(2 * items as usize);
    let arguments = (&device.buffer(&values), &device.buffer(&left), &device.buffer(&right), &mut taken);
    merge_step.launch(device, 2, items / 2, arguments)?;
    let step = |(&left, &right): (&u32, &u32)| match left < right {
        true => [values[RUN - 1], values[RUN / 2 - 2]],
        false => [values[RUN - 2], values[RUN / 2 - 1]],
    };
    let expected: Vec<u32> = left.iter().zip(&right).flat_map(step).collect();
    assert_eq!(taken.to_vec(), expected);
    Ok(())
}
