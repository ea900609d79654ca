//! What kernels print: whole lines, in order, and no more than there is room for.

use features::printing::greet;
use harness::{Device, Launch as _, TestResult};

#[harness::test]
fn lines_come_in_order(device: &Device) -> TestResult {
    let values: Vec<f32> = (0..256).map(|i| i as f32 / 3.0).collect();
    let run = greet.launch(device, 2, 128, (&device.buffer(&values), 0))?;
    let size = greet.wave_size(device)?;
    let first = |i: &u32| i % size < 2;
    let expected = (0..256).filter(first).map(|i| {
        let (group, value) = (i / 128, values[i as usize]);
        ([group, 0, 0], [i % 128, 0, 0], format!("{i} of 256: Some({group}) {value:.2}"))
    });
    let mut found: Vec<_> =
        run.printed().iter().map(|line| (line.workgroup, line.item, line.text.clone())).collect();
    // Of the waves of one workgroup, any may be the first.
    found.sort();
    assert_eq!(found, expected.collect::<Vec<_>>());
    // What was told is not told again.
    let run = greet.launch(device, 1, 1, (&device.buffer(&values), 1))?;
    let texts: Vec<_> = run.printed().iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["0 of 256: Some(0) 0.00", "    0|0    |xxxxxxxxxxxxxxxxxxxx"]);
    Ok(())
}

/// 32 lanes of one wave print 66 lines of 60 bytes: more than 65,536 bytes. Of several waves it would depend on their turns which finds room.
#[harness::test]
fn there_is_an_end(device: &Device) -> TestResult {
    let values = device.buffer(&[0.0_f32; 64]);
    let run = greet.launch(device, 1, 32, (&values, 66))?;
    let size = |text: &str| 28 + text.len().next_multiple_of(4);
    let taken: usize = run.printed().iter().map(|line| size(&line.text)).sum();
    assert!((65_536 - 60..=65_536).contains(&taken), "{taken}");
    Ok(())
}
