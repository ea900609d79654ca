//! `disasm` prints what `llvm-objdump -d` prints, line for line.

use std::path::{Path, PathBuf};
use std::process::Command;

use amdinst_core::object::container;

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

fn disasm(file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst")).arg("disasm").arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn compare(objdump: &Path, file: &Path) {
    let output = Command::new(objdump).arg("-d").arg(file).output().unwrap();
    assert!(output.status.success());
    // Its first lines name the file and its format.
    let reference = String::from_utf8(output.stdout).unwrap();
    let reference = reference.lines().skip_while(|line| !line.starts_with("Disassembly"));
    let ours = disasm(file);
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
        std::fs::write(&file, &embedded.bytes).unwrap();
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
