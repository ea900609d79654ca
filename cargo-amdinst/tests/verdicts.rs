//! What `run --report` says of kernels that have no one result: never that they are equal, nor that the instrumentation is to blame.

use std::path::Path;
use std::process::{Command, Output};

/// A kernel with one site that stores v7, which `BODY` may set, to the place of the work-item in its workgroup.
const KERNEL: &str = "
.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  BODY
  v_cmp_gt_u32 vcc, 10, v0
  s_and_saveexec_b64 s[4:5], vcc
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v7, s[8:9]
  s_endpgm
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
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
...
.end_amdgpu_metadata
";

/// Whether clang is there; says so if it is not, and fails where tools are required.
fn tools() -> bool {
    let found = |tool| Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    let all = found("clang-22") && found("ld.lld-22");
    if !all {
        let message = "clang-22 and ld.lld-22 are not installed (apt-get install clang-22 lld-22)";
        assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{message}");
        eprintln!("SKIPPED: {message}");
    }
    all
}

fn report(directory: &Path, body: &str, options: &str) -> Output {
    let (source, object) = (directory.join("kernel.s"), directory.join("kernel.o"));
    std::fs::write(&source, KERNEL.replace("BODY", body)).unwrap();
    let mut assembler = Command::new("clang-22");
    assembler.args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-c", "-o"]).arg(&object).arg(&source);
    assert!(assembler.status().unwrap().success());
    let mut linker = Command::new("ld.lld-22");
    assert!(
        linker
            .arg("-shared")
            .arg(&object)
            .arg("-o")
            .arg(directory.join("kernel.elf"))
            .status()
            .unwrap()
            .success()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").args([
        "run",
        "kernel.elf",
        "--block",
        "64",
        "--report",
    ]);
    command.args(options.split_whitespace()).output().unwrap()
}

#[test]
fn a_kernel_without_one_result_is_not_comparable() {
    if !tools() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let report = |body, options| report(directory.path(), body, options);
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();

    let sound = report("v_mov_b32 v7, 5", "--grid 4 --arg buf:256");
    assert_eq!(sound.status.code(), Some(0), "{sound:?}");
    assert!(
        text(&sound).contains("memory after both kernels: equal; counters and the emulator's own: equal"),
        "{sound:?}"
    );

    // Each workgroup writes its number to the same places.
    let racing = report("v_mov_b32 v7, s2", "--grid 4 --arg buf:256");
    assert_eq!(racing.status.code(), Some(9), "{racing:?}");
    assert!(!text(&racing).contains("equal"), "{racing:?}");
    for told in [
        "memory after both kernels: not comparable",
        "the original kernel races",
        "data race in global memory",
    ] {
        assert!(text(&racing).contains(told), "{racing:?}");
    }

    let unwritten = report("", "--grid 1 --arg buf:256");
    assert_eq!(unwritten.status.code(), Some(9), "{unwritten:?}");
    assert!(!text(&unwritten).contains("equal"), "{unwritten:?}");
    assert!(text(&unwritten).contains("depends on what nothing has written"), "{unwritten:?}");

    let json = report("v_mov_b32 v7, s2", "--grid 4 --arg buf:256 --format json");
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(view["memory_equal"].is_null() && view["oracle_equal"].is_null(), "{view}");
    assert!(view["meaningless"].as_str().unwrap().contains("races"), "{view}");
    // What was counted is still told.
    assert_eq!(view["sites"][0]["executions"], 4);
}
