//! Rewriting: the result is read by our parser, by goblin (inside `rewrite`) and by LLVM's tools, without a
//! warning.

use amdgpu_object::rewrite::{Edge, Edit, KernelEdit, MetadataEdit, RewriteError, rewrite, text_address};
use amdgpu_object::verify::verify;
use amdgpu_object::{CodeObject, KernelArg};

use crate::require_tools;
use crate::tools::{HIP, assemble_unlinked, hip, inspect, link};

/// `s_nop 0`.
const NOP: [u8; 4] = 0xbf80_0000u32.to_le_bytes();

/// Bytes put before the code by [`shifted`].
const SHIFT: u64 = 512;

/// The code object with its code `SHIFT` bytes of `s_nop` later.
fn shifted(object: &CodeObject, kernels: Vec<KernelEdit>) -> Result<Vec<u8>, RewriteError> {
    let mut text = NOP.repeat(SHIFT as usize / 4);
    text.extend(object.text_bytes());
    let distance = text_address(object) + SHIFT - object.text.address;
    let edit = Edit {
        text: text.into(),
        keeps_code: false,
        kernels,
        variable: None,
        section: None,
        data: Default::default(),
    };
    rewrite(object, &edit, |old, _| Some(old + distance)).map(|rewritten| rewritten.bytes.to_vec())
}

/// What the instrumenter does to a kernel: one more pointer argument, more registers.
fn with_buffer(object: &CodeObject) -> Vec<KernelEdit> {
    let edit = |kernel: &amdgpu_object::Kernel| {
        let offset = kernel.metadata.kernarg_segment_size.next_multiple_of(8);
        let mut descriptor = kernel.descriptor;
        descriptor.set_kernarg_size(offset + 8);
        descriptor.set_sgpr_count(object.target.arch, 100).expect("100 SGPRs exist");
        let buffer = KernelArg {
            name: Some("amdinst_buffer".to_owned()),
            offset,
            size: 8,
            value_kind: "global_buffer".to_owned(),
            address_space: Some("global".to_owned()),
        };
        let metadata = MetadataEdit {
            kernarg_segment_size: Some(offset + 8),
            sgpr_count: Some(100),
            append_args: vec![buffer],
            ..MetadataEdit::default()
        };
        KernelEdit { kernel: kernel.name.clone(), descriptor, metadata }
    };
    object.kernels.iter().map(edit).collect()
}

/// Instruction lines of a disassembly, without addresses, symbols and the words that hold branch distances.
fn instructions(bytes: &[u8]) -> Vec<String> {
    let (text, warnings) =
        inspect(bytes, "llvm-objdump-22", &["-d", "--no-show-raw-insn", "-j", ".text", "FILE"]);
    assert_eq!(warnings, "");
    let lines = text.lines().filter(|line| line.starts_with(['\t', ' ']));
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default().trim().to_owned());
    lines.skip_while(|line| line.starts_with("s_nop")).collect()
}

/// Checks the result with every reader; `original` is what it was made from.
fn check(original: &[u8], rewritten: &[u8]) -> CodeObject {
    let (old, new) =
        (CodeObject::parse(original.to_vec()).expect("it parsed"), verify(rewritten).expect("consistent"));
    let (_, warnings) = inspect(rewritten, "llvm-readelf-22", &["-a", "-W", "FILE"]);
    assert_eq!(warnings, "");
    let text = old.text.address..old.text.address + old.text.range.len() as u64;
    let distance = text_address(&old) + SHIFT - old.text.address;
    assert_eq!(new.text.address, text_address(&old));
    assert_eq!(new.kernels.len(), old.kernels.len());
    for (new, old) in new.kernels.iter().zip(&old.kernels) {
        assert_eq!((&new.name, &new.symbol), (&old.name, &old.symbol));
        assert_eq!(new.code, old.code.start + distance..old.code.end + distance);
        assert_eq!(new.descriptor_address, old.descriptor_address);
    }
    for (new, old) in new.functions.iter().zip(&old.functions) {
        assert_eq!(new.code, old.code.start + distance..old.code.end + distance, "{}", old.name);
    }
    assert_eq!(new.functions.len(), old.functions.len());
    assert_eq!(new.variables, old.variables);
    for (new, old) in new.relocations.iter().zip(&old.relocations) {
        let target = old.addend as u64;
        let in_text = old.symbol.is_none() && text.contains(&target);
        let expected = if in_text { target + distance } else { target };
        assert_eq!((new.address, new.kind, new.addend), (old.address, old.kind, expected as i64));
    }
    for segment in old.segments.iter().filter(|segment| !segment.executable && segment.address != 0) {
        let bytes = |object: &CodeObject| object.bytes_at(segment.address, 1).map(<[u8]>::to_vec);
        assert_eq!(bytes(&new), bytes(&old));
        assert!(new.segments.iter().any(|new| (new.address, new.size) == (segment.address, segment.size)));
    }
    let code = instructions(original);
    assert!(code.len() >= 4 && code.iter().any(|line| line == "s_endpgm"), "{code:?}");
    assert_eq!(instructions(rewritten), code);
    new
}

#[test]
fn code_moves_and_nothing_else() {
    require_tools!("clang-22", "llvm-readelf-22", "llvm-objdump-22");
    for (arch, version) in [("gfx90a", 4), ("gfx90a", 5), ("gfx90a", 6), ("gfx906", 5), ("gfx942", 6)] {
        let original = hip(HIP, arch, version, &[]);
        let object = CodeObject::parse(original.clone()).expect("it parses");
        let rewritten = shifted(&object, Vec::new()).expect("it rewrites");
        let new = check(&original, &rewritten);
        for (new, old) in new.kernels.iter().zip(&object.kernels) {
            assert_eq!(new.metadata, old.metadata);
        }
        let (sections, _) = inspect(&rewritten, "llvm-readelf-22", &["-S", "-W", "FILE"]);
        assert!(sections.contains(".comment"), "others stay\n{sections}");
        assert_eq!(rewritten, shifted(&object, Vec::new()).expect("it rewrites"), "same input, same bytes");
    }
}

#[test]
fn descriptor_and_metadata_grow_together() {
    require_tools!("clang-22", "llvm-readelf-22", "llvm-objdump-22");
    for version in 4..=6 {
        let original = hip(HIP, "gfx90a", version, &[]);
        let object = CodeObject::parse(original.clone()).expect("it parses");
        let rewritten = shifted(&object, with_buffer(&object)).expect("it rewrites");
        let new = check(&original, &rewritten);
        for (new, old) in new.kernels.iter().zip(&object.kernels) {
            let size = old.metadata.kernarg_segment_size.next_multiple_of(8) + 8;
            assert_eq!(new.metadata.kernarg_segment_size, size);
            assert_eq!(new.descriptor.kernarg_size(), size);
            assert_eq!(new.metadata.sgpr_count, 100);
            let (buffer, others) = new.metadata.args.split_last().expect("an argument");
            assert_eq!(buffer.name.as_deref(), Some("amdinst_buffer"));
            assert_eq!(others, &old.metadata.args[..]);
        }
        let (notes, _) = inspect(&rewritten, "llvm-readelf-22", &["--notes", "FILE"]);
        assert_eq!(notes.matches("amdinst_buffer").count(), 2, "{notes}");
        // Twice over: the result can itself be rewritten.
        let again = shifted(&new, with_buffer(&new)).expect("it rewrites");
        let notes = inspect(&again, "llvm-readelf-22", &["--notes", "FILE"]).0;
        assert_eq!(notes.matches("amdinst_buffer").count(), 4);
        assert_eq!(inspect(&again, "llvm-readelf-22", &["-a", "FILE"]).1, "");
    }
}

#[test]
fn an_edit_to_the_same_values_keeps_the_note() {
    require_tools!("clang-22");
    let object = CodeObject::parse(hip(HIP, "gfx90a", 6, &[])).expect("it parses");
    let edits = object.kernels.iter().map(|kernel| KernelEdit {
        kernel: kernel.name.clone(),
        descriptor: kernel.descriptor,
        metadata: MetadataEdit { vgpr_count: Some(kernel.metadata.vgpr_count), ..MetadataEdit::default() },
    });
    let edited = shifted(&object, edits.collect()).expect("it rewrites");
    assert_eq!(edited, shifted(&object, Vec::new()).expect("it rewrites"), "MessagePack round trip");
}

/// A kernel and a function with hand-written metadata that has keys of its own, not in alphabetical order.
const ASSEMBLY: &str = r#"
    .text
    .globl kernel
    .p2align 8
    .type kernel,@function
kernel:
    s_getpc_b64 s[0:1]
    s_branch later
    s_nop 1
later:
    s_endpgm
    .size kernel, .-kernel
    .type function,@function
function:
    s_setpc_b64 s[30:31]
    .size function, .-function
    .section .data,"aw",@progbits
    .p2align 3
    .globl pointer
    .type pointer,@object
    .size pointer, 16
pointer:
    .quad function
    .quad later+4
    .rodata
    .p2align 6
    .amdhsa_kernel kernel
        .amdhsa_next_free_vgpr 1
        .amdhsa_next_free_sgpr 1
        .amdhsa_accum_offset 4
    .end_amdhsa_kernel
    .amdgpu_metadata
    amdhsa.version: [1, 2]
    zebra.note: kept
    amdhsa.kernels:
      - .name: kernel
        .symbol: kernel.kd
        .kernarg_segment_size: 0
        .kernarg_segment_align: 4
        .group_segment_fixed_size: 0
        .private_segment_fixed_size: 0
        .wavefront_size: 64
        .sgpr_count: 7
        .vgpr_count: 1
        .max_flat_workgroup_size: 256
        .tool: [1, 2, 3]
    .end_amdgpu_metadata
"#;

#[test]
fn unusual_links() {
    require_tools!("llvm-mc-22", "ld.lld-22", "llvm-readelf-22", "llvm-objdump-22");
    let unlinked = assemble_unlinked(ASSEMBLY, "gfx90a");
    for options in [
        &[][..],
        &["--no-rosegment"],
        &["-z", "max-page-size=65536"],
        &["-z", "separate-loadable-segments"],
        &["--apply-dynamic-relocs"],
        &["--emit-relocs"],
        &["--build-id"],
        &["--strip-all"],
        &["--hash-style=sysv", "-z", "norelro"],
        &["-N", "--no-rosegment"],
    ] {
        println!("{options:?}");
        let original = link(&unlinked, options);
        let object = CodeObject::parse(original.clone()).expect("it parses");
        check(&original, &shifted(&object, Vec::new()).expect("it rewrites"));
        let grown = shifted(&object, with_buffer(&object)).expect("it rewrites");
        check(&original, &grown);
        let notes = inspect(&grown, "llvm-readelf-22", &["--notes", "FILE"]).0;
        for text in ["amdinst_buffer", "zebra.note", "- 3"] {
            assert!(notes.contains(text), "{text} is not in\n{notes}");
        }
        if options.contains(&"--build-id") {
            assert!(notes.contains("NT_GNU_BUILD_ID"), "the other note stays\n{notes}");
        }
        if options.contains(&"--apply-dynamic-relocs") {
            let new = CodeObject::parse(grown).expect("it parses");
            let pointer =
                new.variables.iter().find(|variable| variable.name == "pointer").expect("a variable");
            let stored = new.bytes_at(pointer.address, 8).expect("initialised");
            assert_eq!(stored, new.functions[0].code.start.to_le_bytes());
        }
    }
}

#[test]
fn refusals() {
    require_tools!("clang-22");
    let object = CodeObject::parse(hip(HIP, "gfx90a", 5, &[])).expect("it parses");
    let text = object.text_bytes().to_vec();
    let distance = text_address(&object) - object.text.address;
    let attempt = |map: &dyn Fn(u64, Edge) -> Option<u64>, kernels| {
        rewrite(
            &object,
            &Edit {
                text: (&text).into(),
                keeps_code: false,
                kernels,
                variable: None,
                section: None,
                data: Default::default(),
            },
            map,
        )
        .expect_err("refused")
    };
    let same = |old: u64, _: Edge| Some(old + distance);

    let unmapped = attempt(&|_, _| None, Vec::new());
    let RewriteError::Unmapped { what, .. } = &unmapped else { panic!("{unmapped}") };
    let name = what.strip_prefix("symbol `").and_then(|name| name.strip_suffix('`'));
    let names: Vec<&str> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert!(name.is_some_and(|name| names.contains(&name)), "{unmapped}");
    let misaligned = attempt(&|old, _| Some(old + distance + 4), Vec::new());
    assert!(matches!(misaligned, RewriteError::EntryMisaligned { .. }), "{misaligned}");
    let mut edits = with_buffer(&object);
    edits[0].kernel = "third".to_owned();
    assert_eq!(attempt(&same, edits), RewriteError::UnknownKernel { kernel: "third".to_owned() });
    let mut edits = with_buffer(&object);
    edits[1].descriptor.set_kernarg_size(8);
    let disagree = attempt(&same, edits);
    assert!(matches!(&disagree, RewriteError::Disagree { field: "kernarg size", .. }), "{disagree}");
    let mut edits = with_buffer(&object);
    edits[1].metadata.vgpr_count = Some(511);
    let disagree = attempt(&same, edits);
    assert!(matches!(&disagree, RewriteError::Disagree { field: "a VGPR count of", .. }), "{disagree}");
}
