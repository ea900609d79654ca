//! Each kernel against its reference on the host, and the divergence of its branches against figures that follow from the
//! geometry of the launch.
//!
//! Every launch also checks, on the emulator, that the probes changed no byte of memory and that the counters are what the
//! emulator itself saw.

mod backprop;
mod btree;
mod gaussian;
mod hotspot;
mod kmeans;
mod nn;

use harness::{Counts, Run, branch_counts};

/// Whether the compiler optimised: without, `&&` is several branches.
fn optimised(run: &Run) -> bool {
    run.profile() != "dev"
}

/// What a branch must count to which all work-items come, in workgroups of so many: they take it or not.
fn branch(takes: impl IntoIterator<Item = bool>, workgroup: usize, lanes: u32) -> Counts {
    branch_counts(takes.into_iter().map(Some), workgroup, lanes).into_iter().sum()
}

/// Numbers between 0 and 1 that look random, the same each time.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(next).collect()
}

harness::main!();
