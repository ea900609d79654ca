//! Each way a launch can stop, from OpenCL C with debug information to the whole message of
//! `cargo amdinst run`.
//!
//! The kernels and their launches are in `faults/faults.cl`.
//! `AMDINST_BLESS=1 cargo test -p cargo-amdinst --test faults` writes the messages anew.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

/// The message without what another build of the compiler may change: addresses in the code object, and the
/// directory that it was compiled in.
fn normalised(text: &str) -> String {
    let here = format!("{}/tests/faults/", env!("CARGO_MANIFEST_DIR"));
    let mut result = String::new();
    let mut rest = text.replace(&here, "");
    while let Some(at) = rest.find("pc 0x") {
        let (before, after) = rest.split_at(at + 3);
        result.push_str(before);
        result.push('…');
        let digits = after[2..].chars().take_while(char::is_ascii_hexdigit).count();
        rest = after[2 + digits..].to_owned();
    }
    result + &rest
}

#[test]
fn every_fault_is_named_and_located() {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/faults.cl");
    if !support::compile(&source, &directory.path().join("faults.elf")) {
        return;
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let source = fs::read_to_string(&source).unwrap();
    let runs: Vec<(&str, &str)> =
        source.lines().filter_map(|line| line.strip_prefix("// run ")?.split_once(": ")).collect();
    assert!(runs.len() >= 20, "{} runs", runs.len());
    let bless = std::env::var_os("AMDINST_BLESS").is_some();
    let mut different = Vec::new();
    for (kernel, options) in runs {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
            .current_dir(directory.path())
            .env("NO_COLOR", "1")
            .env_remove("CARGO_TERM_COLOR")
            .args(["run", "--quiet", "faults.elf", "--kernel", kernel])
            .args(options.split_whitespace())
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or(-1);
        assert!(output.stdout.is_empty(), "{kernel}: faults are no data");
        let text = format!("exit code {code}\n{}", normalised(&String::from_utf8_lossy(&output.stderr)));
        let path = tests.join(format!("snapshots/faults/{kernel}.txt"));
        if bless {
            fs::write(&path, text).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != text {
            different.push(format!("{kernel}:\n{text}"));
        }
    }
    assert!(different.is_empty(), "differ from their snapshots:\n{}", different.join("\n"));
}
