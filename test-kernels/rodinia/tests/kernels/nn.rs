//! Distances.

use harness::{Device, Launch as _, TestResult};
use rodinia::euclid::{euclid, reference};

use crate::{branch, numbers};

/// 1000 records in four workgroups of 256: the last wave has fewer.
#[harness::test]
fn the_last_wave_has_fewer_records(device: &Device) -> TestResult {
    let count = 1000;
    let records: Vec<f32> = numbers(2 * count, 16).iter().map(|value| 180.0 * value - 90.0).collect();
    let mut distances = device.zeroed(count);
    let arguments = (&device.buffer(&records), &mut distances, count as u32, 30.0, 90.0);
    let run = euclid.launch(device, 4, 256, arguments)?;
    assert_eq!(distances.to_vec(), reference(&records, 30.0, 90.0));

    let record = run.report().branch("record");
    let expected = branch((0..1024).map(|i| i < count), 256, euclid.wave_size(device)?);
    assert_eq!((record.all(), record.none(), record.diverged()), (expected.all, 0, 1));
    assert_eq!(record.lanes_taken(), 1000);
    Ok(())
}
