//! One input, one result, whatever the number of threads: of launches whose workgroups race by plain loads
//! and stores, too, where it is asked for.

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Launch};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/order.cl");

fn deterministic() -> Config {
    let mut config = Config::default();
    (config.deterministic, config.tells_clashes) = (true, true);
    config
}

/// What is in memory after a launch, and whether workgroups clash.
fn launched(object: &CodeObject, kernel: &str, threads: usize, config: &Config) -> (Vec<u32>, bool) {
    let mut device = Device::with(object, config.clone());
    let p = device.buffer("p", &vec![5u32; 64 * 400]);
    let launch =
        Launch { grid: [300, 1, 1], threads, kernarg: p.to_le_bytes().to_vec(), ..Launch::new(kernel) };
    let execution = device.machine.launch(&device.program, &launch).expect("it ends");
    (device.u32s(p, 64 * 400), execution.clash)
}

#[test]
fn racing_workgroups_give_one_result_if_asked_to() {
    if !tools("racing_workgroups_give_one_result_if_asked_to") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    let plain = Config::default();
    let mut deterministic = deterministic();
    for (kernel, clash) in [
        ("last", true),
        ("mix", true),
        ("sum", true),
        ("flag", true),
        ("counted", false),
        ("two_kinds", false),
        ("two_widths", false),
        ("in_place", false),
    ] {
        let expected = launched(&object, kernel, 1, &plain).0;
        for threads in [1, 2, 3, 8] {
            for _ in 0..3 {
                let (memory, found) = launched(&object, kernel, threads, &deterministic);
                assert!(memory == expected, "{kernel} with {threads} threads");
                assert_eq!(found, clash, "{kernel} with {threads} threads");
            }
        }
    }
    // A check for races, where what passes the cache is none.
    deterministic.check_races = true;
    for kernel in ["flag", "counted", "in_place"] {
        let expected = launched(&object, kernel, 1, &plain).0;
        for threads in [1, 2, 8] {
            assert!(launched(&object, kernel, threads, &deterministic).0 == expected, "{kernel}, {threads}");
        }
    }
}

/// A kernel may keep the addresses of what the runtime places for it, and a message may name them: they are
/// the same in a launch that is run again, and in the launch after it.
#[test]
fn addresses_are_those_of_one_thread() {
    if !tools("addresses_are_those_of_one_thread") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    for races in [false, true] {
        for kernel in ["places", "own_places", "astray"] {
            let outcomes = [1, 2, 8].map(|threads| {
                let mut config = deterministic();
                config.check_races = races;
                let mut device = Device::with(&object, config);
                let p = device.buffer("p", &[0u64; 2 * 300]);
                let launch = Launch {
                    grid: [300, 1, 1],
                    threads,
                    kernarg: p.to_le_bytes().to_vec(),
                    ..Launch::new(kernel)
                };
                let mut told = Vec::new();
                for _ in 0..3 {
                    let ended = device.machine.launch(&device.program, &launch);
                    let ended = ended.map(|_| device.u64s(p, 2 * 300));
                    told.push(ended.map_err(|fault| fault.to_string()));
                }
                told
            });
            let [alone, others @ ..] = &outcomes;
            assert!(others.iter().all(|other| other == alone), "{kernel}, races {races}: {outcomes:x?}");
            assert_eq!(alone[0].is_err(), kernel == "astray", "{kernel}, races {races}");
            if alone[0].is_ok() {
                assert_ne!(alone[0], alone[1], "launches have addresses of their own");
            }
        }
    }
}

/// What the runtime places is written, so a kernel that keeps its address depends on nothing unwritten.
#[test]
fn addresses_are_those_of_the_launch_that_is_compared() {
    if !tools("addresses_are_those_of_the_launch_that_is_compared") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    let mut device = Device::with(&object, Config::default());
    let p = device.buffer("p", &[0u64; 2 * 300]);
    let launch = Launch { grid: [300, 1, 1], kernarg: p.to_le_bytes().to_vec(), ..Launch::new("own_places") };
    let before = device.machine.snapshot();
    let execution = device.machine.launch(&device.program, &launch).expect("a launch");
    let found = device.machine.find_unwritten(&device.program, &launch, &execution, &before);
    assert_eq!(found, Ok(None));
}
