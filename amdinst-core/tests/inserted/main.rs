//! The code that kernels get, as one reads it: at entry, at a site, at exit, for each counter home, level and
//! state of the registers around the site.
//!
//! Each kernel of `kernels/`, and for RDNA of `rdna/`, `gfx10/` and `gfx12/`, is a body of a few lines and
//! says what it stands for. Its snapshot has the instrumented listing for each home and level: lines with `+`
//! were inserted, the others are the kernel's own. `cargo insta review` blesses what is meant.
//!
//! Kernels for RDNA are looked at in waves of 32 lanes and of 64: `{wave}` in them is b32 or b64, `{exec}`
//! and `{vcc}` are these masks, and `{8}` is the mask that begins with s8.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use amdgpu_isa::{Arch, Feature, Generation, Target, WaveSize, decode};
use amdgpu_object::CodeObject;
use amdinst_core::instrument::{Counters, Home, Instrumented, Level, Options, Probe, apply, plan};

/// The processor of all kernels for GFX9: work-item ids come packed.
const PACKED: Arch = Arch::Gfx90a;
/// One kernel is looked at on a processor with separate ids, too: sites are the same, entry and exit are not.
const SEPARATE: (&str, Arch) = ("saved", Arch::Gfx906);
/// The processors of all kernels for RDNA 1 and 2, and the size of waves: gfx1010 has hazards that gfx1030
/// has not.
const GFX10: [Target; 2] = [
    Target { arch: Arch::Gfx1030, wave: WaveSize::Wave32 },
    Target { arch: Arch::Gfx1010, wave: WaveSize::Wave64 },
];
/// The processors of all kernels for RDNA 3 and 4, and the sizes of waves.
const RDNA: [Target; 4] = [
    Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 },
    Target { arch: Arch::Gfx1100, wave: WaveSize::Wave64 },
    Target { arch: Arch::Gfx1201, wave: WaveSize::Wave32 },
    Target { arch: Arch::Gfx1201, wave: WaveSize::Wave64 },
];
/// Of these, the ones that what RDNA 4 has alone is looked at on.
const GFX12: &[Target] = RDNA.split_at(2).1;

/// A kernel around a body: one argument, 8 SGPRs of state, a few VGPRs.
fn source(target: Target, body: &str) -> String {
    let (cpu, lanes) = (target.arch, target.wave.lanes());
    let accumulation = if cpu.has(Feature::UnifiedRegisterFile) { ".amdhsa_accum_offset 8" } else { "" };
    format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--{cpu}\"
.text
.globl test
.p2align 8
.type test,@function
test:
{body}
.Lend:
.size test, .Lend-test
.rodata
.p2align 6
.amdhsa_kernel test
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 8
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
    {accumulation}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{cpu}
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: {lanes}
    .sgpr_count: 22
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 1024
    .args:
      - {{ .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }}
...
.end_amdgpu_metadata
"
    )
}

/// Assembles and links; `None`, and loudly, if LLVM is not installed.
fn assemble(target: Target, source: &str) -> Option<CodeObject> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("kernel.s"), source).expect("writing");
    let run = |tool: &str, arguments: &[&str]| -> Option<()> {
        let status = match Command::new(tool).args(arguments).current_dir(&directory).status() {
            Ok(status) => status,
            Err(_) => {
                let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
                assert!(!required, "{tool} is not installed");
                eprintln!("SKIPPED: {tool} is not installed (apt-get install llvm-22 lld-22)");
                return None;
            }
        };
        assert!(status.success(), "{tool} {arguments:?}");
        Some(())
    };
    let cpu = format!("-mcpu={}", target.arch);
    let mut arguments =
        vec!["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", "-o", "kernel.o", "kernel.s"];
    if is_wide(target) {
        arguments.push("-mattr=+wavefrontsize64");
    }
    run("llvm-mc-22", &arguments)?;
    run("ld.lld-22", &["-shared", "-o", "kernel.elf", "kernel.o"])?;
    Some(CodeObject::parse(std::fs::read(path("kernel.elf")).expect("reading")).expect("a code object"))
}

/// Whether waves have 64 lanes where a processor's default is 32.
fn is_wide(target: Target) -> bool {
    target != target.arch.into() && target.wave == WaveSize::Wave64
}

/// A body for RDNA, for waves of one size.
fn in_waves(body: &str, wave: WaveSize) -> String {
    let values = match wave {
        WaveSize::Wave32 => ["b32", "exec_lo", "vcc_lo", "s8"],
        WaveSize::Wave64 => ["b64", "exec", "vcc", "s[8:9]"],
    };
    let names = ["{wave}", "{exec}", "{vcc}", "{8}"];
    names.iter().zip(values).fold(body.to_owned(), |body, (name, value)| body.replace(name, value))
}

/// The instrumented kernel, an instruction a line, to its last `s_endpgm`; addresses of branches as
/// distances.
fn listing(instrumented: &Instrumented, target: Target) -> String {
    let object = CodeObject::parse(instrumented.bytes.clone()).expect("it parses");
    let inserted = |pc: u64| {
        let run =
            instrumented.map.addresses.runs.iter().find(|run| (run.new..run.new + run.size).contains(&pc));
        run.is_none_or(|run| run.inserted)
    };
    let mut text = String::new();
    let mut pc = object.kernel("test").expect("the kernel").code.start;
    while let Some(bytes) = object.code_at(pc) {
        let Ok(inst) = decode(target, bytes) else { break };
        let mark = if inserted(pc) { '+' } else { ' ' };
        writeln!(text, "{mark} {}", inst.text(target)).expect("a text");
        pc += u64::from(inst.size);
        if inst.op == amdgpu_isa::Op::s_endpgm {
            break;
        }
    }
    text
}

/// Every home and level that a kernel can have, or why it cannot.
fn forms(object: &CodeObject, target: Target) -> String {
    let mut text = String::new();
    let mut add = |name: &str, options: Options| {
        let done = plan(object, &options).and_then(|plan| apply(object, plan));
        let listed = match &done {
            Ok(instrumented) => listing(instrumented, target),
            Err(error) => format!("refused: {error}\n"),
        };
        writeln!(text, "== {name}\n{listed}").expect("a text");
    };
    for home in [Home::Register, Home::Lds, Home::Global] {
        for level in [Level::Basic, Level::Lanes] {
            let options = Options { counters: Counters::from(home), level, ..Options::default() };
            add(&format!("branches, {home:?}, {level:?}"), options);
        }
    }
    let of = |probe, counters| Options { probe, counters, level: Level::Lanes, ..Options::default() };
    add("blocks, Register, Lanes", of(Probe::Blocks, Counters::Register));
    add("time, Register", of(Probe::Time, Counters::Register));
    text
}

/// The kernels of a directory by name, each with what it stands for.
fn kernels(directory: &str) -> Vec<(String, String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inserted").join(directory);
    let files = std::fs::read_dir(directory).expect("the kernels").map(|file| file.expect("a file").path());
    let mut kernels: Vec<_> = files
        .map(|file| {
            let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
            let body = std::fs::read_to_string(&file).expect("a kernel");
            let about = body.lines().next().and_then(|line| line.strip_prefix("// "));
            (name.to_owned(), about.expect("what it stands for").to_owned(), body)
        })
        .collect();
    kernels.sort();
    assert!(!kernels.is_empty());
    kernels
}

/// Whether some processor of GFX10 gets an instruction wrong, which the hazard recognizer does not tell:
/// addresses of FLAT with an offset, several dwords of LDS that may lie at an odd one, and negative offsets
/// into scratch memory (LLVM's `FlatSegmentOffsetBug`, `LdsMisalignedBug` and
/// `NegativeUnalignedScratchOffsetBug`). Images, buffer instructions and permutations have hazards of their
/// own.
fn has_erratum_of_gfx10(inst: &str) -> bool {
    let mnemonic = inst.split(' ').next().unwrap_or_default();
    let is = |head: &str| mnemonic.starts_with(head);
    let is_wide = ["64", "96", "128"].iter().any(|end| mnemonic.trim_end_matches("_rtn").ends_with(end));
    ["flat_", "buffer_", "tbuffer_", "image_", "v_permlane"].iter().any(|head| is(head))
        || is("ds_") && (is_wide || is("ds_read2") || is("ds_write2"))
        || is("scratch_") && inst.contains("offset:-")
}

/// Compares a kernel for one processor with its snapshot. `None` if LLVM is not installed.
fn check(name: &str, about: &str, target: Target, body: &str) -> Option<()> {
    let object = assemble(target, &source(target, body))?;
    let forms = forms(&object, target);
    if target.arch.generation() == Generation::Gfx10 {
        let inserted = forms.lines().filter_map(|line| line.strip_prefix("+ "));
        let wrong: Vec<&str> = inserted.filter(|inst| has_erratum_of_gfx10(inst)).collect();
        assert_eq!(wrong, [""; 0], "{name} on {target:?}");
    }
    let wave = if is_wide(target) { "-wave64" } else { "" };
    insta::with_settings!({ description => about, omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(format!("{name}-{}{wave}", target.arch), forms);
    });
    Some(())
}

#[test]
fn code_at_entry_at_sites_and_at_exit() {
    for (name, about, body) in kernels("kernels") {
        let separate = (name == SEPARATE.0).then_some(SEPARATE.1);
        for arch in std::iter::once(PACKED).chain(separate) {
            if check(&name, &about, arch.into(), &body).is_none() {
                return;
            }
        }
    }
}

#[test]
fn code_for_rdna_at_entry_at_sites_and_at_exit() {
    for (directory, targets) in [("rdna", &RDNA[..]), ("gfx12", GFX12), ("gfx10", &GFX10)] {
        for (name, about, body) in kernels(directory) {
            for &target in targets {
                if check(&name, &about, target, &in_waves(&body, target.wave)).is_none() {
                    return;
                }
            }
        }
    }
}
