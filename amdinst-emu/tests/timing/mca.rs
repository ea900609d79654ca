//! One wave of straight-line code, with LLVM's latencies, against llvm-mca.

use std::io::Write as _;
use std::process::{Command, Stdio};

use amdgpu_object::CodeObject;
use amdinst_emu::timing::{Parameters, simulate};
use amdinst_emu::{Config, Launch};

use crate::support::{Device, build, tools};

/// What every listing begins with: a buffer in s[0:1], the lane's offset in it in v1, something to compute
/// with.
const BEGIN: &str = "
s_load_dwordx2 s[0:1], s[4:5], 0x0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 1.0
v_mov_b32 v3, 2.0
v_mov_b32 v10, 0
v_mov_b32 v11, 0
v_mov_b32 v12, 0
v_mov_b32 v13, 0x40000000
s_mov_b32 s6, 3
s_waitcnt lgkmcnt(0)
";
const END: &str = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
/// Repetitions of a listing.
const TIMES: usize = 20;

const LISTINGS: [(&str, &str); 11] = [
    (
        "independent",
        "v_add_f32 v4, v2, v3\nv_mul_f32 v5, v2, v3\nv_sub_f32 v6, v3, v2\nv_max_f32 v7, v2, v3\n",
    ),
    ("chain", "v_add_f32 v4, v4, v3\nv_mul_f32 v4, v4, v2\nv_fma_f32 v4, v4, v2, v3\nv_mov_b32 v5, v4\n"),
    (
        "transcendental",
        "v_rcp_f32 v4, v3\nv_mul_f32 v5, v4, v3\nv_sqrt_f32 v6, v5\nv_add_f32 v7, v2, v3\nv_exp_f32 v8, v6\nv_add_f32 v9, v8, v2\n",
    ),
    (
        "scalar",
        "s_add_u32 s8, s6, 5\ns_lshl_b32 s9, s8, 2\nv_add_u32 v4, s9, v0\ns_and_b32 s10, s9, 0xff\nv_mul_f32 v5, v2, v3\ns_xor_b32 s11, s10, s8\n",
    ),
    (
        "loads",
        "global_load_dword v4, v1, s[0:1]\nglobal_load_dword v5, v1, s[0:1] offset:256\ns_waitcnt vmcnt(1)\nv_add_f32 v6, v4, v2\ns_waitcnt vmcnt(0)\nv_add_f32 v7, v5, v6\n",
    ),
    (
        "lds",
        "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v1\nv_add_f32 v5, v2, v3\ns_waitcnt lgkmcnt(0)\nv_add_f32 v6, v4, v5\n",
    ),
    (
        "scalar-memory",
        "s_load_dwordx4 s[12:15], s[0:1], 0x0\ns_load_dword s16, s[0:1], 0x20\nv_add_f32 v4, v2, v3\ns_waitcnt lgkmcnt(0)\ns_add_u32 s17, s12, s16\nv_add_u32 v5, s17, v0\n",
    ),
    (
        "double",
        "v_add_f64 v[14:15], v[10:11], v[12:13]\nv_fma_f64 v[16:17], v[14:15], v[12:13], v[12:13]\nv_cvt_f32_f64 v4, v[16:17]\nv_cvt_f64_f32 v[18:19], v4\nv_mul_f64 v[20:21], v[18:19], v[12:13]\n",
    ),
    (
        "matrix",
        "v_mfma_f32_16x16x4f32 a[0:3], v2, v3, a[0:3]\nv_mul_f32 v4, v2, v3\nv_add_f32 v5, v4, v3\nv_mul_f32 v6, v4, v5\nv_add_f32 v7, v4, v3\nv_add_f32 v8, v4, v3\nv_add_f32 v9, v4, v3\n",
    ),
    (
        "integers",
        "v_mul_lo_u32 v4, v0, v3\nv_cvt_f32_u32 v5, v4\nv_mul_u32_u24 v6, v4, v0\nv_cvt_u32_f32 v7, v5\nv_lshl_add_u32 v8, v7, 2, v6\nv_and_b32 v9, 0xff, v8\n",
    ),
    (
        "axpy",
        "global_load_dwordx2 v[4:5], v1, s[0:1]\nglobal_load_dwordx2 v[6:7], v1, s[0:1] offset:512\ns_add_u32 s8, s6, 1\nv_lshlrev_b32 v8, 1, v0\ns_waitcnt vmcnt(0)\nv_fma_f32 v4, v4, v2, v6\nv_fma_f32 v5, v5, v2, v7\nglobal_store_dwordx2 v1, v[4:5], s[0:1] offset:1024\n",
    ),
];

const KERNEL: &str = include_str!("mca.s");

/// Turns of four cycles that llvm-mca gives a listing.
fn mca(code: &str) -> f64 {
    let mut child = Command::new("llvm-mca-22")
        .args(["-mtriple=amdgcn", "-mcpu=gfx90a", "-iterations=1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("running llvm-mca-22");
    child.stdin.take().expect("stdin").write_all(code.as_bytes()).expect("writing");
    let output = child.wait_with_output().expect("llvm-mca-22");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("Total Cycles:")).expect("total cycles");
    line.trim().parse().expect("a number")
}

/// Turns that the model gives it, with LLVM's latencies.
fn modelled(code: &str) -> f64 {
    // The dispatch pointer and the queue pointer come first, so the kernarg pointer is s[4:5].
    let bytes = build("listing.s", &KERNEL.replace("@CODE@", code), ["-mcpu=gfx90a"]);
    let object = CodeObject::parse(bytes).expect("a code object");
    let mut device = Device::with(&object, Config::default());
    let buffer = device.buffer("data", &[1.0f32; 1024]);
    let launch = Launch { kernarg: buffer.to_le_bytes().to_vec(), ..Launch::new("listing") };
    let timing =
        simulate(&mut device.machine, &device.program, &launch, &Parameters::llvm()).expect("simulating");
    timing.waves[0].residency() as f64 / 4.0
}

#[test]
fn straight_line_code_takes_as_long_as_llvm_mca_says() {
    if !tools("straight_line_code_takes_as_long_as_llvm_mca_says") {
        return;
    }
    for (name, listing) in LISTINGS {
        let code = format!("{BEGIN}{}{END}", listing.repeat(TIMES));
        let (ours, theirs) = (modelled(&code), mca(&code));
        let off = ours / theirs - 1.0;
        println!("{name}: {ours} turns, llvm-mca {theirs} ({:+.1} %)", 100.0 * off);
        assert!(off.abs() <= 0.1, "{name}: {ours} turns, llvm-mca {theirs}");
    }
}
