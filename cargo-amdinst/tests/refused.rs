//! Packages that LLVM, or rustc, has no code for in part: what is wrong is told, and all else is built.

mod support;

use std::fs;

use support::amdinst;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

const SOURCE: &str = "#![no_std]
#![feature(abi_gpu_kernel, core_intrinsics)]
#![allow(internal_features)]
#[used]
static KEPT: [u32; 2] = [7, 8];
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn kept(to: *mut u32) {
    unsafe { *to = KEPT[1] }
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn sine(from: *const f64, to: *mut f64) {
    let x = unsafe { *from };
    let y = core::intrinsics::sinf64(x);
    unsafe { *to = y }
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

/// A function that LLVM has no code for is told with its line, by the build that links and by one that finds
/// all up to date. The others run, those with `#[used]` statics among them, and the one without code says
/// why.
#[test]
fn what_has_no_code_is_told_and_the_rest_is_built() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(package.join("src/lib.rs"), SOURCE).unwrap();
    for profile in ["release", "dev", "release"] {
        let built = amdinst(package, &format!("build --target-cpu gfx1100 --profile {profile}"));
        let text = String::from_utf8_lossy(&built.stderr);
        if built.status.code() == Some(3) {
            return support::skip("refused", &text);
        }
        assert_eq!(built.status.code(), Some(4), "{text}");
        let line = "error: kernel `sine` at src/lib.rs:13 has no code for gfx1100: LLVM ";
        assert!(text.contains(line), "{text}");
        assert!(text.ends_with("error: one function has no code; the others are built\n"), "{text}");
        assert!(!text.contains("could not compile") && !text.contains("Stack dump"), "{text}");

        let object = format!("target/amdinst/k/gfx1100/{profile}/k.elf");
        let run = |rest: &str| amdinst(package, &format!("run {object} --grid 1 --block 1 {rest}"));
        let kept = run("--kernel kept --arg u32[1] --print 1");
        assert_eq!(kept.status.code(), Some(0), "{kept:?}");
        assert!(String::from_utf8_lossy(&kept.stdout).contains('8'), "{kept:?}");
        let sine = run("--kernel sine --arg f64[1] --arg f64[1]");
        assert_ne!(sine.status.code(), Some(0), "{sine:?}");
        let said =
            format!("{}{}", String::from_utf8_lossy(&sine.stdout), String::from_utf8_lossy(&sine.stderr));
        assert!(said.contains("not compiled: LLVM ") && said.contains("src/lib.rs:13"), "{said}");
    }
}

/// What a link lacks is told before cargo says that the crate does not compile.
#[test]
fn the_reason_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    let source = SOURCE.replace("core::intrinsics::sinf64(x)", "unsafe { elsewhere(x) }");
    fs::write(package.join("src/lib.rs"), source + "unsafe extern \"C\" { fn elsewhere(x: f64) -> f64; }\n")
        .unwrap();
    let built = amdinst(package, "build --target-cpu gfx1100");
    let text = String::from_utf8_lossy(&built.stderr);
    if built.status.code() == Some(3) {
        return support::skip("refused", &text);
    }
    assert_eq!(built.status.code(), Some(4), "{text}");
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no `{what}` in {text}"));
    assert!(at("undefined symbol `elsewhere`") < at("could not compile"), "{text}");
}
