//! Reading, compared with what llvm-readelf and llvm-objdump say.

use amdgpu_isa::{Arch, FeatureState};
use amdgpu_object::{CodeObject, KernelProblem, ObjectError, RelocationKind};

use crate::require_tools;
use crate::tools::{HIP, assemble, assemble_unlinked, hip, inspect};

#[test]
fn every_version_has_the_same_kernels() {
    require_tools!("clang-22");
    for version in 4..=6 {
        let object = CodeObject::parse(hip(HIP, "gfx90a", version, &[])).expect("clang's output parses");
        assert_eq!(object.version, version);
        assert_eq!(object.target.to_string(), "gfx90a");
        assert_eq!(object.target.xnack, FeatureState::Any);
        let names: Vec<&str> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        let functions: Vec<&str> = object.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(functions, ["_Z6helperi"]);
        let helper = object.functions[0].code.start;
        let pointers: Vec<i64> = object
            .relocations
            .iter()
            .filter(|relocation| relocation.kind == RelocationKind::Relative64)
            .map(|relocation| relocation.addend)
            .collect();
        assert!(pointers.contains(&(helper as i64)), "{pointers:x?} has no {helper:x}");
        let variables: Vec<&str> = object.variables.iter().map(|variable| variable.name.as_str()).collect();
        for name in ["counter", "pointer", "table"] {
            assert!(variables.contains(&name), "{name} is not in {variables:?}");
        }
        let first = object.kernel("first").expect("by name");
        let explicit = first.metadata.args.iter().filter(|arg| !arg.is_hidden()).count();
        assert_eq!(explicit, 2);
        assert_eq!(first.metadata.args[0].value_kind, "global_buffer");
        assert_eq!(first.metadata.wavefront_size, 64);
        let second = object.kernel("second.kd").expect("by symbol");
        assert_eq!(second.metadata.group_segment_fixed_size, 256);
        assert_eq!(second.descriptor.group_segment_fixed_size(), 256);
        assert_eq!(second.descriptor.kernarg_size(), second.metadata.kernarg_segment_size);
        // The metadata of version 4 has no such key.
        assert_eq!(second.metadata.uses_dynamic_stack, version > 4);
        assert!(second.descriptor.uses_dynamic_stack());
    }
}

#[test]
fn addresses_are_those_of_readelf() {
    require_tools!("clang-22", "llvm-readelf-22");
    let bytes = hip(HIP, "gfx906", 5, &[]);
    let (symbols, _) = inspect(&bytes, "llvm-readelf-22", &["--syms", "-W", "FILE"]);
    let object = CodeObject::parse(bytes).expect("clang's output parses");
    assert_eq!(object.target.arch, Arch::Gfx906);
    let address = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).expect(name);
        let fields: Vec<&str> = line.split_whitespace().collect();
        (u64::from_str_radix(fields[1], 16).expect("a value"), fields[2].parse::<u64>().expect("a size"))
    };
    for kernel in &object.kernels {
        let (value, size) = address(&kernel.name);
        assert_eq!(kernel.code, value..value + size);
        assert_eq!(kernel.descriptor_address, address(&kernel.symbol).0);
    }
    for variable in &object.variables {
        assert_eq!((variable.address, variable.size), address(&variable.name));
    }
}

#[test]
fn feature_states_follow_the_target_id() {
    require_tools!("clang-22");
    for (id, xnack, sramecc) in [
        ("gfx90a:sramecc+:xnack-", FeatureState::Off, FeatureState::On),
        ("gfx90a:sramecc-:xnack+", FeatureState::On, FeatureState::Off),
        ("gfx908:xnack+", FeatureState::On, FeatureState::Any),
        ("gfx900", FeatureState::Any, FeatureState::Unsupported),
        ("gfx942", FeatureState::Any, FeatureState::Any),
        ("gfx950", FeatureState::Any, FeatureState::Any),
    ] {
        let object = CodeObject::parse(hip(HIP, id, 6, &[])).expect("clang's output parses");
        assert_eq!(object.target.to_string(), id);
        assert_eq!((object.target.xnack, object.target.sramecc), (xnack, sramecc), "{id}");
    }
}

#[test]
fn version_3_has_one_bit_for_each_feature() {
    require_tools!("clang-22");
    let mut bytes = hip(HIP, "gfx90a", 4, &[]);
    bytes[8] = 1;
    for (flags, xnack, sramecc) in [
        (0x3fu32, FeatureState::Off, FeatureState::Off),
        (0x13f, FeatureState::On, FeatureState::Off),
        (0x23f, FeatureState::Off, FeatureState::On),
    ] {
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        let object = CodeObject::parse(bytes.clone()).expect("it parses");
        assert_eq!((object.version, object.target.xnack, object.target.sramecc), (3, xnack, sramecc));
    }
}

/// Names and flags are those that clang writes; a version of 0, and code object versions before 6, have no
/// generic processors.
#[test]
fn generic_processors_are_those_of_clang() {
    require_tools!("clang-22");
    let generic: Vec<Arch> = Arch::KNOWN.into_iter().filter(|arch| arch.is_generic()).collect();
    assert_eq!(generic.len(), 6);
    for arch in generic {
        let mut bytes = hip(HIP, arch.name(), 6, &[]);
        let object = CodeObject::parse(bytes.clone()).expect("clang's output parses");
        assert_eq!((object.version, object.target.to_string()), (6, arch.name().to_owned()));
        assert_eq!(object.generic_version(), Some(1));
        assert_eq!(object.target.xnack == FeatureState::Any, arch.has(amdgpu_isa::Feature::Xnack), "{arch}");
        assert_eq!(
            object.target.sramecc == FeatureState::Any,
            arch.has(amdgpu_isa::Feature::SramEcc),
            "{arch}"
        );
        // A later version is for all that today's is for.
        bytes[51] = 9;
        assert_eq!(CodeObject::parse(bytes.clone()).expect("it parses").generic_version(), Some(9));
        bytes[51] = 0;
        let error = CodeObject::parse(bytes.clone()).expect_err("no version").to_string();
        assert!(error.starts_with("ELF header (at 0x30): it is for gfx"), "{error}");
        assert!(error.contains("gives no version of that generic processor; the file is damaged"), "{error}");
        (bytes[8], bytes[51]) = (3, 1);
        let error = CodeObject::parse(bytes).expect_err("version 5").to_string();
        assert!(
            error.contains("is of code object version 5, and generic processors came with version 6"),
            "{error}"
        );
    }
    let own = CodeObject::parse(hip(HIP, "gfx90a", 6, &[])).expect("clang's output parses");
    assert_eq!(own.generic_version(), None);
}

/// Hand-written code: no metadata, no `.size`, no function symbol type.
const BARE: &str = r#"
    .text
    .globl bare
    .p2align 8
bare:
    s_endpgm
    .rodata
    .p2align 6
    .amdhsa_kernel bare
        .amdhsa_next_free_vgpr 37
        .amdhsa_next_free_sgpr 20
        .amdhsa_accum_offset 32
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_user_sgpr_dispatch_ptr 1
        .amdhsa_system_sgpr_workgroup_id_z 1
        .amdhsa_system_vgpr_workitem_id 2
        .amdhsa_float_round_mode_32 3
        .amdhsa_dx10_clamp 0
        .amdhsa_tg_split 1
    .end_amdhsa_kernel
"#;

#[test]
fn hand_written_code_without_metadata() {
    require_tools!("llvm-mc-22", "ld.lld-22");
    let object = CodeObject::parse(assemble(BARE, "gfx90a")).expect("a bare kernel parses");
    let kernel = object.kernel("bare").expect("found by its descriptor");
    assert_eq!(kernel.code.end - kernel.code.start, 4);
    let descriptor = &kernel.descriptor;
    let user = descriptor.user_sgprs(Arch::Gfx90a);
    assert_eq!((user.dispatch_ptr, user.kernarg_segment_ptr, user.count), (Some(0), Some(2), 4));
    assert_eq!(descriptor.user_sgpr_count(), 4);
    let system = descriptor.system_sgprs(Arch::Gfx90a);
    assert_eq!(
        (system.workgroup_id_x, system.workgroup_id_y, system.workgroup_id_z),
        (Some(4), None, Some(5))
    );
    assert_eq!(system.end, 6);
    assert_eq!(descriptor.enable_vgpr_workitem_id(), 2);
    assert_eq!(descriptor.vgpr_count(Arch::Gfx90a), 40);
    assert_eq!(descriptor.accum_offset(Arch::Gfx90a), Some(32));
    assert_eq!(descriptor.vector_registers(Arch::Gfx90a).agprs, 8);
    assert_eq!(descriptor.sgpr_count(Arch::Gfx90a), 32, "20 + VCC, FLAT_SCRATCH and XNACK_MASK");
    assert!(descriptor.tg_split() && !descriptor.enable_dx10_clamp() && descriptor.enable_ieee_mode());
}

#[test]
fn wrong_files_have_their_own_errors() {
    require_tools!("clang-22", "llvm-mc-22");
    let parse = |bytes: &[u8]| CodeObject::parse(bytes.to_vec()).expect_err("not a code object");
    assert!(matches!(parse(b""), ObjectError::NotElf { .. }));
    assert!(matches!(parse(b"#!/bin/sh\n"), ObjectError::NotElf { .. }));
    let host = std::fs::read(std::env::current_exe().expect("this test")).expect("readable");
    assert_eq!(parse(&host), ObjectError::Machine { machine: 62 });
    assert_eq!(parse(&assemble_unlinked(BARE, "gfx90a")), ObjectError::Unlinked);
    let gfx7 = parse(&hip(HIP, "gfx701", 5, &[]));
    assert_eq!(gfx7, ObjectError::Processor { mach: 0x23, name: Some("gfx701") });
    assert!(gfx7.to_string().contains("gfx701"), "{gfx7}");
    let later = parse(&hip(HIP, "gfx1250", 6, &[]));
    assert_eq!(later, ObjectError::Processor { mach: 0x49, name: Some("gfx1250") });

    let good = hip(HIP, "gfx90a", 5, &[]);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        parse(&bytes)
    };
    assert_eq!(with(4, 1), ObjectError::Class { found: "32-bit" });
    assert_eq!(with(5, 2), ObjectError::Class { found: "big-endian" });
    assert_eq!(with(7, 65), ObjectError::OsAbi { os_abi: 65 });
    assert!(matches!(with(8, 0), ObjectError::Unsupported { .. }), "version 2 is older than gfx90a");
    assert_eq!(with(8, 9), ObjectError::AbiVersion { abi_version: 9 });
    assert_eq!(with(16, 2), ObjectError::FileType { file_type: 2 });
}

#[test]
fn a_descriptor_that_disagrees_is_refused() {
    require_tools!("clang-22");
    let good = hip(HIP, "gfx90a", 5, &[]);
    let object = CodeObject::parse(good.clone()).expect("clang's output parses");
    let kernel = &object.kernels[0];
    let place = object.segments.iter().find_map(|segment| {
        let inside = kernel.descriptor_address.checked_sub(segment.address)? as usize;
        (inside < segment.range.len()).then_some(segment.range.start + inside)
    });
    let place = place.expect("the descriptor is in the file");
    let parse_with_offset = |change: i64| {
        let mut bytes = good.clone();
        let mut descriptor = kernel.descriptor;
        descriptor.set_entry_offset(descriptor.entry_offset() + change);
        bytes[place..place + 64].copy_from_slice(&descriptor.bytes);
        match CodeObject::parse(bytes) {
            Err(ObjectError::Kernel { kernel, problem }) => (kernel, problem),
            other => panic!("{other:?}"),
        }
    };
    let entry = kernel.code.start;
    let expect = |problem| ("first".to_owned(), problem);
    let mismatch = KernelProblem::EntryMismatch { entry: entry + 256, symbol: entry };
    assert_eq!(parse_with_offset(256), expect(mismatch));
    assert_eq!(parse_with_offset(4), expect(KernelProblem::EntryMisaligned { entry: entry + 4 }));
    let outside = KernelProblem::EntryOutside { entry: entry.wrapping_sub(0x10000) };
    assert_eq!(parse_with_offset(-0x10000), expect(outside));
}
