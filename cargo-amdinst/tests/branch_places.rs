//! At which line of the source a branch is told that the compiler gave a line without one.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use amdinst_core::instrument::{ProbeMap, SiteKind};
use amdinst_core::report::location;
use amdinst_report::Sources;

/// A loop that the line table has at line 2 of `shown.c`, and its body at line 4.
const LOOP: &str = "\
kernel void halve(global int *a) {
    int i = __builtin_amdgcn_workitem_id_x();
    int x = a[i];
#line 2 \"shown.c\"
    while (x > 1) {
#line 4 \"shown.c\"
        x = x >> 1;
#line 2 \"shown.c\"
    }
    a[i] = x;
}
";

/// Where the report tells the loop.
fn told(directory: &Path) -> String {
    let words = "run loop.elf --kernel halve --grid 1 --block 64 --arg iota:i32[64] --report";
    let text = support::stdout(directory, words);
    let row = text.lines().find(|line| line.contains(" loop ")).unwrap_or_else(|| panic!("{text}"));
    row.split(" loop ").next().unwrap_or_default().trim().to_owned()
}

#[test]
fn a_branch_is_told_at_a_line_that_has_one() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("loop.cl");
    fs::write(&source, LOOP).unwrap();
    if !support::compile(&source, &directory.join("loop.elf")) {
        return;
    }
    let with = |text: &str| {
        fs::write(directory.join("shown.c"), text).unwrap();
        told(directory)
    };
    // Nobody can tell what stands there.
    assert_eq!(told(directory), "shown.c:2:5");
    // The body's line has no branch, either.
    assert_eq!(with("int f() {\n    x = a[i];\n\n    x = x * 3; // while\n"), "near shown.c:2:5");
    // The loop stands in a line of its instructions.
    assert_eq!(with("int f() {\n    x = a[i];\n\n    while (x > 1) x = x * 3;\n"), "shown.c:4:15");
    // What has a branch is believed.
    assert_eq!(with("int f() {\n    if (x > 1) {\n\n    while (x > 1) x = x * 3;\n"), "shown.c:2:5");
}

/// Loops in Rust's own library, whose exits LLVM gives no line where their sums and panics meet.
const ITERATORS: &str = "#![no_std]
#![cfg_attr(target_arch = \"amdgpu\", feature(stdarch_amdgpu, abi_gpu_kernel))]
#![cfg(target_arch = \"amdgpu\")]
use core::arch::amdgpu::workitem_id_x;
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn sparse(starts: &[u32; 65], cols: &[u32; 900], v: &[f32; 900], x: &[f32; 64], y: &mut f32) {
    let r = workitem_id_x() as usize;
    let row = starts[r] as usize..starts[r + 1] as usize;
    *y = cols[row.clone()].iter().zip(&v[row]).map(|(c, v)| v * x[*c as usize]).sum(); // loop
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn found(x: &[u32; 900], y: &mut u32) {
    let i = workitem_id_x();
    let at = x.iter().position(|x| *x == i); // loop
    *y = at.map_or(u32::MAX, |at| at as u32);
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn nested(x: &[u32; 30], y: &mut u32) {
    let i = workitem_id_x();
    let mut sum = 0;
    for a in 0..i % 13 { // loop 1
        let first = x[a as usize];
        for b in a..i % 17 { // loop 2
            sum = sum * 3 + (first ^ x[b as usize]);
        }
        sum += 1;
    }
    *y = sum;
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn around(width: u32, image: &[u32; 900], y: &mut u32) {
    let i = workitem_id_x();
    let (x, height) = (i % width, 900 / width);
    let (mut sum, mut count) = (0, 0);
    let at = i / width;
    for row in at.saturating_sub(1)..height.min(at + 2) { // loop 1
        for column in x.saturating_sub(1)..width.min(x + 2) { // loop 2
            sum += image[(row * width + column) as usize];
            count += 1;
        }
    }
    *y = sum / count;
}
";

/// The probe map that a build wrote.
fn probe_map(package: &Path, cpu: &str, profile: &str) -> ProbeMap {
    let builds = package.join(format!("target/amdinst/k/{cpu}/{profile}"));
    let is_map = |path: &PathBuf| path.to_string_lossy().ends_with(".inst.auto.probes.json");
    let entries = fs::read_dir(builds).unwrap().map(|entry| entry.unwrap().path());
    let directories = entries.filter(|path| path.is_dir());
    let mut files =
        directories.flat_map(|path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
    ProbeMap::from_json(&fs::read(files.find(is_map).unwrap()).unwrap()).unwrap()
}

#[test]
fn loops_of_iterators_are_told_at_the_calls() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    let manifest = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                    [profile.two]\ninherits = \"release\"\nopt-level = 2\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), ITERATORS).unwrap();
    let sources = Sources::new(package, &[]);
    for (cpu, profile) in [("gfx90a", "two"), ("gfx1100", "release")] {
        let output = support::amdinst(package, &format!("build --target-cpu {cpu} --profile {profile}"));
        let told = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(3) {
            return support::skip("loops of iterators", &told);
        }
        assert_eq!(output.status.code(), Some(0), "{told}");
        for mut kernel in probe_map(package, cpu, profile).kernels {
            sources.place(&mut kernel);
            let mut loops = 0;
            for site in &kernel.sites {
                let place = location(&kernel.frames(site.place));
                let at = format!("{} on {cpu}, {profile}: {} {place}", kernel.name, site.kind.name());
                assert!(place.origin().is_own(), "{at}");
                let source = sources.get(place.file.as_deref().unwrap()).unwrap();
                let (_, line) = source.line(place.line.unwrap()).unwrap();
                if site.kind == SiteKind::LoopExit {
                    let depth = line.split_once("// loop").unwrap_or_else(|| panic!("{at}")).1.trim();
                    assert!(depth.is_empty() || depth == site.loop_depth.to_string(), "{at}");
                    assert!(!site.is_near, "{at}");
                    loops += 1;
                }
            }
            assert!(loops > 0, "{} on {cpu}, {profile}", kernel.name);
        }
    }
}
