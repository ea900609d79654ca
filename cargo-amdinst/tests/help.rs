//! Every `--help` equals its snapshot in `tests/snapshots/help/`.
//! `cargo xtask snapshots --bless` writes them anew.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const COMMANDS: [&str; 17] = [
    "",
    "new",
    "setup",
    "doctor",
    "build",
    "test",
    "report",
    "inspect",
    "disasm",
    "instrument",
    "run",
    "exec",
    "bench",
    "show-env",
    "isa",
    "completions",
    "man",
];

fn help(command: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    if !command.is_empty() {
        child.arg(command);
    }
    let output = child
        .arg("--help")
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    assert!(output.stderr.is_empty(), "{command}: help is data, and goes to stdout");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_help_equals_its_snapshot() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help");
    let bless = std::env::var_os("AMDINST_BLESS").is_some();
    let mut different = Vec::new();
    for command in COMMANDS {
        let name = if command.is_empty() { "amdinst" } else { command };
        let path = directory.join(format!("{name}.txt"));
        let text = help(command);
        if bless {
            fs::write(&path, text).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != text {
            different.push(name);
        }
    }
    assert!(different.is_empty(), "differ from their snapshots: {different:?}; look, then bless");
}
