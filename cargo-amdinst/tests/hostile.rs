//! `instrument` and files that are made to mislead: a clear error and its exit code, and nothing is written.
//!
//! The code objects are assembled from a kernel that is sound, with one thing wrong in each. What is wrong with the numbers in
//! ELF headers, which no assembler writes, is put into the bytes of the sound one.

use std::path::Path;
use std::process::Command;

/// A kernel with one site; `BODY` stands behind it.
const SOUND: &str = "
.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
  v_cmp_gt_u32 vcc, 10, v0
  s_and_saveexec_b64 s[4:5], vcc
  BODY
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

/// Assembles the sound kernel with a piece of its text replaced.
fn assemble(directory: &Path, from: &str, to: &str) -> Vec<u8> {
    assert!(SOUND.contains(from), "{from}");
    let text = SOUND.replacen(from, to, 1).replace("BODY", "s_nop 0");
    let (input, output) = (directory.join("kernel.s"), directory.join("assembled.elf"));
    std::fs::write(&input, text).unwrap();
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-fuse-ld=lld-22", "-o"])
        .args([&output, &input])
        .status()
        .unwrap();
    assert!(status.success(), "{to}");
    std::fs::read(output).unwrap()
}

/// Instruments it: the exit code, and what stands on standard error. Nothing may be written unless all was well.
fn instrument(directory: &Path, bytes: &[u8]) -> (i32, String) {
    std::fs::write(directory.join("hostile.elf"), bytes).unwrap();
    let out = directory.join("out.elf");
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .args(["instrument", "hostile.elf", "-o", "out.elf"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {message}"));
    assert_eq!(out.exists(), matches!(code, 0 | 7), "{message}");
    _ = std::fs::remove_file(out);
    (code, message)
}

#[track_caller]
fn expect(directory: &Path, bytes: &[u8], code: i32, words: &str) {
    let (found, message) = instrument(directory, bytes);
    assert_eq!(found, code, "expected `{words}`: {message}");
    assert!(message.contains(words), "expected `{words}`: {message}");
    assert!(
        message.len() < 2000 && !message.contains("panicked") && !message.contains("report this"),
        "{message}"
    );
}

#[test]
fn code_that_is_not_what_it_seems() {
    if !tools() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let body = |text| assemble(directory, "BODY", text);
    expect(directory, &body("s_nop 0"), 0, "1 site");
    // A branch to the literal of the instruction behind it.
    let middle = "s_cbranch_execz 1\n v_mov_b32 v1, 0x7e000280";
    expect(directory, &body(middle), 6, "an instruction starts within another");
    // Data that is jumped over stays data; data that is run into is told.
    expect(directory, &body("s_branch .Lover\n .long 0xffffffff, 0xdeadbeef\n .Lover: s_nop 0"), 0, "1 site");
    expect(directory, &body(".long 0xffffffff"), 6, "begins no GFX9 encoding");
    // A function's symbol inside the kernel: whose are the instructions behind it?
    let inner = ".globl inner\n .type inner,@function\n inner: s_nop 0";
    expect(directory, &body(inner), 6, "control runs out of the function");
    // The kernel's symbol ends before its code does.
    let short = assemble(directory, ".size kernel, .Lend-kernel", ".size kernel, 12");
    expect(directory, &short, 6, "control runs out of the function");
    let long = assemble(directory, ".size kernel, .Lend-kernel", ".size kernel, 0x7fffffff");
    expect(directory, &long, 5, "do not lie inside .text");
}

#[test]
fn metadata_that_is_not_the_kernels() {
    if !tools() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let with = |from, to| assemble(directory, from, to);
    expect(
        directory,
        &with(".symbol: kernel.kd", ".symbol: other.kd"),
        5,
        "`other.kd`, which is not defined",
    );
    for (from, to, words) in [
        (
            "kernarg_segment_size: 8",
            "kernarg_segment_size: 4096",
            "kernarg segment of 8 bytes in its descriptor, 4096",
        ),
        (
            "group_segment_fixed_size: 0",
            "group_segment_fixed_size: 64",
            "group segment of 0 bytes in its descriptor, 64",
        ),
        ("private_segment_fixed_size: 0", "private_segment_fixed_size: 64", "private segment of 0 bytes"),
        ("sgpr_count: 16", "sgpr_count: 200", "200 SGPRs in its metadata"),
        ("vgpr_count: 8", "vgpr_count: 1000", "1000 VGPRs in its metadata"),
    ] {
        expect(directory, &with(from, to), 5, words);
    }
    // No descriptor: cut it out, and the metadata names what is not there.
    let (start, end) = (SOUND.find(".amdhsa_kernel").unwrap(), SOUND.find(".amdgpu_metadata").unwrap());
    expect(directory, &with(&SOUND[start..end], ""), 5, "`kernel.kd`, which is not defined");
}

/// Numbers of the file's structures, by the section that they are about.
#[test]
fn sizes_beyond_the_file() {
    if !tools() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let sound = assemble(directory, "BODY", "s_nop 0");
    let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(sound[at..at + 2].try_into().unwrap()));
    // ELF64: e_shoff, e_shnum, e_shstrndx; sh_name, sh_offset, sh_size.
    let header = |index: usize| word(40) as usize + 64 * index;
    let names = word(header(half(62)) + 24) as usize;
    let section = |wanted: &str| {
        let is_wanted = |index: &usize| {
            let at = names + word(header(*index)) as u32 as usize;
            sound[at..].starts_with(format!("{wanted}\0").as_bytes())
        };
        (0..half(60)).find(is_wanted).unwrap()
    };
    let edited = |at: usize, bytes: &[u8]| {
        let mut copy = sound.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        copy
    };
    let two_gigabytes = (1u64 << 31).to_le_bytes();
    for name in [".text", ".rodata", ".note", ".symtab", ".dynsym", ".strtab"] {
        let bytes = edited(header(section(name)) + 32, &two_gigabytes);
        expect(directory, &bytes, 5, &format!("`{name}`"));
    }
    // The first loaded segment: p_filesz and p_memsz.
    let load = (0..half(56))
        .map(|index| word(32) as usize + 56 * index)
        .find(|&at| sound[at..at + 4] == [1, 0, 0, 0]);
    let load = load.unwrap();
    expect(directory, &edited(load + 32, &two_gigabytes), 5, "program header");
    expect(directory, &edited(load + 40, &two_gigabytes), 5, "overlap in memory");
    // The note's own lengths: of its owner's name, and of its description.
    let note = word(header(section(".note")) + 24) as usize;
    expect(directory, &edited(note, &u32::MAX.to_le_bytes()), 5, "do not fit");
    expect(directory, &edited(note + 4, &0x7fff_ffffu32.to_le_bytes()), 5, "do not fit");
    expect(directory, &edited(note + 4, &16u32.to_le_bytes()), 5, "MessagePack");
}
