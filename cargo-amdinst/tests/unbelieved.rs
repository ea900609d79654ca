//! `run` and `inspect` with files that ask for more than they should get.

mod support;

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = include_str!("sources/unbelieved.cl");

/// Runs the command with so many kilobytes of address space, if that is limited.
fn amdinst(directory: &Path, kilobytes: Option<u64>, words: &str) -> Output {
    let limit = kilobytes.map_or(String::new(), |kilobytes| format!("ulimit -v {kilobytes}; "));
    let mut command = Command::new("/bin/sh");
    command.current_dir(directory).env("NO_COLOR", "1");
    command.args(["-c", &format!("{limit}exec {} {words}", env!("CARGO_BIN_EXE_cargo-amdinst"))]);
    command.output().unwrap()
}

#[track_caller]
fn expect(output: &Output, code: i32, words: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}: {told}");
    assert!(told.contains(words), "expected `{words}`: {told}");
}

/// The file, compiled, and where its code object's numbers are.
fn compiled(directory: &Path) -> Option<Vec<u8>> {
    std::fs::write(directory.join("k.cl"), SOURCE).unwrap();
    support::compile(&directory.join("k.cl"), &directory.join("k.elf"))
        .then(|| std::fs::read(directory.join("k.elf")).unwrap())
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn a_descriptor_that_lies() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let Some(mut bytes) = compiled(directory) else { return };
    let object = amdgpu_object::CodeObject::parse(bytes.clone()).unwrap();
    let kernel = object.kernel("one").unwrap();
    let descriptor =
        bytes.windows(64).position(|window| window == kernel.descriptor.bytes).expect("it is there");
    let run = "run k.elf --kernel one --grid 1 --block 64 --arg 'u32[64]'";
    for (field, segment) in [(0, "group"), (4, "private")] {
        let before = bytes[descriptor + field..][..4].to_vec();
        bytes[descriptor + field..][..4].copy_from_slice(&0x8000_0000u32.to_le_bytes());
        std::fs::write(directory.join("k.elf"), &bytes).unwrap();
        let message =
            format!("the code object is damaged: {segment} segment of 2147483648 bytes in its descriptor");
        expect(&amdinst(directory, None, run), 5, &message);
        expect(&amdinst(directory, Some(2_000_000), run), 5, &message);
        bytes[descriptor + field..][..4].copy_from_slice(&before);
    }
    // `USER_SGPR_COUNT` of `compute_pgm_rsrc2`: fewer than are enabled, and more than there are.
    for (count, message) in [
        (0, "its descriptor enables 6 user SGPRs and counts 0"),
        (31, "its descriptor counts 31 user SGPRs, and there are 16"),
    ] {
        bytes[descriptor + 52] = bytes[descriptor + 52] & !0x3e | count << 1;
        std::fs::write(directory.join("k.elf"), &bytes).unwrap();
        expect(&amdinst(directory, None, run), 5, message);
        expect(&amdinst(directory, None, "instrument k.elf -o out.elf"), 5, message);
    }
}

#[test]
fn an_image_of_four_gigabytes() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let Some(mut bytes) = compiled(directory) else { return };
    // The loaded segment at the highest address: p_memsz.
    let headers = (0..bytes[56] as usize).map(|index| word(&bytes, 32) as usize + 56 * index);
    let loads = headers.filter(|&at| bytes[at..at + 4] == [1, 0, 0, 0]);
    let last = loads.max_by_key(|&at| word(&bytes, at + 16)).unwrap();
    let size = (1u64 << 32) - word(&bytes, last + 16);
    bytes[last + 40..last + 48].copy_from_slice(&size.to_le_bytes());
    std::fs::write(directory.join("k.elf"), &bytes).unwrap();
    let run = "run k.elf --kernel one --grid 1 --block 64 --arg 'u32[64]'";
    // Nothing of it is touched.
    expect(&amdinst(directory, None, run), 0, "Finished");
    expect(&amdinst(directory, Some(2_000_000), run), 13, "the code object cannot be loaded: no room for 42");
}

#[test]
fn a_sparse_file_is_not_copied() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    if compiled(directory).is_none() {
        return;
    }
    let file = std::fs::File::options().write(true).open(directory.join("k.elf")).unwrap();
    file.write_at(b"end", 2_200_000_000).unwrap();
    // With as much address space as one mapping takes.
    expect(&amdinst(directory, Some(3_500_000), "inspect k.elf"), 0, "");
    let run = "run k.elf --kernel one --grid 1 --block 64 --arg 'u32[64]'";
    expect(&amdinst(directory, Some(3_500_000), run), 0, "Finished");
}

#[test]
fn buffers_beyond_a_limit() {
    let directory = tempfile::tempdir().unwrap();
    if compiled(directory.path()).is_none() {
        return;
    }
    let run = "run k.elf --kernel one --grid 1 --block 64 --arg buf:1000000000";
    expect(&amdinst(directory.path(), Some(2_000_000), run), 13, "no room for 1000000000 bytes");
}

#[test]
fn a_report_of_racing_workgroups_is_the_same_each_time() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    if compiled(directory).is_none() {
        return;
    }
    let report = |threads: u32| {
        let words = format!(
            "run k.elf --kernel race --grid 500 --block 64 --threads {threads} --arg out:8192:o --report"
        );
        let output = amdinst(directory, None, &words);
        expect(&output, 0, "Finished");
        (String::from_utf8(output.stdout).unwrap(), std::fs::read(directory.join("o")).unwrap())
    };
    let (told, memory) = report(1);
    // Each kernel gives one result here, and may give another on a GPU. Whether that is a race is in doubt:
    // accesses may be atomic.
    let verdict = "memory after both kernels: equal; counters and the emulator's own: equal; workgroups access memory that others write: in \
         order\n";
    assert!(told.contains(verdict), "{told}");
    for _ in 0..3 {
        let (again, result) = report(4);
        assert!(result == memory);
        // One thread, which takes them in order anyway, looks as well.
        assert_eq!(again, told);
    }
    let run = "run k.elf --kernel race --grid 500 --block 64 --threads 4 --arg out:8192:p";
    expect(&amdinst(directory, None, run), 0, "note: workgroups access memory that others write");
    assert!(std::fs::read(directory.join("p")).unwrap() == memory);
    let run = "run k.elf --kernel race --grid 500 --block 64 --arg out:8192:p --expect 1=o";
    expect(&amdinst(directory, None, run), 0, "Expected");
}
