//! Code object version 2: what is read of it, how it is changed, and what is wrong with damaged ones.

use std::path::Path;

use amdgpu_object::{CodeObject, Kernel, KernelProblem, ObjectError};
use amdinst_core::instrument::{Abi, Counters, Options, apply, plan};
use proptest::prelude::*;

use crate::require_tools;
use crate::tools::run;
use crate::version2::{Processor, from_version_4, with_metadata, yaml};

const SOURCE: &str = include_str!("../sources/version_2.cl");

/// The kernels in version 4.
fn version_4(cpu: &str) -> CodeObject {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("kernels.cl"), directory.path().join("kernels.elf"));
    std::fs::write(&input, SOURCE).expect("writing the source");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    run(
        "clang-22",
        &[
            "--target=amdgcn-amd-amdhsa",
            "-nogpulib",
            "-mcode-object-version=4",
            "-fuse-ld=lld-22",
            "-O1",
            &format!("-mcpu={cpu}"),
            "-o",
            &path(&output),
            &path(&input),
        ],
    );
    CodeObject::parse(std::fs::read(output).expect("clang's output")).expect("a code object")
}

fn llvm(tool: &str, options: &[&str], bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("object.elf");
    std::fs::write(&file, bytes).expect("writing");
    let file = file.to_str().expect("UTF-8").to_owned();
    let (out, said) = run(tool, &[options, &[&file]].concat());
    assert!(said.is_empty(), "{tool}: {said}");
    out
}

#[test]
fn it_says_what_version_4_says() {
    require_tools!("clang-22", "ld.lld-22", "llvm-readelf-22");
    for cpu in ["gfx900", "gfx906"] {
        let new = version_4(cpu);
        for processor in [Processor::Flags, Processor::Note] {
            let bytes = from_version_4(&new, processor);
            let notes = llvm("llvm-readelf-22", &["--notes"], &bytes);
            assert!(notes.contains("NT_AMD_HSA_METADATA") && notes.contains("'second@kd'"), "{notes}");
            let old = CodeObject::parse(bytes).expect("version 2");
            assert_eq!((old.version, old.target.arch), (2, new.target.arch));
            assert_eq!(old.functions, new.functions);
            assert_eq!(old.kernels.len(), 2);
            for (old, new) in old.kernels.iter().zip(&new.kernels) {
                assert_eq!((&old.name, &old.symbol, &old.code), (&new.name, &new.name, &new.code));
                assert_eq!(old.metadata, new.metadata);
                let mut expected = new.descriptor;
                expected.set_entry_offset((old.code.start - old.descriptor_address) as i64);
                assert_eq!(old.descriptor, expected);
            }
        }
    }
}

#[test]
fn it_is_changed_as_what_it_is() {
    require_tools!("clang-22", "ld.lld-22", "llvm-readelf-22", "llvm-objdump-22");
    let object =
        CodeObject::parse(from_version_4(&version_4("gfx906"), Processor::Flags)).expect("version 2");
    let homes = [Counters::Register, Counters::Lds, Counters::Global];
    let mut counted = 0;
    for (counters, abi) in
        homes.into_iter().map(|home| (home, Abi::Argument)).chain([(Counters::Auto, Abi::Global)])
    {
        let plan = plan(&object, &Options { counters, abi, ..Options::default() }).expect("a plan");
        let instrumented = apply(&object, plan).expect("it can be instrumented");
        let made = CodeObject::parse(instrumented.bytes.clone()).expect("version 2 again");
        assert_eq!((made.version, made.target, made.kernels.len()), (2, object.target, 2));
        let notes = llvm("llvm-readelf-22", &["--all", "-W"], &instrumented.bytes);
        assert!(llvm("llvm-objdump-22", &["-d"], &instrumented.bytes).contains("s_endpgm"));
        for (old, new) in object.kernels.iter().zip(&made.kernels) {
            let probes = instrumented.map.kernel(&old.name).expect("the kernel in the map");
            counted += usize::from(probes.is_instrumented());
            let size = if abi == Abi::Argument && probes.is_instrumented() {
                let added = &new.metadata.args[old.metadata.args.len()..];
                assert_eq!(added[0].name.as_deref(), Some("amdinst_buffer"));
                assert_eq!((Some(added[0].offset), added[0].size), (probes.buffer_argument, 8));
                assert_eq!(added.len(), 1 + usize::from(probes.wave_ids.is_some()));
                added.iter().map(|argument| argument.offset + argument.size).max().expect("one")
            } else {
                old.metadata.kernarg_segment_size
            };
            // The header, the note, and the note as LLVM shows it.
            assert_eq!((new.descriptor.kernarg_size(), new.metadata.kernarg_segment_size), (size, size));
            assert!(notes.contains(&format!("KernargSegmentSize: {size}\n")), "{notes}");
            let lds = new.metadata.group_segment_fixed_size;
            assert_eq!(lds, new.descriptor.group_segment_fixed_size());
            if probes.is_instrumented() {
                assert_eq!((new.metadata.vgpr_count, lds), (probes.cost.vgprs[1], probes.cost.lds[1]));
            }
            // The header stands in the new code, right in front of the kernel's where it did before.
            let header = header_of(&made, new);
            let field = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]).into();
            assert_eq!((field(84), field(86)), (new.metadata.sgpr_count, new.metadata.vgpr_count));
            assert_eq!(
                u64::from_le_bytes(header[16..24].try_into().expect("8 bytes")),
                new.code.start - new.descriptor_address
            );
            // What it says besides is as it was.
            let before = header_of(&object, old);
            assert_eq!((&header[..16], &header[100..]), (&before[..16], &before[100..]));
        }
    }
    // All but the one whose launcher places its LDS.
    assert_eq!(counted, 7);
}

fn header_of<'a>(object: &'a CodeObject, kernel: &Kernel) -> &'a [u8] {
    let at = (kernel.descriptor_address - object.text.address) as usize;
    &object.text_bytes()[at..at + 256]
}

#[test]
fn what_is_wrong_with_it_is_told() {
    require_tools!("clang-22", "ld.lld-22");
    let new = version_4("gfx906");
    let good = from_version_4(&new, Processor::Flags);
    let object = CodeObject::parse(good.clone()).expect("version 2");
    let place =
        object.text.range.start + (object.kernels[0].descriptor_address - object.text.address) as usize;
    let header = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place + at] = value;
        match CodeObject::parse(bytes).expect_err("a header that is wrong") {
            ObjectError::Kernel { problem, .. } => problem,
            other => panic!("{other}"),
        }
    };
    let said = |problem: KernelProblem| match problem {
        KernelProblem::CodeHeader { what } => what,
        other => panic!("{other}"),
    };
    assert!(said(header(0, 2)).contains("major version 2"));
    assert!(said(header(103, 5)).contains("2^5 lanes"));
    assert!(said(header(56, 1 << 7)).contains("numbers of workgroups"));
    assert!(said(header(58, 1 << 2)).contains("more than 4 bytes"));
    assert!(said(header(76, 1)).contains("a kernarg segment of"));
    assert!(matches!(header(16, 4), KernelProblem::EntryMisaligned { .. }));
    assert!(matches!(header(20, 9), KernelProblem::EntryOutside { .. }));

    let sound = yaml(&new.kernels);
    let with = |from: &str, to: &str| {
        assert!(sound.contains(from), "{from} in {sound}");
        let bytes = with_metadata(&new, Processor::Flags, &sound.replace(from, to));
        CodeObject::parse(bytes).map(drop).map_err(|error| error.to_string()).expect_err(to)
    };
    assert!(with("Kernels:", "Kernels: [").contains("not the YAML of version 2"));
    assert!(with("first@kd", "third@kd").contains("`third`, which is not defined"));
    assert!(with("NumSGPRs: ", "NumSGPRs: many").contains(".sgpr_count"));
    assert!(with("Align:           8", "Align:           3").contains("no power of two"));
    assert!(with("  - Name:", "  - Nomen:").contains("no string .name"));
    // A header in another kernel's code, and no header at all.
    let bytes = good.clone();
    let symbols = object.section_bytes(".symtab").expect("symbols").to_vec();
    let at = bytes.windows(symbols.len()).rposition(|window| window == symbols).expect("the table");
    for change in [|value: u64| value + 64, |_| 0x40] {
        let mut bytes = bytes.clone();
        let value = u64::from_le_bytes(bytes[at + 32..at + 40].try_into().expect("8 bytes"));
        bytes[at + 32..at + 40].copy_from_slice(&change(value).to_le_bytes());
        assert!(matches!(CodeObject::parse(bytes), Err(ObjectError::Kernel { .. })));
    }
    // A processor that came later, and one that is not known.
    let mut later = good.clone();
    later[48] = 0x3f;
    let later = CodeObject::parse(later).expect_err("gfx90a").to_string();
    assert!(later.contains("code object version 2 for a processor that came after it"), "{later}");
    let mut unknown = from_version_4(&new, Processor::Note);
    let at = unknown.windows(7).rposition(|window| window == b"AMDGPU\0").expect("the note");
    unknown[at - 8] = 8;
    assert!(matches!(CodeObject::parse(unknown), Err(ObjectError::Processor { .. })));
}

#[test]
fn damage_is_survived() {
    require_tools!("clang-22", "ld.lld-22");
    let good = from_version_4(&version_4("gfx900"), Processor::Note);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0usize..9), 1..8);
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) }, |(edits in edits)| {
        let mut bytes = good.clone();
        for (place, value, width) in edits {
            let at = place.index(bytes.len());
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        if let Ok(object) = CodeObject::parse(bytes) {
            let made = plan(&object, &Options::default()).and_then(|plan| apply(&object, plan));
            if let Ok(instrumented) = made {
                prop_assert!(CodeObject::parse(instrumented.bytes).is_ok());
            }
        }
    });
}
