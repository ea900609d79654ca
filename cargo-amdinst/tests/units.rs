//! Kernels are compiled in units: what an edit costs is counted, and the code object is the one that a first
//! build makes.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use amdgpu_object::CodeObject;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

const LIBRARY: &str = "#![no_std]
#![cfg_attr(target_arch = \"amdgpu\", feature(stdarch_amdgpu, abi_gpu_kernel))]
#![cfg(target_arch = \"amdgpu\")]
use core::arch::amdgpu::workitem_id_x;
use core::sync::atomic::{AtomicU32, Ordering};
mod first;
mod formats;
mod second;
/// All kernels count here.
pub static COUNT: AtomicU32 = AtomicU32::new(7);
#[inline(never)]
pub fn counted() -> u32 {
    COUNT.fetch_add(1, Ordering::Relaxed)
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

/// A module of kernels that compare with `limits`.
fn module(name: &str, limits: &[u32]) -> String {
    let kernel = |(number, limit): (usize, &u32)| {
        format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"gpu-kernel\" fn {name}_{number}(p: *mut u32, q: &u32) {{\n    \
             let i = crate::workitem_id_x();\n    if i < {limit} {{ unsafe {{ *p.add(i as usize) = crate::counted() / *q }} }}\n}}\n"
        )
    };
    limits.iter().enumerate().map(kernel).collect()
}

const FORMATS: &str = "use core::fmt::Write;
struct Text(*mut u8);
impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            unsafe { *self.0 = byte; self.0 = self.0.add(1) }
        }
        Ok(())
    }
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn formats(to: *mut u8, x: f32) {
    let _ = write!(Text(to), \"{x:>10.3} of {}\", crate::counted());
}
";

/// Builds the package; the code object. Nothing where there is no toolchain for kernels.
fn build(package: &Path) -> Option<Vec<u8>> {
    let output = support::amdinst(package, "build --target-cpu gfx1100");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(3) {
        support::skip("units", &told);
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{told}");
    Some(fs::read(package.join("target/amdinst/k/gfx1100/release/k.elf")).unwrap())
}

fn store(package: &Path) -> PathBuf {
    package.join("target/amdinst/build/gfx1100/amdgcn-amd-amdhsa/release/deps/k.elf.units")
}

/// What is stored, by the number of bytes.
fn stored(package: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(store(package)).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_edit_compiles_one_unit_and_makes_what_a_first_build_makes() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    let write = |name: &str, text: &str| fs::write(package.join(name), text).unwrap();
    write("Cargo.toml", MANIFEST);
    write("src/lib.rs", LIBRARY);
    write("src/formats.rs", FORMATS);
    write("src/first.rs", &module("first", &[3, 4, 5, 6, 7, 8, 9, 10]));
    write("src/second.rs", &module("second", &[20, 21]));
    let Some(object) = build(package) else { return };

    let object = CodeObject::parse(object).unwrap();
    assert_eq!(object.kernels.len(), 11);
    // LLVM adds hidden arguments behind those that the source has.
    assert!(object.kernels.iter().all(|kernel| kernel.metadata.args.len() >= 2), "a kernel's note is lost");
    let counts: Vec<_> = object.variables.iter().filter(|variable| variable.name.contains("COUNT")).collect();
    assert_eq!(counts.len(), 1, "{:?}", object.variables);

    // With nothing changed, cargo is started twice: it says where all is, and that it is built.
    let again = support::amdinst(package, "build --target-cpu gfx1100 -v");
    let told = String::from_utf8_lossy(&again.stderr);
    let started: Vec<_> = told.lines().filter(|line| line.trim_start().starts_with("Running `")).collect();
    let [metadata, built] = started[..] else { panic!("{started:#?}") };
    assert!(metadata.contains("cargo metadata ") && built.contains("cargo rustc "), "{started:#?}");

    let before = stored(package);
    write("src/first.rs", &module("first", &[3, 4, 5, 6, 7, 8, 9, 11]));
    let edited = build(package).unwrap();
    let after = stored(package);
    assert!(before.is_subset(&after));
    assert_eq!(after.difference(&before).count(), 1, "units compiled by an edit of one kernel");

    // One that moves no line of the others costs as much; a kernel more, too.
    write("src/second.rs", &module("second", &[20, 21, 22]));
    build(package).unwrap();
    let more = stored(package);
    assert!(more.difference(&after).count() <= 2, "{more:?}");

    write("src/second.rs", &module("second", &[20, 21]));
    fs::remove_dir_all(package.join("target")).unwrap();
    let first = build(package).unwrap();
    assert!(first == edited, "the code objects differ");
}

/// A wrapper of the user's that notes what it is called with.
const WRAPPER: &str = "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/called\"\nexec \"$@\"\n";

#[test]
fn wrappers_of_the_user_compile_kernels_too() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path().join("k");
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(package.join("src/lib.rs"), LIBRARY.replace("mod formats;\nmod second;\n", "")).unwrap();
    fs::write(package.join("src/first.rs"), module("first", &[3])).unwrap();
    for name in ["RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER"] {
        let own = directory.path().join(name);
        fs::create_dir(&own).unwrap();
        let wrapper = own.join("wrapper");
        fs::write(&wrapper, WRAPPER).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        // What cargo has compiled by another wrapper it does not compile again.
        fs::OpenOptions::new()
            .append(true)
            .open(package.join("src/first.rs"))
            .unwrap()
            .write_all(b"//\n")
            .unwrap();
        let output = support::amdinst_with(&package, "build --target-cpu gfx1100", &[(name, &wrapper)]);
        let told = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(3) {
            return support::skip("units", &told);
        }
        assert_eq!(output.status.code(), Some(0), "{name}: {told}");
        let called = fs::read_to_string(own.join("called")).unwrap_or_default();
        assert!(called.contains("rustc --crate-name k "), "{name}: {called}");
    }
}
