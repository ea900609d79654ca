//! A new target directory begins with what was compiled before, and what is made in it is the same. What is
//! compiled is instrumented in part, where kernels are named.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use amdinst_core::instrument::ProbeMap;
use amdinst_core::manifest::{Instrumented, Manifest};

fn run(directory: &Path, cache: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).args(["--color", "never", "build"]).args(options);
    command.env("XDG_CACHE_HOME", cache).env_remove("CARGO_TARGET_DIR");
    command.output().unwrap()
}

/// Builds the package in `directory` with that cache; what was told, and the code object.
fn build(directory: &Path, cache: &Path) -> Option<(String, Vec<u8>)> {
    let output = run(directory, cache, &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    if output.status.code() == Some(3) {
        support::skip("core is compiled once", &told);
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{told}");
    Some((told, fs::read(directory.join("target/amdinst/k/gfx90a/dev/k.elf")).unwrap()))
}

#[test]
fn core_is_compiled_once() {
    let directory = tempfile::tempdir().unwrap();
    let (package, cache) = (directory.path().join("k"), directory.path().join("cache"));
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                    [package.metadata.amdinst]\nprofile = \"dev\"\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let source = "#![no_std]\n#![feature(stdarch_amdgpu)]\nuse core::arch::amdgpu::workitem_id_x;\n\
                  #[unsafe(no_mangle)]\npub unsafe extern \"gpu-kernel\" fn one(p: *mut u32) {\n    \
                  if workitem_id_x() < 7 { unsafe { *p = 1 } }\n}\n\
                  #[unsafe(no_mangle)]\npub unsafe extern \"gpu-kernel\" fn two(p: *mut u32) {\n    \
                  if workitem_id_x() < 9 { unsafe { *p = 2 } }\n}\n\
                  #[cfg(target_arch = \"amdgpu\")]\n#[panic_handler]\n\
                  fn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n";
    fs::write(package.join("src/lib.rs"), source).unwrap();
    let Some((told, first)) = build(&package, &cache) else { return };
    assert!(told.contains(" Compiling core "), "{told}");

    fs::remove_dir_all(package.join("target")).unwrap();
    let (told, second) = build(&package, &cache).unwrap();
    assert!(told.contains(" Compiling k ") && !told.contains(" Compiling core "), "{told}");
    assert!(first == second, "the code objects differ");

    // What another toolchain, or a damaged disk, left there does no harm.
    fs::remove_dir_all(package.join("target")).unwrap();
    for entry in fs::read_dir(cache.join("cargo-amdinst/crates")).unwrap() {
        fs::write(entry.unwrap().path().join("contents.json"), "{").unwrap();
    }
    let (told, third) = build(&package, &cache).unwrap();
    assert!(told.contains(" Compiling core "), "{told}");
    assert!(first == third, "the code objects differ");
    kernels_that_are_named_are_instrumented(&package, &cache);
}

/// The names of the kernels that the newest build instrumented, by each of its probe maps.
fn instrumented(package: &Path) -> Vec<Vec<String>> {
    let artifacts = package.join("target/amdinst/k");
    let manifest = Manifest::from_json(&fs::read(artifacts.join("manifest.json")).unwrap()).unwrap();
    let forms = &manifest.code_objects[0].instrumented;
    let names = |form: &Instrumented| {
        let map = ProbeMap::from_json(&fs::read(artifacts.join(&form.probes)).unwrap()).unwrap();
        let kernels = map.kernels.iter().filter(|kernel| kernel.is_instrumented());
        kernels.map(|kernel| kernel.name.clone()).collect()
    };
    forms.iter().map(names).collect()
}

/// Without a word of the compiler: what is compiled is the same.
fn kernels_that_are_named_are_instrumented(package: &Path, cache: &Path) {
    for (options, expected) in [
        (&["--kernel", "two"][..], &["two"][..]),
        (&["--kernel", "two", "--kernel", "one", "--counters", "lds"], &["one", "two"]),
        (&[], &["one", "two"]),
    ] {
        let output = run(package, cache, options);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(!told.contains("Compiling"), "{told}");
        let found = instrumented(package);
        assert!(!found.is_empty() && found.iter().all(|names| names == expected), "{options:?}: {found:?}");
    }
    for (options, wanted) in [
        (&["--kernel", "tow"][..], "no kernel `tow` in this code object; it has one, two"),
        (&["--kernel", "two", "--no-instrument"], "'--kernel <K>' cannot be used with '--no-instrument'"),
    ] {
        let output = run(package, cache, options);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(wanted), "{told}");
    }
}
