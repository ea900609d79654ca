//! Damaged files: an error or a sane result, never a panic.

use std::sync::OnceLock;

use amdgpu_object::rewrite::{Edge, Edit, NewVariable, rewrite, text_address};
use amdgpu_object::{CodeObject, Text};
use proptest::prelude::*;

use crate::require_tools;
use crate::tools::{HIP, assemble, hip};

/// Real code objects to damage: clang's, and a small hand-written one.
fn seeds() -> &'static [Vec<u8>] {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let assembly = ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_endpgm\n.rodata\n.p2align 6\n\
            .amdhsa_kernel k\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n";
        let plain = hip(HIP, "gfx906", 4, &["-g0"]);
        vec![hip(HIP, "gfx90a", 6, &[]), kept(plain.clone()), plain, assemble(assembly, "gfx900")]
    })
}

/// The code object with all its code where it was, and again in a new `.text`.
fn kept(bytes: Vec<u8>) -> Vec<u8> {
    let object = CodeObject::parse(bytes).expect("a code object");
    let edit = Edit {
        text: object.text_bytes().into(),
        keeps_code: true,
        kernels: Vec::new(),
        variable: None,
        section: None,
        data: Default::default(),
    };
    rewrite(&object, &edit, |old, _| Some(old)).expect("rewriting").bytes.to_vec()
}

/// Whatever parses must keep the promises that users of [`CodeObject`] rely on.
fn check(bytes: Vec<u8>) {
    let object = match CodeObject::parse(bytes) {
        Ok(object) => object,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(object.text.range.end <= object.bytes.len());
    for segment in &object.segments {
        assert!(segment.range.end <= object.bytes.len() && segment.range.len() as u64 <= segment.size);
        assert!(segment.address.checked_add(segment.size).is_some());
    }
    for pair in object.segments.windows(2) {
        assert!(pair[0].address + pair[0].size <= pair[1].address);
    }
    let kernels = object.kernels.iter().map(|kernel| &kernel.code);
    for code in kernels.chain(object.functions.iter().map(|function| &function.code)) {
        let mut sections = object.code().map(Text::memory);
        assert!(sections.any(|section| {
            section.start <= code.start && code.start <= code.end && code.end <= section.end
        }));
    }
    for kernel in &object.kernels {
        assert_eq!(object.bytes_at(kernel.descriptor_address, 64), Some(&kernel.descriptor.bytes[..]));
    }
    // Rewriting may refuse it, but must not panic either, and what it makes must parse.
    let distance = text_address(&object).wrapping_sub(object.text.address);
    let text = object.text_bytes().to_vec();
    let map = |old: u64, _: Edge| Some(old.wrapping_add(distance));
    // Every other file gets a variable, whose symbol goes into tables that may be damaged.
    let odd = object.bytes.iter().fold(0, |sum, byte| sum ^ byte) & 1 == 1;
    let variable = odd.then_some(NewVariable { name: "added", size: 8, offset: 56, memory: 128 });
    match rewrite(
        &object,
        &Edit {
            text: text.into(),
            keeps_code: false,
            kernels: Vec::new(),
            variable,
            section: None,
            data: Default::default(),
        },
        map,
    ) {
        Ok(new) => assert!(CodeObject::parse(new.bytes).is_ok()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn every_truncation_is_survived() {
    require_tools!("clang-22", "llvm-mc-22", "ld.lld-22");
    for seed in seeds() {
        for length in (0..seed.len()).step_by(7) {
            assert!(CodeObject::parse(seed[..length].to_vec()).is_err(), "{length} of {} bytes", seed.len());
        }
    }
}

#[test]
fn every_header_byte_can_be_anything() {
    require_tools!("clang-22", "llvm-mc-22", "ld.lld-22");
    let seed = &seeds()[2];
    for at in 0..seed.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, seed[at] ^ 1, seed[at].wrapping_add(1)] {
            let mut bytes = seed.clone();
            bytes[at] = value;
            check(bytes);
        }
    }
}

#[test]
fn random_damage_is_survived() {
    require_tools!("clang-22", "llvm-mc-22", "ld.lld-22");
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0usize..9), 1..12);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) }, |(seed in 0usize..3, edits in edits, cut in cut)| {
        let mut bytes = seeds()[seed].clone();
        for (place, value, width) in edits {
            let at = place.index(bytes.len());
            let end = (at + width).min(bytes.len());
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(bytes);
    });
}

/// Program headers of a file: where each starts.
fn program_headers(bytes: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let count = u16::from_le_bytes(*bytes[56..].first_chunk().unwrap());
    let first = u64::from_le_bytes(*bytes[32..].first_chunk().unwrap()) as usize;
    (0..usize::from(count)).map(move |number| first + 56 * number)
}

#[test]
fn a_dynamic_table_that_is_not_loaded_gets_no_variable() {
    require_tools!("clang-22", "llvm-mc-22", "ld.lld-22");
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    let mut refused = 0;
    for seed in seeds() {
        let kind = |at: usize| u32::from_le_bytes(*seed[at..].first_chunk().unwrap());
        let field = |at: usize| u64::from_le_bytes(*seed[at..].first_chunk().unwrap());
        let dynamic = program_headers(seed).find(|&at| kind(at) == DYNAMIC).map(|at| field(at + 16)).unwrap();
        let holds = |&at: &usize| {
            kind(at) == LOAD && (field(at + 16)..field(at + 16) + field(at + 40)).contains(&dynamic)
        };
        let load = program_headers(seed).find(holds).unwrap();
        let mut bytes = seed.clone();
        // PT_NULL: whoever loads the file passes over it.
        bytes[load..load + 4].fill(0);
        let Ok(object) = CodeObject::parse(bytes) else { continue };
        let text = object.text_bytes().to_vec();
        let map = |old: u64, _: Edge| Some(old);
        let variable = Some(NewVariable { name: "added", size: 8, offset: 56, memory: 128 });
        let edit = Edit {
            text: text.into(),
            keeps_code: false,
            kernels: Vec::new(),
            variable,
            section: None,
            data: Default::default(),
        };
        let error = rewrite(&object, &edit, map).map(drop).unwrap_err().to_string();
        assert!(error.contains("section .dynamic: no segment loads it"), "{error}");
        refused += 1;
    }
    assert!(refused > 0);
}
