//! Kernels in which whatever is inserted can be.

use std::process::Command;

use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, ensure};

/// Stores of four dwords, divisions, calls, scalar values that comparisons write, and a loop that ends by lanes.
const SOURCE: &str = "
    typedef float f32x4 __attribute__((ext_vector_type(4)));
    typedef unsigned u32x4 __attribute__((ext_vector_type(4)));
    __attribute__((noinline)) float divided(float x, float y) { if (x > y) return x / y; return y / x; }
    kernel void test(global u32x4 *out, global const float *in, unsigned n) {
        unsigned i = __builtin_amdgcn_workitem_id_x();
        float x = in[i], y = in[i + 64];
        u32x4 value = {i, n, i, n};
        for (unsigned k = 0; k < (i & 7); ++k) {
            if (x > y) { out[i] = value; value.x += k; x = divided(x, y); }
            if (x == (float)k) break;
            MATRICES
            y += in[i + k];
        }
        if (__builtin_amdgcn_readfirstlane(value.y) != n) value.z = __builtin_amdgcn_ds_bpermute(i, value.z);
        out[i + 64] = value;
        ((global float *)out)[i] = x / y;
    }
    kernel void guarded(global float *out, global const float *in, unsigned n) {
        unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
        if (i < n) {
            float x = in[i];
            if (x > 0) out[i] = x + in[n];
        }
        if (i & 1) out[n + i] = in[i + 1];
    }";
const MATRICES: &str = "{ f32x4 m = {x, y, x, y};
    if (y > 1) { m = __builtin_amdgcn_mfma_f32_4x4x1f32(x, y, m, 0, 0, 0); x += m.x + m.w; } }";

/// Memory instructions right beside what is inserted: a load over its own address at the entry, others before and behind a site and
/// before the end of waves.
#[cfg(test)]
const ASSEMBLY: &str = "
        .globl beside
        .p2align 8
        .type beside,@function
beside:
        s_load_dwordx2 s[0:1], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32_e32 v1, 2, v0
        v_mov_b32_e32 v3, s1
        v_add_co_u32_e32 v2, vcc, s0, v1
        v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
        v_cmp_gt_u32_e32 vcc, 8, v0
        flat_load_dword v4, v[2:3]
        s_and_saveexec_b64 s[4:5], vcc
        flat_load_dword v2, v[2:3]
        s_cbranch_execz 1f
        s_waitcnt vmcnt(0) lgkmcnt(0)
        flat_load_dwordx2 v[4:5], v[4:5]
1:      s_or_b64 exec, exec, s[4:5]
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_cmpx_gt_u32_e32 vcc, 4, v0
        flat_load_dwordx2 v[4:5], v[4:5]
        flat_load_dword v6, v[2:3]
        s_endpgm
        .size beside, .-beside
        .rodata
        .p2align 6
        .amdhsa_kernel beside
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_kernarg_size 8
        .amdhsa_next_free_sgpr 16
        .amdhsa_next_free_vgpr 8
        ACCUM
        .end_amdhsa_kernel
        .amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: beside
    .symbol: beside.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
        .end_amdgpu_metadata
";

/// The kernel in assembly, for one processor.
#[cfg(test)]
pub(super) fn assemble(cpu: &str) -> Result<CodeObject> {
    let accum = if cpu < "gfx90a" { "" } else { ".amdhsa_accum_offset 8" };
    build(&["-x", "assembler", &format!("-mcpu={cpu}")], &ASSEMBLY.replace("ACCUM", accum))
}

/// The kernels, for one processor at one level of optimisation.
pub(super) fn compile(cpu: &str, level: &str) -> Result<CodeObject> {
    let matrices = if cpu < "gfx908" { "" } else { MATRICES };
    let options = ["-x", "cl", "-cl-std=CL2.0", "-nogpulib", level, &format!("-mcpu={cpu}")];
    build(&options, &SOURCE.replace("MATRICES", matrices))
}

fn build(options: &[&str], source: &str) -> Result<CodeObject> {
    let directory = tempfile::tempdir()?;
    let (input, output) = (directory.path().join("kernel"), directory.path().join("kernel.elf"));
    std::fs::write(&input, source)?;
    let result = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-fuse-ld=lld-22"])
        .args(options)
        .arg("-o")
        .args([&output, &input])
        .output()
        .context("running clang-22 (apt-get install clang-22 lld-22)")?;
    ensure!(result.status.success(), "clang-22: {}", String::from_utf8_lossy(&result.stderr));
    Ok(CodeObject::parse(std::fs::read(&output)?)?)
}
