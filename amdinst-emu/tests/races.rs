//! Data races in LDS and of the lanes of one store, and barriers that some lanes do not reach: what is a
//! fault when asked for, and what is none.

mod support;

use std::sync::LazyLock;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_emu::timing::{Parameters, simulate};
use amdinst_emu::{AccessKind, Config, Fault, FaultKind, Launch, MemorySpace};

use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/races.cl");

/// The kernels for two targets, at two levels each.
static OBJECTS: LazyLock<Vec<CodeObject>> = LazyLock::new(|| {
    let pairs = [("gfx906", "-O0"), ("gfx906", "-O2"), ("gfx90a", "-O0"), ("gfx90a", "-O2")];
    pairs.map(|(cpu, level)| compile(SOURCE, cpu, level)).into()
});

/// The kernels for gfx90a with optimisation.
fn optimised() -> &'static CodeObject {
    OBJECTS.last().expect("four objects")
}

fn checking() -> Config {
    let mut config = Config::default();
    config.check_races = true;
    config
}

/// The outcome of two workgroups of 128 work-items. Both engines and any number of threads agree on it.
fn outcome(object: &CodeObject, config: &Config, kernel: &str) -> Result<Vec<u32>, Fault> {
    let outcome = |config: &Config, threads: Option<usize>| -> Result<Vec<u32>, Fault> {
        let mut device = Device::with(object, config.clone());
        let out = device.buffer("out", &[0u32; 256]);
        let launch = Launch {
            grid: [2, 1, 1],
            block: [128, 1, 1],
            // The hidden arguments, too, which code without optimisation may read.
            kernarg: [out.to_le_bytes().to_vec(), vec![0; 256]].concat(),
            threads: threads.unwrap_or_default(),
            ..Launch::new(kernel)
        };
        match threads {
            Some(_) => device.machine.launch(&device.program, &launch).map(|_| ()),
            None => simulate(&mut device.machine, &device.program, &launch, &Parameters::mi210()).map(|_| ()),
        }?;
        Ok(device.u32s(out, 128))
    };
    let one = outcome(config, Some(1));
    assert_eq!(outcome(config, Some(2)), one, "{kernel} on two threads");
    let mut quick = config.clone();
    quick.thorough = false;
    assert_eq!(outcome(&quick, Some(2)), one, "{kernel}, where dwords clash alone");
    if object.target.arch == Arch::Gfx90a {
        match (outcome(config, None), &one) {
            // Where there are races, the two orders may give different results.
            (Ok(timed), Ok(one)) if !config.check_races => assert_eq!(timed.len(), one.len()),
            (Ok(timed), Ok(one)) => assert_eq!(timed, *one, "{kernel} timed"),
            // Waves take turns in another order: the same kind, though the lane may be another.
            (Err(timed), Err(one)) => {
                assert_eq!(timed.kind.word(), one.kind.word(), "{kernel} timed: {timed}")
            }
            (timed, one) => panic!("{kernel}: {timed:?} timed, {one:?}"),
        }
    }
    one
}

/// A kernel's outcomes, by target and level.
fn outcomes(config: &Config, kernel: &str) -> Vec<Result<Vec<u32>, Fault>> {
    OBJECTS.iter().map(|object| outcome(object, config, kernel)).collect()
}

#[test]
fn no_races() {
    if !tools("no_races") {
        return;
    }
    let ids = || (0..128u32).collect::<Vec<_>>();
    let expected = [
        ("exchange", ids().iter().map(|x| x ^ 64).collect::<Vec<_>>()),
        ("within_a_wave", ids().iter().map(|x| x ^ 1).collect()),
        ("one_value", vec![7; 128]),
        ("bytes", ids().iter().map(|x| 127 - x).collect()),
        ("atomics", vec![64; 128]),
        ("sum_of_floats", vec![128; 128]),
        // Compare-and-swap in a loop on gfx906.
        ("sum_of_doubles", vec![128; 128]),
    ];
    for (kernel, expected) in expected {
        for outcome in outcomes(&checking(), kernel) {
            assert_eq!(outcome, Ok(expected.clone()), "{kernel}");
        }
    }
}

#[test]
fn races() {
    use AccessKind::{Atomic, Read, Write};
    if !tools("races") {
        return;
    }
    // The access, what came before it, and by which wave.
    let expected = [
        ("no_barrier", Write, Read),
        ("no_second_barrier", Write, Read),
        ("two_values", Write, Write),
        ("overlapping", Write, Write),
        ("atomics_then_load", Atomic, Read),
        ("cleared_meanwhile", Write, Atomic),
        ("flat", Write, Read),
        ("pairs", Write, Read),
        // Lanes of the second wave are out of the buffer's range.
        ("to_lds", Write, Write),
    ];
    for (kernel, one, other) in expected {
        for outcome in outcomes(&checking(), kernel) {
            let fault = outcome.expect_err(kernel);
            let FaultKind::Race { access, earlier, wave, .. } = fault.kind else {
                panic!("{kernel}: {fault}")
            };
            // Which wave comes first is the emulator's choice.
            assert!((access, earlier) == (one, other) || (access, earlier) == (other, one), "{fault}");
            assert!(fault.wave < 2 && wave == 1 - fault.wave, "{fault}");
            let before = fault.earlier.as_ref().unwrap_or_else(|| panic!("{fault}"));
            assert!(Some(before.pc) != fault.pc || access == earlier, "{fault}");
            for instruction in [&fault.instruction, &before.instruction] {
                assert!(
                    ["ds_", "flat_", "buffer_load_dword "].iter().any(|name| instruction.starts_with(name)),
                    "{fault}"
                );
            }
            assert!(fault.to_string().contains("; before it pc 0x"), "{fault}");
        }
        // They run to their end unless it is asked for.
        for outcome in outcomes(&Config::default(), kernel) {
            assert!(outcome.is_ok(), "{kernel}: {outcome:?}");
        }
    }
}

/// Bytes are told apart in a dword; and the place is the first byte of the whole access.
#[test]
fn by_byte() {
    if !tools("by_byte") {
        return;
    }
    for outcome in outcomes(&checking(), "neighbours") {
        assert!(outcome.is_ok(), "{outcome:?}");
    }
    let fault = outcome(optimised(), &checking(), "overlapping").expect_err("a race");
    let FaultKind::Race { address, size: 4, wave: 0, .. } = fault.kind else { panic!("{fault}") };
    // Lane 63 of wave 0 wrote bytes 252 to 255, and wave 1 begins at 255.
    assert_eq!((address, fault.wave, fault.lane), (255, 1, Some(0)), "{fault}");
}

/// What lanes of one store write to one place, to LDS or to memory.
#[test]
fn lanes_of_one_store() {
    if !tools("lanes_of_one_store") {
        return;
    }
    let none = ["one_element_one_value", "half_a_dword", "longs_that_agree", "one_after_the_other"];
    for kernel in none {
        for outcome in outcomes(&checking(), kernel) {
            assert!(outcome.is_ok(), "{kernel}: {outcome:?}");
        }
    }
    // Where, how many bytes, and which lane comes before which.
    let some = [
        ("one_element", MemorySpace::Global, 4, (0, 1)),
        ("one_byte", MemorySpace::Global, 1, (0, 1)),
        ("longs", MemorySpace::Global, 8, (0, 1)),
        ("buffer", MemorySpace::Global, 4, (0, 1)),
        ("lds_element", MemorySpace::Lds, 4, (0, 1)),
        ("lds_pairs", MemorySpace::Lds, 4, (0, 1)),
        ("flat_element", MemorySpace::Lds, 4, (0, 1)),
    ];
    for (kernel, memory, bytes, lanes) in some {
        for outcome in outcomes(&checking(), kernel) {
            let fault = outcome.expect_err(kernel);
            let FaultKind::LaneRace { space, size, other, .. } = fault.kind else { panic!("{fault}") };
            assert_eq!(
                (space, size, (other, fault.lane.unwrap_or_default())),
                (memory, bytes, lanes),
                "{fault}"
            );
            assert!(fault.instruction.contains("store") || fault.instruction.contains("write"), "{fault}");
        }
        // They run to their end unless it is asked for.
        for outcome in outcomes(&Config::default(), kernel) {
            assert!(outcome.is_ok(), "{kernel}: {outcome:?}");
        }
    }
}

/// Workgroups have an LDS each, though the emulator keeps it in the same place.
#[test]
fn workgroups_are_no_waves_of_one() {
    if !tools("workgroups_are_no_waves_of_one") {
        return;
    }
    let mut device = Device::with(optimised(), checking());
    let out = device.buffer("out", &[0u32; 256]);
    device.launch("between_workgroups", 4, 64, &[out]).expect("no race");
}

#[test]
fn barriers_in_divergent_control_flow() {
    if !tools("barriers_in_divergent_control_flow") {
        return;
    }
    let mut strict = Config::default();
    strict.strict_barriers = true;
    for (kernel, arrived) in [("half_a_wave", 24), ("returned", 63)] {
        for outcome in outcomes(&Config::default(), kernel) {
            assert!(outcome.is_ok(), "as on hardware: {outcome:?}");
        }
        for outcome in outcomes(&strict, kernel) {
            let fault = outcome.expect_err(kernel);
            assert_eq!(fault.kind, FaultKind::BarrierDivergence { arrived, started: 64 }, "{fault}");
            assert!(fault.instruction.starts_with("s_barrier") && fault.lane.is_none(), "{fault}");
        }
    }
    // The last wave has lanes that no work-item is in.
    let mut device = Device::with(optimised(), strict);
    let out = device.buffer("out", &[0u32; 256]);
    device.launch("exchange", 2, 100, &[out]).expect("all 100 are there");
}
