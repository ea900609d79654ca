//! How many wave-instructions a second one thread executes in a loop of vector arithmetic:
//! `cargo run --release -p amdinst-emu --example alu_loop`.
//!
//! The kernel is assembled by clang-22.

use std::process::Command;

use amdinst_core::object::CodeObject;
use amdinst_emu::{Config, Launch, Machine};

const SOURCE: &str = r"
kernel void integers(global uint *out, uint n) {
    uint a = __builtin_amdgcn_workitem_id_x(), b = a * 3, c = 7, d = 1;
    for (uint i = 0; i < n; ++i) {
        a = a * 1664525 + b; b = (b ^ a) >> 3; c += a & b; d = (d << 5 | d >> 27) ^ c;
        a ^= d; b += c; c = (c | 1) + a; d -= b;
    }
    out[__builtin_amdgcn_workitem_id_x()] = a ^ b ^ c ^ d; }
kernel void floats(global float *out, uint n) {
    float a = __builtin_amdgcn_workitem_id_x(), b = 1, c = 2, d = 3;
    for (uint i = 0; i < n; ++i) {
        a = __builtin_fmaf(a, 0.5f, b); b = __builtin_fmaf(b, 0.25f, c); c = c * 0.5f + d; d = d * 0.125f + a;
        a += b; b -= c; c *= 0.75f; d += 0.25f;
    }
    out[__builtin_amdgcn_workitem_id_x()] = a + b + c + d; }
kernel void half_active(global uint *out, uint n) {
    uint a = __builtin_amdgcn_workitem_id_x(), b = a * 3, c = 7;
    if (a & 1) for (uint i = 0; i < n; ++i) { a = (a ^ b) + c; b = (b ^ a) >> 3; c += a & b; a |= c; }
    out[__builtin_amdgcn_workitem_id_x()] = a ^ b ^ c; }
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let (input, output) = (directory.path().join("k.cl"), directory.path().join("k.elf"));
    std::fs::write(&input, SOURCE)?;
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-x", "cl", "-cl-std=CL2.0", "-O2"])
        .args(["-Xclang", "-finclude-default-header", "-fuse-ld=lld-22", "-o"])
        .args([&output, &input])
        .status()?;
    if !status.success() {
        return Err("clang-22 failed".into());
    }
    let object = CodeObject::parse(std::fs::read(&output)?)?;
    for kernel in ["integers", "floats", "half_active"] {
        let mut machine = Machine::new(object.target.arch, Config::default());
        let program = machine.load(&object)?;
        let out = machine.alloc(4 * 64, 16, "out")?;
        let mut kernarg = out.to_le_bytes().to_vec();
        kernarg.extend(500_000u32.to_le_bytes());
        let launch = Launch { kernarg, threads: 1, ..Launch::new(kernel) };
        let execution = machine.launch(&program, &launch)?;
        let rate = execution.wave_instructions as f64 / execution.seconds / 1e6;
        println!(
            "{kernel}: {rate:.1} M wave-instructions/s ({} in {:.3} s)",
            execution.wave_instructions, execution.seconds
        );
    }
    Ok(())
}
