//! The runtime as `cargo install` brings it: a program by name, a shared library by content.

use std::process::Command;

use amdinst_format::interface::{Entry, SYMBOL, VERSION};
use libloading::Library;

const RUNTIME: &str = env!("CARGO_BIN_EXE_amdinst-runtime");

#[test]
fn it_is_a_library_with_the_functions_of_both() {
    // SAFETY: its initialisers need nothing.
    let library = unsafe { Library::new(RUNTIME) }.unwrap();
    // SAFETY: the symbol is a function of this type, and its table lives as long as the library.
    let (version, package) = unsafe {
        let table = &*library.get::<Entry>(SYMBOL).unwrap()();
        let package = (table.package)();
        let text = std::slice::from_raw_parts(package.data, package.len);
        (table.version, std::str::from_utf8(text).unwrap().to_owned())
    };
    assert_eq!((version, package.as_str()), (VERSION, env!("CARGO_PKG_VERSION")));
    for name in ["OnLoad", "open", "ioctl", "statx"] {
        // SAFETY: it is looked for and not called.
        assert!(unsafe { library.get::<*const ()>(name) }.is_ok(), "{name}");
    }
    // Nothing else: what it is made of stays inside.
    for name in ["mi_malloc", "rust_eh_personality", "_ZN12amdinst_core4lib"] {
        // SAFETY: the same.
        assert!(unsafe { library.get::<*const ()>(name) }.is_err(), "{name}");
    }
}

#[test]
fn whoever_starts_it_is_told_what_it_is() {
    let output = Command::new(RUNTIME).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "amdinst-runtime is a library that cargo-amdinst and tests load: run `cargo amdinst --help`\n"
    );
}

/// A command without it says so before it builds anything.
#[test]
fn one_that_is_missing_is_told_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let command = directory.path().join("cargo-amdinst");
    std::fs::copy(env!("CARGO_BIN_EXE_cargo-amdinst"), &command).unwrap();
    let mut command = Command::new(command);
    command.arg("test").current_dir(&directory).env_remove("AMDINST_RUNTIME");
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(
        told.starts_with("error: the runtime `amdinst-runtime` is not beside this program, in "),
        "{told}"
    );
}
