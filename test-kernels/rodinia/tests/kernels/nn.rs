//! Distances.

use harness::{Device, Launch as _, TestResult};
use rodinia::euclid::{euclid, reference};

use crate::numbers;

/// 1000 records in four workgroups of 256: 15 whole waves, one of 40 records.
#[harness::test]
fn the_last_wave_has_forty_records(device: &Device) -> TestResult {
    let count = 1000;
    let records: Vec<f32> = numbers(2 * count, 16).iter().map(|value| 180.0 * value - 90.0).collect();
    let mut distances = device.zeroed(count);
    let arguments = (&device.buffer(&records), &mut distances, count as u32, 30.0, 90.0);
    let run = euclid.launch(device, 4, 256, arguments)?;
    assert_eq!(distances.to_vec(), reference(&records, 30.0, 90.0));

    let record = run.report().site("record");
    assert_eq!((record.all(), record.none(), record.diverged()), (15, 0, 1));
    assert_eq!(record.lanes_taken(), 1000);
    Ok(())
}
