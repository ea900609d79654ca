//! Right where a wave has 64 lanes, kernels are optimized and waves run one after another; wrong elsewhere.

use harness::{Device, Launch as _, TestResult};
use portability::{
    ITEMS, add_halves, butterfly, count_positive, double_by_lane, keep_positive, scale_and_shift,
    spread_and_reverse, sum_without_barrier,
};

const BLOCK: u32 = ITEMS as u32;

fn numbers() -> [f32; ITEMS] {
    std::array::from_fn(|i| i as f32 - 23.5)
}

#[harness::test]
#[ignore = "wrong on some GPUs"]
fn positive_numbers_are_counted(device: &Device) -> TestResult {
    let mut count = device.buffer(&[0_u32]);
    count_positive.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut count))?;
    assert_eq!(count.to_vec(), [40]);
    Ok(())
}

#[harness::test]
#[ignore = "wrong on some GPUs"]
fn each_work_item_has_the_sum(device: &Device) -> TestResult {
    let mut sums = device.buffer(&[0_f32; ITEMS]);
    butterfly.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut sums))?;
    assert_eq!(sums.to_vec(), [numbers().iter().sum::<f32>(); ITEMS]);
    Ok(())
}

#[harness::test]
#[ignore = "wrong on some GPUs"]
fn numbers_are_doubled(device: &Device) -> TestResult {
    let mut doubled = device.buffer(&[0_f32; ITEMS]);
    double_by_lane.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut doubled))?;
    assert_eq!(doubled.to_vec(), numbers().map(|x| 2.0 * x));
    Ok(())
}

#[harness::test]
#[ignore = "wrong at some levels of optimization"]
fn lines_are_rounded_once(device: &Device) -> TestResult {
    let mut y = device.buffer(&[0_f32; ITEMS]);
    scale_and_shift.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut y))?;
    assert_eq!(y.to_vec(), numbers().map(|x| x.mul_add(1.1, 0.7)));
    Ok(())
}

#[harness::test]
#[ignore = "wrong on some GPUs"]
fn small_halves_are_added(device: &Device) -> TestResult {
    // The smallest half, and zero.
    let pairs = [[1_u16, 0]; ITEMS];
    let mut sums = device.buffer(&[0_f32; ITEMS]);
    add_halves.launch(device, 1, BLOCK, (&device.buffer(&pairs), &mut sums))?;
    assert_eq!(sums.to_vec(), [2_f32.powi(-24); ITEMS]);
    Ok(())
}

#[harness::test]
#[ignore = "wrong on GPUs with 64 kB of LDS a workgroup"]
fn numbers_are_reversed(device: &Device) -> TestResult {
    let mut reversed = device.buffer(&[0_f32; ITEMS]);
    spread_and_reverse.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut reversed))?;
    let mut expected = numbers();
    expected.reverse();
    assert_eq!(reversed.to_vec(), expected);
    Ok(())
}

#[harness::test]
#[ignore = "wrong on some GPUs"]
fn numbers_are_summed(device: &Device) -> TestResult {
    let mut sum = device.buffer(&[0_f32]);
    sum_without_barrier.launch(device, 1, BLOCK, (&device.buffer(&numbers()), &mut sum))?;
    assert_eq!(sum.to_vec(), [numbers().iter().sum::<f32>()]);
    Ok(())
}

#[harness::test]
#[ignore = "wrong in some orders of waves"]
fn positive_numbers_stay_in_order(device: &Device) -> TestResult {
    let numbers: Vec<f32> = (0..512).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
    let (mut kept, mut count) = (device.buffer(&[0_f32; 512]), device.buffer(&[0_u32]));
    keep_positive.launch(device, 2, 256, (512, &device.buffer(&numbers), &mut kept, &mut count))?;
    let expected: Vec<f32> = numbers.iter().copied().filter(|&x| x > 0.0).collect();
    assert_eq!(count.to_vec(), [expected.len() as u32]);
    assert_eq!(kept.to_vec()[..expected.len()], expected);
    Ok(())
}

harness::main!();
