//! Whole code objects, line by line against `llvm-objdump-22 -d`.
//!
//! The object is compiled here by `clang-22` at every optimisation level. `AMDINST_ISA_OBJECTS` may name further code
//! objects (paths separated by `:`), such as those of a library.

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_object::CodeObject;
use amdinst_core::listing::Listing;

const SOURCE: &str = r#"
#define KERNEL extern "C" __attribute__((amdgpu_kernel)) void
#define SHARED __attribute__((address_space(3)))
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
typedef unsigned u32; typedef unsigned long u64; typedef _Float16 half;
static u32 id() { return __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x(); }
SHARED static float tile[256] __attribute__((loader_uninitialized));
KERNEL floats(float *a, const float *b, u32 n) {
  for (u32 i = id(); i < n; i += 4096) {
    float x = b[i];
    if (x > 0.5f) a[i] = __builtin_sqrtf(x) / (x + 2.0f); else if (x < -1.0f) a[i] = __builtin_fabsf(x) * 0.15915494f;
  }
}
KERNEL doubles(double *a, const double *b) {
  u32 i = id();
  double x = b[i];
  a[i] = x > 1.0 ? x / 3.25 : __builtin_fma(x, x, 1.0);
}
KERNEL longs(u64 *a, const long *b, u64 k) {
  u32 i = id();
  a[i] = (u64)b[i] * k + (b[i] >> 7) + __builtin_popcountll(b[i]) + __builtin_clzll(k) + (u64)b[i] / (k + 1);
}
KERNEL halves(half *a, const half *b, const short *s, signed char *c) {
  u32 i = id();
  a[i] = b[i] * b[i + 1] + (half)s[i];
  c[i] = (signed char)(c[i] * 3 + (s[i] >> 2));
}
KERNEL shared_sum(float *out, const float *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  tile[t] = in[id()];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  for (u32 s = 128; s; s >>= 1) { if (t < s) tile[t] += tile[t + s]; __builtin_amdgcn_s_barrier(); }
  if (!t) __hip_atomic_fetch_add(out, tile[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL counts(u32 *bins, u64 *wide, const unsigned char *in) {
  __hip_atomic_fetch_add(&bins[in[id()]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  u64 old = __hip_atomic_fetch_max(&wide[0], (u64)id(), __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_compare_exchange_strong(&wide[1], &old, 7ul, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__attribute__((noinline)) static u32 twist(u32 x, u32 *stack) { stack[x & 7] = x * 2654435761u; return stack[(x >> 3) & 7]; }
KERNEL calls(u32 *a) {
  u32 stack[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  u32 i = id();
  switch (a[i] % 7) { case 0: a[i] = twist(i, stack); break; case 3: a[i] += twist(i + 1, stack); break; case 5: a[i] ^= 9; }
}
"#;

const LABELS: [&str; 3] = [
    r#"
.text
s_nop 0
.globl zeta
.type zeta,@function
zeta:
alpha:
.type beta,@function
beta:
omega:
s_branch alpha
s_branch 0x4000
s_branch -0x1000
s_cbranch_scc0 later
s_call_b64 s[0:1], later
s_call_b64 s[0:1], 3
.type table,@object
table:
.long 1, 2, 3, 0xbf800000
.byte 0x7f, 0x80, 3, 0x41, 0x42, 0x20, 0x7e, 0x1f
.long 0x6000
.size table, 28
later:
s_branch zeta_end
.long 0, 0, 0, 0xffffffff
s_endpgm
.long 0, 0, 0
inner:
.fill 20, 1, 0
.p2align 6
zeta_end:
s_nop 4
.long 0
absolute = 0x1234
.section .rodata
.globl constant
.type constant,@object
constant: .long 1
.data
.globl variable
variable: .long 1
"#,
    r#"
.text
.globl k
.type k,@function
k:
s_cbranch_scc1 0
s_cbranch_vccz 1
s_cbranch_vccnz 1
s_cbranch_execz 1
s_cbranch_execnz 1
s_cbranch_cdbgsys 1
s_cbranch_cdbguser 1
s_cbranch_cdbgsys_or_user 1
s_cbranch_cdbgsys_and_user 1
s_cbranch_i_fork s[0:1], 2
s_cbranch_i_fork s[0:1], inside
s_cbranch_g_fork s[0:1], s[2:3]
s_cbranch_join s4
s_call_b64 s[0:1], 2
.long 0xd1c90000
inside:
.long 0x04020500
.byte 1
odd:
.byte 2, 3, 4
s_nop 0
.byte 0, 0
odd_zeros:
.byte 0, 0, 0, 0, 0, 0
s_mov_b32 s0, 0x11223344
s_endpgm
"#,
    ".text\n.globl k\nk:\ns_branch 0x1000\ns_endpgm\n.long 0, 0, 0, 0\n",
];

fn skip(why: &str) {
    assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{why}");
    eprintln!("SKIPPED: isa_objdump: {why}");
}

/// The name of a tool if it can be run.
fn tool(name: &'static str) -> Option<&'static str> {
    Command::new(name).arg("--version").output().is_ok().then_some(name)
}

/// Compares the whole listing of an object; returns how many instructions it has.
fn compare(path: &Path) -> usize {
    let output = Command::new("llvm-objdump-22").arg("-d").arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // Its first lines name the file and its format.
    let reference = text.lines().skip_while(|line| !line.starts_with("Disassembly"));
    let object = CodeObject::parse(std::fs::read(path).unwrap()).unwrap();
    let mut ours = Vec::new();
    Listing::new(&object).write(&mut ours).unwrap();
    let ours = String::from_utf8(ours).unwrap();
    let (reference, ours): (Vec<_>, Vec<_>) = (reference.collect(), ours.lines().skip(1).collect());
    let different = reference.iter().zip(&ours).filter(|(reference, ours)| reference != ours);
    let different: Vec<_> = different.map(|(reference, ours)| format!("{reference}\n{ours}")).collect();
    let count = different.len();
    assert!(count == 0, "{}: {count} lines differ\n{}", path.display(), different.join("\n"));
    assert_eq!(reference.len(), ours.len(), "{}", path.display());
    reference.iter().filter(|line| line.contains("// ")).count()
}

/// Labels of every kind, branches to all places, data and zeros among the code, symbols inside instructions.
#[test]
fn labels_and_data_are_shown_as_llvm_does() {
    let (Some(_), Some(_)) = (tool("llvm-mc-22"), tool("llvm-objdump-22")) else {
        return skip("needs llvm-22 and lld-22 (apt-get install llvm-22 lld-22)");
    };
    let directory = tempfile::tempdir().unwrap();
    for (number, source) in LABELS.iter().enumerate() {
        let [assembly, object, linked] =
            ["s", "o", "so"].map(|end| directory.path().join(format!("{number}.{end}")));
        std::fs::write(&assembly, source).unwrap();
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let mc = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"];
        run(Command::new("llvm-mc-22").args(mc).arg(&object).arg(&assembly));
        run(Command::new("ld.lld-22").args(["-shared", "-o"]).arg(&linked).arg(&object));
        compare(&linked);
        // Without its symbol table, the dynamic one is left.
        run(Command::new("llvm-strip-22").arg(&linked));
        compare(&linked);
    }
}

#[test]
fn compiled_kernels_disassemble_as_llvm_does() {
    let (Some(clang), Some(_)) = (tool("clang-22"), tool("llvm-objdump-22")) else {
        return skip("needs clang-22, lld-22 and llvm-22 (apt-get install clang-22 lld-22 llvm-22)");
    };
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("kernels.cpp");
    std::fs::write(&source, SOURCE).unwrap();
    let mut compared = 0;
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let object = directory.path().join(format!("{cpu}{level}.elf"));
            let output = Command::new(clang)
                .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-ffreestanding", "-x", "c++", level])
                .arg(format!("-mcpu={cpu}"))
                .arg(&source)
                .arg("-o")
                .arg(&object)
                .output()
                .unwrap();
            assert!(output.status.success(), "{cpu} {level}: {}", String::from_utf8_lossy(&output.stderr));
            compared += compare(&object);
        }
    }
    assert!(compared > 10_000, "only {compared} instructions compared");
    eprintln!("{compared} instructions compared");
}

#[test]
fn given_objects_disassemble_as_llvm_does() {
    let Some(paths) = std::env::var_os("AMDINST_ISA_OBJECTS") else { return };
    for path in std::env::split_paths(&paths).collect::<Vec<PathBuf>>() {
        eprintln!("{}: {} instructions compared", path.display(), compare(&path));
    }
}
