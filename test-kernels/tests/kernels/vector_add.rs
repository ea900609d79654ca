//! 100 elements on 128 work-items: wave 0 has 64 lanes below 100, wave 1 has 100 - 64 = 36 of 64.

use harness::{Device, Launch as _, TestResult};
use test_kernels::vector_add::{reference, vector_add};

#[harness::test]
fn only_the_second_wave_diverges_at_the_tail(device: &Device) -> TestResult {
    let b: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let c: Vec<f32> = (0..100).map(|i| 0.5 * i as f32).collect();
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(device, 1, 128, (&mut a, &device.buffer(&b), &device.buffer(&c), 100))?;
    assert_eq!(a.to_vec(), reference(&b, &c));

    let tail = run.report().site("tail");
    assert_eq!((tail.executions(), tail.all(), tail.none(), tail.diverged()), (2, 1, 0, 1));
    assert_eq!((tail.lanes_in(), tail.lanes_taken()), (128, 100));
    let waves = tail.waves();
    assert_eq!([waves[0].counts.diverged, waves[1].counts.diverged], [0, 1]);
    if run.profile() == "release" {
        harness::assert_report_snapshot!(run.report());
    }
    Ok(())
}
