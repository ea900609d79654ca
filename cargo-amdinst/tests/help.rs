//! Every `--help` equals its snapshot in `tests/snapshots/help/`.
//! `cargo xtask snapshots --bless` writes them anew.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const COMMANDS: [&str; 18] = [
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
    "replay",
    "exec",
    "bench",
    "show-env",
    "isa",
    "completions",
    "man",
];

fn help(command: &str) -> String {
    printed(command, "--help")
}

fn printed(command: &str, option: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    if !command.is_empty() {
        child.arg(command);
    }
    let output = child
        .arg(option)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    assert!(output.stderr.is_empty(), "{command}: help is data, and goes to stdout");
    String::from_utf8(output.stdout).unwrap()
}

/// What `-h` prints is short, and has what everybody needs, the processor first. All else is in `--help`.
#[test]
fn the_short_help_has_what_everybody_needs() {
    for (command, needed) in [
        ("test", &["--package", "--profile", "--features", "--device", "--check", "--no-run", "--junit"][..]),
        ("build", &["--package", "--profile", "--features", "--kernel", "--counters"]),
    ] {
        let text = printed(command, "-h");
        assert!(text.lines().count() <= 60, "{command}: {} lines", text.lines().count());
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{command}: no {word} in {text}"));
        let options = &text[at("Options:")..];
        assert!(options.lines().nth(1).is_some_and(|line| line.contains("--target-cpu")), "{text}");
        needed.iter().for_each(|word| assert!(at(word) > 0));
        assert!(!text.contains("--frozen") && help(command).contains("--frozen"), "{text}");
    }
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
