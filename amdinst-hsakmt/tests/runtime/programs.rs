//! What programs see of the GPU, and what they compute on it.

use crate::support::{Program, good, tools};

/// Target, name, CUs, GiB of memory and lanes of a wave.
const CPUS: [(&str, &str, u32, u64, u32); 6] = [
    ("gfx900", "AMD Radeon Instinct MI25 (emulated)", 64, 16, 64),
    ("gfx906", "AMD Radeon Instinct MI50 (emulated)", 60, 16, 64),
    ("gfx908", "AMD Instinct MI100 (emulated)", 120, 32, 64),
    ("gfx90a", "AMD Instinct MI210 (emulated)", 104, 64, 64),
    ("gfx1010", "AMD Radeon RX 5700 XT (emulated)", 40, 8, 32),
    ("gfx1030", "AMD Radeon RX 6900 XT (emulated)", 80, 16, 32),
];

#[test]
fn the_hsa_runtime_finds_each_gpu() {
    if !tools("the_hsa_runtime_finds_each_gpu", &[]) {
        return;
    }
    let program = Program::new("agents.c", &[], &["-lhsa-runtime64"]);
    for (cpu, name, cus, gib, lanes) in CPUS {
        let memory = gib << 30;
        let gpu =
            format!("{cpu}, {name}, {cus} CUs, wavefronts of {lanes}\n  memory {memory}\n  LDS 65536\n");
        assert_eq!(good(&program.run(&[], &[("AMDINST_TARGET_CPU", cpu)])), gpu);
        let two = program.run(&[], &[("AMDINST_TARGET_CPU", cpu), ("AMDINST_GPUS", "2")]);
        assert_eq!(good(&two), gpu.repeat(2));
    }
    let output = program.run(&[], &[("AMDINST_TARGET_CPU", "gfx803")]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hsa_init: 0x1008\n");
    let text = String::from_utf8_lossy(&output.stderr);
    let message = "amdinst: AMDINST_TARGET_CPU=gfx803 is not understood; it is one of gfx900, ";
    assert!(text.starts_with(message) && text.lines().count() == 1, "{text}");
}

#[test]
fn a_hip_program_runs_on_each_gpu() {
    if !tools("a_hip_program_runs_on_each_gpu", &[]) {
        return;
    }
    let program = Program::new("vector_add.hip", &CPUS.map(|(cpu, ..)| cpu), &["-lamdhip64"]);
    for (cpu, name, cus, gib, lanes) in CPUS {
        // HIP counts the two CUs of a work-group processor as one.
        let units = if lanes == 32 { cus / 2 } else { cus };
        // gfx1030 has no XNACK, so that its name does not say that it is off.
        let (features, xnack) = if cpu == "gfx1030" { (",", "") } else { (":", ":xnack-") };
        let printed = good(&program.run(&[], &[("AMDINST_TARGET_CPU", cpu), ("AMDINST_GPUS", "2")]));
        let lines: Vec<&str> = printed.lines().collect();
        let [first, wrong, second, wrong_too] = lines[..] else { panic!("{printed}") };
        assert_eq!((first, wrong), (second, wrong_too));
        assert!(first.starts_with(&format!("{name}, {cpu}{features}")), "{first}");
        assert!(first.ends_with(&format!("{xnack}, {units} CUs, memory {}", gib << 30)), "{first}");
        assert_eq!(wrong, "0 wrong");
    }
}

#[test]
fn a_thousand_launches_on_four_streams_in_two_processes_at_once() {
    if !tools("a_thousand_launches", &[]) {
        return;
    }
    let programs = [Program::hip("streams.hip"), Program::hip("streams.hip")];
    let running: Vec<_> = programs.iter().map(|program| program.start(&[], &[])).collect();
    for running in running {
        assert_eq!(good(&running.end()), "0 wrong, time is plausible\n");
    }
}

/// A function pointer that one code object tells and a kernel of another calls; the first is loaded anew
/// between two launches.
#[test]
fn kernels_call_functions_of_other_code_objects() {
    if !tools("kernels_call_functions_of_other_code_objects", &[]) {
        return;
    }
    let program = Program::hip("callback.hip");
    let modules = [("KERNEL", "kernel.co"), ("FUNCTION", "function.co")]
        .map(|(defined, file)| program.module("callback.hip", defined, file));
    let [kernel, function] = &modules;
    assert_eq!(good(&program.run(&[kernel, function], &[])), "2 126\n2 126\n");
}

#[test]
fn cooperative_launches_meet() {
    if !tools("cooperative_launches_meet", &[]) {
        return;
    }
    let program = Program::hip("cooperative.hip");
    for groups in ["1", "4", "40"] {
        let count: usize = groups.parse().unwrap();
        let line = |value: &str| format!("{}\n", format!("{value} ").repeat(count));
        assert_eq!(good(&program.run(&["together", groups], &[])), line(groups).repeat(2));
        assert_eq!(good(&program.run(&["rounds", groups], &[])), line("100").repeat(2));
    }
    // HIP counts what there is room for.
    let large = program.run(&["together", "100000"], &[]);
    assert_eq!(large.status.code(), Some(1));
    let text = String::from_utf8_lossy(&large.stdout);
    assert!(text.contains("hipErrorCooperativeLaunchTooLarge"), "{text}");
    let stuck = program.run(&["misses"], &[]);
    let text = String::from_utf8_lossy(&stuck.stderr);
    let message = "never ends: the wave waits for other workgroups at global wave sync 0, and the other 2 workgroups that run wait too";
    assert!(text.contains(message) && text.contains("cooperative.hip:"), "{text}");
}
