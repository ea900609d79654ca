//! Cargo asks rustc about a kernel package's target at each build; rustc is started for the answer once.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn a_compiler_that_is_the_same_describes_a_target_once() {
    let directory = tempfile::tempdir().unwrap();
    // It describes a target by the words that it was asked with.
    let rustc = directory.path().join("echo");
    fs::copy("/bin/echo", &rustc).unwrap();
    let described = ask(directory.path(), &rustc, "--print=target-spec-json");
    assert_eq!(String::from_utf8_lossy(&described.stdout), "--print=target-spec-json -Zunstable-options\n");

    // One of the same size and time, which cannot be started.
    let about = fs::metadata(&rustc).unwrap();
    fs::write(&rustc, vec![0x7f; usize::try_from(about.len()).unwrap()]).unwrap();
    File::options().append(true).open(&rustc).unwrap().set_modified(about.modified().unwrap()).unwrap();
    assert_eq!(ask(directory.path(), &rustc, "--print=target-spec-json"), described);

    // What else cargo asks for, the compiler itself is asked.
    assert!(!ask(directory.path(), &rustc, "--print=crate-name").status.success());
    // So it is if it is another one.
    fs::write(&rustc, "another").unwrap();
    assert!(!ask(directory.path(), &rustc, "--print=target-spec-json").status.success());
}

/// Asks as cargo does that has the command for a wrapper.
fn ask(cache: &Path, rustc: &Path, question: &str) -> Output {
    let command = env!("CARGO_BIN_EXE_cargo-amdinst");
    let mut wrapper = Command::new(command);
    wrapper.arg(rustc).args([question, "-Zunstable-options"]);
    wrapper.env("RUSTC", rustc).env("RUSTC_WORKSPACE_WRAPPER", command);
    wrapper.env("XDG_CACHE_HOME", cache).output().unwrap()
}
