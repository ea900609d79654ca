//! `cargo amdinst exec`: what a user sees whose ROCm is not one that the emulator can stand under.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Compiles a few lines of C.
fn compile(directory: &TempDir, name: &str, source: &str, arguments: &[&str]) {
    let file = directory.path().join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg(&file).arg("-o").arg(directory.path().join(name)).args(arguments);
    let output = compiler.output().expect("running the C compiler `cc`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A directory with a runtime of this source, and a program that is linked with it and prints `ran`.
fn program(runtime: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libhsa-runtime64.so.1"];
    compile(&directory, "libhsa-runtime64.so.1", runtime, &shared);
    let library = directory.path().join("libhsa-runtime64.so.1");
    let linked = ["-Wl,--no-as-needed", library.to_str().unwrap(), "-Wl,--allow-shlib-undefined"];
    let source = "#include <stdio.h>\nint hsa_init(void);\nint main(void) { puts(\"ran\"); return 0 * (int)(long)hsa_init; }";
    compile(&directory, "program", source, &linked);
    directory
}

fn exec(directory: &Path, program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.args(["amdinst", "exec", "--"]).args(program).env("LD_LIBRARY_PATH", directory);
    command.env("CARGO_TERM_COLOR", "never").output().unwrap()
}

const HELP: &str = "help: the emulator stands under the runtime of Debian 12 (ROCm 5.2): `apt-get install libamdhip64-5`. A program that was \
                    built for HIP 6 or later must be built for HIP 5. Kernels written in Rust need no ROCm: `cargo amdinst test \
                    --device emu`\n";

/// The code for what this version cannot do.
const UNSUPPORTED: i32 = 8;

#[test]
fn a_runtime_with_the_drivers_library_linked_in_is_refused() {
    let directory =
        program("int hsaKmtOpenKFD(void) { return 0; }\nint hsa_init(void) { return hsaKmtOpenKFD(); }");
    let path = directory.path();
    let name = path.join("program");
    let output = exec(path, &[name.to_str().unwrap()]);
    let runtime = path.join("libhsa-runtime64.so.1");
    let why = format!(
        "{} has the driver's library linked in (as AMD's packages of ROCm have), so the emulator cannot take its place\n",
        runtime.display()
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {why}{HELP}"));
    assert_eq!(output.status.code(), Some(UNSUPPORTED));
    assert!(output.stdout.is_empty(), "it was not started");

    // A script's own programs may find another one: it runs.
    let output = exec(path, &["/bin/sh", "-c", "echo ran"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("warning: {why}{HELP}"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
}

#[test]
fn a_runtime_that_needs_more_is_refused() {
    let directory = program(
        "int hsaKmtOpenKFD(void), hsaKmtAsOf2040(void);\nint hsa_init(void) { return hsaKmtOpenKFD() + hsaKmtAsOf2040(); }",
    );
    let name = directory.path().join("program");
    let output = exec(directory.path(), &[name.to_str().unwrap()]);
    let runtime = directory.path().join("libhsa-runtime64.so.1");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!(
            "error: {} needs functions that the emulator has not: hsaKmtAsOf2040\n{HELP}",
            runtime.display()
        )
    );
    assert_eq!(output.status.code(), Some(UNSUPPORTED));
}

#[test]
fn a_runtime_that_fits_runs_without_a_word() {
    let directory = program("int hsaKmtOpenKFD(void);\nint hsa_init(void) { return hsaKmtOpenKFD(); }");
    let name = directory.path().join("program");
    let output = exec(directory.path(), &[name.to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
}
