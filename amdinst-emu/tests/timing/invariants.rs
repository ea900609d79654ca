//! What must hold of every dispatch, whatever the constants are.

use amdinst_emu::timing::{Parameters, Stall, Timing, simulate};
use amdinst_emu::{Config, Launch};

use crate::support::{Device, compile, random, tools};

const SOURCE: &str = include_str!("invariants.cl");

const GROUPS: u32 = 300;

/// The kernel of barriers, LDS, divergence and atomics: how long it takes, and what it leaves.
fn scan(timed: bool) -> (Option<Timing>, Vec<u32>, Vec<u32>) {
    let mut device = Device::new(SOURCE, "gfx90a", "-O2");
    let count = GROUPS as usize * 256;
    let input: Vec<u32> = random(count, 3).into_iter().map(|value| value as u32).collect();
    let (out, input) = (device.buffer("out", &vec![0u32; count]), device.buffer("in", &input));
    let bins = device.buffer("bins", &[0u32; 16]);
    let timing = if timed {
        let launch = Launch {
            grid: [GROUPS, 1, 1],
            block: [256, 1, 1],
            kernarg: [out, input, bins].iter().flat_map(|argument| argument.to_le_bytes()).collect(),
            ..Launch::new("scan")
        };
        let parameters = Parameters::mi210();
        Some(simulate(&mut device.machine, &device.program, &launch, &parameters).expect("simulating"))
    } else {
        device.launch("scan", GROUPS, 256, &[out, input, bins]).expect("launching");
        None
    };
    (timing, device.u32s(out, count), device.u32s(bins, 16))
}

#[test]
fn computes_what_the_emulator_does_and_accounts_for_every_cycle() {
    if !tools("computes_what_the_emulator_does_and_accounts_for_every_cycle") {
        return;
    }
    let (_, out, bins) = scan(false);
    let (timing, timed_out, timed_bins) = scan(true);
    assert!(out == timed_out && bins == timed_bins, "memory is the emulator's");
    let timing = timing.expect("a timing");
    assert_eq!(timing.waves.len(), GROUPS as usize * 4);
    let resident: u64 = timing.waves.iter().map(|wave| wave.residency()).sum();
    assert_eq!(timing.breakdown.total(), resident, "every cycle of every wave has a cause");
    assert_eq!(timing.breakdown.issue, 4 * timing.wave_instructions);
    let executions: u64 = timing.instructions.iter().map(|instruction| instruction.executions).sum();
    assert_eq!(executions, timing.wave_instructions);
    for stall in [Stall::Barrier, Stall::VectorMemory, Stall::Lds, Stall::ScalarMemory, Stall::Branch] {
        assert!(timing.breakdown.of(stall) > 0, "{}", stall.name());
    }
    assert_eq!(Some(timing), scan(true).0, "one input, one result");
}

/// A clock that a kernel reads is the model's.
#[test]
fn kernels_read_the_models_clock() {
    if !tools("kernels_read_the_models_clock") {
        return;
    }
    let mut device = Device::new(SOURCE, "gfx90a", "-O2");
    let (out, input) = (device.buffer("out", &[0u64; 128]), device.buffer("in", &[1u32; 64]));
    let kernarg = [out, input].iter().flat_map(|argument| argument.to_le_bytes()).collect();
    let launch = Launch { grid: [4, 1, 1], kernarg, ..Launch::new("clock") };
    let timing =
        simulate(&mut device.machine, &device.program, &launch, &Parameters::mi210()).expect("simulating");
    for (read, wave) in device.u64s(out, 4).into_iter().zip(&timing.waves) {
        assert!(read >= 640 && read <= wave.residency(), "{read} of {}", wave.residency());
    }
}

/// 64 KiB of LDS a workgroup: one at a time on each compute unit.
#[test]
fn resources_limit_what_is_resident() {
    if !tools("resources_limit_what_is_resident") {
        return;
    }
    let mut device = Device::with(&compile(SOURCE, "gfx90a", "-O2"), Config::default());
    let out = device.buffer("out", &vec![0u32; 300 * 128]);
    let launch = Launch {
        grid: [300, 1, 1],
        block: [128, 1, 1],
        kernarg: out.to_le_bytes().to_vec(),
        ..Launch::new("heavy")
    };
    let timing =
        simulate(&mut device.machine, &device.program, &launch, &Parameters::mi210()).expect("simulating");
    assert_eq!(timing.occupancy.waves_per_cu, 2);
    assert!(timing.achieved <= 2.0 / 32.0, "{}", timing.achieved);
    for (at, pair) in timing.waves.chunks(2).enumerate() {
        let others = timing.waves.chunks(2).enumerate().filter(|(other, _)| *other != at);
        for (_, other) in others.filter(|(_, other)| other[0].compute_unit == pair[0].compute_unit) {
            let (start, end) = (pair[0].start, pair[0].end.max(pair[1].end));
            assert!(other[0].start >= end || start >= other[0].end.max(other[1].end), "workgroup {at}");
        }
    }
}
