//! `disasm` prints what `llvm-objdump -d` prints, line for line.

#[path = "support/schema.rs"]
mod schema;
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_object::container;

/// A tool of LLVM 22, or why it is not there.
fn llvm_objdump() -> Option<PathBuf> {
    let found = ["llvm-objdump-22", "llvm-objdump"].into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("LLVM version 22"))
    });
    skip_unless(found.is_some(), "llvm-objdump 22 is not installed (`apt-get install llvm-22`)");
    found.map(PathBuf::from)
}

/// Tells of a skip, or makes it a failure where nothing may be skipped.
fn skip_unless(there: bool, why: &str) {
    if !there {
        assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{why}");
        eprintln!("SKIPPED: disasm against llvm-objdump: {why}");
    }
}

fn disasm(file: &Path, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    let output = command.arg("disasm").arg(file).args(options).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn compare(objdump: &Path, file: &Path) {
    compare_with(objdump, file, &[]);
}

fn compare_with(objdump: &Path, file: &Path, options: &[&str]) {
    let output = Command::new(objdump).arg("-d").args(options).arg(file).output().unwrap();
    assert!(output.status.success());
    // Its first lines name the file and its format.
    let reference = String::from_utf8(output.stdout).unwrap();
    let reference = reference.lines().skip_while(|line| !line.starts_with("Disassembly"));
    let ours = disasm(file, options);
    let mut ours = ours.lines().skip(1);
    let mut lines = 0;
    for (number, line) in reference.enumerate() {
        assert_eq!(ours.next(), Some(line), "line {} of {}", number + 1, file.display());
        lines += 1;
    }
    assert_eq!(ours.next(), None);
    assert!(lines > 100, "only {lines} lines");
}

#[test]
fn of_a_code_object() {
    let Some(objdump) = llvm_objdump() else { return };
    compare(&objdump, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf"));
}

/// Every GFX9 kernel of a library: a quarter of a million lines for five targets.
#[test]
fn of_every_code_object_of_rocrand() {
    let Some(objdump) = llvm_objdump() else { return };
    let library = Path::new("/usr/lib/x86_64-linux-gnu/librocrand.so.1");
    skip_unless(library.exists(), "librocrand is not installed (`apt-get install librocrand1`)");
    let Ok(bytes) = std::fs::read(library) else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for embedded in container::open(&bytes).unwrap() {
        if !embedded.target_id().starts_with("gfx9") {
            continue;
        }
        let file = directory.path().join(format!("{}.elf", embedded.index));
        std::fs::write(&file, &*embedded.bytes).unwrap();
        compare(&objdump, &file);
        compared += 1;
    }
    assert!(compared > 0);
}

#[test]
fn of_one_kernel() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf");
    let run = |kernel: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command.arg("disasm").arg(&file).args(["--kernel", kernel]).output().unwrap()
    };
    let output = run("add");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().nth(3), Some("0000000000001a00 <add>:"));
    assert!(text.trim_end().lines().last().unwrap().starts_with("\ts_endpgm"));
    let output = run("sub");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it has add, collatz"));
}

/// Inlined functions, calls, code without a line, and several functions in one file.
const SOURCE: &str = include_str!("fixtures/disasm.cl");

#[test]
fn with_lines_and_source_of_a_code_object() {
    let Some(objdump) = llvm_objdump() else { return };
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("lines.cl");
    std::fs::write(&source, SOURCE).unwrap();
    for level in ["-O0", "-O1", "-O2"] {
        let file = directory.path().join(format!("lines{level}.elf"));
        // Whole paths: relative ones are joined with the directory in another way.
        if !support::compile_with(&source, &file, &[level, "-ffile-compilation-dir=/"]) {
            return;
        }
        for options in [&["-l"][..], &["-S"], &["-S", "-l"]] {
            compare_with(&objdump, &file, options);
        }
    }
}

#[test]
fn of_several_kernels_with_their_sites() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf");
    let text = disasm(&file, &["--kernel", "collatz", "--kernel", "add", "--sites"]);
    let labels: Vec<_> = text.lines().filter(|line| line.ends_with(">:")).collect();
    assert_eq!(labels.len(), 2, "{text}");
    let lines: Vec<_> = text.lines().collect();
    let site = lines.iter().position(|line| *line == "; site 0 of add: if").unwrap();
    assert!(lines[site + 1].starts_with("\ts_and_saveexec_b64 s[0:1], vcc"), "{text}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("; site ")).count(), 5);
    // What `inspect` says of sites, and `disasm` of instructions, is in the JSON.
    let document: serde_json::Value = serde_json::from_str(&disasm(&file, &["--format", "json"])).unwrap();
    assert_eq!(schema::errors("disasm.v1.json", &document), Vec::<String>::new());
    let symbols = document["code_objects"][0]["symbols"].as_array().unwrap();
    let all: Vec<_> = symbols.iter().flat_map(|symbol| symbol["instructions"].as_array().unwrap()).collect();
    let text = disasm(&file, &[]);
    let listed: Vec<_> =
        text.lines().filter_map(|line| Some(line.strip_prefix('\t')?.split("//").next()?.trim())).collect();
    let instructions: Vec<_> = all.iter().filter_map(|instruction| instruction["text"].as_str()).collect();
    let code = |line: &&&str| !line.starts_with(['.', '\t']);
    assert_eq!(instructions, listed.iter().filter(code).copied().collect::<Vec<_>>());
    assert_eq!(all.iter().filter(|instruction| instruction.get("site").is_some()).count(), 5);
    let branch = all.iter().find(|instruction| instruction["address"] == 0x1a1c).unwrap();
    assert_eq!((&branch["target"], &branch["line"]), (&0x1a84.into(), &9.into()), "{branch}");
    assert!(text.contains("<add+0x84>"));
}
