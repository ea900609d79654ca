//! Tables of what LLVM 22's disassembler prints, one file an encoding: processor, lanes of a wave, dwords and
//! text, separated by tabs; `#` begins a comment.

use std::fs;
use std::path::Path;

use amdgpu_isa::{Arch, Target, Value, WaveSize, assemble, decode, parse};

struct Case {
    target: Target,
    words: Vec<u32>,
    text: String,
    place: String,
}

fn target(name: &str, lanes: &str) -> Target {
    let wave = match lanes {
        "32" => WaveSize::Wave32,
        "64" => WaveSize::Wave64,
        other => panic!("no waves of {other} lanes"),
    };
    Target { arch: Arch::from_name(name).expect("a known processor"), wave }
}

/// The cases of a directory of tables.
fn cases(directory: &str) -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let table = fs::read_to_string(&file).unwrap();
        for (index, line) in table.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let place = format!("{}:{}", file.file_name().unwrap().display(), index + 1);
            let [arch, lanes, words, text] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{place}: not four columns")
            };
            let words = words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
            cases.push(Case { target: target(arch, lanes), words, text: text.to_owned(), place });
        }
    }
    cases
}

pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Words decode to LLVM's text, and that leads back.
pub(crate) fn text_is_llvms_and_leads_back(directory: &str) {
    let cases = cases(directory);
    assert!(cases.len() > 3000, "only {} cases", cases.len());
    let mut failures = Vec::new();
    for Case { target, words, text, place } in &cases {
        let target = *target;
        let inst = match decode(target, &bytes(words)) {
            Ok(inst) => inst,
            Err(error) => {
                failures.push(format!("{place}: {text:?}: {error}"));
                continue;
            }
        };
        let printed = inst.text(target);
        if printed != *text {
            failures.push(format!("{place}: {printed:?} is not {text:?}"));
            continue;
        }
        assert_eq!(inst.encode(target).unwrap().as_slice(), words, "{place}: {text}");
        let values: Vec<Value> = inst.operands.iter().map(|operand| operand.value).collect();
        let again = assemble(target, inst.op, inst.encoding, &values, inst.mods);
        assert_eq!(again.as_ref(), Ok(&inst), "{place}: {text}");
        // The names of lane patterns are not read.
        if text.contains("swizzle(") {
            continue;
        }
        match parse(target, text) {
            Ok(read) if read.text(target) == *text => {}
            Ok(read) => failures.push(format!("{place}: {text:?} is read as {:?}", read.text(target))),
            Err(error) => failures.push(format!("{place}: {text:?}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// No instruction decodes without its last bytes.
pub(crate) fn a_cut_off_instruction_is_an_error(directory: &str) {
    for Case { target, words, text, place } in cases(directory) {
        let all = bytes(&words);
        for length in 0..all.len() {
            assert!(decode(target, &all[..length]).is_err(), "{place}: {length} bytes of {text}");
        }
    }
}
