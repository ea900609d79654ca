//! Bandwidth of memory by the waves that are there: `gpu-stream` of gpu-benches and its
//! `gpu-stream/mi210.txt`.

use amdgpu_object::CodeObject;
use amdinst_emu::timing::Parameters;

use super::benchmark::{Benchmark, close};
use crate::support::{compile, tools};

/// As there: 32 KiB of LDS a workgroup, so that two fit; one double a work-item.
const SOURCE: &str = include_str!("stream.cl");

/// Workgroups that are there at once.
const RESIDENT: u32 = 208;

/// Gigabytes a second, with workgroups of so many work-items, once the first have gone.
fn bandwidth(object: &CodeObject, kernel: &str, block: u32, streams: u64) -> f64 {
    let mut benchmark = Benchmark::new(object);
    let [a, b, c] = [0; 3].map(|_| benchmark.zeroed(64 << 20));
    let grid = RESIDENT * if block > 512 { 8 } else { 7 };
    let count = u64::from(grid) * u64::from(block);
    let timing = benchmark.launch(kernel, grid, block, &[a, b, c, count, u64::from(block), 0]);
    let waves = (block / 64) as usize;
    let mut ends: Vec<u64> = timing
        .waves
        .chunks(waves)
        .map(|group| group.iter().map(|wave| wave.end).max().unwrap_or(0))
        .collect();
    ends.sort_unstable();
    let (first, last) = (2 * RESIDENT as usize - 1, (grid - RESIDENT) as usize - 1);
    let bytes = streams * 8 * u64::from(block) * (last - first) as u64;
    Parameters::mi210().gigabytes_per_second(bytes, ends[last] - ends[first])
}

#[test]
fn by_waves() {
    if !tools("by_waves") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    // By waves a compute unit: init, read, scale, triad.
    for (waves, measured) in [
        (2, [254.0, 182.0, 253.0, 367.0]),
        (4, [488.0, 334.0, 453.0, 658.0]),
        (8, [908.0, 608.0, 840.0, 1104.0]),
        (32, [1526.0, 1345.0, 1358.0, 1248.0]),
    ] {
        for ((kernel, streams), measured) in
            [("init", 1), ("read", 1), ("scale", 2), ("triad", 3)].into_iter().zip(measured)
        {
            let modelled = bandwidth(&object, kernel, 32 * waves, streams);
            close(&format!("{waves} waves a compute unit, {kernel}"), modelled, measured);
        }
    }
}
