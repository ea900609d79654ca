//! Workgroups that share LDS and meet at barriers.

use harness::{Counts, Device, Launch as _, TestResult};
use test_kernels::opposite::{self, opposite};
use test_kernels::reduce::{reduce, reference};

use crate::{branches, optimised};

/// Two workgroups of 256. `half` goes 128, 64, 32, …, 1: eight steps, in each of which so many work-items go on.
#[harness::test]
fn a_reduction_idles_more_lanes_each_step(device: &Device) -> TestResult {
    let input: Vec<u32> = (0..512_u32).map(|i| i.wrapping_mul(2_246_822_519)).collect();
    let mut sums = device.zeroed(2);
    let run = reduce.launch(device, 2, 256, (&device.buffer(&input), &mut sums))?;
    assert_eq!(sums.to_vec(), reference(&input, 256));

    let lanes = reduce.wave_size(device)?;
    let below = |end: u32| branches((0..512).map(move |i| Some(i % 256 < end)), 256, lanes);
    let steps = [128, 64, 32, 16, 8, 4, 2, 1].map(below);
    let expected: Counts = steps.into_iter().sum();
    let half = run.report().branch("half");
    assert_eq!(
        (half.executions(), half.all(), half.none(), half.diverged()),
        (expected.executions, expected.all, expected.none, expected.diverged)
    );
    if optimised(&run) {
        assert_eq!((half.lanes_in(), half.lanes_taken()), (8 * 512, 2 * 255));
        // One lane of the first wave of each workgroup.
        let first = run.report().branch("first");
        let expected = below(1);
        assert_eq!(
            (first.executions(), first.none(), first.diverged(), first.lanes_taken()),
            (expected.executions, expected.none, 2, 2)
        );
    }
    if run.profile() == "release" {
        harness::assert_report_snapshot!(run.report());
    }
    Ok(())
}

/// 100 elements and 192 work-items: of the waves some have all their lanes, one some, others none. Each comes to as many barriers as the
/// others, which it would not if a compiler drew one into the branches beside it, and each branch is met once a round.
#[harness::test]
fn barriers_stay_between_branches(device: &Device) -> TestResult {
    let mut expected: Vec<u32> = (0..100_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut values = device.buffer(&expected);
    let run = opposite.launch(device, 1, 192, (&mut values, 100, 5))?;
    opposite::reference(&mut expected, 5);
    assert_eq!(values.to_vec(), expected);

    let round = branches((0..192).map(|i| Some(i < 100)), 192, opposite.wave_size(device)?);
    for name in ["offer", "take"] {
        let branch = run.report().branch(name);
        assert_eq!(
            (branch.executions(), branch.all(), branch.none(), branch.diverged()),
            (5 * round.executions, 5 * round.all, 5 * round.none, 5 * round.diverged),
            "{name}"
        );
    }
    Ok(())
}
