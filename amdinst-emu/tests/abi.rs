//! What a kernel finds besides its arguments: hidden arguments of every code object version, the dispatch
//! packet, the queue, the apertures, dynamic LDS, a dynamic stack and MODE (AMDGPU user guide, "Code Object
//! Metadata" and "Initial Kernel Execution State").

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Launch};

use support::{Device, tools};

const CPUS: [&str; 6] = ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"];

fn compile(source: &str, cpu: &str, level: &str, version: u32) -> CodeObject {
    support::compile_with(source, cpu, level, &[&format!("-mcode-object-version={version}")])
}

fn launch(device: &mut Device, kernel: &str, dynamic_lds: u32, arguments: &[u64]) {
    let launch = Launch {
        grid: [3, 2, 2],
        block: [64, 2, 1],
        dynamic_lds,
        kernarg: arguments.iter().flat_map(|argument| argument.to_le_bytes()).collect(),
        ..Launch::new(kernel)
    };
    device.machine.launch(&device.program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
}

/// The implicit arguments as code object versions 5 and 6 lay them out; 4 has the global offsets only.
#[test]
fn hidden_arguments() {
    if !tools("hidden_arguments") {
        return;
    }
    let source = include_str!("sources/abi/hidden_arguments.cl");
    for cpu in CPUS {
        for level in ["-O0", "-O2"] {
            for version in [4, 5, 6] {
                let mut device = Device::with(&compile(source, cpu, level, version), Config::default());
                let out = device.buffer("out", &[7u32; 16]);
                if version == 4 {
                    launch(&mut device, "four", 0, &[out]);
                    assert_eq!(device.u64s(out, 3), [0; 3], "{cpu} {level} {version}");
                } else {
                    launch(&mut device, "five", 0, &[out]);
                    let expected = [3, 2, 2, 64, 2, 1, 0, 0, 0, 0, 0, 0, 3];
                    assert_eq!(device.u32s(out, 13), expected, "{cpu} {level} {version}");
                }
                launch(&mut device, "sizes", 0, &[out]);
                assert_eq!(device.u32s(out, 6), [64, 2, 1, 192, 4, 2], "{cpu} {level} {version}");
            }
        }
    }
}

/// The packet is one of the HSA runtime's, and leads to the kernel's arguments; the queue tells the
/// apertures.
#[test]
fn packet_and_queue() {
    if !tools("packet_and_queue") {
        return;
    }
    let source = include_str!("sources/abi/packet_and_queue.cl");
    for cpu in CPUS {
        for version in [4, 5, 6] {
            let mut device = Device::with(&compile(source, cpu, "-O1", version), Config::default());
            let out = device.buffer("out", &[7u64; 16]);
            launch(&mut device, "k", 128, &[out, 5]);
            let results = device.u64s(out, 14);
            assert_eq!(results[..8], [2, 3, 64, 2, 1, 192, 4, 2], "{cpu} {version}");
            // Private bytes are whatever the compiler needs; 16 or so of static LDS and 128 dynamic.
            assert!(results[9] >= 128 && results[9] < 256, "{cpu} {version}: {results:?}");
            assert_eq!(results[10..], [1, 0, 1, 1], "{cpu} {version}");
        }
    }
}

/// The code object version by which generic pointers are made: before GFX9 LLVM 22 has functions read the
/// hidden arguments of version 5, which say where LDS and private memory are, at address 0xc0.
fn of_apertures(cpu: &str) -> u32 {
    if cpu == "gfx803" { 4 } else { 5 }
}

/// Generic pointers to LDS and to private memory, through a function that cannot know which it has.
#[test]
fn apertures() {
    if !tools("apertures") {
        return;
    }
    let source = include_str!("sources/abi/apertures.cl");
    for cpu in CPUS {
        for level in ["-O0", "-O2"] {
            let mut device = Device::with(&compile(source, cpu, level, of_apertures(cpu)), Config::default());
            let out = device.buffer("out", &vec![1u32; 12 * 128]);
            launch(&mut device, "k", 0, &[out]);
            let shared: u32 = (0..128).map(|id| id + 1000).sum();
            let expected: Vec<u32> = (0..12 * 128).map(|at| 1 + shared + at % 128 * 28 + 5).collect();
            assert_eq!(device.u32s(out, 12 * 128), expected, "{cpu} {level}");
        }
    }
}

/// LDS whose size the launch says.
#[test]
fn dynamic_lds() {
    if !tools("dynamic_lds") {
        return;
    }
    let source = include_str!("sources/abi/dynamic_lds.cl");
    for cpu in CPUS {
        let object = compile(source, cpu, "-O1", 5);
        let mut device = Device::with(&object, Config::default());
        let out = device.buffer("out", &[0u32; 64]);
        // The pointer is the offset behind the kernel's own 128 bytes.
        let kernarg =
            [out, 500 | 128 << 32].iter().flat_map(|argument: &u64| argument.to_le_bytes()).collect();
        let launch = Launch { block: [64, 1, 1], dynamic_lds: 2000, kernarg, ..Launch::new("lds") };
        device.machine.launch(&device.program, &launch).unwrap_or_else(|fault| panic!("{cpu}: {fault}"));
        let squares: u32 = (0..500).map(|i| i * i).sum();
        assert_eq!(device.u32s(out, 64), [squares + 1; 64], "{cpu}");
        let short = Launch { dynamic_lds: 1900, ..launch };
        assert!(device.machine.launch(&device.program, &short).is_err(), "{cpu}: past the end of LDS");
    }
}

/// A stack whose size the compiler cannot tell: the note says so. Plain C, since OpenCL knows no recursion.
#[test]
fn dynamic_stack() {
    if !tools("dynamic_stack") {
        return;
    }
    let source = include_str!("sources/abi/dynamic_stack.cl");
    // The note says so from version 5 on.
    for cpu in CPUS.into_iter().filter(|cpu| of_apertures(cpu) >= 5) {
        for level in ["-O0", "-O1"] {
            let object = support::compile_c(source, cpu, level);
            assert!(object.kernels[0].metadata.uses_dynamic_stack, "{cpu}");
            let mut device = Device::with(&object, Config::default());
            let out = device.buffer("out", &[0u32; 64]);
            device.launch("stack", 1, 64, &[out]).unwrap_or_else(|fault| panic!("{cpu}: {fault}"));
            let expected: Vec<u32> = (0..64).map(|n| n * (n + 1) / 2).collect();
            assert_eq!(device.u32s(out, 64), expected, "{cpu} {level}");
            let mut config = Config::default();
            config.dynamic_stack = 256;
            let mut device = Device::with(&object, config);
            let out = device.buffer("out", &[0u32; 64]);
            let fault = device.launch("stack", 1, 64, &[out]).expect_err("the stack overflows");
            assert!(fault.to_string().contains("in scratch"), "{cpu} {level}: {fault}");
        }
    }
}

/// Each field of the descriptor's words that sets up MODE (AMDGPU user guide, "compute_pgm_rsrc1",
/// "compute_pgm_rsrc2") is where the manuals have it in MODE, and is in force.
#[test]
fn mode() {
    if !tools("mode") {
        return;
    }
    let source = include_str!("sources/abi/mode.cl");
    // Bit of the descriptor, bit of MODE: FLOAT_MODE, ENABLE_DX10_CLAMP, ENABLE_IEEE_MODE, FP16_OVFL,
    // ENABLE_EXCEPTION_*.
    const RSRC1: usize = 8 * 48;
    const RSRC2: usize = 8 * 52;
    let mut fields: Vec<(usize, u32)> = (0..8).map(|bit| (RSRC1 + 12 + bit, bit as u32)).collect();
    fields.extend([(RSRC1 + 21, 8), (RSRC1 + 23, 9), (RSRC1 + 26, 23)]);
    fields.extend((0..7).map(|bit| (RSRC2 + 24 + bit, 12 + bit as u32)));
    for cpu in CPUS {
        let mut object = compile(source, cpu, "-O2", 5);
        for (bit, _) in &fields {
            object.kernels[0].descriptor.bytes[bit / 8] &= !(1 << (bit % 8));
        }
        for (bit, mode) in &fields {
            let mut object = object.clone();
            object.kernels[0].descriptor.bytes[bit / 8] |= 1 << (bit % 8);
            let mut device = Device::with(&object, Config::default());
            let out = device.buffer("out", &[7u32; 2]);
            launch(&mut device, "modes", 0, &[out]);
            // Twice the largest half, rounded to nearest or up: infinity unless overflows are clamped;
            // rounded down: never.
            let largest = matches!(mode, 3 | 23);
            let sum = if largest { 0x7bff } else { 0x7c00 };
            assert_eq!(device.u32s(out, 2), [1 << mode, sum], "{cpu}: descriptor bit {bit}");
        }
    }
}
