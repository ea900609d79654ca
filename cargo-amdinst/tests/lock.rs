//! `--locked`, `--offline` and `--frozen` reach every cargo that `build` and `test` run.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A package with kernels, whose dependency is here.
fn package(directory: &Path) {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../amdinst-device");
    let manifest = format!(
        "[package]\nname = \"locked\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         amdinst-device = {{ path = {device:?} }}\n\n[workspace]\n"
    );
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(directory.join("src")).unwrap();
    fs::write(directory.join("src/lib.rs"), "").unwrap();
}

fn amdinst(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .env_remove("AMDINST_TOOLCHAIN");
    command.args(words).output().unwrap()
}

#[test]
fn the_package_is_asked_for_with_them() {
    let directory = tempfile::tempdir().unwrap();
    package(directory.path());
    for command in ["build", "test", "show-env"] {
        let words = [command, "-v", "--locked", "--offline", "--toolchain", "/no/such/rustc"];
        let output = amdinst(directory.path(), &words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        let asked = stderr.lines().find(|line| line.contains(" metadata ")).unwrap();
        assert!(asked.contains("--locked --offline"), "{asked}");
    }
}

#[test]
fn kernels_are_built_with_them() {
    let directory = tempfile::tempdir().unwrap();
    package(directory.path());
    let output = amdinst(directory.path(), &["show-env", "--frozen"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    if output.status.code() == Some(3) {
        let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        assert!(!required, "{stderr}");
        eprintln!("SKIPPED: kernels are not built: no toolchain; `cargo amdinst setup` mends that");
        return;
    }
    let stdout = String::from_utf8(output.stdout).unwrap();
    let build = stdout.lines().find(|line| line.contains(" rustc ")).unwrap();
    let (ours, compilers) = build.split_once(" -- ").unwrap();
    assert!(ours.contains(" --frozen") && !compilers.contains("--frozen"), "{build}");
    // There is no lock file, so the command itself ends with what cargo says of that.
    let output = amdinst(directory.path(), &["build", "--frozen"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("--frozen") && !directory.path().join("Cargo.lock").exists(), "{stderr}");
}
