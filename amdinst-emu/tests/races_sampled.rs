//! Launches that are looked through for races only in part, and races that are none if both accesses are
//! atomic.

mod support;

use std::sync::LazyLock;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, FaultKind, Launch, Sampled, Unmarked};

use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/races_sampled.cl");

static OBJECT: LazyLock<CodeObject> = LazyLock::new(|| compile(SOURCE, "gfx90a", "-O2"));

/// Workgroups of all launches.
const GROUPS: u32 = 256;

struct Outcome {
    result: Result<Execution, Fault>,
    out: Vec<u32>,
}

fn launch(config: &Config, kernel: &str, n: u32, threads: usize) -> Outcome {
    launch_groups(GROUPS, config, kernel, n, threads)
}

fn launch_groups(groups: u32, config: &Config, kernel: &str, n: u32, threads: usize) -> Outcome {
    let mut device = Device::with(&OBJECT, config.clone());
    let out = device.buffer("out", &vec![0u32; 64 + 128 * GROUPS as usize]);
    let input = device.buffer("in", &(0..64).map(|i| i * 77).collect::<Vec<u32>>());
    let kernarg = [&out.to_le_bytes()[..], &input.to_le_bytes(), &n.to_le_bytes(), &[0; 256]].concat();
    let launch = Launch { grid: [groups, 1, 1], block: [128, 1, 1], kernarg, threads, ..Launch::new(kernel) };
    let result = device.machine.launch(&device.program, &launch);
    Outcome { result, out: device.u32s(out, 64 + 128 * GROUPS as usize) }
}

fn config(check: bool, thorough: bool, strict: bool) -> Config {
    let mut config = Config::default();
    config.check_races = check;
    config.thorough = thorough;
    config.unmarked = Unmarked::checked(strict);
    config
}

/// Rounds of `work` that make a launch too long to be looked through.
const LONG: u32 = 2 * GROUPS;
/// Workgroups and rounds of a launch that is not.
const FEW: u32 = 32;
const SHORT: u32 = 4;

#[test]
fn a_long_launch_is_looked_at_in_part_and_says_so() {
    if !tools("a_long_launch_is_looked_at_in_part_and_says_so") {
        return;
    }
    for kernel in ["here", "bytes"] {
        for (groups, n, in_part) in [(GROUPS, LONG, true), (FEW, SHORT, false)] {
            let launch = |config, threads| launch_groups(groups, &config, kernel, n, threads);
            let plain = launch(config(false, false, true), 1);
            let all = launch(config(true, true, true), 1);
            assert_eq!(all.result.expect(kernel).sampled, None, "{kernel}: all that is asked for");
            let looked = [1, 2].map(|threads| launch(config(true, false, true), threads));
            for outcome in &looked {
                let execution = outcome.result.as_ref().expect(kernel);
                assert_eq!(outcome.out, plain.out, "{kernel}: memory is as the whole launch leaves it");
                match execution.sampled {
                    None => assert!(!in_part, "{kernel}"),
                    Some(Sampled { workgroups, of }) => {
                        assert!(in_part && (2..200).contains(&workgroups), "{kernel}: {workgroups} of {of}");
                        assert_eq!(of, u64::from(groups));
                    }
                }
            }
            let [one, two] = looked.map(|outcome| outcome.result.expect(kernel));
            assert_eq!((one.sampled, one.doubts), (two.sampled, two.doubts), "{kernel}: on two threads");
        }
    }
}

#[test]
fn races_of_a_long_launch_are_found() {
    if !tools("races_of_a_long_launch_are_found") {
        return;
    }
    // A load of what another workgroup writes is no atomic unless it passes the cache, so it need not be
    // taken for a plain one.
    for (kernel, strict) in
        [("neighbours", false), ("neighbours", true), ("last", false), ("last", true), ("in_lds", true)]
    {
        let all = launch(&config(true, true, strict), kernel, LONG, 1).result.expect_err(kernel);
        let some = [1, 2].map(|threads| launch(&config(true, false, strict), kernel, LONG, threads));
        for outcome in some {
            let fault = outcome.result.expect_err(kernel);
            assert!(matches!(fault.kind, FaultKind::Race { certain: true, .. }), "{kernel}: {fault}");
            assert_eq!((fault.pc, &fault.kind), (all.pc, &all.kind), "{kernel}");
        }
    }
}

/// What a workgroup does that waits for one which does not run is none of its faults.
#[test]
fn a_workgroup_that_waits_for_another_does_not_stop_it() {
    if !tools("a_workgroup_that_waits_for_another_does_not_stop_it") {
        return;
    }
    let plain = launch(&config(false, false, true), "chain", LONG, 1);
    let looked = launch(&config(true, false, true), "chain", LONG, 1);
    let execution = looked.result.expect("no race: what is read orders it");
    assert!(execution.sampled.is_some_and(|sampled| sampled.workgroups < sampled.of), "{execution:?}");
    assert_eq!(looked.out, plain.out);
}

/// A workgroup that clashes with itself too often for a look at all of it has been looked at in part: nobody
/// has stopped the launch.
#[test]
fn a_workgroup_that_is_too_long_for_a_look_comes_to_its_end() {
    if !tools("a_workgroup_that_is_too_long_for_a_look_comes_to_its_end") {
        return;
    }
    for (groups, n) in [(1, 2000), (20, 2000)] {
        for threads in [1, 2] {
            let looked = launch_groups(groups, &config(true, false, false), "flag", n, threads);
            let sampled = looked.result.expect("all store one value").sampled;
            assert!(sampled.is_some_and(|sampled| sampled.workgroups < sampled.of), "{sampled:?}");
            assert_eq!(looked.out[0], 7);
        }
        let all = launch_groups(groups, &config(true, true, false), "flag", n, 1);
        assert_eq!(all.result.expect("all store one value").sampled, None);
    }
}

#[test]
fn what_may_be_atomic_is_told_apart() {
    if !tools("what_may_be_atomic_is_told_apart") {
        return;
    }
    for thorough in [false, true] {
        for (kernel, lanes) in [("relaxed", false), ("lanes", true)] {
            // Taken for plain ones.
            let strict = launch(&config(true, thorough, true), kernel, SHORT, 1).result.expect_err(kernel);
            assert!(!strict.to_string().contains("unless"), "{strict}");
            let word = if lanes { "lane-race" } else { "race" };
            assert_eq!(strict.kind.word(), word);
            // The launch comes to its end else, and each pair of instructions is told once.
            let plain = launch(&config(false, thorough, false), kernel, SHORT, 1);
            let outcome = launch(&config(true, thorough, false), kernel, SHORT, 2);
            let doubts = outcome.result.expect(kernel).doubts;
            assert_eq!(outcome.out[64..], plain.out[64..], "{kernel}");
            assert_eq!(doubts.len(), 1, "{doubts:?}");
            assert_eq!((doubts[0].kind.word(), doubts[0].pc), ("atomicity-unknown", strict.pc));
            let unless =
                if lanes { "(unless the access is atomic)" } else { "(unless both accesses are atomic)" };
            let told = doubts[0].to_string();
            assert!(
                told.contains(&format!("data race {unless} in global memory: write of 4 bytes")),
                "{told}"
            );
            // It is meant.
            for place in [kernel, "elsewhere"] {
                let mut config = config(true, thorough, true);
                config.allowed = vec![place.to_owned()];
                assert_eq!(launch(&config, kernel, SHORT, 1).result.is_ok(), place == kernel, "{place}");
            }
        }
        // As wide as no atomic is.
        let fault = launch(&config(true, thorough, false), "wide", SHORT, 1).result.expect_err("a race");
        assert!(matches!(fault.kind, FaultKind::Race { certain: true, size: 16, .. }), "{fault}");
    }
}
