//! Links the second program of this package as what it is: the runtime, a shared library.
//!
//! Cargo installs programs and no libraries, so the library is a program by name: `cargo install` and release
//! archives bring it beside the command. In a target directory the same library is also where cargo leaves
//! those of dependencies.

use std::path::Path;

/// What others call: harnesses, the runtime's interface for tools, and programs that preload it, for which
/// its functions stand before the C library's. They have no version, so that each of the C library's matches.
const EXPORTS: &str = "{ global: amdinst_runtime_interface; OnLoad; OnUnload; \
    open; open64; __open_2; __open64_2; openat; openat64; __openat_2; __openat64_2; fopen; fopen64; opendir; \
    access; faccessat; readlink; readlinkat; ioctl; stat; stat64; lstat; lstat64; fstat; fstat64; \
    fstatat; fstatat64; statx; __xstat; __xstat64; __lxstat; __lxstat64; __fxstat; __fxstat64; \
    local: *; };\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let exports = Path::new(&directory).join("runtime.map");
    std::fs::write(&exports, EXPORTS).expect("OUT_DIR may be written to");
    let exports = format!("-Wl,--version-script={}", exports.display());
    for argument in ["-shared", "-nostartfiles", "-Wl,-e,amdinst_runtime_started", &exports] {
        println!("cargo::rustc-link-arg-bin=amdinst-runtime={argument}");
    }
}
