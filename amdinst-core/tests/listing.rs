//! Whole code objects, line by line against `llvm-objdump-22 -d`.
//!
//! The object is compiled here by `clang-22` at every optimisation level. `AMDINST_ISA_OBJECTS` may name
//! further code objects (paths separated by `:`), such as those of a library.

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_object::CodeObject;
use amdinst_core::listing::Listing;

const SOURCE: &str = include_str!("sources/listing.hip");

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
