//! LDS that limits occupancy: four configurations of one kernel.

use harness::{Device, Launch as _, LaunchTiming, TestResult};
use matvec::{matvec_128_1, matvec_128_32, matvec_256_1, matvec_256_16, reference};

/// Operations a vector: 16 multiplications and 16 additions.
const OPERATIONS: f64 = 32.0;

/// Workgroups: a few, or with a model enough to fill an MI210 for some time.
fn workgroups(few: u32, many: u32) -> u32 {
    if std::env::var_os("AMDINST_TIMING").is_some() { many } else { few }
}

/// Modelled GFLOP/s, if there is a model; waves that fit on a compute unit are as AMD says.
fn check(timing: Option<&LaunchTiming>, vectors: usize, waves: u32, measured: f64) -> Option<f64> {
    let timing = &timing?.original;
    assert_eq!(timing.occupancy.waves_per_cu, waves, "waves a compute unit");
    let modelled = vectors as f64 * OPERATIONS / timing.seconds / 1e9;
    println!("{waves} waves a compute unit: modeled {modelled:.0} GFLOP/s, measured {measured}");
    Some(modelled)
}

/// Small whole numbers, so that sums are exact.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at % 61) as f32 - 30.0).collect()
}

/// One launch of a configuration: what it computes, and the modelled rate.
macro_rules! configuration {
    ($kernel:ident, $device:expr, $groups:expr, $block:expr, $batch:expr, $waves:expr, $measured:expr) => {{
        let groups: u32 = $groups;
        let vectors = groups as usize * $block * $batch;
        let (matrix, input) = (numbers(16), numbers(4 * vectors));
        let mut output = $device.zeroed(4 * vectors);
        let arguments = (&$device.buffer(&matrix), &$device.buffer(&input), &mut output);
        let run = $kernel.launch($device, groups, $block as u32, arguments)?;
        assert!(output.to_vec() == reference(&matrix, &input), "the products");
        check(run.timing(), vectors, $waves, $measured)
    }};
}

/// AMD measured 55, 93, 1031 and 1039 GFLOP/s. The model has that order, and each within 30 %.
#[harness::test]
fn lds_limits_how_many_waves_fit(device: &Device) -> TestResult {
    let rates = [
        configuration!(matvec_128_32, device, workgroups(2, 208), 128, 32, 2, 55.0),
        configuration!(matvec_256_16, device, workgroups(2, 208), 256, 16, 4, 93.0),
        configuration!(matvec_128_1, device, workgroups(3, 104 * 16 * 16), 128, 1, 32, 1031.0),
        configuration!(matvec_256_1, device, workgroups(3, 104 * 8 * 16), 256, 1, 32, 1039.0),
    ];
    if let [Some(first), Some(second), Some(third), Some(fourth)] = rates {
        assert!(first < second && second < third && third < fourth, "{rates:?}");
        for (rate, measured) in [(first, 55.0), (second, 93.0), (third, 1031.0), (fourth, 1039.0)] {
            assert!((rate / measured - 1.0_f64).abs() <= 0.3, "modeled {rate:.0}, measured {measured}");
        }
    }
    Ok(())
}

harness::main!();
