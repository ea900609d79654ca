//! Instances of generic kernels, and kernels of one name in two modules.

use features::generic::{add, left, right, scale};
use harness::{Device, Launch as _, TestResult};

#[harness::test]
fn each_instance_is_a_kernel(device: &Device) -> TestResult {
    let values: Vec<u32> = (0..100).collect();
    let mut floats = device.buffer(&Vec::from_iter(values.iter().map(|&value| value as f32)));
    scale::<f32, 2>().launch(device, 1, 64, (0.5, &mut floats))?;
    assert_eq!(floats.to_vec(), values.iter().map(|&value| 0.5 * value as f32).collect::<Vec<_>>());
    let mut doubles = device.buffer(&Vec::from_iter(values.iter().map(|&value| f64::from(value))));
    let run = scale::<f64, 4>().launch(device, 1, 64, (1e300, &mut doubles))?;
    assert_eq!(doubles.to_vec(), values.iter().map(|&value| 1e300 * f64::from(value)).collect::<Vec<_>>());
    assert_eq!(run.report().kernel, "scale<f64,4>");
    let mut words = device.buffer(&values);
    // 25 work-items of four: the second half keeps what it had.
    scale::<u32, 4>().launch(device, 1, 12, (3, &mut words))?;
    assert_eq!(words.to_vec(), (0..100).map(|i| if i < 48 { 3 * i } else { i }).collect::<Vec<_>>());
    Ok(())
}

#[harness::test]
fn instances_differ_by_constants(device: &Device) -> TestResult {
    let other = device.buffer(&Vec::from_iter(0..70_u8));
    let mut values = device.buffer(&[100_u8; 70]);
    add::<u8, true>().launch(device, 1, 32, (&other, &mut values))?;
    assert_eq!(values.to_vec(), (0..70).map(|i| 100 + 69 - i).collect::<Vec<_>>());
    let other = device.buffer(&[-1_i64; 70]);
    let mut values = device.zeroed::<i64>(70);
    add::<i64, false>().launch(device, 1, 32, (&other, &mut values))?;
    assert_eq!(values.to_vec(), [-1; 70]);
    assert_eq!(add::<i64, false>().name(), "add<i64,false>");
    Ok(())
}

/// Each has its path in reports, and its own probes.
#[harness::test]
fn kernels_of_one_name(device: &Device) -> TestResult {
    let mut output = device.zeroed(64);
    let run = left::tell.launch(device, 1, 64, (&mut output,))?;
    assert_eq!(output.to_vec(), (0..64).map(|i| if i < 32 { 1 } else { i }).collect::<Vec<_>>());
    assert_eq!(run.report().kernel, "generic::left::tell");
    assert_eq!(run.report().probes.len(), 1);
    let mut output = device.zeroed(64);
    let run = right::tell.launch(device, 1, 64, (2, &mut output))?;
    assert_eq!(output.to_vec(), [2; 64]);
    assert_eq!((run.report().kernel.as_str(), run.report().probes.len()), ("generic::right::tell", 0));
    assert_eq!(right::tell.wave_size(device)?, left::tell.wave_size(device)?);
    Ok(())
}
