//! Builds code objects with LLVM's tools and asks those tools about them.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::Path;
use std::process::Command;

use amdgpu_object::CodeObject;

use crate::once::Once;

/// Skips a test loudly if an LLVM tool is missing; `AMDINST_REQUIRE_TOOLS=1` turns the skip into a failure.
#[macro_export]
macro_rules! require_tools {
    ($($tool:literal),+) => {
        for tool in [$($tool),+] {
            if !$crate::once::installed(tool) {
                assert!(
                    std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
                    "{tool} is not installed, and AMDINST_REQUIRE_TOOLS=1"
                );
                eprintln!("SKIPPED: {}: {tool} is missing, install LLVM 22", module_path!());
                return;
            }
        }
    };
}

/// Runs a tool and returns (stdout, stderr); panics with both if it fails.
pub(crate) fn run(tool: &str, args: &[&str]) -> (String, String) {
    let output = Command::new(tool).args(args).output().unwrap_or_else(|error| panic!("{tool}: {error}"));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{tool} {args:?} failed\n{stdout}\n{stderr}");
    (stdout, stderr)
}

/// A HIP source with what code objects have: two kernels, a call, a function pointer in memory, LDS, globals.
pub(crate) const HIP: &str = include_str!("../sources/kernels.hip");

/// Compiles HIP device code to a linked code object.
pub(crate) fn hip(source: &str, arch: &str, version: u8, extra: &[&str]) -> Vec<u8> {
    hip_with_messages(source, arch, version, extra).0
}

/// [`hip`], with what the compiler wrote to stderr.
pub(crate) fn hip_with_messages(source: &str, arch: &str, version: u8, extra: &[&str]) -> (Vec<u8>, String) {
    static COMPILED: Once<String, (Vec<u8>, String)> = Once::new();
    let key = format!("{arch} {version} {extra:?} {source}");
    COMPILED.get(key, || compiled(source, arch, version, extra))
}

fn compiled(source: &str, arch: &str, version: u8, extra: &[&str]) -> (Vec<u8>, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("input.hip"), directory.path().join("output.elf"));
    std::fs::write(&input, source).expect("the source can be written");
    let arch = format!("--offload-arch={arch}");
    let version = format!("-mcode-object-version={version}");
    let mut args =
        vec!["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc"];
    args.extend(["-O2", "-g", &arch, &version, path(&input), "-o", path(&output)]);
    args.extend(extra);
    let (_, messages) = run("clang-22", &args);
    (std::fs::read(&output).expect("clang wrote the code object"), messages)
}

/// Two kernels in OpenCL C, which code objects of version 2 are made of, as one of version 4.
pub(crate) fn opencl(arch: &str) -> CodeObject {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("kernels.cl"), directory.path().join("kernels.elf"));
    std::fs::write(&input, include_str!("../sources/version_2.cl")).expect("the source can be written");
    let processor = format!("-mcpu={arch}");
    let mut args = vec!["--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcode-object-version=4"];
    args.extend(["-fuse-ld=lld-22", "-O1", &processor, "-o", path(&output), path(&input)]);
    run("clang-22", &args);
    CodeObject::parse(std::fs::read(output).expect("clang wrote the code object")).expect("it parses")
}

/// Assembles to a relocatable object.
pub(crate) fn assemble_unlinked(source: &str, arch: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("input.s"), directory.path().join("output.o"));
    std::fs::write(&input, source).expect("the source can be written");
    let cpu = format!("-mcpu={arch}");
    let args = ["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", path(&input), "-o", path(&output)];
    run("llvm-mc-22", &args);
    std::fs::read(&output).expect("the assembler wrote the object")
}

/// Assembles and links a code object.
pub(crate) fn assemble(source: &str, arch: &str) -> Vec<u8> {
    link(&assemble_unlinked(source, arch), &[])
}

/// Links a relocatable object with further options.
pub(crate) fn link(unlinked: &[u8], options: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("input.o"), directory.path().join("output.elf"));
    std::fs::write(&input, unlinked).expect("the object can be written");
    let mut args = vec!["-shared", path(&input), "-o", path(&output)];
    args.extend(options);
    run("ld.lld-22", &args);
    std::fs::read(&output).expect("the linker wrote the code object")
}

/// Runs a tool on bytes: they are put into a file whose path replaces `FILE` among the arguments.
pub(crate) fn inspect(bytes: &[u8], tool: &str, args: &[&str]) -> (String, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("object.elf");
    std::fs::write(&file, bytes).expect("the code object can be written");
    let args: Vec<&str> = args.iter().map(|&arg| if arg == "FILE" { path(&file) } else { arg }).collect();
    run(tool, &args)
}

/// What a tool shows of bytes, which it must find nothing wrong with.
pub(crate) fn shown(bytes: &[u8], tool: &str, args: &[&str]) -> String {
    let (output, complaints) = inspect(bytes, tool, args);
    assert!(complaints.is_empty(), "{tool}: {complaints}");
    output
}

/// A path as text.
pub(crate) fn path(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8")
}
