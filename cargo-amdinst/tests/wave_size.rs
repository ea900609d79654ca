//! Kernels for a processor with waves of two sizes: each is compiled for the one that was asked for, all of
//! it.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
                        [package.metadata.amdinst]\ntarget-cpus = [\"gfx1100\"]\n";

/// Stores how many lanes the compiler takes a wave to have.
const SOURCE: &str = "#![no_std]
#![cfg_attr(target_arch = \"amdgpu\", feature(stdarch_amdgpu))]
#[cfg(target_arch = \"amdgpu\")]
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn lanes(p: *mut u32) {
    unsafe { *p = core::arch::amdgpu::wavefrontsize() }
}
#[cfg(target_arch = \"amdgpu\")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

fn amdinst(directory: &Path, words: &str, flags: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).args(["--color", "never"]).args(words.split_whitespace());
    command.env_remove("CARGO_TARGET_DIR");
    command.envs(flags.map(|flags| ("RUSTFLAGS", flags)));
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn kernels_are_compiled_for_the_size_that_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), SOURCE).unwrap();
    for (setting, option, place, lanes) in [
        ("", "", "gfx1100", 32),
        ("", "--wave-size 64", "gfx1100-wave64", 64),
        ("wave-size = 64\n", "--wave-size 32", "gfx1100", 32),
        ("wave-size = 64\n", "", "gfx1100-wave64", 64),
    ] {
        fs::write(package.join("Cargo.toml"), format!("{MANIFEST}{setting}")).unwrap();
        let output = amdinst(package, &format!("build {option}"), None);
        let told = text(&output.stderr);
        if output.status.code() == Some(3) {
            return support::skip("waves of two sizes", &told);
        }
        assert_eq!(output.status.code(), Some(0), "{told}");
        // The compiler's doubts about our own flag are nobody's business.
        assert!(!told.contains("wavefrontsize"), "{told}");
        let file = format!("target/amdinst/k/{place}/release/k.elf");
        let view = text(&amdinst(package, &format!("inspect {file} --format json"), None).stdout);
        let view: Value = serde_json::from_str(&view).unwrap();
        assert_eq!(view["code_objects"][0]["kernels"][0]["waves"]["lanes"], lanes, "{place}");
        let run = amdinst(package, &format!("run {file} --grid 1 --block 1 --arg u32[1] --print 1"), None);
        let printed = text(&run.stdout);
        assert!(printed.trim_end().ends_with(&format!(" {lanes}")), "{printed}{}", text(&run.stderr));
    }

    // Flags of the user's that ask for another size than the command.
    let output = amdinst(package, "build --wave-size 32", Some("-Ctarget-feature=+wavefrontsize64"));
    let told = text(&output.stderr);
    let error = "error: cannot link k for gfx1100: kernel `lanes` is compiled for waves of 64 lanes, not 32: some flag asks for that";
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains(error) && told.contains("ask with `--wave-size 64` instead"), "{told}");
}
