//! Workgroups that share LDS and meet at barriers.

use harness::{Device, Launch as _, TestResult};
use test_kernels::opposite::{self, opposite};
use test_kernels::reduce::{reduce, reference};

use crate::optimised;

/// Two workgroups of 256, four waves each. `half` goes 128, 64, 32, …, 1: eight steps of eight waves.
///
/// | step | wave 0 | wave 1 | waves 2, 3 |
/// |---|---|---|---|
/// | 128 | all | all | none |
/// | 64 | all | none | none |
/// | 32 … 1 (six) | diverged | none | none |
///
/// A workgroup: 3 all, 6 diverged, 32 - 9 = 23 none; lanes kept 128 + 64 + … + 1 = 255.
#[harness::test]
fn a_reduction_idles_more_lanes_each_step(device: &Device) -> TestResult {
    let input: Vec<u32> = (0..512_u32).map(|i| i.wrapping_mul(2_246_822_519)).collect();
    let mut sums = device.zeroed(2);
    let run = reduce.launch(device, 2, 256, (&device.buffer(&input), &mut sums))?;
    assert_eq!(sums.to_vec(), reference(&input, 256));

    let half = run.report().site("half");
    assert_eq!((half.executions(), half.all(), half.none(), half.diverged()), (64, 6, 46, 12));
    if optimised(&run) {
        assert_eq!((half.lanes_in(), half.lanes_taken()), (64 * 64, 2 * 255));
        // One lane of the first wave of each workgroup.
        let first = run.report().site("first");
        assert_eq!((first.executions(), first.none(), first.diverged(), first.lanes_taken()), (8, 6, 2, 2));
    }
    if run.profile() == "release" {
        harness::assert_report_snapshot!(run.report());
    }
    Ok(())
}

/// 100 elements and three waves: one has all its lanes, one 36, one none. Each comes to as many barriers as the others, which
/// it would not if a compiler drew one into the branches beside it, and each branch is met once a round.
#[harness::test]
fn barriers_stay_between_branches(device: &Device) -> TestResult {
    let mut expected: Vec<u32> = (0..100_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut values = device.buffer(&expected);
    let run = opposite.launch(device, 1, 192, (&mut values, 100, 5))?;
    opposite::reference(&mut expected, 5);
    assert_eq!(values.to_vec(), expected);

    for name in ["offer", "take"] {
        let branch = run.report().site(name);
        assert_eq!(
            (branch.executions(), branch.all(), branch.none(), branch.diverged()),
            (15, 5, 5, 5),
            "{name}"
        );
    }
    Ok(())
}
