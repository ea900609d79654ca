//! Bytes to text and back: the tables under `tests/isa/` hold what LLVM 22's disassembler prints, one file an encoding.
//!
//! A line is a processor, the dwords and the text, separated by tabs; `#` begins a comment.

use std::fs;
use std::path::Path;

use amdinst_core::Arch;
use amdinst_core::isa::{Value, assemble, decode};

struct Case {
    arch: Arch,
    words: Vec<u32>,
    text: String,
    place: String,
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa");
    let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let table = fs::read_to_string(&file).unwrap();
        for (index, line) in table.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let place = format!("{}:{}", file.file_name().unwrap().display(), index + 1);
            let [arch, words, text] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{place}: not three columns")
            };
            let words = words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
            cases.push(Case { arch: arch.parse().unwrap(), words, text: text.to_owned(), place });
        }
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

#[test]
fn a_cut_off_instruction_is_an_error() {
    for case in cases() {
        let all = bytes(&case.words);
        for length in 0..all.len() {
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
