//! Pointer chases: `gpu-latency` of gpu-benches, whose results are in its `gpu-latency/mi210.txt`.

use super::benchmark::{Benchmark, close};
use crate::support::{compile, random, tools};

/// As there: one wave, each step the load of the next address, from a cycle through all lines in random
/// order.
const SOURCE: &str = include_str!("latency.cl");

/// Cycles a step through so many bytes, by lines of 64 bytes; of so many steps, after L2 has seen them.
fn cycles(kilobytes: u64, steps: u64, warm: bool) -> f64 {
    let mut benchmark = Benchmark::new(&compile(SOURCE, "gfx90a", "-O2"));
    let lines = kilobytes * 1024 / 64;
    let buffer = benchmark.zeroed(lines * 64);
    // A cycle through random lines, as long as the chase, or through all.
    let count = lines.min(steps);
    let mut order: Vec<u64> = (0..count).map(|at| at * (lines / count)).collect();
    let draws = random(order.len(), kilobytes);
    for at in (1..order.len()).rev() {
        order.swap(at, (draws[at] % (at as u64 + 1)) as usize);
    }
    let first = order.iter().position(|&line| line == 0).expect("line 0");
    order.rotate_left(first);
    for (at, line) in order.iter().enumerate() {
        let next = buffer + 64 * order[(at + 1) % order.len()];
        benchmark.device.machine.write(buffer + 64 * line, &next.to_le_bytes()).expect("writing");
    }
    if warm {
        benchmark.launch("chase", 1, 64, &[buffer, buffer, steps, 12313]);
    }
    let timing = benchmark.launch("chase", 1, 64, &[buffer, buffer, steps, 12313]);
    timing.cycles as f64 / steps as f64
}

#[test]
fn vector_l1() {
    if tools("vector_l1") {
        close("8 kB", cycles(8, 16_000, true), 125.1);
        close("15 kB", cycles(15, 16_000, true), 125.2);
    }
}

#[test]
fn l2() {
    if tools("l2") {
        for (kilobytes, measured) in [(62, 237.5), (216, 236.8), (1029, 241.3), (2686, 247.7)] {
            let steps = kilobytes * 16;
            close(&format!("{kilobytes} kB"), cycles(kilobytes, steps, true), measured);
        }
    }
}

/// L2 holds less of what is nearly as large as it is, and some of what is larger. Its steps are counted once
/// all of it has been seen.
#[test]
fn l2_capacity() {
    if tools("l2_capacity") {
        for (kilobytes, measured) in
            [(4333, 267.5), (5770, 293.6), (6984, 343.1), (8453, 420.9), (10_230, 503.7), (13_620, 573.9)]
        {
            close(&format!("{kilobytes} kB"), cycles(kilobytes, kilobytes * 16, true), measured);
        }
    }
}

#[test]
fn hbm() {
    if tools("hbm") {
        for (kilobytes, measured) in
            [(16_482, 573.4), (56_926, 570.0), (125_026, 628.6), (340_388, 656.9), (926_711, 669.8)]
        {
            close(&format!("{kilobytes} kB"), cycles(kilobytes, 8_000, false), measured);
        }
    }
}
