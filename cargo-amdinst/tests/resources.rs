//! `inspect --resources`: the table, its comparison with an earlier one, and limits.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// From the directory of the package.
const FIXTURE: &str = "tests/fixtures/branches.elf";

fn inspect(file: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["--color", "never", "inspect", "--resources"]).arg(file).args(words).output().unwrap()
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A kernel whose note does not tell of spills, and whose code has two: of one nothing is taken back.
const UNTOLD: &str = "
.text
.globl k
.p2align 8
.type k,@function
k:
  v_writelane_b32 v1, s4, 3
  v_writelane_b32 v1, s5, 4
  v_readlane_b32 s6, v1, 3
  s_endpgm
.Lend:
.size k, .Lend-k
.section .rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 256
.end_amdgpu_metadata
";

#[test]
fn a_table_has_a_line_a_kernel() {
    let (code, table, told) = texts(&inspect(Path::new(FIXTURE), &[]));
    assert_eq!((code, &*told), (Some(0), ""));
    insta::assert_snapshot!(table);
}

#[test]
fn limits_fail_with_the_kernel_and_its_figure() {
    let (code, table, told) =
        texts(&inspect(Path::new(FIXTURE), &["--fail-on", "vgprs:4", "--fail-on", "spills"]));
    assert_eq!(code, Some(12));
    assert!(table.contains("collatz"), "{table}");
    assert_eq!(told, "error: --fail-on vgprs:4: add for gfx90a: 8 VGPRs\n");
    // Of the kernel that is asked for alone.
    let words = ["--kernel", "collatz", "--fail-on", "vgprs:4"];
    assert_eq!(texts(&inspect(Path::new(FIXTURE), &words)).0, Some(0));
    let (code, _, told) = texts(&inspect(Path::new(FIXTURE), &["--kernel", "nothing"]));
    assert_eq!(code, Some(2));
    assert!(told.contains("has no kernel `nothing`"), "{told}");
}

#[test]
fn a_file_is_compared_with_an_earlier_table() {
    let directory = tempfile::tempdir().unwrap();
    let earlier = directory.path().join("earlier.json");
    let (_, table, _) = texts(&inspect(Path::new(FIXTURE), &["--format", "json"]));
    let mut table: Value = serde_json::from_str(&table).unwrap();
    let baseline = |table: &Value, words: &[&str]| {
        fs::write(&earlier, serde_json::to_vec(table).unwrap()).unwrap();
        texts(&inspect(Path::new(FIXTURE), &[&["--baseline", earlier.to_str().unwrap()], words].concat()))
    };
    let (code, same, _) = baseline(&table, &["--fail-on", "worse"]);
    assert_eq!((code, &*same), (Some(0), "kernels: 2 as before\n"));

    table["kernels"][0]["vgprs"] = json!(6);
    table["kernels"][1]["name"] = json!("old");
    let (code, text, told) = baseline(&table, &["--fail-on", "vgprs:+1", "--fail-on", "vgprs:+2"]);
    assert_eq!(code, Some(12));
    assert_eq!(told, "error: --fail-on vgprs:+1: add for gfx90a: 6 -> 8 VGPRs\n");
    insta::assert_snapshot!(text);
    let (_, markdown, _) = baseline(&table, &["--fail-on", "worse", "--format", "markdown"]);
    insta::assert_snapshot!(markdown);

    // Nothing is held against a baseline of other kernels.
    table["kernels"][0]["name"] = json!("older");
    let (code, _, told) = baseline(&table, &["--fail-on", "worse"]);
    assert_eq!(
        (code, &*told),
        (Some(12), "error: --fail-on: the file and its baseline have no kernel in common\n")
    );
    table["schema"] = json!(7);
    let (code, _, told) = baseline(&table, &[]);
    assert_eq!(code, Some(5));
    assert!(told.contains("schema 7"), "{told}");
}

#[test]
fn an_earlier_file_is_a_baseline_as_well() {
    let (code, text, _) = texts(&inspect(Path::new(FIXTURE), &["--baseline", FIXTURE, "--fail-on", "worse"]));
    assert_eq!((code, &*text), (Some(0), "kernels: 2 as before\n"));
    let (code, _, told) = texts(&inspect(Path::new(FIXTURE), &["--fail-on", "worse"]));
    assert_eq!((code, &*told), (Some(2), "error: --fail-on worse needs a --baseline\n"));
}

/// GitHub shows what was passed at the kernel's line.
#[test]
fn annotations_stand_at_the_kernel() {
    let words = ["--format", "github", "--fail-on", "vgprs:4"];
    let (code, text, _) = texts(&inspect(Path::new(FIXTURE), &words));
    assert_eq!(code, Some(12));
    assert_eq!(
        text,
        "::error file=././branches.cl,line=7,col=89,title=--fail-on vgprs%3A4::add for gfx90a: 8 VGPRs\n"
    );
}

#[test]
fn code_shows_spills_that_the_note_does_not_tell() {
    if !support::tools("code_shows_spills_that_the_note_does_not_tell") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("untold.elf");
    support::assemble(UNTOLD, &file);
    let (code, table, told) = texts(&inspect(&file, &["--fail-on", "spills"]));
    assert_eq!(code, Some(12));
    assert!(table.contains("≤ 1 s"), "{table}");
    assert_eq!(
        told,
        "error: --fail-on spills: k for gfx90a: 1 spilled register at most, as its code shows\n"
    );
}

/// A function that spills, which the note of the kernel that calls it does not tell.
const CALLS: &str = "
__attribute__((noinline)) float deep(volatile __global float *x) {
    float v[150];
    __attribute__((opencl_unroll_hint(150)))
    for (int i = 0; i < 150; i++) v[i] = x[64 * i];
    float sum = 0;
    __attribute__((opencl_unroll_hint(150)))
    for (int i = 0; i < 150; i++) sum = sum * v[149 - i] + v[i];
    return sum;
}

__kernel void calls(__global float *x) { x[__builtin_amdgcn_workitem_id_x()] = deep(x + __builtin_amdgcn_workitem_id_x()); }
__kernel void calls_none(__global float *x) { x[__builtin_amdgcn_workitem_id_x()] = 1; }
";

#[test]
fn spills_of_called_functions_are_the_kernels() {
    let directory = tempfile::tempdir().unwrap();
    let (source, file) = (directory.path().join("calls.cl"), directory.path().join("calls.elf"));
    fs::write(&source, CALLS).unwrap();
    if !support::compile(&source, &file) {
        return;
    }
    let (code, table, _) = texts(&inspect(&file, &["--format", "json"]));
    let table: Value = serde_json::from_str(&table).unwrap();
    let kernel = |name: &str| {
        let kernels = table["kernels"].as_array().unwrap();
        kernels.iter().find(|kernel| kernel["name"] == name).unwrap()["spills"].clone()
    };
    assert_eq!(code, Some(0));
    assert!(kernel("calls")["by"] == "code" && kernel("calls")["vgprs"].as_u64() > Some(50), "{table}");
    assert_eq!(kernel("calls_none"), json!({ "vgprs": 0, "sgprs": 0, "by": "note" }));
    let (code, _, told) = texts(&inspect(&file, &["--fail-on", "spills"]));
    assert_eq!(code, Some(12));
    assert!(told.starts_with("error: --fail-on spills: calls for gfx90a: "), "{told}");
}
