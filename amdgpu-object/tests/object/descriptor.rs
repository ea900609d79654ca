//! Every field of the kernel descriptor, compared with what llvm-objdump prints of it.

use std::collections::BTreeMap;

use amdgpu_isa::{Arch, Feature};
use amdgpu_object::{CodeObject, FloatDenorm, FloatRound, KernelDescriptor, UserSgpr};

use crate::require_tools;
use crate::tools::{HIP, assemble, hip, inspect};

/// The `.amdhsa_*` directives that llvm-objdump prints for each descriptor symbol.
fn directives(bytes: &[u8]) -> BTreeMap<String, BTreeMap<String, i64>> {
    let (text, _) = inspect(bytes, "llvm-objdump-22", &["-d", "-j", ".rodata", "FILE"]);
    let mut kernels = BTreeMap::new();
    let mut fields = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(".amdhsa_kernel"), Some(name)) => {
                fields = BTreeMap::new();
                kernels.insert(name.to_owned(), BTreeMap::new());
            }
            (Some(".end_amdhsa_kernel"), _) => {
                if let Some(last) = kernels.values_mut().find(|fields| fields.is_empty()) {
                    *last = std::mem::take(&mut fields);
                }
            }
            (Some(field), Some(value)) if field.starts_with(".amdhsa_") => {
                fields.insert(
                    field.trim_start_matches(".amdhsa_").to_owned(),
                    value.parse().expect("a number"),
                );
            }
            _ => {}
        }
    }
    kernels
}

/// What our accessors say, under LLVM's names.
fn ours(descriptor: &KernelDescriptor, arch: Arch) -> BTreeMap<&'static str, i64> {
    let mut fields = BTreeMap::from([
        ("group_segment_fixed_size", i64::from(descriptor.group_segment_fixed_size())),
        ("private_segment_fixed_size", i64::from(descriptor.private_segment_fixed_size())),
        ("kernarg_size", i64::from(descriptor.kernarg_size())),
        ("next_free_vgpr", i64::from(descriptor.vgpr_count(arch))),
        ("float_round_mode_32", descriptor.float_round_mode_32() as i64),
        ("float_round_mode_16_64", descriptor.float_round_mode_16_64() as i64),
        ("float_denorm_mode_32", descriptor.float_denorm_mode_32() as i64),
        ("float_denorm_mode_16_64", descriptor.float_denorm_mode_16_64() as i64),
        ("dx10_clamp", i64::from(descriptor.enable_dx10_clamp())),
        ("ieee_mode", i64::from(descriptor.enable_ieee_mode())),
        ("fp16_overflow", i64::from(descriptor.fp16_overflow())),
        ("system_sgpr_workgroup_id_x", i64::from(descriptor.enable_sgpr_workgroup_id_x())),
        ("system_sgpr_workgroup_id_y", i64::from(descriptor.enable_sgpr_workgroup_id_y())),
        ("system_sgpr_workgroup_id_z", i64::from(descriptor.enable_sgpr_workgroup_id_z())),
        ("system_sgpr_workgroup_info", i64::from(descriptor.enable_sgpr_workgroup_info())),
        ("system_vgpr_workitem_id", i64::from(descriptor.enable_vgpr_workitem_id())),
        ("uses_dynamic_stack", i64::from(descriptor.uses_dynamic_stack())),
    ]);
    if arch.has(Feature::ArchitectedFlatScratch) {
        fields.insert("enable_private_segment", i64::from(descriptor.enable_private_segment()));
    } else {
        fields.insert(
            "system_sgpr_private_segment_wavefront_offset",
            i64::from(descriptor.enable_private_segment()),
        );
    }
    if let Some(offset) = descriptor.accum_offset(arch) {
        fields.insert("accum_offset", i64::from(offset));
        fields.insert("tg_split", i64::from(descriptor.tg_split()));
    }
    for (name, value) in [
        ("user_sgpr_private_segment_buffer", UserSgpr::PrivateSegmentBuffer),
        ("user_sgpr_dispatch_ptr", UserSgpr::DispatchPtr),
        ("user_sgpr_queue_ptr", UserSgpr::QueuePtr),
        ("user_sgpr_kernarg_segment_ptr", UserSgpr::KernargSegmentPtr),
        ("user_sgpr_dispatch_id", UserSgpr::DispatchId),
        ("user_sgpr_flat_scratch_init", UserSgpr::FlatScratchInit),
        ("user_sgpr_private_segment_size", UserSgpr::PrivateSegmentSize),
    ] {
        // From gfx940 on scratch needs no user SGPRs, and LLVM prints no directives for them.
        let scratch = matches!(value, UserSgpr::PrivateSegmentBuffer | UserSgpr::FlatScratchInit);
        if !(scratch && arch.has(Feature::ArchitectedFlatScratch)) {
            fields.insert(name, i64::from(descriptor.has_user_sgpr(value)));
        }
    }
    fields
}

fn compare(bytes: &[u8]) {
    let theirs = directives(bytes);
    let object = CodeObject::parse(bytes.to_vec()).expect("it parses");
    assert_eq!(theirs.len(), object.kernels.len());
    for kernel in &object.kernels {
        let theirs = &theirs[kernel.symbol.trim_end_matches(".kd")];
        for (field, value) in ours(&kernel.descriptor, object.target.arch) {
            assert_eq!(theirs.get(field), Some(&value), "{} {field} of {}", object.target, kernel.name);
        }
        // LLVM prints blocks of 8 SGPRs, the hardware allots 16.
        let sgprs = theirs["next_free_sgpr"];
        assert_eq!(i64::from(kernel.descriptor.sgpr_count(object.target.arch)), (sgprs + 15) / 16 * 16);
        assert_eq!(
            kernel.descriptor.user_sgprs(object.target.arch).count,
            kernel.descriptor.user_sgpr_count()
        );
    }
}

#[test]
fn compiled_descriptors_are_those_of_objdump() {
    require_tools!("clang-22", "llvm-objdump-22");
    for arch in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        for level in ["-O0", "-O2"] {
            compare(&hip(HIP, arch, 6, &[level]));
        }
    }
}

/// A kernel whose descriptor is given by directives.
fn with_directives(arch: Arch, directives: &[(&str, i64)]) -> Vec<u8> {
    let lines: String =
        directives.iter().map(|(name, value)| format!("    .amdhsa_{name} {value}\n")).collect();
    let source = format!(
        ".text\n.p2align 8\n.globl k\n.type k,@function\nk:\n    s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n{lines}.end_amdhsa_kernel\n"
    );
    assemble(&source, arch.name())
}

#[test]
fn every_setter_is_the_assembler_directive() {
    require_tools!("llvm-mc-22", "ld.lld-22");
    for arch in [Arch::Gfx900, Arch::Gfx908, Arch::Gfx90a] {
        let unified = arch.has(Feature::UnifiedRegisterFile);
        let mut plain = vec![("next_free_vgpr", 1), ("next_free_sgpr", 1)];
        let mut full = vec![
            ("next_free_vgpr", if unified { 300 } else { 99 }),
            ("next_free_sgpr", 60),
            ("group_segment_fixed_size", 0x1234),
            ("private_segment_fixed_size", 0x4321),
            ("kernarg_size", 0x111),
            ("float_round_mode_32", 1),
            ("float_round_mode_16_64", 2),
            ("float_denorm_mode_32", 1),
            ("float_denorm_mode_16_64", 2),
            ("dx10_clamp", 0),
            ("ieee_mode", 0),
            ("fp16_overflow", 1),
            ("system_sgpr_private_segment_wavefront_offset", 1),
            ("system_sgpr_workgroup_id_x", 0),
            ("system_sgpr_workgroup_id_y", 1),
            ("system_sgpr_workgroup_id_z", 1),
            ("system_sgpr_workgroup_info", 1),
            ("system_vgpr_workitem_id", 2),
            ("uses_dynamic_stack", 1),
            ("user_sgpr_private_segment_buffer", 1),
            ("user_sgpr_dispatch_ptr", 1),
            ("user_sgpr_queue_ptr", 1),
            ("user_sgpr_kernarg_segment_ptr", 1),
            ("user_sgpr_dispatch_id", 1),
            ("user_sgpr_flat_scratch_init", 1),
            ("user_sgpr_private_segment_size", 1),
        ];
        if unified {
            plain.push(("accum_offset", 4));
            full.extend([("accum_offset", 248), ("tg_split", 1)]);
        }
        let parse = |directives: &[(&str, i64)]| {
            let object = CodeObject::parse(with_directives(arch, directives)).expect("it parses");
            object.kernels[0].descriptor
        };
        let (mut descriptor, expected) = (parse(&plain), parse(&full));
        descriptor.set_vgpr_count(arch, if unified { 300 } else { 99 }).expect("fits");
        descriptor.set_sgpr_count(arch, 60 + 6).expect("fits");
        descriptor.set_group_segment_fixed_size(0x1234);
        descriptor.set_private_segment_fixed_size(0x4321);
        descriptor.set_kernarg_size(0x111);
        descriptor.set_float_round_mode_32(FloatRound::PlusInfinity);
        descriptor.set_float_round_mode_16_64(FloatRound::MinusInfinity);
        descriptor.set_float_denorm_mode_32(FloatDenorm::FlushDestination);
        descriptor.set_float_denorm_mode_16_64(FloatDenorm::FlushSource);
        descriptor.set_enable_dx10_clamp(false);
        descriptor.set_enable_ieee_mode(false);
        descriptor.set_fp16_overflow(true);
        descriptor.set_enable_private_segment(true);
        descriptor.set_enable_sgpr_workgroup_id_x(false);
        descriptor.set_enable_sgpr_workgroup_id_y(true);
        descriptor.set_enable_sgpr_workgroup_id_z(true);
        descriptor.set_enable_sgpr_workgroup_info(true);
        descriptor.set_enable_vgpr_workitem_id(2);
        descriptor.set_uses_dynamic_stack(true);
        for value in UserSgpr::ALL {
            descriptor.set_user_sgpr(arch, value, true).expect("15 of 16 user SGPRs");
        }
        if unified {
            descriptor.set_accum_offset(arch, 247).expect("fits");
            descriptor.set_tg_split(true);
        }
        descriptor.set_entry_offset(expected.entry_offset());
        // LLVM counts blocks of 8 SGPRs, we always ask for whole blocks of 16.
        assert_eq!(descriptor.sgpr_count(arch), expected.sgpr_count(arch));
        let blocks = 0xf << 6;
        descriptor.set_compute_pgm_rsrc1(
            descriptor.compute_pgm_rsrc1() & !blocks | expected.compute_pgm_rsrc1() & blocks,
        );
        assert_eq!(descriptor, expected, "{arch}");
    }
}

#[test]
fn registers_round_up_and_have_limits() {
    let mut descriptor = KernelDescriptor { bytes: [0; 64] };
    for count in 0..=256 {
        descriptor.set_vgpr_count(Arch::Gfx906, count).expect("up to 256");
        assert_eq!(descriptor.vgpr_count(Arch::Gfx906), count.max(1).next_multiple_of(4));
    }
    for count in 0..=512 {
        descriptor.set_vgpr_count(Arch::Gfx90a, count).expect("up to 512");
        assert_eq!(descriptor.vgpr_count(Arch::Gfx90a), count.max(1).next_multiple_of(8));
    }
    for count in 0..=112 {
        descriptor.set_sgpr_count(Arch::Gfx90a, count).expect("up to 112");
        assert_eq!(descriptor.sgpr_count(Arch::Gfx90a), count.max(1).next_multiple_of(16));
    }
    descriptor.set_sgpr_count(Arch::Gfx90a, 113).expect_err("too many");
    descriptor.set_vgpr_count(Arch::Gfx90a, 513).expect_err("too many");
    descriptor.set_vgpr_count(Arch::Gfx908, 257).expect_err("too many");
    descriptor.set_accum_offset(Arch::Gfx90a, 257).expect_err("too many");
    descriptor.set_accum_offset(Arch::Gfx908, 4).expect_err("no unified file");
}

#[test]
fn preloaded_kernel_arguments_follow_the_user_values() {
    require_tools!("llvm-mc-22", "ld.lld-22");
    let directives = [
        ("next_free_vgpr", 1),
        ("next_free_sgpr", 16),
        ("accum_offset", 4),
        ("user_sgpr_kernarg_segment_ptr", 1),
        ("user_sgpr_kernarg_preload_length", 3),
        ("user_sgpr_kernarg_preload_offset", 2),
    ];
    let object = CodeObject::parse(with_directives(Arch::Gfx90a, &directives)).expect("it parses");
    let mut descriptor = object.kernels[0].descriptor;
    let user = descriptor.user_sgprs(Arch::Gfx90a);
    let preload = user.kernarg_preload.expect("enabled");
    assert_eq!((preload.first, preload.count, preload.offset), (2, 3, 2));
    assert_eq!((user.count, descriptor.user_sgpr_count()), (5, 5));
    assert_eq!(descriptor.system_sgprs(Arch::Gfx90a).workgroup_id_x, Some(5));
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::PrivateSegmentBuffer, true).expect("fits");
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::DispatchPtr, true).expect("fits");
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::QueuePtr, true).expect("fits");
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::DispatchId, true).expect("fits");
    let before = descriptor;
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::FlatScratchInit, true).expect_err("17 SGPRs");
    assert_eq!(descriptor, before);
}

/// A bit that a processor does not know fills no register, and moves none.
#[test]
fn values_that_a_processor_does_not_know_take_no_register() {
    let mut descriptor = KernelDescriptor { bytes: [0; 64] };
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::FlatScratchInit, true).expect("fits");
    descriptor.set_user_sgpr(Arch::Gfx90a, UserSgpr::PrivateSegmentSize, true).expect("fits");
    // KERNARG_PRELOAD: length in bits 6:0.
    descriptor.bytes[58] = 3;
    let found = |arch: Arch| {
        let user = descriptor.user_sgprs(arch);
        (user.flat_scratch_init, user.private_segment_size, user.kernarg_preload.is_some(), user.count)
    };
    assert_eq!(found(Arch::Gfx908), (Some(0), Some(2), false, 3));
    assert_eq!(found(Arch::Gfx90a), (Some(0), Some(2), true, 6));
    assert_eq!(found(Arch::Gfx942), (None, Some(0), true, 4));
}
