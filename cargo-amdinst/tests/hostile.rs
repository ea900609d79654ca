//! `instrument` and files that are made to mislead: a clear error and its exit code, and nothing is written.
//!
//! The code objects are assembled from a kernel that is sound, with one thing wrong in each. What is wrong
//! with the numbers in ELF headers, which no assembler writes, is put into the bytes of the sound one.

mod support;

use std::path::Path;
use std::process::Command;

/// A kernel with one site; `BODY` stands behind it.
fn sound() -> String {
    support::KERNEL.replace(
        "CODE",
        "  v_cmp_gt_u32 vcc, 10, v0
  s_and_saveexec_b64 s[4:5], vcc
  BODY
  s_endpgm",
    )
}

/// Assembles the sound kernel with a piece of its text replaced.
fn assemble(directory: &Path, from: &str, to: &str) -> Vec<u8> {
    let sound = sound();
    assert!(sound.contains(from), "{from}");
    let output = directory.join("assembled.elf");
    support::assemble(&sound.replacen(from, to, 1).replace("BODY", "s_nop 0"), &output);
    std::fs::read(output).unwrap()
}

/// Instruments it: the exit code, and what stands on standard error. Nothing may be written unless all was
/// well.
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
    if !support::tools("hostile") {
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
    expect(directory, &body(".long 0xffffffff"), 6, "begins no encoding of the processor");
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
    if !support::tools("hostile") {
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
    let sound = sound();
    let (start, end) = (sound.find(".amdhsa_kernel").unwrap(), sound.find(".amdgpu_metadata").unwrap());
    expect(directory, &with(&sound[start..end], ""), 5, "`kernel.kd`, which is not defined");
}

/// Numbers of the file's structures, by the section that they are about.
#[test]
fn sizes_beyond_the_file() {
    if !support::tools("hostile") {
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
