//! Bandwidth of vL1D, and of L2 by way of it: `gpu-cache` and `gpu-strides` of gpu-benches, with their
//! results.

use super::benchmark::{Benchmark, close};
use crate::support::{compile, tools};

/// As there: each work-item sums vectors of four floats; or floats at a stride, at eight offsets.
const SOURCE: &str = include_str!("vector_cache.cl");

#[test]
fn bandwidth() {
    if !tools("bandwidth") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O3");
    // Kilobytes, and gigabytes a second that were measured, of 104 compute units at 1.7 GHz.
    for (kilobytes, passes, measured) in [(4, 4, 10566.5), (128, 4, 5144.4), (1024, 1, 4903.5)] {
        let mut benchmark = Benchmark::new(&object);
        let bytes = kilobytes * 1024;
        let input = benchmark.zeroed(bytes + 4096);
        // Each round takes four kilobytes, all the same if there are no more.
        let (rounds, step) = if kilobytes == 4 { (32, 0) } else { (kilobytes / 4, 256) };
        // The time of more passes less that of fewer: without what a launch takes, and with full caches.
        let mut time =
            |passes: u64| benchmark.launch("sum", 104, 256, &[input, input, rounds, step, passes]).cycles;
        time(passes);
        let cycles = time(2 * passes) - time(passes);
        let modelled = (4096 * rounds * passes) as f64 / cycles as f64;
        close(&format!("{kilobytes} kB"), modelled, measured / 104.0 / 1.7);
    }
}

#[test]
fn strides() {
    if !tools("strides") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    for (stride, measured) in [
        (0, 4.36),
        (1, 4.36),
        (2, 32.2),
        (3, 16.2),
        (4, 64.4),
        (5, 28.2),
        (7, 28.2),
        (8, 64.4),
        (12, 64.4),
        (13, 28.2),
        (15, 48.4),
        (16, 64.4),
        (18, 32.2),
    ] {
        let mut benchmark = Benchmark::new(&object);
        let input = benchmark.zeroed(1 << 16);
        // One workgroup of sixteen waves.
        let mut time =
            |rounds: u64| benchmark.launch("strided", 1, 1024, &[input, input, rounds, 0, stride]).cycles;
        let cycles = time(40) - time(20);
        close(&format!("stride {stride}"), cycles as f64 / (20.0 * 8.0 * 16.0), measured);
    }
}
