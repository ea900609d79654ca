//! Each way a launch can stop, with its place.

mod support;

use amdinst_emu::{Config, FaultKind, Launch, MemorySpace};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/faults.cl");

fn device(test: &str) -> Option<Device> {
    tools(test).then(|| Device::with(&compile(SOURCE, "gfx90a", "-O2"), Config::default()))
}

/// The fault of a kernel, which must be at an instruction of it.
fn fault(device: &mut Device, kernel: &str, block: u32, arguments: &[u64]) -> amdinst_emu::Fault {
    let fault = device.launch(kernel, 2, block, arguments).expect_err("it must not run to its end");
    assert_eq!(fault.kernel, kernel);
    assert!(fault.pc.is_some() && !fault.instruction.is_empty(), "{fault}");
    fault
}

#[test]
fn store_past_the_end() {
    let Some(mut device) = device("store_past_the_end") else { return };
    let p = device.buffer("results", &[0u32; 64]);
    let fault = fault(&mut device, "store", 64, &[p, 10]);
    assert_eq!((fault.lane, fault.wave, fault.workgroup), (Some(54), 0, [0, 0, 0]));
    let FaultKind::OutOfBounds { space, address, size, write, nearest: Some(nearest) } = &fault.kind else {
        panic!("{fault}")
    };
    assert_eq!((*space, *address, *size, *write), (MemorySpace::Global, p + 256, 4, true));
    assert_eq!((nearest.label.as_str(), nearest.distance, nearest.size), ("results", 0, 256));
    assert!(fault.to_string().contains("`results`"), "{fault}");
}

#[test]
fn before_the_start() {
    let Some(mut device) = device("before_the_start") else { return };
    let p = device.buffer("results", &[0u32; 64]);
    let fault = fault(&mut device, "flat", 64, &[p - 400, 0]);
    assert!(
        matches!(&fault.kind, FaultKind::OutOfBounds { nearest: Some(near), .. } if near.distance == -400),
        "{fault}"
    );
}

#[test]
fn scalar_load_past_the_end() {
    let Some(mut device) = device("scalar_load_past_the_end") else { return };
    let p = device.buffer("table", &[0u32; 4]);
    let out = device.buffer("out", &[0u32; 4]);
    let fault = fault(&mut device, "uniform", 64, &[p, out, 4]);
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: MemorySpace::Scalar, .. }), "{fault}");
}

#[test]
fn use_after_free() {
    let Some(mut device) = device("use_after_free") else { return };
    let p = device.buffer("gone", &[0u32; 64]);
    device.machine.free(p).expect("freeing");
    assert!(device.machine.free(p).is_err());
    let fault = fault(&mut device, "load", 64, &[p, 3]);
    assert!(matches!(&fault.kind, FaultKind::UseAfterFree { label, .. } if label == "gone"), "{fault}");
    let place = "workgroup (0, 0, 0), wave 0";
    let pc = fault.pc.expect("an instruction");
    let message = format!(
        "kernel `load`: use after free: read of 4 bytes at {:#x}, in `gone` which has been freed; pc {pc:#x} `{}`, {place}",
        p + 12,
        fault.instruction
    );
    let whole = fault.to_string();
    assert!(whole == message || whole == format!("{message}, lane 0"), "{whole}");
}

#[test]
fn null_pointer() {
    let Some(mut device) = device("null_pointer") else { return };
    let fault = fault(&mut device, "store", 64, &[0, 1]);
    assert!(matches!(fault.kind, FaultKind::NullPointer { address: 4, write: true, .. }), "{fault}");
}

#[test]
fn lds_misaligned_and_out_of_bounds() {
    let Some(mut device) = device("lds_misaligned_and_out_of_bounds") else { return };
    let out = device.buffer("out", &[0u32; 4]);
    device.launch("lds", 1, 1, &[out, 8]).expect("an aligned access");
    assert_eq!(device.u32s(out, 1), [7]);
    device.launch("lds", 1, 1, &[out, 6]).expect("loads and stores of LDS need no alignment");
    let misaligned = fault(&mut device, "lds_atomic", 1, &[out, 6]);
    assert!(
        matches!(misaligned.kind, FaultKind::Misaligned { space: MemorySpace::Lds, required: 4, .. }),
        "{misaligned}"
    );
    let outside = fault(&mut device, "lds", 1, &[out, 256]);
    assert!(matches!(outside.kind, FaultKind::OutOfBounds { space: MemorySpace::Lds, .. }), "{outside}");
}

#[test]
fn misaligned_atomic() {
    let Some(mut device) = device("misaligned_atomic") else { return };
    let p = device.buffer("p", &[0u32; 4]);
    let fault = fault(&mut device, "atomic", 64, &[p, 2]);
    assert!(
        matches!(fault.kind, FaultKind::Misaligned { space: MemorySpace::Global, required: 4, .. }),
        "{fault}"
    );
}

#[test]
fn endless_loop() {
    let Some(mut device) = device("endless_loop") else { return };
    let out = device.buffer("out", &[0u32; 4]);
    let launch = Launch {
        kernarg: out.to_le_bytes().to_vec(),
        budget: 100_000,
        grid: [3, 1, 1],
        ..Launch::new("spin")
    };
    let first = device
        .machine
        .launch(&device.program, &Launch { threads: 1, ..launch.clone() })
        .expect_err("endless");
    let second =
        device.machine.launch(&device.program, &Launch { threads: 2, ..launch }).expect_err("endless");
    assert_eq!(first.kind, FaultKind::Budget { budget: 100_000, waiting: 0 });
    assert_eq!(first, second);
}

#[test]
fn trap() {
    let Some(mut device) = device("trap") else { return };
    let out = device.buffer("out", &[0u32; 4]);
    let fault = fault(&mut device, "panic", 64, &[out]);
    assert!(matches!(fault.kind, FaultKind::Trap(2)), "{fault}");
}

/// The wave is counted in its workgroup, and the first one at fault is told, whatever the number of threads.
#[test]
fn a_wave_of_a_later_workgroup() {
    let Some(mut device) = device("a_wave_of_a_later_workgroup") else { return };
    let mut values = [0u32; 400];
    values[130] = 7;
    let out = device.buffer("out", &values);
    for threads in [1, 2] {
        let launch = Launch {
            grid: [6, 1, 1],
            block: [192, 1, 1],
            kernarg: out.to_le_bytes().to_vec(),
            threads,
            ..Launch::new("late")
        };
        let fault = device.machine.launch(&device.program, &launch).expect_err("a trap");
        assert_eq!((fault.workgroup, fault.wave), ([3, 0, 0], 2), "{fault}");
        assert!(fault.to_string().ends_with("workgroup (3, 0, 0), wave 2, lane 2"), "{fault}");
    }
}

#[test]
fn write_to_constants() {
    let Some(mut device) = device("write_to_constants") else { return };
    let out = device.buffer("out", &[0u32; 4]);
    let fault = fault(&mut device, "constants", 64, &[out, 1]);
    assert!(matches!(fault.kind, FaultKind::ReadOnly { .. }), "{fault}");
}

#[test]
fn barriers() {
    let Some(mut device) = device("barriers") else { return };
    let out = device.buffer("out", &[0u32; 128]);
    // A wave that ended counts as arrived, unless asked otherwise.
    device.launch("early", 1, 128, &[out]).expect("as on hardware");
    let mut config = Config::default();
    config.strict_barriers = true;
    let mut strict = Device::with(&compile(SOURCE, "gfx90a", "-O2"), config);
    let out = strict.buffer("out", &[0u32; 128]);
    let mismatch = fault(&mut strict, "early", 128, &[out]);
    assert_eq!(mismatch.kind, FaultKind::BarrierMismatch { waiting: 1, ended: 1 });
    let out = device.buffer("out", &[0u32; 128]);
    let deadlock = fault(&mut device, "wait", 128, &[out]);
    assert_eq!(deadlock.kind, FaultKind::BarrierDeadlock { waiting: 1, halted: 1 });
}

#[test]
fn bad_dispatches() {
    let Some(mut device) = device("bad_dispatches") else { return };
    let out = device.buffer("out", &[0u32; 128]);
    let kernarg = out.to_le_bytes().to_vec();
    let good = Launch { kernarg: [kernarg.clone(), vec![0; 4]].concat(), ..Launch::new("store") };
    device.machine.launch(&device.program, &good).expect("a good launch");
    let cases = [
        (Launch { kernel: "nothing".into(), ..good.clone() }, "store"),
        (Launch { block: [2048, 1, 1], ..good.clone() }, "work-items"),
        (Launch { dynamic_lds: 1 << 20, ..good.clone() }, "LDS"),
        (Launch { kernarg, ..good.clone() }, "arguments"),
        (Launch { grid: [0, 1, 1], ..good.clone() }, "zero"),
        (Launch { kernel: "sized".into(), block: [32, 1, 1], ..good.clone() }, "requires"),
    ];
    for (launch, word) in cases {
        let fault = device.machine.launch(&device.program, &launch).expect_err("a bad launch");
        assert!(matches!(fault.kind, FaultKind::BadDispatch(_)) && fault.pc.is_none(), "{fault}");
        assert!(fault.to_string().contains(word), "{fault}");
    }
}

/// Reports name kinds of faults, and their schemas have a list of them.
#[test]
fn schemas_know_every_kind() {
    let source = include_str!("../src/check/mod.rs");
    let (_, words) = source.split_once("const fn word(&self)").expect("the words");
    let (words, _) = words.split_once("\n    }\n").expect("their end");
    let words: Vec<&str> = words
        .lines()
        .filter_map(|line| line.split_once(" => \"")?.1.strip_suffix("\","))
        // Only programs under the emulated driver are stopped from outside.
        .filter(|word| *word != "stopped")
        .collect();
    assert!(words.contains(&FaultKind::Trap(2).word()) && words.len() > 14, "{words:?}");
    for schema in [include_str!("../../schemas/report.v1.json"), include_str!("../../schemas/run.v1.json")] {
        let missing: Vec<_> = words.iter().filter(|word| !schema.contains(&format!("\"{word}\""))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// As compilers leave a kernel that must not be launched: another one's code is at its address.
#[test]
fn a_kernel_without_instructions() {
    if !tools("a_kernel_without_instructions") {
        return;
    }
    let source = "kernel void nothing(global uint *p) { __builtin_unreachable(); }
        kernel void something(global uint *p) { p[0] = 7; }";
    for cpu in ["gfx90a", "gfx1100"] {
        let mut device = Device::new(source, cpu, "-O2");
        let p = device.buffer("results", &[0u32; 4]);
        let fault = device.launch("nothing", 1, 64, &[p]).expect_err("there is nothing to run");
        assert_eq!((&fault.kind, &*fault.kernel), (&FaultKind::NoCode, "nothing"), "{cpu}");
        assert_eq!(device.u32s(p, 1), [0], "{cpu}");
        device.launch("something", 1, 64, &[p]).unwrap_or_else(|fault| panic!("{cpu}: {fault}"));
        assert_eq!(device.u32s(p, 1), [7], "{cpu}");
    }
}
