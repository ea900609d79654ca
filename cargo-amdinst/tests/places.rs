//! What a build tells of code that LLVM compiles wrongly, whatever is done.

mod support;

use std::fs;

use support::amdinst;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[lib]\ncrate-type = [\"cdylib\"]\n";

const SOURCE: &str = "#![no_std]
#![cfg_attr(target_arch = \"amdgpu\", feature(stdarch_amdgpu, f16))]
#[cfg(target_arch = \"amdgpu\")]
mod kernels {
    use core::arch::amdgpu::{ds_bpermute, workitem_id_x};
    #[unsafe(no_mangle)]
    pub unsafe extern \"gpu-kernel\" fn pair(bits: *const u16, output: *mut [f16; 2]) {
        let i = workitem_id_x() as usize;
        let second = -0.0;
        unsafe { *output.add(i) = [f16::from_bits(*bits.add(i)), second] };
    }
    #[unsafe(no_mangle)]
    pub unsafe extern \"gpu-kernel\" fn shade(values: *const f32, output: *mut f32) {
        let i = workitem_id_x() as usize;
        let inverted = unsafe { 0.0 - *values.add(i) };
        unsafe { *output.add(i) = inverted * 3.0 };
    }
    #[unsafe(no_mangle)]
    pub unsafe extern \"gpu-kernel\" fn broadcast(values: *const u32, output: *mut u32) {
        let i = workitem_id_x() as usize;
        let value = unsafe { *values.add(i) };
        unsafe { *output.add(i) = ds_bpermute(4 * 40, value) };
    }
    #[unsafe(no_mangle)]
    pub unsafe extern \"gpu-kernel\" fn right(values: *const f32, output: *mut f32) {
        let i = workitem_id_x() as usize;
        unsafe { *output.add(i) = -*values.add(i) * 3.0 };
    }
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo) -> ! {
        loop {}
    }
}
";

/// The guide's page, which has the warnings.
const GUIDE: &str = include_str!("../../docs/src/is-it-the-compiler.md");

/// Each place is told, with its line, by the build that links and by one that finds all up to date; once, if
/// there are several processors. The guide has the same words.
#[test]
fn places_that_llvm_compiles_wrongly_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(package.join("src/lib.rs"), SOURCE).unwrap();
    let told = |words: &str| {
        let output = amdinst(package, words);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(3) {
            support::skip("places", &text);
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{text}");
        let warnings = text.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned);
        Some(warnings.collect::<Vec<_>>())
    };
    let Some(first) = told("build --target-cpu gfx90a,gfx906") else { return };
    let version = first.iter().find_map(|line| line.split_once("LLVM ")?.1.split(' ').next());
    if !matches!(version, Some("22.1.2" | "22.1.8")) {
        return support::skip("places", &format!("this LLVM was not looked at: {first:?}"));
    }
    let places =
        ["`pair` at src/lib.rs:10, ", "`shade` at src/lib.rs:15, ", "`broadcast` at src/lib.rs:22, "];
    assert_eq!(first.len(), places.len(), "{first:#?}");
    for place in places {
        let warning = first.iter().find(|line| line.starts_with(&format!("warning: in {place}")));
        let warning = warning.unwrap_or_else(|| panic!("{place}: {first:#?}"));
        let (_, words) = warning.split_once(", LLVM ").unwrap();
        let (_, words) = words.split_once(' ').unwrap();
        assert!(GUIDE.contains(words), "the guide has another text than: {warning}");
    }
    assert_eq!(told("build --target-cpu gfx90a,gfx906"), Some(first.clone()));
    assert_eq!(told("--quiet build --target-cpu gfx90a"), Some(Vec::new()));

    // So is what rustc tells.
    fs::write(package.join("src/lib.rs"), format!("{SOURCE}fn unused() {{}}\n")).unwrap();
    let warnings = told("build --target-cpu gfx90a,gfx906").unwrap();
    let unused = warnings.iter().filter(|warning| warning.ends_with("`unused` is never used"));
    assert_eq!(unused.count(), 1, "{warnings:#?}");
}
