//! Progress of workgroups: as many as the processor holds are there together, and each gets its turn; what
//! cannot end says who waits.

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, FaultKind, Launch};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/progress.cl");
const CPUS: [&str; 3] = ["gfx90a", "gfx1030", "gfx1100"];
const WORDS: usize = 64 + 64 * 64;

fn launched(
    object: &CodeObject,
    kernel: &str,
    (groups, block): (u32, u32),
    threads: usize,
    config: Config,
) -> (Result<Execution, Fault>, Vec<u32>) {
    let mut device = Device::with(object, config);
    let p = device.buffer("p", &[0u32; WORDS]);
    let kernarg = p.to_le_bytes().to_vec();
    let launch =
        Launch { grid: [groups, 1, 1], block: [block, 1, 1], threads, kernarg, ..Launch::new(kernel) };
    let outcome = device.machine.launch(&device.program, &launch);
    (outcome, device.u32s(p, WORDS))
}

fn deterministic() -> Config {
    let mut config = Config::default();
    config.deterministic = true;
    config
}

#[test]
fn workgroups_that_wait_for_later_ones_end() {
    if !tools("workgroups_that_wait_for_later_ones_end") {
        return;
    }
    const GROUPS: u32 = 7;
    let expected = |kernel: &str, group: usize, lane: usize| match kernel {
        "from_the_last" => 77 + group as u32,
        "asks_by_adding" => group as u32,
        _ => panic!("{kernel}, {lane}"),
    };
    for (cpu, level) in CPUS.into_iter().flat_map(|cpu| ["-O0", "-O2"].map(|level| (cpu, level))) {
        let object = compile(SOURCE, cpu, level);
        for (threads, config) in [(1, Config::default()), (8, Config::default()), (8, deterministic())] {
            let run = |kernel, block| {
                let (outcome, memory) = launched(&object, kernel, (GROUPS, block), threads, config.clone());
                outcome.unwrap_or_else(|fault| panic!("{kernel} {cpu} {level} {threads}: {fault}"));
                memory
            };
            for kernel in ["from_the_last", "asks_by_adding"] {
                let memory = run(kernel, 64);
                for group in 0..GROUPS as usize - 1 {
                    for lane in 0..64 {
                        let found = memory[64 + group * 64 + lane];
                        assert_eq!(found, expected(kernel, group, lane), "{kernel} {cpu} {level} {threads}");
                    }
                }
            }
            let memory = run("meet", 128);
            for phase in 0..5 {
                for group in 0..GROUPS {
                    let found = memory[(64 + phase * GROUPS + group) as usize];
                    assert_eq!(found, (group + phase) % GROUPS + phase, "{cpu} {level} {threads}");
                }
            }
        }
    }
}

/// How long another thread takes for what a workgroup waits for depends on the host, and is not held against
/// that workgroup.
#[test]
fn waiting_for_a_thread_at_work_costs_no_budget() {
    if !tools("waiting_for_a_thread_at_work_costs_no_budget") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    // It would be used up by the first turn of one that waits, and three pauses.
    let mut config = Config::default();
    config.budget = 1 << 20;
    let (outcome, memory) = launched(&object, "from_the_last_late", (2, 64), 2, config);
    outcome.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(memory[64..128], [80_000; 64]);
}

/// The same by a barrier in memory, which every launch finds as the runtime of a cooperative launch leaves
/// it, by one workgroup and by several.
#[test]
fn workgroups_meet_in_memory() {
    if !tools("workgroups_meet_in_memory") {
        return;
    }
    const SOURCE: &str = include_str!("sources/grid_barrier.cl");
    for (cpu, lanes) in
        [("gfx90a", 64), ("gfx942", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1100", 64), ("gfx1201", 32)]
    {
        for (version, place) in [(4, 6), (5, 11), (6, 11)] {
            let options = [format!("-mcode-object-version={version}"), format!("-DPLACE={place}")];
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let options = [&options, support::wave_options(cpu, lanes)].concat();
            let object = support::compile_with(SOURCE, cpu, "-O2", &options);
            let mut checked = deterministic();
            checked.check_races = true;
            for groups in [1, 7] {
                for (threads, config) in
                    [(1, Config::default()), (8, Config::default()), (8, checked.clone())]
                {
                    let told = format!("{cpu} {lanes} {version} {groups} {threads}");
                    let launch = (groups, 128);
                    let (outcome, memory) = launched(&object, "meet_in_memory", launch, threads, config);
                    outcome.unwrap_or_else(|fault| panic!("{told}: {fault}"));
                    for phase in 0..5 {
                        for group in 0..groups {
                            let found = memory[(64 + phase * groups + group) as usize];
                            assert_eq!(found, (group + phase) % groups + phase, "{told}");
                        }
                    }
                }
            }
            let (outcome, memory) = launched(&object, "kind", (7, 64), 1, Config::default());
            outcome.unwrap_or_else(|fault| panic!("{cpu} {version}: {fault}"));
            assert_eq!(memory[64..66], [1, 0], "{cpu} {version}");
            let (outcome, _) = launched(&object, "misses", (7, 128), 8, Config::default());
            let fault = outcome.expect_err("it does not end").to_string();
            assert!(fault.contains("never ends"), "{cpu} {version}: {fault}");
        }
    }
}

/// Global wave sync: each launch finds the barrier for all its workgroups, as the runtime of a cooperative
/// launch leaves it.
#[test]
fn workgroups_meet_by_global_wave_sync() {
    if !tools("workgroups_meet_by_global_wave_sync") {
        return;
    }
    const GROUPS: u32 = 7;
    for (cpu, level) in CPUS.into_iter().flat_map(|cpu| ["-O0", "-O2"].map(|level| (cpu, level))) {
        let object = compile(SOURCE, cpu, level);
        let mut checked = deterministic();
        checked.check_races = true;
        for (threads, config) in [(1, Config::default()), (8, Config::default()), (8, checked)] {
            let told = format!("{cpu} {level} {threads}");
            let (outcome, memory) = launched(&object, "meet_by_sync", (GROUPS, 128), threads, config.clone());
            outcome.unwrap_or_else(|fault| panic!("{told}: {fault}"));
            for phase in 0..5 {
                for group in 0..GROUPS {
                    let found = memory[(64 + phase * GROUPS + group) as usize];
                    assert_eq!(found, (group + phase) % GROUPS + phase, "{told}");
                }
            }
            let (outcome, _) = launched(&object, "misses", (GROUPS, 128), threads, config);
            let fault = outcome.expect_err("it does not end");
            let message = "never ends: the wave waits for other workgroups at global wave sync 0, and the other 5 workgroups that run wait too";
            assert!(fault.to_string().contains(message), "{told}: {fault}");
        }
        let mut device = Device::with(&object, Config::default());
        let p = device.buffer("p", &[0u32; WORDS]);
        let kernarg = p.to_le_bytes().to_vec();
        for (kernel, groups) in [("close", 1), ("pass", GROUPS)] {
            let launch = Launch {
                grid: [groups, 1, 1],
                block: [64, 1, 1],
                kernarg: kernarg.clone(),
                ..Launch::new(kernel)
            };
            let outcome = device.machine.launch(&device.program, &launch);
            outcome.unwrap_or_else(|fault| panic!("{kernel} {cpu} {level}: {fault}"));
        }
        assert_eq!(device.u32s(p, WORDS)[64..70], [77; 6], "{cpu} {level}");
    }
}

/// The same workgroups take the same number of steps, on however many threads.
#[test]
fn turns_are_the_same_on_any_number_of_threads() {
    if !tools("turns_are_the_same_on_any_number_of_threads") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    for kernel in ["from_the_last", "asks_by_adding", "meet"] {
        let steps = [1, 2, 8].map(|threads| {
            let (outcome, _) = launched(&object, kernel, (7, 64), threads, deterministic());
            outcome.expect("it ends").wave_instructions
        });
        assert!(steps.iter().all(|one| *one == steps[0]), "{kernel}: {steps:?}");
    }
}

#[test]
fn what_cannot_end_says_who_waits_for_what() {
    if !tools("what_cannot_end_says_who_waits_for_what") {
        return;
    }
    for (cpu, level) in CPUS.into_iter().flat_map(|cpu| ["-O0", "-O2"].map(|level| (cpu, level))) {
        let object = compile(SOURCE, cpu, level);
        for threads in [1, 4] {
            let fault = |kernel, size| {
                launched(&object, kernel, size, threads, deterministic()).0.expect_err("it does not end")
            };
            let told = format!("{cpu} {level} {threads}");
            let stuck = fault("stuck", (4, 64));
            assert_eq!((stuck.workgroup, stuck.wave, stuck.lane), ([1, 0, 0], 0, Some(3)), "{told}: {stuck}");
            let message = "never ends: the wave waits for a change of 4 bytes at 0x7f0000000014 (byte 20 of `p`), and no other workgroup runs";
            assert!(stuck.to_string().contains(message), "{told}: {stuck}");

            let ring = fault("ring", (5, 64));
            assert_eq!(ring.workgroup, [0, 0, 0], "{told}: {ring}");
            let message = "a change of 4 bytes at 0x7f0000000004 (byte 4 of `p`), and the other 4 workgroups that run wait too";
            assert!(ring.to_string().contains(message), "{told}: {ring}");
        }
    }
}

/// A workgroup of 1,024 work-items takes half a compute unit of GFX9, and half a workgroup processor, which
/// is two units, of RDNA.
#[test]
fn workgroups_without_room_do_not_begin() {
    if !tools("workgroups_without_room_do_not_begin") {
        return;
    }
    for (cpu, room) in [("gfx90c", 2 * 8), ("gfx1036", 2), ("gfx1103", 2 * 12 / 2)] {
        let object = compile(SOURCE, cpu, "-O2");
        for threads in [1, 4] {
            let run = |groups| launched(&object, "crowd", (groups, 1024), threads, deterministic()).0;
            run(room as u32).unwrap_or_else(|fault| panic!("{cpu}: {fault}"));
            let fault = run(20).expect_err("it does not end");
            let FaultKind::Deadlock { waiting, not_begun, .. } = fault.kind else {
                panic!("{cpu} {threads}: {fault}")
            };
            assert_eq!((waiting, not_begun), (room, 20 - room), "{cpu} {threads}");
            assert!(fault.to_string().contains(" workgroups have no room to begin"), "{fault}");
        }
    }
}

/// A wave that goes round a loop and reads nothing, or what only waves write that do not get on, is told at
/// once, as one that never ends.
#[test]
fn a_loop_that_reads_nothing_new_never_ends() {
    if !tools("a_loop_that_reads_nothing_new_never_ends") {
        return;
    }
    for (cpu, level) in CPUS.into_iter().flat_map(|cpu| ["-O0", "-O2"].map(|level| (cpu, level))) {
        let object = compile(SOURCE, cpu, level);
        for threads in [1, 4] {
            let run = |kernel, groups| launched(&object, kernel, (groups, 256), threads, deterministic());
            let told = format!("{cpu} {level} {threads}");
            let fault = run("sleeps", 3).0.expect_err("it does not end");
            assert_eq!((fault.workgroup, fault.wave), ([1, 0, 0], 0), "{told}: {fault}");
            let message = "never ends: the wave goes round a loop that changes nothing and reads nothing";
            assert!(fault.to_string().contains(message), "{told}: {fault}");

            let fault = run("unset", 2).0.expect_err("it does not end");
            let waiting = if cpu == "gfx90a" { 2 } else { 4 };
            assert_eq!(fault.kind, FaultKind::Endless { reads: true, waiting }, "{told}: {fault}");
            assert_eq!(fault.workgroup, [0, 0, 0], "{told}: {fault}");

            let (outcome, memory) = run("set_late", 2);
            outcome.unwrap_or_else(|fault| panic!("{told}: {fault}"));
            assert_eq!(memory[64..66], [1, 1], "{told}");
        }
    }
}

/// A loop that gets on is one for the budget.
#[test]
fn a_loop_that_writes_exhausts_the_budget() {
    if !tools("a_loop_that_writes_exhausts_the_budget") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    for threads in [1, 4] {
        let mut config = deterministic();
        config.budget = 3_000_000;
        let fault = launched(&object, "counts", (2, 64), threads, config).0.expect_err("it does not end");
        assert!(matches!(fault.kind, FaultKind::Budget { .. }), "{fault}");
    }
}

/// A loop that reads nothing of others cannot wait for them: where each workgroup has it, one is enough to
/// tell.
#[test]
fn an_endless_loop_in_own_memory_is_told_before_other_workgroups_begin() {
    if !tools("an_endless_loop_in_own_memory_is_told_before_other_workgroups_begin") {
        return;
    }
    for cpu in CPUS {
        let object = compile(SOURCE, cpu, "-O2");
        let mut config = Config::default();
        config.budget = 4_000_000;
        let (outcome, memory) = launched(&object, "stirs", (2000, 64), 1, config);
        let fault = outcome.expect_err("it does not end");
        assert!(matches!(fault.kind, FaultKind::Budget { .. }), "{cpu}: {fault}");
        assert_eq!(memory[64..][..2000].iter().sum::<u32>(), 1, "{cpu}");
    }
}

/// Accesses are looked at for races as long as a race would take to show, and no longer: looking at each
/// takes many times as long.
#[test]
fn a_race_is_found_in_a_loop_that_never_ends_and_the_loop_is_told_where_there_is_none() {
    if !tools("endless loops and races") {
        return;
    }
    let object = compile(SOURCE, "gfx90a", "-O2");
    let mut config = Config::default();
    (config.check_races, config.thorough, config.budget) = (true, true, 20_000_000);
    let fault = |groups| {
        launched(&object, "goes_on", (groups, 64), 1, config.clone()).0.expect_err("it does not end")
    };
    let (alone, racing) = (fault(1), fault(2));
    assert!(matches!(alone.kind, FaultKind::Budget { budget: 20_000_000, .. }), "{alone}");
    assert!(matches!(racing.kind, FaultKind::Race { .. }), "{racing}");
}
