//! NaNs and infinities that kernels make of numbers and store.

mod support;

use amdgpu_isa::Arch;
use amdinst_emu::{Config, Fault, FaultKind, Launch, NotFinite};

use support::{Device, compile, tools};

/// Each makes one, and has a twin `NAME_mended` that does not.
const SOURCE: &str = include_str!("sources/non_finite.cl");

/// Each broken kernel, what it makes first of numbers, and the work-item that does so.
const BROKEN: [(&str, NotFinite, u8); 10] = [
    ("zero_by_zero", NotFinite::Nan, 0),
    ("softmax", NotFinite::Infinity, 0),
    ("root", NotFinite::Nan, 0),
    ("logarithm", NotFinite::Infinity, 0),
    ("narrowed", NotFinite::Infinity, 33),
    ("packed", NotFinite::Infinity, 33),
    ("in_double", NotFinite::Infinity, 7),
    ("through_lds", NotFinite::Infinity, 0),
    ("through_scratch", NotFinite::Infinity, 5),
    ("masked", NotFinite::Nan, 0),
];

const MENDED: [&str; 2] = ["passed_on_mended", "gone_mended"];

/// The fault of a kernel, if there is one; memory stays as it is.
fn found(device: &mut Device, out: u64, x: u64, kernel: &str) -> Option<Fault> {
    let launch = Launch {
        kernarg: [out.to_le_bytes(), x.to_le_bytes()].concat().into_iter().chain([0; 256]).collect(),
        ..Launch::new(kernel)
    };
    let before = device.machine.snapshot();
    device.machine.launch(&device.program, &launch).unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
    let left = device.u32s(out, 128);
    let found = device.machine.find_non_finite(&device.program, &launch, &before);
    assert_eq!(device.u32s(out, 128), left, "{kernel}: memory stays as it is");
    found.map(|sampled| assert_eq!(sampled, None, "{kernel}")).err()
}

#[test]
fn what_is_made_and_stored_is_found_and_nothing_else() {
    if !tools("what_is_made_and_stored_is_found_and_nothing_else") {
        return;
    }
    let x: Vec<u32> = (0_u8..64).map(|number| f32::from(number).to_bits()).collect();
    for (cpu, level) in [
        ("gfx900", "-O2"),
        ("gfx90a", "-O0"),
        ("gfx90a", "-O3"),
        ("gfx942", "-O1"),
        ("gfx1030", "-O2"),
        ("gfx1100", "-O0"),
        ("gfx1100", "-O3"),
        ("gfx1201", "-O2"),
    ] {
        let object = compile(SOURCE, cpu, level);
        let mut device = Device::with(&object, Config::default());
        let out = device.buffer("out", &[0u32; 128]);
        let x = device.buffer("x", &x);
        for (kernel, expected, lane) in BROKEN {
            let what = format!("{kernel} on {cpu} at {level}");
            let fault = found(&mut device, out, x, kernel).unwrap_or_else(|| panic!("{what}: nothing found"));
            let FaultKind::NotFinite { made, ref inside, .. } = fault.kind else { panic!("{what}: {fault}") };
            let of_softmax = kernel == "softmax";
            let item = fault.wave
                * object.kernel(kernel).expect("a kernel").descriptor.wave_size(device_arch(cpu)).lanes()
                + u32::from(fault.lane.expect("a lane"));
            assert!(of_softmax || item == u32::from(lane), "{what}: {fault}");
            assert_eq!(made, expected, "{what}: {fault}");
            assert_eq!(inside.as_ref().map(|inside| inside.label.as_str()), Some("out"), "{what}");
            let mended = format!("{kernel}_mended");
            assert_eq!(found(&mut device, out, x, &mended), None, "{mended} on {cpu} at {level}");
        }
        for kernel in MENDED {
            assert_eq!(found(&mut device, out, x, kernel), None, "{kernel} on {cpu} at {level}");
        }
    }
}

fn device_arch(cpu: &str) -> Arch {
    cpu.parse().expect("a processor")
}
