//! Bundles and host files.

use std::sync::LazyLock;

use amdgpu_object::CodeObject;
use amdgpu_object::container::{ContainerError, Origin, odd_names, open, open_within, replaceable};
use proptest::prelude::*;

use crate::require_tools;
use crate::tools::{HIP, hip, path, run};

/// A bundle of two code objects and an empty host entry.
pub(crate) fn bundle(extra: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("a"), hip(HIP, "gfx90a:xnack-", 5, &[])).expect("writable");
    std::fs::write(file("b"), hip(HIP, "gfx906", 5, &[])).expect("writable");
    std::fs::write(file("host"), "").expect("writable");
    let targets = "-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-,hipv4-amdgcn-amd-amdhsa--gfx906";
    let inputs = ["host", "a", "b"].map(|name| format!("-input={}", path(&file(name))));
    let output = format!("-output={}", path(&file("out")));
    let mut args =
        vec!["-type=o", "-bundle-align=4096", targets, &inputs[0], &inputs[1], &inputs[2], &output];
    args.extend(extra);
    run("clang-offload-bundler-22", &args);
    std::fs::read(file("out")).expect("the bundler wrote it")
}

/// What a bundle of [`bundle`] must hold.
fn check(bytes: &[u8], origin: Origin) {
    let found = open(bytes).expect("a bundle");
    let targets: Vec<&str> = found.iter().map(|object| object.target_id()).collect();
    assert_eq!(targets, ["gfx90a:xnack-", "gfx906"]);
    for (index, object) in found.into_iter().enumerate() {
        assert_eq!((object.index, object.origin), (index, origin));
        if origin == Origin::Bundle {
            assert_eq!(&bytes[object.range.clone()], &*object.bytes);
        }
        let id = object.target_id().to_owned();
        let parsed = CodeObject::parse(object.bytes.to_vec()).expect("a code object");
        assert_eq!(parsed.target.to_string(), id);
        assert_eq!(parsed.kernels.len(), 2);
    }
}

#[test]
fn a_code_object_is_its_own_container() {
    require_tools!("clang-22");
    let bytes = hip(HIP, "gfx90a:sramecc+:xnack-", 5, &[]);
    let found = open(&bytes).expect("a code object");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].target, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_eq!(found[0].target_id(), "gfx90a:sramecc+:xnack-");
    assert_eq!((found[0].origin, found[0].range.clone()), (Origin::CodeObject, 0..bytes.len()));
}

#[test]
fn bundles_plain_and_compressed() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    check(&bundle(&[]), Origin::Bundle);
    check(&bundle(&["-compress"]), Origin::CompressedBundle);
}

#[test]
fn older_compression_headers() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    // Version 3: sizes of 64 bits; version 2: of 32 bits; version 1: no compressed size.
    let v3 = bundle(&["-compress"]);
    assert_eq!(v3[4], 3, "the bundler writes version 3");
    let (packed, unpacked, hash, data) = (&v3[8..12], &v3[16..20], &v3[24..32], &v3[32..]);
    let size = (u32::from_le_bytes(packed.try_into().expect("four bytes")) - 8).to_le_bytes();
    check(&[b"CCOB\x02\0", &v3[6..8], &size, unpacked, hash, data].concat(), Origin::CompressedBundle);
    check(&[b"CCOB\x01\0", &v3[6..8], unpacked, hash, data].concat(), Origin::CompressedBundle);
    let unknown = open(&[b"CCOB\x09\0", &v3[6..]].concat()).expect_err("an unknown version");
    assert!(matches!(unknown, ContainerError::Unsupported { .. }), "{unknown}");
}

#[test]
fn zlib_bundles() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    let plain = bundle(&[]);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &plain).expect("into memory");
    let data = encoder.finish().expect("into memory");
    let size = (data.len() as u64 + 32).to_le_bytes();
    let unpacked = (plain.len() as u64).to_le_bytes();
    check(&[b"CCOB\x03\0\0\0", &size[..], &unpacked, &[0; 8], &data].concat(), Origin::CompressedBundle);
}

#[test]
fn bundles_unpack_to_a_limit() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    let plain = bundle(&[]);
    let packed = bundle(&["-compress"]);
    let size = plain.len() as u64;
    assert_eq!(open_within(&packed, size).expect("as much as it is").len(), 2);
    let told = format!("its header promises {size} bytes, more than the limit of {} in all", size - 1);
    let error = open_within(&packed, size - 1).expect_err("a byte too many").to_string();
    assert!(error.ends_with(&told), "{error}");
    // Together they are too many.
    let mut two = packed.clone();
    two.resize(two.len().next_multiple_of(4096), 0);
    let second = two.len();
    two.extend(&packed);
    assert_eq!(open_within(&two, 2 * size).expect("both").len(), 4);
    match open_within(&two, 2 * size - 1) {
        Err(ContainerError::Packed { at, problem }) => {
            assert_eq!(at, second);
            assert!(problem.contains(&format!("besides {size} unpacked before")), "{problem}");
        }
        other => panic!("{other:?}"),
    }
    // What was not unpacked is not limited.
    assert_eq!(open_within(&plain, 0).expect("nothing to unpack").len(), 2);
}

#[test]
fn several_bundles_in_a_host_library() {
    require_tools!("clang-22", "clang-offload-bundler-22", "ld.lld-22");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    let mut fatbin = bundle(&[]);
    fatbin.resize(fatbin.len().next_multiple_of(4096), 0);
    fatbin.extend(bundle(&[]));
    std::fs::write(file("fatbin"), &fatbin).expect("writable");
    let source = format!(
        ".section .hip_fatbin, \"a\", @progbits\n.p2align 12\n.incbin \"{}\"\n",
        path(&file("fatbin"))
    );
    std::fs::write(file("host.s"), source).expect("writable");
    let library = file("host.so");
    run("clang-22", &["-shared", "-nostdlib", "-fuse-ld=lld", path(&file("host.s")), "-o", path(&library)]);
    let bytes = std::fs::read(&library).expect("the linker wrote it");
    let found = open(&bytes).expect("a library with GPU code");
    assert_eq!(found.len(), 4);
    let targets: Vec<&str> = found.iter().map(|object| object.target_id()).collect();
    assert_eq!(targets, ["gfx90a:xnack-", "gfx906", "gfx90a:xnack-", "gfx906"]);
}

#[test]
fn what_has_no_gpu_code_says_so() {
    let host = std::fs::read(std::env::current_exe().expect("this test")).expect("readable");
    assert_eq!(open(&host), Err(ContainerError::NoGpuCode));
    assert!(matches!(open(b"hello"), Err(ContainerError::Object(_))));
    let only_host =
        b"__CLANG_OFFLOAD_BUNDLE__\x01\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0host";
    assert_eq!(open(only_host), Err(ContainerError::NoCodeObject { targets: vec!["host".to_owned()] }));
}

#[test]
fn damaged_bundles_are_survived() {
    require_tools!("clang-22", "clang-offload-bundler-22");
    let seeds = [bundle(&[]), bundle(&["-compress"])];
    let edits = prop::collection::vec((0usize..400, any::<u64>(), 0usize..9), 1..8);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) }, |(seed in 0usize..2, edits in edits, cut in cut)| {
        let mut bytes = seeds[seed].clone();
        for (at, value, width) in edits {
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match open(&bytes) {
            Ok(found) => assert!(found.iter().all(|object| object.range.end <= bytes.len())),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

/// Two code objects, and what they are for. The compiler gives each another id, so they are made once.
fn two() -> [(&'static str, Vec<u8>); 2] {
    static MADE: LazyLock<[(&str, Vec<u8>); 2]> =
        LazyLock::new(|| ["gfx90a:xnack-", "gfx1100"].map(|target| (target, hip(HIP, target, 5, &[]))));
    MADE.clone()
}

/// What must be found, one after the other.
fn check_two(bytes: &[u8], origin: Origin) {
    let found = open(bytes).expect("a file with GPU code");
    assert_eq!(found.len(), 2);
    for (number, (one, (target, code))) in found.iter().zip(two()).enumerate() {
        assert_eq!((one.target_id(), one.index, one.origin), (target, number, origin));
        assert!(one.bytes[..] == code, "{target} has other bytes");
    }
}

/// A host library with a file in one of its sections.
fn library_with(contents: &[u8], section: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("contents"), contents).expect("writable");
    let source = format!(".section {section}, \"a\", @progbits\n.incbin \"{}\"\n", path(&file("contents")));
    std::fs::write(file("host.s"), source).expect("writable");
    let library = file("host.so");
    run("clang-22", &["-shared", "-nostdlib", "-fuse-ld=lld", path(&file("host.s")), "-o", path(&library)]);
    std::fs::read(&library).expect("the linker wrote it")
}

/// The offload binaries of LLVM, with these images: file contents, processor.
fn offload_binaries(images: &[(&[u8], &str)]) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let out = directory.path().join("out");
    let images: Vec<String> = images
        .iter()
        .enumerate()
        .map(|(number, (contents, processor))| {
            let file = directory.path().join(number.to_string());
            std::fs::write(&file, contents).expect("writable");
            format!("--image=file={},triple=amdgcn-amd-amdhsa,arch={processor},kind=openmp", path(&file))
        })
        .collect();
    let mut args = vec!["-o", path(&out)];
    args.extend(images.iter().map(String::as_str));
    run("llvm-offload-binary-22", &args);
    std::fs::read(&out).expect("it was written")
}

#[test]
fn offload_binaries_of_llvm() {
    require_tools!("clang-22", "ld.lld-22", "llvm-offload-binary-22");
    let [(first, one), (second, other)] = two();
    let binaries = offload_binaries(&[(&one, first), (&other, second)]);
    check_two(&binaries, Origin::Offloading);
    check_two(&library_with(&binaries, ".llvm.offloading"), Origin::Offloading);
    let bitcode = offload_binaries(&[(b"BC\xc0\xde and more", "gfx942")]);
    let error = open(&library_with(&bitcode, ".llvm.offloading")).expect_err("bitcode alone");
    assert_eq!(error, ContainerError::Bitcode { targets: vec!["gfx942".to_owned()] });
    for end in 1..binaries.len().min(400) {
        let error = open(&binaries[..end]).expect_err("it is cut short");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn code_objects_in_the_midst_of_a_library() {
    require_tools!("clang-22", "ld.lld-22");
    let [(_, one), (_, other)] = two();
    // Not at multiples of anything, and beside what only begins like one.
    let contents =
        [b"abc", &one[..], b"\x7fELF\x02\x01\x01\x40 no", &other, b"__CLANG_OFFLOAD_BUNDLE__"].concat();
    check_two(&library_with(&contents, ".rodata"), Origin::Raw);
    check_two(&contents, Origin::Raw);
}

/// One for a processor that is not known, as a later compiler makes it, takes nothing from the others.
#[test]
fn code_objects_of_unknown_processors_are_found() {
    require_tools!("clang-22", "ld.lld-22");
    const E_FLAGS: usize = 48;
    let [(_, one), (_, other)] = two();
    let mut unknown = one.clone();
    unknown[E_FLAGS] = 0x7e;
    let contents = [b"abc", &one[..], &unknown, &other].concat();
    let found = open(&contents).expect("three code objects");
    let targets: Vec<&str> = found.iter().map(|one| &*one.target).collect();
    assert_eq!(targets[1], "amdgcn-amd-amdhsa--unknown-0x7e");
    assert_eq!(targets.len(), 3);
}

#[test]
fn bundles_in_the_midst_of_a_library() {
    require_tools!("clang-22", "ld.lld-22", "clang-offload-bundler-22");
    check(
        &library_with(&[b"abc", &bundle(&["-compress"])[..]].concat(), ".rodata"),
        Origin::CompressedBundle,
    );
    let library = library_with(&[b"abc", &bundle(&[])[..]].concat(), ".rodata");
    assert_eq!(open(&library).expect("two code objects").len(), 2);
}

#[test]
fn archives_and_wheels() {
    require_tools!("clang-22", "ld.lld-22", "llvm-ar-22");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    let [(_, one), (_, other)] = two();
    let text = b"import this";
    for (name, contents) in [("a.o", &one[..]), ("note.txt", text), ("a_longer_name_than_fits.o", &other)] {
        std::fs::write(file(name), contents).expect("writable");
    }
    let (a, note, b) = (file("a.o"), file("note.txt"), file("a_longer_name_than_fits.o"));
    let archive = file("lib.a");
    run("llvm-ar-22", &["rc", path(&archive), path(&a), path(&note), path(&b)]);
    let archive = std::fs::read(&archive).expect("it was written");
    check_two(&archive, Origin::Raw);
    let thin = file("thin.a");
    run("llvm-ar-22", &["rc", "--thin", path(&thin), path(&a)]);
    let error = open(&std::fs::read(&thin).expect("it was written")).expect_err("a thin archive").to_string();
    assert!(error.contains("files stand elsewhere"), "{error}");

    let wheel = |members: &[(&str, &[u8])]| {
        let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, contents) in members {
            let options = zip::write::SimpleFileOptions::default();
            out.start_file(*name, options).expect("into memory");
            std::io::Write::write_all(&mut out, contents).expect("into memory");
        }
        out.finish().expect("into memory").into_inner()
    };
    let library = library_with(&other, ".rodata");
    let bytes = wheel(&[("a/__init__.py", text), ("a/one.hsaco", &one), ("a/two.so", &library)]);
    check_two(&bytes, Origin::Raw);
    // A library of Windows begins as MS-DOS' programs do.
    let dll = [&b"MZ\x90\0 a library of Windows"[..], &other].concat();
    check_two(&wheel(&[("a/one.hsaco", &one), ("a/two.dll", &dll)]), Origin::Raw);
    for (file, kind) in
        [(&bytes, "archive (.whl, .zip)"), (&archive, "archive of objects"), (&dll, "a Windows program")]
    {
        let error = replaceable(file).expect_err(kind).to_string();
        assert!(error.contains(kind), "{error}");
    }
    assert_eq!(replaceable(&one), Ok(()));
    // Names that lead out, or are made to mislead.
    let names = ["a/b..c.so", "a\u{1b}[2J", "../a", "/a", "c:\\a", "b/../../a", "ok/a:b"];
    let odd = odd_names(&wheel(&names.map(|name| (name, &text[..]))));
    assert_eq!(odd.len(), 5, "{odd:?}");
    assert_eq!(odd_names(&bytes), Vec::<String>::new());
    // An archive in an archive; and no more of what is packed than may be unpacked.
    let nested = wheel(&[("lib.a", &archive)]);
    check_two(&nested, Origin::Raw);
    let error = open_within(&nested, archive.len() as u64 - 1).expect_err("too large").to_string();
    assert!(error.contains("more than the limit"), "{error}");
    assert_eq!(open(&wheel(&[("a.py", text)])), Err(ContainerError::NoGpuCode));
}

#[test]
fn damaged_archives_are_survived() {
    require_tools!("clang-22", "ld.lld-22", "llvm-offload-binary-22");
    let [(first, one), (second, other)] = two();
    let raw = [b"abc", &one[..], &other].concat();
    let binaries = offload_binaries(&[(&one, first), (&other, second)]);
    let mut zipped = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zipped.start_file("a", zip::write::SimpleFileOptions::default()).expect("into memory");
    std::io::Write::write_all(&mut zipped, &one).expect("into memory");
    let seeds = [raw, binaries, zipped.finish().expect("into memory").into_inner()];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0usize..9), 1..8);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) }, |(seed in 0usize..3, edits in edits, cut in cut)| {
        let mut bytes = seeds[seed].clone();
        for (at, value, width) in edits {
            let at = at.index(bytes.len() - width);
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match open_within(&bytes, 1 << 20) {
            Ok(found) => assert!(found.iter().all(|object| object.range.end <= bytes.len())),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}
