//! Kernels compiled by clang at test time.

use std::path::Path;
use std::process::Command;

/// Compiles OpenCL C for gfx90a with debug information. False, after saying so, when the compiler is not there; a
/// failure where tools are required.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn compile(source: &Path, output: &Path) -> bool {
    compile_with(source, output, &[])
}

/// The same with further options.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn compile_with(source: &Path, output: &Path, options: &[&str]) -> bool {
    let found =
        |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found("clang-22") || !found("ld.lld-22") {
        let message = "clang-22 and ld.lld-22 are not installed (apt-get install clang-22 lld-22)";
        let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        assert!(!required, "{}: {message}", source.display());
        eprintln!("SKIPPED: {}: {message}", source.display());
        return false;
    }
    let output = Command::new("clang-22")
        .current_dir(source.parent().unwrap())
        .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-x", "cl", "-cl-std=CL2.0"])
        .args(["-Xclang", "-finclude-default-header", "-O2", "-g", "-fuse-ld=lld-22"])
        .args(options)
        .arg("-o")
        .arg(output)
        .arg(source.file_name().unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "clang: {}", String::from_utf8_lossy(&output.stderr));
    true
}
