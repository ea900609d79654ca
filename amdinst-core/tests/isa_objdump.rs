//! Whole code objects, line by line against `llvm-objdump-22 -d`.
//!
//! The object is compiled here by `clang-22` at every optimisation level. `AMDINST_ISA_OBJECTS` may name further code
//! objects (paths separated by `:`), such as those of a library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use amdinst_core::isa::{decode, objdump_line};
use amdinst_core::object::CodeObject;

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

fn skip(why: &str) {
    assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{why}");
    eprintln!("SKIPPED: isa_objdump: {why}");
}

/// The name of a tool if it can be run.
fn tool(name: &'static str) -> Option<&'static str> {
    Command::new(name).arg("--version").output().is_ok().then_some(name)
}

fn llvm_lines(path: &Path) -> BTreeMap<u64, String> {
    let output = Command::new("llvm-objdump-22").arg("-d").arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        let (_, comment) = line.split_once("// ")?;
        let pc = u64::from_str_radix(comment.split_once(':')?.0, 16).ok()?;
        Some((pc, line.to_owned()))
    });
    lines.collect()
}

/// Compares each line of an object; returns how many.
fn compare(path: &Path) -> usize {
    let lines = llvm_lines(path);
    let object = CodeObject::parse(std::fs::read(path).unwrap()).unwrap();
    let arch = object.target.arch;
    let mut different = Vec::new();
    for (&pc, line) in &lines {
        let words: Vec<u32> = line
            .split_once("// ")
            .and_then(|(_, comment)| comment.split_once(": "))
            .map(|(_, words)| {
                let words = words.split(' ').take_while(|word| !word.starts_with('<'));
                words.map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
            })
            .unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        // The symbol is LLVM's choice among several; what we print of it is checked against its own line.
        let symbol = line.rsplit_once(" <").map(|(_, tail)| {
            let (name, distance) =
                tail.trim_end_matches('>').rsplit_once("+0x").unwrap_or((tail.trim_end_matches('>'), "0"));
            (name.to_owned(), u64::from_str_radix(distance, 16).unwrap())
        });
        let ours = match decode(arch, &bytes) {
            Ok(inst) => objdump_line(&inst, arch, pc, &words, |_| symbol),
            Err(error) => error.to_string(),
        };
        if ours != *line {
            different.push(format!("{line}\n{ours}"));
        }
    }
    assert!(different.is_empty(), "{}: {} differ\n{}", path.display(), different.len(), different.join("\n"));
    lines.len()
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
