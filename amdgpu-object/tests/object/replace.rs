//! Other code objects in bundles and in host files, which must still run.

use std::collections::BTreeMap;
use std::process::Command;

use amdgpu_object::container::{ContainerError, UNPACKED_LIMIT, open, replace, replaceable};

use crate::container::bundle;
use crate::require_tools;
use crate::tools::{path, run};

/// A code object that has outgrown its place: what follows its last section is no part of it.
fn grown(bytes: &[u8], by: usize) -> Vec<u8> {
    [bytes, &vec![0xa5; by]].concat()
}

/// Every code object of a file.
fn objects(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    open(bytes).expect("code objects").into_iter().map(|one| (one.target, one.bytes.to_vec())).collect()
}

/// Replaces code object `index` by a larger one and checks that the others are the same.
fn check_grown(bytes: &[u8], index: usize, by: usize) -> Vec<u8> {
    let before = objects(bytes);
    let larger = grown(&before[index].1, by);
    let replacements = BTreeMap::from([(index, &larger)]);
    let changed = replace(bytes, &replacements, UNPACKED_LIMIT).expect("a replacement").to_vec();
    let after = objects(&changed);
    assert_eq!(after.len(), before.len());
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        assert_eq!(before.0, after.0);
        assert!(after.1 == *if number == index { &larger } else { &before.1 }, "code object {number}");
    }
    let mut written = std::io::Cursor::new(Vec::new());
    replace(bytes, &replacements, UNPACKED_LIMIT)
        .expect("again")
        .write_to(&mut written)
        .expect("memory takes all");
    assert!(written.into_inner() == changed);
    changed
}

#[test]
fn code_objects_of_bundles() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    for extra in [&[][..], &["-compress"]] {
        let one = bundle(extra);
        let nothing = BTreeMap::<usize, Vec<u8>>::new();
        assert!(
            objects(&replace(&one, &nothing, UNPACKED_LIMIT).expect("nothing to do").to_vec())
                == objects(&one)
        );
        let changed = check_grown(&one, 1, 5000);
        // LLVM reads it too.
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("bundle"), &changed).expect("writable");
        let (list, _) = run(
            "clang-offload-bundler-22",
            &["-type=o", "-list", &format!("-input={}", path(&file("bundle")))],
        );
        assert!(list.contains("gfx90a:xnack-") && list.contains("gfx906"), "{list}");
        let mut two = one.clone();
        two.resize(two.len().next_multiple_of(4096), 0);
        two.extend(&one);
        check_grown(&two, 0, 100_000);
        check_grown(&two, 3, 1);
    }
}

/// Says how each bundle starts that a wrapper of the program or of its library points at.
const MAIN: &str = r#"
#include <stdio.h>
struct wrapper { unsigned magic, version; const unsigned char *binary; void *unused; };
extern struct wrapper first_wrapper, second_wrapper;
int main(void) {
    struct wrapper *all[] = { &first_wrapper, &second_wrapper };
    for (int i = 0; i < 2; i++) {
        unsigned long sum = 0;
        for (int k = 0; k < 6000; k++) sum = sum * 31 + all[i]->binary[k];
        printf("%x %.24s %lu\n", all[i]->magic, all[i]->binary, sum);
    }
}
"#;

#[test]
fn code_objects_of_host_files_that_run() {
    require_tools!("clang-22", "clang-offload-bundler-22", "cc");
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("SKIPPED: the host file is one of x86-64 Linux");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    let one = bundle(&[]);
    std::fs::write(file("bundle"), &one).expect("writable");
    let bundle_at = |label: &str| {
        format!(
            ".section .hip_fatbin, \"a\", @progbits\n.p2align 12\n{label}:\n.incbin \"{}\"\n\
             .section .hipFatBinSegment, \"aw\", @progbits\n.p2align 3\n.globl {label}_wrapper\n.type {label}_wrapper, @object\n.size {label}_wrapper, 24\n\
             {label}_wrapper:\n.long 0x48495046, 1\n.quad {label}, 0\n",
            path(&file("bundle"))
        )
    };
    let source = bundle_at("first") + &bundle_at("second") + ".section .note.GNU-stack, \"\", @progbits\n";
    std::fs::write(file("bundles.s"), source).expect("writable");
    std::fs::write(file("main.c"), MAIN).expect("writable");
    let (main, bundles) = (file("main.c"), file("bundles.s"));
    let (library, program) = (file("libbundles.so"), file("program"));
    run("cc", &["-shared", "-nostdlib", path(&bundles), "-o", path(&library)]);
    // (the program, what holds the bundles)
    let ways = [
        (vec![path(&main), path(&bundles), "-no-pie"], &program),
        (vec![path(&main), path(&bundles), "-pie", "-fPIE"], &program),
        (vec![path(&main), path(&library), "-fPIC"], &library),
    ];
    for (inputs, holder) in ways {
        run("cc", &[&inputs[..], &["-o", path(&program)]].concat());
        let says = || {
            let output = Command::new(&program).env("LD_LIBRARY_PATH", directory.path()).output();
            let output = output.expect("the program runs");
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).expect("text")
        };
        let before = says();
        assert_eq!(before.matches("48495046 __CLANG_OFFLOAD_BUNDLE__").count(), 2, "{before}");
        let original = std::fs::read(holder).expect("the linker wrote it");
        let changed = check_grown(&original, 2, 300_000);
        std::fs::write(holder, &changed).expect("writable");
        let after = says();
        // The first bundle is what it was, the second begins with another table.
        assert_eq!(before.lines().next(), after.lines().next());
        assert_eq!(after.matches("48495046 __CLANG_OFFLOAD_BUNDLE__").count(), 2, "{after}");
        assert_ne!(before, after);
        run("llvm-readelf-22", &["--all", path(holder)]);
        std::fs::write(holder, &original).expect("writable");
        // Once more: what was moved can be moved.
        let twice = check_grown(&changed, 0, 300_000);
        std::fs::write(holder, &twice).expect("writable");
        assert_ne!(says().lines().next(), after.lines().next());
        std::fs::write(holder, &original).expect("writable");
    }
}

#[test]
fn bundles_that_nothing_points_at_do_not_move() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("bundle"), bundle(&[])).expect("writable");
    let source = format!(
        ".section .hip_fatbin, \"a\", @progbits\n.p2align 12\n.incbin \"{}\"\n",
        path(&file("bundle"))
    );
    std::fs::write(file("host.s"), source).expect("writable");
    let library = file("host.so");
    run("clang-22", &["-shared", "-nostdlib", "-fuse-ld=lld", path(&file("host.s")), "-o", path(&library)]);
    let bytes = std::fs::read(&library).expect("the linker wrote it");
    let larger = grown(&objects(&bytes)[0].1, 100_000);
    let replacements = BTreeMap::from([(0, larger)]);
    let error = replace(&bytes, &replacements, UNPACKED_LIMIT).expect_err("no wrapper");
    assert!(matches!(error, ContainerError::Immovable { .. }), "{error}");
    // So it is told before there are larger ones.
    let early = replaceable(&bytes).expect_err("no wrapper");
    assert_eq!(early.to_string(), error.to_string());
    // What fits stays.
    let same = objects(&bytes)[0].1.clone();
    let replacements = BTreeMap::from([(0, same)]);
    let changed = replace(&bytes, &replacements, UNPACKED_LIMIT).expect("the same").to_vec();
    assert_eq!(changed.len(), bytes.len());
    assert!(objects(&changed) == objects(&bytes));
}

/// What Windows has of an image at its base: its sections where they are mapped.
fn mapped(bytes: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a word")) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let coff = word(0x3c) + 4;
    let mut image = vec![0; word(coff + 20 + 56)];
    for number in 0..half(coff + 2) {
        let at = coff + 20 + half(coff + 16) + 40 * number;
        let (address, size, from) = (word(at + 12), word(at + 16).min(word(at + 8)), word(at + 20));
        image[address..address + size].copy_from_slice(&bytes[from..from + size]);
    }
    image
}

/// A library of Windows: every pointer at a bundle, which wrappers and base relocations tell of, points at it
/// when larger ones have taken its place, once and once more.
#[test]
fn bundles_of_windows_move() {
    require_tools!("clang-22", "lld-link-22", "clang-offload-bundler-22", "llvm-readobj-22");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("bundle"), bundle(&[])).expect("writable");
    let build = |name: &str, wrappers: &str| {
        let source = format!(
            ".section .hip_fat, \"dr\"\n.p2align 12\nfirst: .incbin \"{0}\"\n.p2align 12\nsecond: .incbin \"{0}\"\n\
             {wrappers}.data\npointers: .quad second, pointers\n",
            path(&file("bundle"))
        );
        std::fs::write(file("host.s"), source).expect("writable");
        let (object, library) = (file("host.obj"), file(name));
        run(
            "clang-22",
            &["--target=x86_64-pc-windows-msvc", "-c", path(&file("host.s")), "-o", path(&object)],
        );
        let out = format!("/out:{}", path(&library));
        run("lld-link-22", &["/dll", "/noentry", &out, path(&object)]);
        library
    };
    let wrapper = |of: &str| format!(".long 0x48495046, 1\n.quad {of}, 0\n");
    let wrappers = format!(".section .hipFatB, \"dw\"\n{}{}", wrapper("first"), wrapper("second"));
    let library = build("host.dll", &wrappers);
    let original = std::fs::read(&library).expect("the linker wrote it");
    replaceable(&original).expect("it has wrappers, and room");
    let count = objects(&original).len();
    let changed = check_grown(&original, count - 1, 300_000);
    let twice = check_grown(&changed, 0, 300_000);
    for bytes in [&original, &changed, &twice] {
        std::fs::write(&library, bytes).expect("writable");
        run("llvm-readobj-22", &["--file-headers", "--sections", "--coff-basereloc", path(&library)]);
        let (image, base) = (mapped(bytes), 0x1_8000_0000_u64);
        let words = |from: &[u8]| -> Vec<u64> {
            let at = image.windows(from.len()).position(|bytes| bytes == from).expect("it is mapped");
            image[at..at + 48]
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("eight")))
                .collect()
        };
        let wrappers = words(&[0x46, 0x50, 0x49, 0x48, 1, 0, 0, 0]);
        let starts = [wrappers[1], wrappers[4]].map(|address| (address - base) as usize);
        for start in starts {
            assert!(
                start % 4096 == 0 && image[start..].starts_with(b"__CLANG_OFFLOAD_BUNDLE__"),
                "{start:#x}"
            );
        }
        assert!(starts[0] < starts[1]);
        // Another pointer, which no wrapper has.
        words(&wrappers[4].to_le_bytes());
        let pointer = wrappers[4].to_le_bytes();
        assert_eq!(image.windows(8).filter(|bytes| *bytes == pointer).count(), 2);
    }
    // What nothing points at is refused before there are larger ones.
    let bytes = std::fs::read(build("bare.dll", "")).expect("the linker wrote it");
    let error = replaceable(&bytes).expect_err("no wrapper");
    assert!(error.to_string().contains("it has no .hipFatB"), "{error}");
}
