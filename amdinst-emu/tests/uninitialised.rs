//! What registers, LDS and scratch memory hold before they are written.

mod support;

use amdgpu_isa::Arch;
use amdinst_emu::timing::{Parameters, simulate};
use amdinst_emu::{Config, FaultKind, Launch, MemorySpace, Uninitialised};

use support::{Device, compile, tools};

/// Each kernel reads what it has not written, and then writes it, for the next workgroup to find.
const SOURCE: &str = include_str!("sources/uninitialised.cl");

/// The memory that a result depends on, if it is no register, and the offset of the first byte that does.
type Cause = (Option<MemorySpace>, u64);

/// Each kernel, what its results depend on that nothing has written, if there is any, and the first element
/// that does.
const DEPENDENT: [(&str, Option<Cause>); 10] = [
    ("lds", Some((Some(MemorySpace::Lds), 0))),
    ("lds_byte", Some((Some(MemorySpace::Lds), 0))),
    ("scratch", Some((Some(MemorySpace::Scratch), 0))),
    ("vector", Some((None, 0))),
    ("scalar", Some((None, 0))),
    ("branch", Some((Some(MemorySpace::Lds), 0))),
    ("byte_of_four", Some((Some(MemorySpace::Lds), 4 * 9 + 1))),
    ("selected", None),
    ("shifted", None),
    ("spill", None),
];

#[test]
fn results_that_depend_on_it_are_found() {
    if !tools("results_that_depend_on_it_are_found") {
        return;
    }
    for (cpu, level) in [("gfx900", "-O2"), ("gfx90a", "-O0"), ("gfx90a", "-O2"), ("gfx942", "-O1")] {
        let object = compile(SOURCE, cpu, level);
        for dword in [Uninitialised::default(), Uninitialised(0)] {
            for (kernel, expected) in DEPENDENT {
                let mut config = Config::default();
                config.uninitialised = dword;
                let mut device = Device::with(&object, config);
                let out = device.buffer("out", &[0u32; 128]);
                let launch = Launch {
                    grid: [2, 1, 1],
                    // The hidden arguments, too, which code without optimisation may read.
                    kernarg: [out.to_le_bytes().to_vec(), vec![0; 256]].concat(),
                    ..Launch::new(kernel)
                };
                let before = device.machine.snapshot();
                let execution = device.machine.launch(&device.program, &launch).expect("a launch");
                let left = device.u32s(out, 128);
                let found = device.machine.find_unwritten(&device.program, &launch, &execution, &before);
                assert_eq!(device.u32s(out, 128), left, "{kernel}: memory stays as it is");
                let what = format!("{kernel} on {cpu} at {level}: {found:?}");
                let Some((space, offset)) = expected else {
                    assert_eq!(found, Ok(None), "{what}");
                    continue;
                };
                let fault = found.expect_err(&what);
                let FaultKind::Unwritten { space: told, address, size, ref inside, holds } = fault.kind
                else {
                    panic!("{what}")
                };
                assert_eq!((told, address, fault.workgroup), (space, out + offset, [0; 3]), "{what}");
                assert_eq!(size, if kernel == "byte_of_four" { 1 } else { 4 }, "{what}");
                assert_eq!(inside.as_ref().map(|inside| inside.offset), Some(offset), "{what}");
                assert!(fault.pc.is_some() && fault.instruction.contains("store"), "{what}");
                let whole = ["lds", "scratch", "vector", "scalar"].contains(&kernel);
                assert_eq!(holds, (whole && dword.0 != 0).then_some(dword.0), "{what}");
                let read = fault.earlier.map(|earlier| earlier.instruction);
                let lds = read
                    .as_deref()
                    .is_some_and(|read| read.starts_with("ds_read") || read.starts_with("flat_load"));
                assert_eq!(lds, space == Some(MemorySpace::Lds), "{kernel}: {read:?}");
            }
        }
    }
}

/// Where two dwords leave the same by chance, the instruction that computes with such a value is found.
/// Moving it is not computing.
#[test]
fn what_computes_with_it_is_found() {
    if !tools("what_computes_with_it_is_found") {
        return;
    }
    for (cpu, level) in [("gfx900", "-O2"), ("gfx90a", "-O1"), ("gfx942", "-O2")] {
        let object = compile(SOURCE, cpu, level);
        for (kernel, expected) in [
            ("shifted", Some("v_lshl_add_u32")),
            ("branch", Some("v_cmp")),
            ("lds", None),
            ("scratch", None),
            ("vector", None),
            ("scalar", None),
            ("spill", None),
            // A part of a value is not known again.
            ("byte_stored", Some("global_store_byte")),
            ("lds_byte", Some("ds_read_u8")),
            ("scratch_byte", Some(if cpu == "gfx942" { "scratch_load_ubyte" } else { "buffer_load_ubyte" })),
            ("lds_atomic", Some("ds_inc_rtn_u32")),
            ("indexed", Some("v_max_u32")),
            ("indexed_to_what_is_written", None),
            ("moved_by_index", None),
            ("lane", Some("v_readlane_b32")),
            ("exchanged", None),
            ("permuted", None),
        ] {
            let mut device = Device::with(&object, Config::default());
            let out = device.buffer("out", &[0u32; 128]);
            let launch = Launch {
                grid: [2, 1, 1],
                kernarg: [out.to_le_bytes().to_vec(), vec![0; 256]].concat(),
                ..Launch::new(kernel)
            };
            let before = device.machine.snapshot();
            device.machine.launch(&device.program, &launch).expect("a launch");
            let left = device.u32s(out, 128);
            let found = device.machine.find_unwritten_read(&device.program, &launch, &before);
            assert_eq!(device.u32s(out, 128), left, "{kernel}: memory stays as it is");
            let what = format!("{kernel} on {cpu} at {level}: {found:?}");
            let Some(instruction) = expected else {
                assert_eq!(found, Ok(()), "{what}");
                continue;
            };
            let fault = found.expect_err(&what);
            assert!(matches!(fault.kind, FaultKind::UnwrittenRead { .. }), "{what}");
            assert!(fault.pc.is_some() && fault.instruction.starts_with(instruction), "{what}");
        }
    }
}

/// An instruction that writes half of a register leaves the other half, which is no use of it. What stores
/// both is one.
#[test]
fn a_half_that_stays_is_not_read() {
    if !tools("a_half_that_stays_is_not_read") {
        return;
    }
    const GFX9: &str = "global_load_short_d16 v77, %0, off\n\ts_waitcnt vmcnt(0)";
    const RDNA2: &str =
        "global_load_short_d16 v77, %0, off\n\ts_waitcnt vmcnt(0)\n\tv_add_nc_u16 v78, v77, 1 op_sel:[0,0,1]";
    const RDNA3: &str = "global_load_d16_b16 v77, %0, off\n\ts_waitcnt vmcnt(0)\n\tv_mov_b16 v78.l, v77.l";
    // `v_mov_b16 v78.l, v77.l`
    const RDNA4: &str = "global_load_d16_b16 v77, %0, off\n\ts_wait_loadcnt 0x0\n\t.long 0x7e9c394d";
    for (cpu, load, store) in [
        ("gfx90a", GFX9, "global_store_short %0, v77, off"),
        ("gfx1030", RDNA2, "global_store_short_d16_hi %0, v78, off"),
        ("gfx1100", RDNA3, "global_store_b16 %0, v78, off"),
        ("gfx1201", RDNA4, "global_store_b16 %0, v78, off"),
    ] {
        let source = format!(
            "kernel void halves(global uint *out) {{ __asm__ volatile(\"{}\" :: \"v\"(out + __builtin_amdgcn_workitem_id_x()) : \"v77\", \"v78\"); }}",
            [load, store].join("\n\t").replace('\n', "\\n").replace('\t', "\\t")
        );
        let object = compile(&source, cpu, "-O1");
        let mut device = Device::with(&object, Config::default());
        let out = device.buffer("out", &[5u32; 64]);
        let launch = Launch {
            block: [64, 1, 1],
            kernarg: [out.to_le_bytes().to_vec(), vec![0; 256]].concat(),
            ..Launch::new("halves")
        };
        let before = device.machine.snapshot();
        let execution = device.machine.launch(&device.program, &launch).expect("a launch");
        let expected = if cpu == "gfx1030" { 6 } else { 5 };
        assert_eq!(device.u32s(out, 64), [expected; 64], "{cpu}");
        let found = device.machine.find_unwritten(&device.program, &launch, &execution, &before);
        assert_eq!(found, Ok(None), "{cpu}");
        let found = device.machine.find_unwritten_read(&device.program, &launch, &before);
        // A store of less than a dword takes a part, and the register has become one that something wrote.
        assert_eq!(found, Ok(()), "{cpu}");
    }
}

#[test]
fn each_workgroup_finds_what_was_asked_for() {
    if !tools("each_workgroup_finds_what_was_asked_for") {
        return;
    }
    const GROUPS: u32 = 40;
    for cpu in ["gfx900", "gfx90a", "gfx942"] {
        let object = compile(SOURCE, cpu, "-O2");
        for dword in [Uninitialised::default(), Uninitialised(0), Uninitialised(0x0403_0201)] {
            let mut config = Config::default();
            config.uninitialised = dword;
            for kernel in ["lds", "lds_byte", "scratch", "vector", "scalar"] {
                let mut device = Device::with(&object, config.clone());
                let out = device.buffer("out", &vec![7u32; 64 * GROUPS as usize]);
                let launch = Launch {
                    grid: [GROUPS, 1, 1],
                    block: [64, 1, 1],
                    kernarg: out.to_le_bytes().to_vec(),
                    ..Launch::new(kernel)
                };
                let expected: Vec<u32> = match kernel {
                    "lds_byte" => (3..67).map(|at| u32::from(dword.0.to_le_bytes()[at % 4])).collect(),
                    _ => vec![dword.0; 64],
                };
                let check = |device: &Device, how: &str| {
                    for (group, found) in device.u32s(out, 64 * GROUPS as usize).chunks(64).enumerate() {
                        assert_eq!(found, expected, "{kernel} on {cpu}, {how}, workgroup {group}");
                    }
                };
                device.machine.launch(&device.program, &launch).expect("a launch");
                check(&device, "launched");
                if object.target.arch == Arch::Gfx90a {
                    let mut parameters = Parameters::mi210();
                    parameters.compute_units = 2;
                    simulate(&mut device.machine, &device.program, &launch, &parameters).expect("simulating");
                    check(&device, "timed");
                }
            }
        }
    }
}

#[test]
fn dwords_are_read_in_both_bases() {
    assert_eq!("0x7ffb7ffb".parse(), Ok(Uninitialised::default()));
    assert_eq!("12".parse(), Ok(Uninitialised(12)));
    for text in ["", "0x", "-1", "0x100000000", "NaN"] {
        assert!(text.parse::<Uninitialised>().is_err(), "{text}");
    }
    let Uninitialised(dword) = Uninitialised::default();
    assert!(f32::from_bits(dword).is_nan());
    assert!(f64::from_bits(u64::from(dword) << 32 | u64::from(dword)).is_nan());
}
