//! Code object version 2: what is read of it, and what is wrong with damaged ones.

use amdgpu_object::{CodeObject, KernelProblem, ObjectError};

use crate::require_tools;
use crate::tools::{opencl, shown};
use crate::version2::{Processor, from_version_4, with_metadata, yaml};

#[test]
fn it_says_what_version_4_says() {
    require_tools!("clang-22", "ld.lld-22", "llvm-readelf-22");
    for cpu in ["gfx900", "gfx906"] {
        let new = opencl(cpu);
        for processor in [Processor::Flags, Processor::Note] {
            let bytes = from_version_4(&new, processor);
            let notes = shown(&bytes, "llvm-readelf-22", &["--notes", "FILE"]);
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
fn what_is_wrong_with_it_is_told() {
    require_tools!("clang-22", "ld.lld-22");
    let new = opencl("gfx906");
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
