//! A function that cannot move stays with the kernel that calls it; all others are instrumented, and debug
//! information tells of both.

mod support;

use std::path::Path;
use std::process::{Command, Output};

fn run(directory: &Path, program: &str, words: &str) -> Output {
    let mut command = Command::new(program);
    command.current_dir(directory).env("NO_COLOR", "1").args(words.split_whitespace()).output().unwrap()
}

/// Where LLVM's tool finds the beginnings of functions in the source, by their names.
fn lines(directory: &Path, file: &str) -> Vec<(String, String)> {
    let symbols = run(directory, "llvm-nm-22", &format!("--defined-only --format=posix {file}"));
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    let mut lines = Vec::new();
    for symbol in symbols.lines() {
        let [name, kind, address, ..] = symbol.split(' ').collect::<Vec<_>>()[..] else { continue };
        if kind.eq_ignore_ascii_case("t") {
            let found = run(directory, "llvm-symbolizer-22", &format!("--obj={file} 0x{address}"));
            let found = String::from_utf8(found.stdout).unwrap();
            let place = found.lines().nth(1).unwrap_or_default().rsplit('/').next().unwrap_or_default();
            lines.push((name.to_owned(), place.to_owned()));
        }
    }
    lines.sort();
    lines
}

#[test]
fn code_that_stays_and_code_that_moves_have_their_lines() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("stays.cl"), include_str!("sources/stays.cl")).unwrap();
    if !support::compile(&directory.join("stays.cl"), &directory.join("k.elf")) {
        return;
    }
    let output = run(directory, env!("CARGO_BIN_EXE_cargo-amdinst"), "instrument k.elf -o new.elf");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(7), "{told}");
    assert!(told.contains("Instrumented 3 of 4 kernels"), "{told}");
    assert!(told.contains("refused in uses_odd: ") && told.contains("stays.cl:5:5: in `odd`"), "{told}");
    assert!(!told.contains("debug information"), "{told}");

    let verified = run(directory, "llvm-dwarfdump-22", "--verify new.elf");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    let (old, new) = (lines(directory, "k.elf"), lines(directory, "new.elf"));
    assert!(old.len() > 4 && old.iter().all(|(_, place)| place.starts_with("stays.cl:")), "{old:?}");
    assert_eq!(old, new);
}
