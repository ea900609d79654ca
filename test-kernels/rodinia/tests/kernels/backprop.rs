//! Two passes of a network, 16 by 16 work-items a workgroup: a wave is four rows of 16.

use harness::{Device, Launch as _, TestResult};
use rodinia::layer_forward::{HIDDEN, ROW, layer_forward};
use rodinia::{adjust_weights, layer_forward as forward};

use crate::{numbers, optimised};

/// Input units, so workgroups of four waves: `UNITS / 16`.
const UNITS: usize = 64;
const WORKGROUPS: u64 = (UNITS / HIDDEN) as u64;

/// A workgroup's halving, by steps of its four waves:
///
/// | rows added to | waves | lanes of each |
/// |---|---|---|
/// | even | 4 diverge | 32 |
/// | 0, 4, 8, 12 | 4 diverge | 16 |
/// | 0, 8 | 2 diverge, 2 none | 16 |
/// | 0 | 1 diverges, 3 none | 16 |
#[harness::test]
fn a_layer_is_summed_up_by_fewer_lanes_each_step(device: &Device) -> TestResult {
    let input = numbers(UNITS + 1, 1);
    let weights = numbers(ROW * (UNITS + 1), 2);
    let mut new = device.buffer(&weights);
    let mut partial = device.zeroed(UNITS);
    let arguments = (&device.buffer(&input), &mut new, &mut partial);
    let run = layer_forward.launch(device, (1, WORKGROUPS as u32), (16, 16), arguments)?;
    assert_eq!((new.to_vec(), partial.to_vec()), forward::reference(&input, &weights));

    let halve = run.report().site("halve");
    // Without optimisation, all lanes also pass the check that `%` divides by something.
    let checks = if optimised(&run) { 0 } else { 16 * WORKGROUPS };
    assert_eq!((halve.all(), halve.none(), halve.diverged()), (checks, 5 * WORKGROUPS, 11 * WORKGROUPS));
    assert_eq!(halve.lanes_taken(), (4 * 32 + 4 * 16 + 2 * 16 + 16) * WORKGROUPS + 64 * checks);
    // One lane of each row.
    for name in ["input", "sums"] {
        let column = run.report().site(name);
        assert_eq!((column.executions(), column.diverged()), (4 * WORKGROUPS, 4 * WORKGROUPS), "{name}");
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
        let bias = run.report().site("bias");
        assert_eq!((bias.diverged(), bias.lanes_taken()), (1, 16));
    }
    Ok(())
}
