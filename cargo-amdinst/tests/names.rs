//! Names of strangers: a code object's and a report's that command a terminal, forge lines, turn text around,
//! or are no UTF-8. Whatever the command prints or writes shows them as escapes, JSON keeps the true ones,
//! and what is rewritten keeps their bytes.

use std::path::Path;
use std::process::{Command, Output};

const FIXTURE: &[u8] = include_bytes!("fixtures/branches.elf");
const RUN: &str = include_str!("fixtures/run.json");

/// A kernel's name, as long as `collatz`: it clears the screen, forges a line, begins a command, and is no
/// UTF-8.
const KERNEL: &[u8] = b"\x1b[2J\n\xe9\x9b";
const KERNEL_SHOWN: &str = r"\u{1b}[2J\u{a}\xe9\x9b";
/// One as long as `add` that begins a command with one character of the second set.
const SHORT: &[u8] = "\u{9b}J".as_bytes();
/// A source file's name, as long as `branches.cl`.
const FILE: &[u8] = "\u{202e}\n::error".as_bytes();

/// The fixture with other names, which are as long.
fn renamed(names: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = FIXTURE.to_vec();
    for &(from, to) in names {
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
    }
    bytes
}

fn evil() -> Vec<u8> {
    renamed(&[(b"collatz", KERNEL), (b"add\xbb", b"\xc2\x9bJ\xbb"), (b"branches.cl", FILE)])
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
        .current_dir(directory)
        .args(arguments)
        .env_remove("NO_COLOR")
        .env("CARGO_TERM_COLOR", "always")
        .output()
        .unwrap()
}

/// Nothing in a text commands a terminal but styles, turns text around, or cannot be seen.
#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let end = rest[at..].find('m').unwrap_or_else(|| panic!("{what}: {text:?}"));
        let style = &rest[at + 1..at + end];
        assert!(
            style
                .strip_prefix('[')
                .is_some_and(|style| style.chars().all(|c| c.is_ascii_digit() || c == ';')),
            "{what}: {text:?}"
        );
        rest = &rest[at + end..];
    }
    let harmful = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t' | '\u{1b}')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || c >= '\u{e0000}'
    };
    assert!(!text.contains(harmful), "{what}: {text:?}");
    assert!(text.lines().all(|line| !line.starts_with("::error") || what == "github"), "{what}: {text:?}");
}

#[test]
fn what_commands_print_of_a_code_object() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("evil.elf"), evil()).unwrap();
    let launch = ["--grid", "1", "--block", "64", "--arg", "u32[64]", "--arg", "u32:60", "--arg", "u32:9"];
    let launch = [&["run", "evil.elf", "--kernel", KERNEL_SHOWN][..], &launch].concat();
    let commands: [&[&str]; 9] = [
        &["inspect", "evil.elf"],
        &["inspect", "evil.elf", "--format", "json"],
        &["disasm", "evil.elf", "-l"],
        &["disasm", "evil.elf", "--sites"],
        &["disasm", "evil.elf", "--format", "json"],
        &["instrument", "evil.elf", "--plan"],
        &["instrument", "evil.elf", "--plan", "--format", "json"],
        &["run", "evil.elf", "--kernel", "missing"],
        &["instrument", "evil.elf", "-o", "out.elf"],
    ];
    for arguments in commands {
        let output = run(directory, arguments);
        let code = output.status.code();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code, Some(if arguments.contains(&"missing") { 2 } else { 0 }), "{arguments:?}: {told}");
        assert_clean(&arguments.join(" "), &output.stdout);
        assert_clean(&arguments.join(" "), &output.stderr);
        if arguments[0] == "inspect" && arguments.len() == 2 {
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains(KERNEL_SHOWN) && text.contains(r"\u{9b}J"), "{text}");
        }
    }
    // Such a kernel is asked for by the name that was shown.
    for more in [&[][..], &["--report"], &["--report", "--format", "json"]] {
        let output = run(directory, &[&launch[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_clean("run", &output.stdout);
        assert_clean("run", &output.stderr);
    }
    // The bytes of names are in what is written.
    let out = std::fs::read(directory.join("out.elf")).unwrap();
    let count = |bytes: &[u8], name: &[u8]| bytes.windows(name.len()).filter(|part| *part == name).count();
    assert!(
        count(&out, KERNEL) >= 3 && count(&out, SHORT) >= 1,
        "{} {}",
        count(&out, KERNEL),
        count(&out, SHORT)
    );
    let map: serde_json::Value =
        serde_json::from_slice(&std::fs::read(directory.join("out.probes.json")).unwrap()).unwrap();
    let names: Vec<&str> =
        map["kernels"].as_array().unwrap().iter().filter_map(|kernel| kernel["name"].as_str()).collect();
    assert!(names.contains(&"\u{9b}J"), "{names:?}");
}

#[test]
fn what_reports_make_of_a_document() {
    let evil = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\n::error::x";
    let mut document: serde_json::Value = serde_json::from_str(RUN).unwrap();
    spoil(&mut document, evil);
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("run.json"), document.to_string()).unwrap();
    for format in ["human", "markdown", "github", "json"] {
        let output = run(directory, &["report", "--run", "run.json", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_clean(format, &output.stdout);
        assert_clean(format, &output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        if format == "json" {
            let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(summary["package"].as_str().unwrap().ends_with(evil), "{summary}");
        } else {
            assert!(text.contains(r"\u{1b}]0;x\u{7}\u{9b}2J\u{202e}"), "{text}");
        }
        // A command of GitHub's is one line, and a name begins none.
        assert!(!text.lines().any(|line| line.starts_with("::error")), "{text}");
    }
    let outputs = ["--html", "page", "--lcov", "lines.info", "--sarif", "run.sarif"];
    let output = run(directory, &[&["report", "--run", "run.json"], &outputs[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for file in ["page/index.html", "lines.info", "run.sarif"] {
        assert_clean(file, &std::fs::read(directory.join(file)).unwrap());
    }
}

/// Puts more behind each name of a document.
fn spoil(value: &mut serde_json::Value, evil: &str) {
    const NAMES: [&str; 5] = ["name", "kernel", "package", "file", "function"];
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    serde_json::Value::String(text) if NAMES.contains(&key.as_str()) => text.push_str(evil),
                    value => spoil(value, evil),
                }
            }
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| spoil(value, evil)),
        _ => {}
    }
}
