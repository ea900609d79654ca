//! Kernels against their references on the host, and the divergence of their branches against figures that are derived
//! by hand or counted on the host.
//!
//! Every launch also checks, on the emulator, that the probes changed no byte of memory and that the counters are what the
//! emulator itself saw; so each test holds at every level of optimisation and for every counter home. Figures are
//! asserted where the compiler keeps the branch as it was written: not at `opt-level = 0`, where it splits `&&` and `||`
//! and keeps what it selects elsewhere.

mod branches;
mod flags;
mod formats;
mod functions;
mod integers;
mod lanes;
mod lds;
mod loops;
mod selects;
mod sort;
mod two_dimensional;
mod vector_add;

use harness::{Counts, Run, branch_counts};

/// Whether the compiler optimised.
fn optimised(run: &Run) -> bool {
    run.profile() != "dev"
}

/// The sum of [`branch_counts`].
fn branches(items: impl IntoIterator<Item = Option<bool>>, workgroup: usize, lanes: u32) -> Counts {
    branch_counts(items, workgroup, lanes).into_iter().sum()
}

/// What the exit of a loop must count when work-item `i` runs the body `trips[i]` times, at least once each, by waves of so many lanes.
///
/// Each wave goes on until its slowest lane is done. Lanes with the same number leave together, so there are as many
/// departures as there are different numbers, and each but the last leaves some behind: it diverges. Between departures
/// all lanes go on. A compiler may test before the body or after it; before, each wave executes the test once more, with
/// all lanes going on. `executions` and `all` are those of the test after the body.
fn loop_exit(trips: &[u32], lanes: u32) -> Vec<Counts> {
    let wave = |trips: &[u32]| {
        let departures: std::collections::BTreeSet<u32> = trips.iter().copied().collect();
        let executions = u64::from(trips.iter().copied().max().unwrap_or(0));
        let departures = departures.len() as u64;
        let lanes_in: u64 = trips.iter().map(|&trips| u64::from(trips)).sum();
        Counts {
            executions,
            all: executions - departures,
            none: 1,
            diverged: departures - 1,
            lanes_in,
            lanes_taken: lanes_in - trips.len() as u64,
        }
    };
    trips.chunks(lanes as usize).map(wave).collect()
}

/// Asserts that the exits of the loop with the probe `name` counted what [`loop_exit`] says, wave by wave.
#[track_caller]
fn assert_loop_exit(run: &Run, name: &str, trips: &[u32], lanes: u32) {
    let waves = run.report().branch(name).of_kind("loop-exit").waves();
    let expected = loop_exit(trips, lanes);
    assert_eq!(waves.len(), expected.len(), "waves that came to the loop");
    for (of_wave, (wave, expected)) in trips.chunks(lanes as usize).zip(waves.iter().zip(expected)) {
        let counted = wave.counts;
        assert_eq!(counted.diverged, expected.diverged, "{}", wave.id);
        assert_eq!(counted.none, expected.none, "{}", wave.id);
        // The test stands before the body: once more, all go on.
        let before = Counts {
            executions: expected.executions + 1,
            all: expected.all + 1,
            lanes_in: expected.lanes_in + of_wave.len() as u64,
            lanes_taken: expected.lanes_taken + of_wave.len() as u64,
            ..expected
        };
        assert!(counted == expected || counted == before, "{}: {counted:?} is not {expected:?}", wave.id);
    }
}

harness::main!();
