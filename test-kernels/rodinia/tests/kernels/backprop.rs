//! Two passes of a network, 16 by 16 work-items a workgroup: a wave is some rows of 16.

use harness::{Counts, Device, Launch as _, TestResult};
use rodinia::layer_forward::{HIDDEN, ROW, layer_forward};
use rodinia::{adjust_weights, layer_forward as forward};

use crate::{branch, numbers, optimised};

/// Input units, so workgroups: `UNITS / 16`.
const UNITS: usize = 64;
const WORKGROUPS: u64 = (UNITS / HIDDEN) as u64;

/// A workgroup halves in four steps: every second row is added to, then every fourth, eighth and sixteenth.
#[harness::test]
fn a_layer_is_summed_up_by_fewer_lanes_each_step(device: &Device) -> TestResult {
    let input = numbers(UNITS + 1, 1);
    let weights = numbers(ROW * (UNITS + 1), 2);
    let mut new = device.buffer(&weights);
    let mut partial = device.zeroed(UNITS);
    let arguments = (&device.buffer(&input), &mut new, &mut partial);
    let run = layer_forward.launch(device, (1, WORKGROUPS as u32), (16, 16), arguments)?;
    assert_eq!((new.to_vec(), partial.to_vec()), forward::reference(&input, &weights));

    let halve = run.report().branch("halve");
    // Without optimisation, all lanes also pass the check that `%` divides by something.
    let lanes = layer_forward.wave_size(device)?;
    let waves = 256 / u64::from(lanes) * WORKGROUPS;
    let items = 256 * WORKGROUPS as usize;
    let step = |every: usize| branch((0..items).map(|i| (i / 16).is_multiple_of(every)), 256, lanes);
    let steps: Counts = [2, 4, 8, 16].map(step).into_iter().sum();
    let checks = if optimised(&run) { 0 } else { 4 * waves };
    assert_eq!(
        (halve.all(), halve.none(), halve.diverged()),
        (steps.all + checks, steps.none, steps.diverged)
    );
    assert_eq!(halve.lanes_taken(), steps.lanes_taken + u64::from(lanes) * checks);
    // One lane of each row.
    for name in ["input", "sums"] {
        let column = run.report().branch(name);
        assert_eq!((column.executions(), column.diverged()), (waves, waves), "{name}");
        assert_eq!(column.lanes_taken(), 16 * WORKGROUPS, "{name}");
    }
    Ok(())
}

/// The bias row is the business of one row of one wave of workgroup 0.
#[harness::test]
fn one_wave_of_all_moves_the_bias(device: &Device) -> TestResult {
    let (delta, units) = (numbers(ROW, 3), numbers(UNITS + 1, 4));
    let (weights, old) = (numbers(ROW * (UNITS + 1), 5), numbers(ROW * (UNITS + 1), 6));
    let (mut new, mut moves) = (device.buffer(&weights), device.buffer(&old));
    let arguments = (&device.buffer(&delta), &device.buffer(&units), &mut new, &mut moves);
    let run = adjust_weights::adjust_weights.launch(device, (1, WORKGROUPS as u32), (16, 16), arguments)?;
    assert_eq!((new.to_vec(), moves.to_vec()), adjust_weights::reference(&delta, &units, &weights, &old));

    if optimised(&run) {
        let bias = run.report().branch("bias");
        assert_eq!((bias.diverged(), bias.lanes_taken()), (1, 16));
    }
    Ok(())
}
