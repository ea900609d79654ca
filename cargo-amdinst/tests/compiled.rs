//! A new target directory begins with what was compiled before, and what is made in it is the same.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds the package in `directory` with that cache; what was told, and the code object.
fn build(directory: &Path, cache: &Path) -> Option<(String, Vec<u8>)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).args(["--color", "never", "build"]);
    command.env("XDG_CACHE_HOME", cache).env_remove("CARGO_TARGET_DIR");
    let output = command.output().unwrap();
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
    let source = "#![no_std]\n#[unsafe(no_mangle)]\npub unsafe extern \"gpu-kernel\" fn one(p: *mut u32) {\n    \
                  unsafe { *p = 1 }\n}\n#[cfg(target_arch = \"amdgpu\")]\n#[panic_handler]\n\
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
}
