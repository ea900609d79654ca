//! One input, one result, whatever the number of threads: of launches whose workgroups race by plain loads and stores, too, where it is
//! asked for.

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Launch};
use support::{Device, compile, tools};

const SOURCE: &str = r#"
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
kernel void last(global uint *p) { for (int i = 0; i < 50; i++) p[i & 7] = G * 64 + X; }
kernel void mix(global volatile uint *p) {
    for (int i = 0; i < 200; i++) p[0] = p[0] * 3 + G;
    if ((p[0] + X) & 1) p[1 + (G & 1023)] = p[0]; }
kernel void sum(global volatile uint *p) { for (int i = 0; i < 100; i++) if (X == 0) p[0] = p[0] + 1; }
kernel void flag(global volatile uint *p) { if (G == 0) p[0] = 1; if (p[0]) p[8 + G] = 1; }
kernel void counted(global uint *p) {
    __opencl_atomic_fetch_add((global atomic_uint *)p, X, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    p[64 + G * 64 + X] = G * X; }
kernel void places(global ulong *p) {
    p[G & 3] = (ulong)__builtin_amdgcn_dispatch_ptr();
    p[4 + (G & 3)] = (ulong)__builtin_amdgcn_kernarg_segment_ptr(); }
kernel void own_places(global ulong *p) {
    p[2 * G] = (ulong)__builtin_amdgcn_dispatch_ptr();
    p[2 * G + 1] = (ulong)__builtin_amdgcn_kernarg_segment_ptr(); }
kernel void astray(global uint *p) {
    p[X & 7] = G;
    if (G == 250) p[0] = *(global volatile uint *)((ulong)__builtin_amdgcn_dispatch_ptr() + 0x3000); }
kernel void in_place(global uint *p) { for (int i = 0; i < 4; i++) p[G * 64 + X] = p[G * 64 + X] * 3 + 1; }
"#;

fn deterministic() -> Config {
    let mut config = Config::default();
    config.deterministic = true;
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

/// A kernel may keep the addresses of what the runtime places for it, and a message may name them: they are the same in a launch that
/// is run again, and in the launch after it.
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
