//! Notes that a linker left side by side become one, which LLVM's tools and our parser read.

use amdgpu_object::{CodeObject, join_metadata};

use crate::require_tools;
use crate::tools::{inspect, path, run};

const FIRST: &str = "__attribute__((amdgpu_kernel)) void first(int *p) { p[0] = 1; }\n\
                     __attribute__((amdgpu_kernel)) void second(int *p, int n) { p[n] = 2; }\n";
const ANOTHER: &str = "__attribute__((amdgpu_kernel)) void another(int *p, long n) { p[n] = 3; }\n";

/// The code object of several sources, each compiled by itself.
fn linked(sources: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let mut objects = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let [input, output] = ["c", "o"].map(|kind| directory.path().join(format!("{number}.{kind}")));
        std::fs::write(&input, source).unwrap();
        let device = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O2", "-c"];
        run("clang-22", &[&device[..], &[path(&input), "-o", path(&output)]].concat());
        objects.push(output);
    }
    let output = directory.path().join("linked.elf");
    let mut args = vec!["-shared", "-o", path(&output)];
    args.extend(objects.iter().map(|object| path(object)));
    run("ld.lld-22", &args);
    std::fs::read(&output).unwrap()
}

/// Each kernel, with how many arguments the note gives it.
fn kernels(bytes: &[u8]) -> Vec<(String, usize)> {
    let object = CodeObject::parse(bytes.to_vec()).unwrap();
    let about = object.kernels.into_iter().map(|kernel| (kernel.name, kernel.metadata.args.len()));
    let mut kernels: Vec<_> = about.collect();
    kernels.sort();
    kernels
}

#[test]
fn all_kernels_are_in_one_note() {
    require_tools!("clang-22", "ld.lld-22", "llvm-readelf-22");
    let apart = [linked(&[FIRST]), linked(&[ANOTHER])];
    let mut expected: Vec<(String, usize)> = apart.iter().flat_map(|bytes| kernels(bytes)).collect();
    expected.sort();
    let before = linked(&[FIRST, ANOTHER]);
    // Without that, the arguments of some are lost.
    assert_ne!(kernels(&before), expected);
    let mut after = before.clone();
    join_metadata(&mut after).unwrap();
    assert_eq!(kernels(&after), expected);
    assert_eq!(after.len(), before.len());

    let (notes, warnings) = inspect(&after, "llvm-readelf-22", &["--notes", "--wide", "FILE"]);
    assert_eq!(notes.matches("NT_AMDGPU_METADATA").count(), 1, "{notes}");
    assert_eq!(notes.matches(".symbol: ").count(), expected.len(), "{notes}");
    assert_eq!(warnings, "");
    // What is one already stays.
    let mut again = after.clone();
    join_metadata(&mut again).unwrap();
    assert!(again == after);
    amdgpu_object::verify::verify(&after).unwrap();
}
