//! Data races in device memory, of the waves of a workgroup and of workgroups: what is a fault when asked
//! for, and what is none.

mod support;

use std::sync::LazyLock;

use amdgpu_object::CodeObject;
use amdinst_emu::AccessKind::{self, Atomic, Read, Write};
use amdinst_emu::timing::{Parameters, simulate};
use amdinst_emu::{Config, Fault, FaultKind, Launch, MemorySpace};

use support::{Device, compile, tools};

/// All are launched with two workgroups of 128 work-items, two waves each.
const SOURCE: &str = include_str!("sources/races_in_memory.cl");

/// The kernels for two targets, at two levels each.
static OBJECTS: LazyLock<Vec<CodeObject>> = LazyLock::new(|| {
    let pairs = [("gfx906", "-O0"), ("gfx906", "-O2"), ("gfx90a", "-O0"), ("gfx90a", "-O2")];
    pairs.map(|(cpu, level)| compile(SOURCE, cpu, level)).into()
});

fn outcome(object: &CodeObject, check: bool, timed: bool, kernel: &str) -> Result<Vec<u32>, Fault> {
    let all = outcome_of(object, check, true, timed, kernel);
    if !timed {
        // Looks at what clashes alone.
        assert_eq!(outcome_of(object, check, false, timed, kernel), all, "{kernel}");
    }
    all
}

fn outcome_of(
    object: &CodeObject,
    check: bool,
    thorough: bool,
    timed: bool,
    kernel: &str,
) -> Result<Vec<u32>, Fault> {
    let mut config = Config::default();
    config.check_races = check;
    config.thorough = thorough;
    let mut device = Device::with(object, config);
    let out = device.buffer("out", &[0u32; 1024]);
    let launch = Launch {
        grid: [2, 1, 1],
        block: [128, 1, 1],
        // What `flag` does depends on the order.
        threads: 1,
        kernarg: [out.to_le_bytes().to_vec(), out.to_le_bytes().to_vec(), vec![0; 256]].concat(),
        ..Launch::new(kernel)
    };
    if timed {
        simulate(&mut device.machine, &device.program, &launch, &Parameters::mi210())?;
    } else {
        device.machine.launch(&device.program, &launch)?;
    }
    Ok(device.u32s(out, 1024))
}

#[test]
fn none() {
    if !tools("none") {
        return;
    }
    let kernels = [
        "barriers",
        "within_a_wave",
        "one_value",
        "sum",
        "sum_of_floats",
        "queue",
        "bytes",
        "lock",
        "flag",
        "last_workgroup",
        "private_memory",
    ];
    for object in &*OBJECTS {
        for kernel in kernels {
            let plain = outcome(object, false, false, kernel).expect(kernel);
            let checked = outcome(object, true, false, kernel).unwrap_or_else(|fault| panic!("{fault}"));
            assert!(plain == checked, "{kernel}");
        }
    }
    for kernel in kernels.iter().filter(|kernel| **kernel != "lock") {
        let timed = outcome(&OBJECTS[3], true, true, kernel);
        assert!(timed.is_ok(), "{kernel}: {timed:?}");
    }
}

/// One of the two accesses is of one kind, the other of the other; which comes first is the emulator's
/// choice.
#[test]
fn some() {
    if !tools("some") {
        return;
    }
    // The two, whether of two workgroups, and the byte.
    let expected: [(&str, [AccessKind; 2], bool, Option<u64>); 12] = [
        ("no_barrier", [Read, Write], false, Some(256)),
        ("no_second_barrier", [Read, Write], false, Some(0)),
        ("neighbour", [Write, Read], true, Some(0)),
        ("uniform_neighbour", [Write, Read], true, Some(0)),
        ("two_values", [Write, Write], true, Some(0)),
        ("cleared_by_one", [Write, Atomic], true, Some(0)),
        ("sum_and_read", [Read, Atomic], true, Some(0)),
        ("exchange_unless_it_is_greater", [Read, Atomic], true, Some(0)),
        ("bytes_that_overlap", [Write, Write], true, Some(0)),
        ("flag_without_order", [Write, Read], true, Some(4)),
        ("last_workgroup_without_order", [Write, Read], true, Some(32)),
        ("buffers", [Write, Read], true, Some(0)),
    ];
    for (kernel, two, of_workgroups, place) in expected {
        // Without optimisation an atomic has a result, and so may be one that synchronises.
        let levels = if kernel == "cleared_by_one" { [1, 3].as_slice() } else { &[0, 1, 2, 3] };
        for object in levels.iter().map(|level| &OBJECTS[*level]) {
            let fault = outcome(object, true, false, kernel).expect_err(kernel);
            let FaultKind::Race { space, access, earlier, ref inside, wave, workgroup, .. } = fault.kind
            else {
                panic!("{kernel}: {fault}")
            };
            assert_eq!(space, MemorySpace::Global, "{fault}");
            assert!([access, earlier] == two || [earlier, access] == two, "{fault}");
            assert_eq!(workgroup, of_workgroups.then_some([0; 3]), "{fault}");
            if of_workgroups {
                assert_eq!(fault.workgroup, [1, 0, 0], "{fault}");
            } else {
                assert_eq!((fault.workgroup, wave), ([0; 3], 1 - fault.wave), "{fault}");
            }
            let inside = inside.as_ref().unwrap_or_else(|| panic!("{fault}"));
            assert_eq!((inside.label.as_str(), Some(inside.offset)), ("out", place), "{fault}");
            assert!(fault.earlier.is_some() && fault.pc.is_some(), "{fault}");
            assert!(outcome(object, false, false, kernel).is_ok(), "{kernel} when it is not asked for");
        }
        // What these do depends on what they read, which is another value there.
        if ["flag_without_order", "exchange_unless_it_is_greater"].contains(&kernel) {
            continue;
        }
        let fault = outcome(&OBJECTS[3], true, true, kernel).expect_err(kernel);
        assert_eq!(fault.kind.word(), "race", "{kernel} timed: {fault}");
    }
    let fault = outcome(&OBJECTS[3], true, false, "uniform_neighbour").expect_err("a race");
    assert!(fault.instruction.starts_with("s_load_dword") && fault.lane.is_none(), "{fault}");
    let text = fault.to_string();
    let end =
        " (byte 0 of `out`), after a write by wave 0 of workgroup (0, 0, 0), and nothing orders the two; pc ";
    assert!(text.contains(end), "{text}");
}
