//! Panics of kernels whose package has a panic handler of its own.

mod support;

use std::fs;

use support::amdinst;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[lib]\ncrate-type = [\"cdylib\"]\n";

const SOURCE: &str = "#![no_std]
#![cfg_attr(target_arch = \"amdgpu\", feature(stdarch_amdgpu))]
#[cfg(target_arch = \"amdgpu\")]
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn take(table: *const u32, output: *mut u32) {
    let i = core::arch::amdgpu::workitem_id_x() as usize;
    let table = unsafe { core::slice::from_raw_parts(table, 4) };
    unsafe { *output.add(i) = table[i] }
}
#[cfg(target_arch = \"amdgpu\")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// It is not asked: the kernel traps. With `--panic-messages` it is, and loops for ever.
#[test]
fn a_handler_that_loops_makes_no_difference_or_is_found_out() {
    let directory = tempfile::tempdir().unwrap();
    let package = directory.path();
    fs::create_dir(package.join("src")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(package.join("src/lib.rs"), SOURCE).unwrap();
    for (option, said) in [
        ("", "error: kernel `take`: the kernel panicked: index out of bounds\n"),
        ("--panic-messages", ". This loop never ends: it may be the `loop {}` of a panic handler\n"),
    ] {
        let output = amdinst(package, &format!("build --target-cpu gfx90a {option}"));
        let told = text(&output.stderr);
        if output.status.code() == Some(3) {
            return support::skip("panic handlers", &told);
        }
        assert_eq!(output.status.code(), Some(0), "{told}");
        let words = "run target/amdinst/k/gfx90a/release/k.elf --grid 1 --block 64 --arg u32[4] --arg u32[64] --budget 10000";
        let output = amdinst(package, words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{told}");
        assert!(told.contains(said) && told.contains("--> src/lib.rs:8:31"), "{told}");
        assert!(told.contains("lane 4") || option.contains("messages"), "{told}");
    }
}
