//! One input, one result, whatever the number of threads: of launches whose workgroups race by plain loads and stores, too, where it is
//! asked for.

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Launch};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/order.cl");

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
    let mut deterministic = Config::default();
    deterministic.deterministic = true;
    for (kernel, clash) in [
        ("last", true),
        ("mix", true),
        ("sum", true),
        ("flag", true),
        ("counted", false),
        ("in_place", false),
    ] {
        let expected = launched(&object, kernel, 1, &plain).0;
        for threads in [1, 2, 3, 8] {
            for _ in 0..3 {
                let (memory, found) = launched(&object, kernel, threads, &deterministic);
                assert!(memory == expected, "{kernel} with {threads} threads");
                // One thread takes workgroups in order: there is nothing to look for.
                assert_eq!(found, clash && threads > 1, "{kernel} with {threads} threads");
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
