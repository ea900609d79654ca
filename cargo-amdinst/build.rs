//! Links the second program of this package as what it is: the runtime, a shared library.
//!
//! Cargo installs programs and no libraries, so the library is a program by name: `cargo install` and release
//! archives bring it beside the command. In a target directory the same library is also where cargo leaves
//! those of dependencies.

use std::path::Path;

/// The runtime of ROCm asks for the driver's functions by this version.
const VERSIONS: &str =
    "HSAKMT_1 { global: hsaKmt*; OnLoad; OnUnload; amdinst_runtime_interface; local: *; };\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let versions = Path::new(&directory).join("runtime.map");
    std::fs::write(&versions, VERSIONS).expect("OUT_DIR may be written to");
    let versions = format!("-Wl,--version-script={}", versions.display());
    for argument in ["-shared", "-nostartfiles", "-Wl,-e,amdinst_runtime_started", &versions] {
        println!("cargo::rustc-link-arg-bin=amdinst-runtime={argument}");
    }
}
