//! Source lines, compared with llvm-symbolizer.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use proptest::prelude::*;

use crate::require_tools;
use crate::symbolized::{NESTED, compare, spots_agree};
use crate::tools::{HIP, assemble, hip, link};

#[test]
fn frames_are_those_of_llvm() {
    require_tools!("clang-22", "llvm-symbolizer-22");
    for options in
        [&["-O2"][..], &["-O0"], &["-O3", "-gdwarf-4"], &["-gdwarf-5", "-gz=zlib"], &["-gz=zstd"], &["-g1"]]
    {
        for source in [HIP, NESTED] {
            let compared = compare(&hip(source, "gfx90a", 5, options));
            assert!(compared > 50, "{options:?}: {compared} frames");
        }
    }
}

#[test]
fn inlined_calls_show_their_chain() {
    require_tools!("clang-22");
    let object = CodeObject::parse(hip(NESTED, "gfx90a", 5, &["-O2"])).expect("it parses");
    let map = SourceMap::new(&object).expect("sound debug information");
    let code = object.kernel("nested").expect("a kernel").code.clone();
    let deepest = code.step_by(4).map(|pc| map.frames(pc)).max_by_key(Vec::len).expect("instructions");
    let functions: Vec<&str> = deepest.iter().filter_map(|frame| frame.function.as_deref()).collect();
    assert_eq!(functions, ["inner<int>", "outer", "nested"]);
    assert_eq!(deepest[1].linkage_name.as_deref(), Some("_ZN5space5outerEii"));
    assert_eq!((deepest[1].line, deepest[2].line), (9, 14));
    assert!(deepest[0].file.ends_with("/input.hip"), "{}", deepest[0].file);
}

#[test]
fn no_debug_information_is_no_error() {
    require_tools!("clang-22");
    let object = CodeObject::parse(hip(HIP, "gfx90a", 5, &["-g0"])).expect("it parses");
    let map = SourceMap::new(&object).expect("an empty map");
    assert!(map.is_empty() && map.frames(object.text.address).is_empty());
}

#[test]
fn functions_that_the_linker_discarded_claim_nothing() {
    require_tools!("clang-22", "llvm-symbolizer-22", "ld.lld-22");
    // Larger than the distance of .text from address 0, where the linker puts what it discards.
    let mut source = NESTED.to_owned();
    source.push_str("__device__ __attribute__((used, noinline)) int waste(volatile int *a) { int s = 0;");
    for index in 0..600 {
        source.push_str(&format!("s += a[{index}] * {index};\n"));
    }
    source.push_str("return s; }");
    let unlinked = hip(&source, "gfx90a", 5, &["-c", "-fgpu-rdc", "-Xclang", "-emit-llvm-bc"]);
    let linked = link(&unlinked, &["--gc-sections", "--plugin-opt=mcpu=gfx90a"]);
    assert!(compare(&linked) > 50);
}

/// Some functions that all have one list of ranges (DWARF 4).
fn sharing_a_list(functions: usize, ranges: usize) -> String {
    format!(
        "
        .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
        .globl many
        .p2align 8
        .type many,@function
many:
        .fill {ranges}, 4, 0xbf800000
        s_endpgm
        .size many, .-many
        .section .debug_abbrev
        .byte 1, 0x11, 1, 0, 0
        .byte 2, 0x2e, 0, 0x55, 0x17, 0, 0
        .byte 0
        .section .debug_info
        .long 2f-1f
1:      .short 4
        .long 0
        .byte 8, 1
        .rept {functions}
        .byte 2
        .long 0
        .endr
        .byte 0
2:
        .section .debug_ranges
        .set place, 0
        .rept {ranges}
        .quad many+place, many+place+4
        .set place, place+4
        .endr
        .quad 0, 0
        "
    )
}

#[test]
fn shared_lists_of_ranges_take_no_more_memory_than_there_is_sense_in() {
    require_tools!("llvm-mc-22", "ld.lld-22");
    let object = |functions, ranges| {
        let code = assemble(&sharing_a_list(functions, ranges), "gfx90a");
        CodeObject::parse(code).expect("it parses")
    };
    let few = object(3, 100);
    let map = SourceMap::new(&few).expect("sound debug information");
    assert_eq!(map.frames(few.text.address + 8).len(), 1);
    // Of these, each with all ranges, there would be 16 bytes times a thousand million.
    let error = SourceMap::new(&object(50_000, 20_000)).expect_err("too many ranges");
    assert_eq!(error.part, "unit at offset 0x0 of .debug_info");
    assert!(error.problem.contains("share lists of code ranges"), "{error}");
}

/// A place behind what is loaded, what is written there, and how many bytes of it.
pub(crate) type Overwrite = (prop::sample::Index, u64, usize);

/// Any of them.
pub(crate) fn overwrite() -> impl Strategy<Value = Overwrite> {
    (any::<prop::sample::Index>(), any::<u64>(), 1usize..9)
}

/// `seed` with some bytes from `start` on overwritten.
pub(crate) fn damaged(seed: &[u8], start: usize, edits: Vec<Overwrite>) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for (place, value, width) in edits {
        let at = start + place.index(bytes.len() - start);
        let end = (at + width).min(bytes.len());
        bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
    }
    bytes
}

#[test]
fn damaged_debug_information_is_survived() {
    require_tools!("clang-22");
    let seed = hip(NESTED, "gfx90a", 5, &[]);
    let object = CodeObject::parse(seed.clone()).expect("it parses");
    let start = object.segments.iter().map(|segment| segment.range.end).max().expect("a segment");
    let edits = prop::collection::vec(overwrite(), 1..12);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) };
    proptest!(config, |(edits in edits)| {
        if let Ok(object) = CodeObject::parse(damaged(&seed, start, edits)) {
            match SourceMap::new(&object) {
                Ok(map) => {
                    for kernel in &object.kernels {
                        spots_agree(&map, kernel.code.clone().step_by(4));
                    }
                }
                Err(error) => assert!(error.to_string().contains("without source lines")),
            }
        }
    });
}
