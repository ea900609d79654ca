//! Gives the library the name and the symbol version that `libhsa-runtime64.so.1` asks for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A symbol's default version is the library's own name (`--default-symver` of GNU ld), which the dynamic
    // loader does not compare with the file's: it is found as `libhsakmt.so.1`. rustc's own version script
    // leaves no other way.
    for argument in ["-fuse-ld=bfd", "-Wl,--default-symver", "-Wl,-soname,HSAKMT_1"] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
