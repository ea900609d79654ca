//! Kernels compiled and assembled by clang at test time, and the program that they are given to.

use std::path::Path;
use std::process::{Command, Output};

/// A sound code object of gfx90a in assembly, with one kernel of the instructions `CODE`.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) const KERNEL: &str = "
.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
CODE
.Lend:
.size kernel, .Lend-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
";

/// A kernel with a branch that can diverge, in memory that each work-item has its element of.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) const HALVE: &str = "\
kernel void halve(global int *a, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) { a[i] /= 2; }
}
";

/// Runs the program in a directory. A package's build stays there, and is incremental as that of users is.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn amdinst(directory: &Path, words: &str) -> Output {
    amdinst_with(directory, words, &[])
}

/// The same with variables set.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn amdinst_with(directory: &Path, words: &str, variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").env_remove("CARGO_TERM_COLOR");
    command
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_INCREMENTAL")
        .envs(variables.iter().copied())
        .args(words.split_whitespace())
        .output()
        .unwrap()
}

/// What a command prints that ends well.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn stdout(directory: &Path, words: &str) -> String {
    let output = amdinst(directory, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Whether clang and the linker are there. If not, says what is skipped, and fails where tools are required.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn tools(what: &str) -> bool {
    let found =
        |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    let all = found("clang-22") && found("ld.lld-22");
    if !all {
        skip(what, "clang-22 and ld.lld-22 are not installed (apt-get install clang-22 lld-22)");
    }
    all
}

/// Says that a test is skipped, and what is missing; fails where tools are required.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn skip(what: &str, message: &str) {
    let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!required, "{what}: {message}");
    eprintln!("SKIPPED: {what}: {message}");
}

/// Assembles and links a code object of gfx90a, by way of a file beside it.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn assemble(text: &str, output: &Path) {
    let input = output.with_extension("s");
    std::fs::write(&input, text).unwrap();
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-fuse-ld=lld-22", "-o"])
        .args([output, &input])
        .status()
        .unwrap();
    assert!(status.success(), "{text}");
}

/// Compiles OpenCL C for gfx90a with debug information. False, after saying so, when the compiler is not
/// there; a failure where tools are required.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn compile(source: &Path, output: &Path) -> bool {
    compile_with(source, output, &[])
}

/// [`compile`] with further options.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn compile_with(source: &Path, output: &Path, options: &[&str]) -> bool {
    if !tools(&source.display().to_string()) {
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

/// A clang offload bundle of code objects, by their processors.
#[allow(dead_code, reason = "each test binary uses a part")]
pub(crate) fn bundle(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    const PAGE: usize = 4096;
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((parts.len() as u64).to_le_bytes());
    let mut contents = Vec::new();
    for (cpu, code) in parts {
        let id = format!("hipv4-amdgcn-amd-amdhsa--{cpu}");
        for field in [PAGE + contents.len(), code.len(), id.len()] {
            bytes.extend((field as u64).to_le_bytes());
        }
        bytes.extend(id.as_bytes());
        contents.extend(code);
        contents.resize(contents.len().next_multiple_of(PAGE), 0);
    }
    bytes.resize(PAGE, 0);
    bytes.extend(contents);
    bytes
}
