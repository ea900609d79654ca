//! Bytes to text and back: the tables under `tests/tables/` hold what LLVM 22's disassembler prints, one file
//! an encoding.
//!
//! A line is a processor, the dwords and the text, separated by tabs; `#` begins a comment.

use std::fs;
use std::path::Path;

use amdgpu_isa::{Arch, Value, assemble, decode, decode_for_listing, parse};

struct Case {
    arch: Arch,
    words: Vec<u32>,
    text: String,
    place: String,
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(file)).collect()
}

fn cases_of(file: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let table = fs::read_to_string(file).unwrap();
    for (index, line) in table.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let place = format!("{}:{}", file.file_name().unwrap().display(), index + 1);
        let [arch, words, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{place}: not three columns")
        };
        let words = words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        cases.push(Case { arch: arch.parse().unwrap(), words, text: text.to_owned(), place });
    }
    cases
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn text_is_llvms() {
    let cases = cases();
    assert!(cases.len() > 3000, "only {} cases: the tables are incomplete", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        match decode(case.arch, &bytes(&case.words)) {
            Ok(inst) if inst.text(case.arch) == case.text => {
                assert_eq!(usize::from(inst.size), case.words.len() * 4, "{}", case.place);
            }
            Ok(inst) => {
                failures.push(format!("{}: {:?} is not {:?}", case.place, inst.text(case.arch), case.text));
            }
            Err(error) => failures.push(format!("{}: {:?}: {error}", case.place, case.text)),
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn encoding_gives_back_the_bytes() {
    for case in cases() {
        let inst = decode(case.arch, &bytes(&case.words)).unwrap();
        let words = inst.encode(case.arch).unwrap_or_else(|error| panic!("{}: {error}", case.place));
        assert_eq!(words.as_slice(), case.words, "{}", case.place);
    }
}

#[test]
fn assembling_the_operands_gives_back_the_instruction() {
    for case in cases() {
        let inst = decode(case.arch, &bytes(&case.words)).unwrap();
        let values: Vec<Value> = inst.operands.iter().map(|operand| operand.value).collect();
        let again = assemble(case.arch, inst.op, inst.encoding, &values, inst.mods);
        assert_eq!(again, Ok(inst), "{}", case.place);
    }
}

/// `tests/refused.tsv` has what LLVM's disassembler prints and its assembler refuses: no instructions, but a
/// listing shows those that only rules of operands are against.
#[test]
fn what_llvms_assembler_refuses_is_no_instruction() {
    let cases = cases_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused.tsv"));
    assert!(cases.len() > 400, "only {} cases", cases.len());
    let mut listed = 0;
    for case in &cases {
        if let Ok(inst) = decode(case.arch, &bytes(&case.words)) {
            panic!("{}: {} is taken", case.place, inst.text(case.arch));
        }
        if let Ok(inst) = decode_for_listing(case.arch, &bytes(&case.words)) {
            listed += 1;
            assert_eq!(inst.text(case.arch), case.text, "{}", case.place);
        }
    }
    assert!(listed > 200, "only {listed} are listed");
}

/// A literal is a whole dword, also of an operand of 16 bits. LLVM's compiler writes such and its
/// disassembler reads them; its assembler does not.
#[test]
fn a_literal_of_16_bits_may_fill_its_dword() {
    let cases = cases_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wide_halves.tsv"));
    assert!(cases.len() > 200, "only {} cases", cases.len());
    for Case { arch, words, text, place } in &cases {
        let inst = decode(*arch, &bytes(words)).unwrap_or_else(|error| panic!("{place}: {text}: {error}"));
        assert_eq!(inst.text(*arch), *text, "{place}");
        assert_eq!(inst.encode(*arch).unwrap().as_slice(), words, "{place}");
        assert!(inst.has_wide_half(*arch), "{place}: {text}");
    }
    let narrow = decode(Arch::Gfx900, &bytes(&[0x4802_0702, 0x0000_ffff])).unwrap();
    assert!(!narrow.has_wide_half(Arch::Gfx900), "{narrow:?}");
}

/// Hardware writes a status into a third register. LLVM lists two, and has no form of three.
#[test]
fn a_gather_of_halves_with_a_status_is_listed_as_llvm_has_it() {
    let words = bytes(&[0xf101_0100, 0x8082_1404]);
    assert!(decode(Arch::Gfx900, &words).is_err());
    let listed = decode_for_listing(Arch::Gfx900, &words).unwrap();
    assert_eq!(listed.text(Arch::Gfx900), "image_gather4 v[20:21], v4, s[8:15], s[16:19] dmask:0x1 tfe d16");
    assert!(parse(Arch::Gfx900, &listed.text(Arch::Gfx900)).is_err());
}

#[test]
fn a_cut_off_instruction_is_an_error() {
    for case in cases() {
        let all = bytes(&case.words);
        for length in 0..all.len() {
            // The scales of a matrix instruction can be loaded by themselves.
            if all.len() == 16 && (8..16).contains(&length) {
                continue;
            }
            // The first dword alone can be another instruction only when it is whole by itself.
            if let Ok(inst) = decode(case.arch, &all[..length]) {
                panic!(
                    "{}: {} of {} bytes decode to {}",
                    case.place,
                    length,
                    all.len(),
                    inst.text(case.arch)
                );
            }
        }
    }
}

/// A few forms that only names express are not read: messages, buffer formats, swizzles.
fn has_names(text: &str) -> bool {
    ["MSG_", "BUF_DATA", "BUF_NUM", "swizzle("].iter().any(|name| text.contains(name))
}

/// What is read gives the same text again. (Not always the same dwords: bits without meaning have no text.)
#[test]
fn text_reads_back() {
    let mut failures = Vec::new();
    let (mut compared, mut plain, mut same) = (0, 0, 0);
    for case in cases().iter().filter(|case| !has_names(&case.text)) {
        compared += 1;
        let is_plain = decode(case.arch, &bytes(&case.words)).is_ok_and(|inst| inst.mods.ignored == 0);
        plain += usize::from(is_plain);
        match parse(case.arch, &case.text) {
            Ok(inst) if inst.text(case.arch) == case.text => {
                let words = inst.encode(case.arch);
                same += usize::from(is_plain && words.is_ok_and(|words| words.as_slice() == case.words));
            }
            Ok(inst) => {
                failures.push(format!("{}: {:?} is not {:?}", case.place, inst.text(case.arch), case.text));
            }
            Err(error) => failures.push(format!("{}: {:?}: {error}", case.place, case.text)),
        }
    }
    println!("{compared} lines compared; {same} of {plain} without meaningless bits have the same dwords");
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(same * 100 > plain * 98, "{same} of {plain}");
}

#[test]
fn what_is_no_instruction_is_refused() {
    let refused = |line: &str| parse(Arch::Gfx90a, line).unwrap_err().to_string();
    assert_eq!(refused("v_frobnicate_b32 v0, v1"), "gfx90a has no instruction `v_frobnicate_b32`");
    assert_eq!(refused("v_add_f32 v0, v1, x2"), "`x2` is no operand that can stand here");
    assert_eq!(refused("v_add_f32 v0, v1, v2, v3"), "v_add_f32 takes 3 operands at most, not 4");
    assert_eq!(refused("v_add_f32 v0, v1, v2 clmap"), "`v2 clmap` is no operand that can stand here");
    assert!(refused("v_add_f32 v0, v1").contains("takes 3 operands"), "{}", refused("v_add_f32 v0, v1"));
    assert!(
        refused("v_add_f32_e32 v0, v1, s2").contains("operand 2"),
        "{}",
        refused("v_add_f32_e32 v0, v1, s2")
    );
}

#[test]
fn the_shortest_encoding_is_taken() {
    for (line, text) in [
        ("v_add_f32 v0, s1, v2", "v_add_f32_e32 v0, s1, v2"),
        ("v_add_f32 v0, v1, s2", "v_add_f32_e64 v0, v1, s2"),
        ("v_add_f32 v0, -v1, v2", "v_add_f32_e64 v0, -v1, v2"),
        ("v_cmp_eq_u32 s[0:1], 0x10, v2", "v_cmp_eq_u32_e64 s[0:1], 16, v2"),
        ("v_mov_b32 v0, v1 row_shl:1", "v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf"),
        ("s_endpgm", "s_endpgm"),
    ] {
        let inst = parse(Arch::Gfx90a, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(inst.text(Arch::Gfx90a), text);
    }
}

/// gfx950's scales before two dwords with these codes of sources A and C, whether the accumulator (or A) is
/// an AGPR, and what LLVM 22's disassembler makes of it: one instruction, none, or the scales alone.
#[test]
fn scales_stand_alone_where_a_code_names_no_matrix() {
    const ONE: Option<&str> = Some("v_mfma_scale_f32_16x16x128_f8f6f4");
    const ALONE: Option<&str> = Some("v_mfma_ld_scale_b32");
    for (a, c, agprs, expected) in [
        (260, 276, false, ONE),
        (260, 276, true, ONE),
        (260, 128, false, ONE),
        // Scalars and tuples that are not aligned.
        (99, 276, false, None),
        (119, 276, false, None),
        (261, 276, false, None),
        (260, 101, false, None),
        (260, 123, false, None),
        // Past the end of the scalars, codes without a meaning, past the end of the AGPRs.
        (100, 276, false, ALONE),
        (120, 276, false, ALONE),
        (260, 102, false, ALONE),
        (260, 209, false, ALONE),
        (249, 276, false, ALONE),
        (506, 276, false, None),
        (506, 276, true, ALONE),
        (260, 510, false, None),
        (260, 510, true, ALONE),
    ] {
        let sources = a | 0x10c << 9 | c << 18 | u32::from(agprs) << 27;
        let words = [0xd3ac_0000, 0x0002_3918, 0xd3ad_0800 | u32::from(agprs) << 15, sources];
        let inst = decode(Arch::Gfx950, &bytes(&words)).ok();
        let mnemonic = inst.map(|inst| inst.op.name());
        assert_eq!(mnemonic, expected, "A {a}, C {c}, AGPRs {agprs}");
    }
}
