//! Kernels in which whatever is inserted can be.

use std::process::Command;

#[cfg(test)]
use amdgpu_isa::Generation;
use amdgpu_isa::{Feature, Target, WaveSize};
use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, ensure};

/// Stores of four dwords, divisions, calls, scalar values that comparisons write, and a loop that ends by
/// lanes.
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

/// Memory instructions right beside what is inserted: a load over its own address at the entry, others before
/// and behind a site and before the end of waves.
#[cfg(test)]
const GFX9: &str = "
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
";

/// A kernel of one argument around its instructions.
#[cfg(test)]
const ASSEMBLY: &str = "
        .globl beside
        .p2align 8
        .type beside,@function
beside:
        BODY
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
    .wavefront_size: LANES
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
        .end_amdgpu_metadata
";

/// What RDNA 3 has in place of the body of [`ASSEMBLY`]: behind each site and before it stands what must wait
/// for something that only what is inserted might cut short, or begin.
///
/// A transcendental result is used where EXEC narrows; of two results that one instruction adds, one was
/// written before EXEC was and one behind; SGPRs are masks of vector instructions before a site and are
/// written behind it; and lanes are permuted behind a comparison that writes EXEC. Waits that the original
/// needs are in it.
#[cfg(test)]
const RDNA: &str = "
        s_load_b64 s[0:1], s[0:1], 0x0
        v_lshlrev_b32_e32 v1, 2, v0
        v_cmp_gt_u32_e32 VCC, 8, v0
        v_cmp_lt_u32_e64 MASK, 3, v0
        v_cndmask_b32_e64 v2, v0, v1, MASK
        v_cndmask_b32_e32 v3, v1, v0, VCC
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v4, v2
        v_rcp_f32_e32 v5, v4
        s_and_saveexec_WAVE SAVED, VCC
        s_cbranch_execz 1f
        v_mov_b32_e32 v6, v3
        s_waitcnt_depctr 0xfff
        v_add_f32_e32 v7, v5, v6
        v_cndmask_b32_e64 v2, v7, v1, MASK
        v_cmp_ne_u32_e32 VCC, 3, v0
        v_cndmask_b32_e64 v2, v2, v1, MASK
        s_and_saveexec_WAVE MASK, VCC
        s_waitcnt_depctr 0xff9e
        v_mov_b32_e32 v6, v3
        s_waitcnt_depctr 0xfff
        s_or_WAVE EXEC, EXEC, MASK
        s_waitcnt_depctr 0xfff
1:      s_or_WAVE EXEC, EXEC, SAVED
        s_waitcnt_depctr 0xfff
        v_add_f32_e32 v4, v2, v5
        v_sqrt_f32_e32 v4, v4
        v_cmpx_gt_u32_e32 4, v0
        v_mov_b32_e32 v5, v3
        v_permlane16_b32 v6, v5, s0, s1
        s_waitcnt_depctr 0xfff
        v_add_f32_e32 v4, v4, v6
        global_store_b32 v1, v4, s[0:1]
        s_endpgm
";

/// What RDNA 1 and 2 have in its place: instructions that what is inserted might overtake, or be overtaken
/// by.
///
/// Memory instructions read EXEC and SGPRs right before sites and behind them, and before the end; LDS is
/// accessed between them, with branches on the way; EXEC is copied before a comparison that writes it; and a
/// scalar load reads an SGPR that a vector instruction writes. Waits that the original needs are in it, and
/// registers that no memory instruction has under way, which sites can borrow.
#[cfg(test)]
const GFX10: &str = "
        s_load_dwordx2 s[0:1], s[0:1], 0x0
        v_lshlrev_b32_e32 v1, 2, v0
        v_mov_b32_e32 v5, v0
        v_mov_b32_e32 v6, v1
        v_mov_b32_e32 v7, v1
        v_cmp_gt_u32_e32 VCC, 8, v0
        s_waitcnt lgkmcnt(0)
        global_load_dword v2, v1, s[0:1]
        s_waitcnt_depctr 0xffe3
        s_and_saveexec_WAVE SAVED, VCC
        global_load_dword v3, v1, s[0:1]
        s_cbranch_execz 1f
        s_waitcnt_vscnt null, 0x0
        ds_write_b32 v1, v0
        v_cmp_ne_u32_e32 VCC, 3, v0
        s_and_saveexec_WAVE MASK, VCC
        ds_read_b32 v4, v1
        s_waitcnt_depctr 0xffe3
        s_or_WAVE EXEC, EXEC, MASK
        s_load_dword s12, s[0:1], 0x0
        s_mov_b32 null, 0
        v_readfirstlane_b32 s0, v0
        s_waitcnt lgkmcnt(0)
1:      s_or_WAVE EXEC, EXEC, SAVED
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_add_nc_u32_e32 v2, v2, v3
        v_add_nc_u32_e32 v2, v2, v5
        v_add3_u32 v2, v2, v6, v7
        s_mov_WAVE MASK, EXEC
        s_waitcnt_depctr 0xfffe
        v_cmpx_gt_u32_e32 4, v0
        s_waitcnt_vscnt null, 0x0
        global_store_dword v1, v2, s[0:1]
        s_endpgm
";

/// What RDNA 4 has in its place: values of SGPRs that vector instructions have read before, written before
/// sites and read behind them.
///
/// Vector instructions read a mask, VCC and a number; later the program writes these by scalar instructions
/// and by vector ones, on one of two paths, and reads them by either kind. Waits that the original needs are
/// in it.
#[cfg(test)]
const GFX12: &str = "
        s_load_b64 s[0:1], s[0:1], 0x0
        v_lshlrev_b32_e32 v1, 2, v0
        v_cmp_gt_u32_e32 VCC, 8, v0
        v_cmp_lt_u32_e64 MASK, 3, v0
        v_cndmask_b32_e64 v2, v0, v1, MASK
        v_cndmask_b32_e32 v3, v1, v0, VCC
        s_mov_b32 s12, 5
        v_add_nc_u32_e32 v2, s12, v2
        s_wait_kmcnt 0x0
        s_and_saveexec_WAVE SAVED, VCC
        s_cbranch_execz 1f
        s_add_co_i32 s12, s12, 1
        s_wait_alu 0xfffe
        s_add_co_i32 s13, s12, 2
        v_cmp_ne_u32_e32 VCC, 3, v0
        s_and_saveexec_WAVE MASK, VCC
        s_wait_alu 0xfffe
        v_add_nc_u32_e32 v3, s13, v3
        s_or_WAVE EXEC, EXEC, MASK
1:      s_or_WAVE EXEC, EXEC, SAVED
        v_cmp_lt_u32_e64 MASK, 5, v0
        s_wait_alu 0xf1ff
        v_cndmask_b32_e64 v2, v2, v3, MASK
        v_cmp_gt_u32_e32 VCC, 7, v2
        s_wait_alu 0xfffd
        v_add_co_ci_u32_e32 v4, VCC, v2, v3, VCC
        v_cmpx_gt_u32_e32 4, v0
        s_wait_alu 0xfffd
        v_cndmask_b32_e32 v5, v4, v3, VCC
        global_store_b32 v1, v5, s[0:1]
        s_endpgm
";

/// What a scalar instruction wrote is read too soon: a vector instruction has read the register before.
#[cfg(test)]
pub(super) const SCALAR_RESULT: &str = "
        v_mov_b32_e32 v1, s4
        s_mov_b32 s4, 0
        s_mov_b32 s6, s4
        s_endpgm
";

/// What a vector instruction wrote is, after one has read the other register of the pair.
#[cfg(test)]
pub(super) const VECTOR_RESULT: &str = "
        v_mov_b32_e32 v1, s4
        v_readfirstlane_b32 s5, v0
        v_mov_b32_e32 v2, s5
        s_endpgm
";

/// VCC is read and written in turn.
#[cfg(test)]
pub(super) const VCC_RESULT: &str = "
        v_cndmask_b32_e32 v1, v0, v2, VCC
        v_cmp_gt_u32_e32 VCC, 8, v0
        v_cndmask_b32_e32 v1, v0, v2, VCC
        s_endpgm
";

/// A vector instruction uses a transcendental result too soon.
#[cfg(test)]
pub(super) const TRANS_USE: &str = "
        v_rcp_f32_e32 v1, v0
        v_mov_b32_e32 v2, v1
        s_endpgm
";

/// Of two results that an instruction adds, one was written before EXEC was, and one behind.
#[cfg(test)]
pub(super) const PARTIAL_FORWARDING: &str = "
        v_mov_b32_e32 v1, v0
        s_mov_b64 exec, s[2:3]
        v_mov_b32_e32 v2, v0
        v_add_f32_e32 v3, v1, v2
        s_endpgm
";

/// SGPRs are written that a vector instruction reads as a mask.
#[cfg(test)]
pub(super) const MASK_WRITE: &str = "
        v_cndmask_b32_e64 v1, v0, v2, s[4:5]
        s_mov_b64 s[4:5], s[2:3]
        s_mov_b64 s[6:7], s[4:5]
        s_endpgm
";

/// A scalar instruction writes SGPRs that a memory instruction reads.
#[cfg(test)]
pub(super) const MEMORY_READ: &str = "
        global_load_dword v1, v0, s[0:1]
        s_mov_b32 s0, 0
        s_endpgm
";

/// A vector instruction writes an SGPR that a scalar load reads.
#[cfg(test)]
pub(super) const SCALAR_LOAD: &str = "
        s_load_dword s2, s[0:1], 0x0
        v_readfirstlane_b32 s0, v0
        s_endpgm
";

/// A comparison writes EXEC, which a scalar instruction reads.
#[cfg(test)]
pub(super) const COMPARE_EXEC: &str = "
        s_mov_WAVE SAVED, EXEC
        v_cmpx_gt_u32_e32 4, v0
        s_endpgm
";

/// Behind a branch, LDS is accessed where memory was before it.
#[cfg(test)]
pub(super) const LDS_BRANCH: &str = "
        global_load_dword v1, v0, s[0:1]
        s_branch 1f
1:      ds_write_b32 v0, v0
        s_endpgm
";

/// The kernel in assembly, for one processor.
#[cfg(test)]
pub(super) fn assemble(target: Target) -> Result<CodeObject> {
    match target.arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => assemble_text(target, GFX9),
        Generation::Gfx10 => assemble_text(target, GFX10),
        Generation::Gfx11 => assemble_text(target, RDNA),
        Generation::Gfx12 => assemble_text(target, GFX12),
    }
}

/// A kernel of this text, in which `WAVE`, `VCC`, `EXEC`, `MASK` and `SAVED` stand for what masks of a wave's
/// lanes are.
#[cfg(test)]
pub(super) fn assemble_text(target: Target, text: &str) -> Result<CodeObject> {
    let masks = match target.wave {
        WaveSize::Wave32 => ["b32", "vcc_lo", "exec_lo", "s8", "s10"],
        WaveSize::Wave64 => ["b64", "vcc", "exec", "s[8:9]", "s[10:11]"],
    };
    let names = ["WAVE", "VCC", "EXEC", "MASK", "SAVED"];
    let text = names.iter().zip(masks).fold(text.to_owned(), |text, (name, mask)| text.replace(name, mask));
    let accum = match target.arch.has(Feature::UnifiedRegisterFile) {
        true => ".amdhsa_accum_offset 8",
        false => "",
    };
    let lanes = target.wave.lanes().to_string();
    let source = ASSEMBLY.replace("BODY", &text).replace("ACCUM", accum).replace("LANES", &lanes);
    build(target, &["-x", "assembler"], &source)
}

/// The kernels, for one processor at one level of optimisation.
pub(super) fn compile(target: Target, level: &str) -> Result<CodeObject> {
    let matrices = if target.arch.has(Feature::AccumulationVgprs) { MATRICES } else { "" };
    let options = ["-x", "cl", "-cl-std=CL2.0", "-nogpulib", level];
    build(target, &options, &SOURCE.replace("MATRICES", matrices))
}

fn build(target: Target, options: &[&str], source: &str) -> Result<CodeObject> {
    let directory = tempfile::tempdir()?;
    let (input, output) = (directory.path().join("kernel"), directory.path().join("kernel.elf"));
    std::fs::write(&input, source)?;
    let is_wide = target != target.arch.into() && target.wave == WaveSize::Wave64;
    let result = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-fuse-ld=lld-22", &format!("-mcpu={}", target.arch)])
        .args(is_wide.then_some("-mwavefrontsize64"))
        .args(options)
        .arg("-o")
        .args([&output, &input])
        .output()
        .context("running clang-22 (apt-get install clang-22 lld-22)")?;
    ensure!(result.status.success(), "clang-22: {}", String::from_utf8_lossy(&result.stderr));
    Ok(CodeObject::parse(std::fs::read(&output)?)?)
}
