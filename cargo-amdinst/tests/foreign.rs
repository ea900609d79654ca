//! Kernel packages that are written for other tools are built as they are. The crates here have the names and
//! the interface of those on crates.io, so that nothing is downloaded.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// The crate that prints and allocates: what it asks its host for is what the real one does.
const DEVICE_LIBS: &str = "#![no_std]
extern crate alloc;
use core::alloc::{GlobalAlloc, Layout};
unsafe extern \"C\" {
    fn __amdgpu_util_alloc(size: core::ffi::c_ulong) -> *mut core::ffi::c_void;
    fn __amdgpu_util_dealloc(addr: *mut core::ffi::c_void);
    fn __amdgpu_util_print_stdout(s: *const core::ffi::c_char, size: core::ffi::c_int);
}
pub fn print(s: &str) {
    unsafe { __amdgpu_util_print_stdout(s.as_ptr().cast(), s.len() as _) }
}
struct Heap;
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { __amdgpu_util_alloc(layout.size() as _) as *mut u8 }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, _: Layout) {
        unsafe { __amdgpu_util_dealloc(ptr as *mut _) }
    }
}
#[cfg(target_arch = \"amdgpu\")]
#[global_allocator]
static HEAP: Heap = Heap;
#[cfg(target_arch = \"amdgpu\")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

/// A program with a kernel in its main file.
const MAIN: &str = "#![cfg_attr(feature = \"gpu\", no_std, feature(abi_gpu_kernel, stdarch_amdgpu))]
#[cfg(target_arch = \"amdgpu\")]
extern crate alloc;
#[cfg(target_arch = \"amdgpu\")]
#[unsafe(no_mangle)]
unsafe extern \"gpu-kernel\" fn greet_gpu_kernel(name: &str, out: *mut u32) {
    let id = core::arch::amdgpu::workitem_id_x();
    let mut squares = alloc::vec::Vec::new();
    for i in 0..=id {
        squares.push(i * i);
    }
    gpu_kernel::print(&alloc::format!(\"Hello {name} from {id}\\n\"));
    unsafe { *out.add(id as usize) = squares.iter().sum() };
}
#[cfg(not(feature = \"gpu\"))]
fn main() {
    println!(\"on the host\");
}
";

/// Kernels that call AMD's device libraries, and one that reads what those are told of the processor.
const MATHS: &str = "#![cfg(target_arch = \"amdgpu\")]
#![no_std]
#![feature(stdarch_amdgpu)]
unsafe extern \"C\" {
    safe fn __ocml_sin_f32(x: f32) -> f32;
    safe fn __ocml_rsqrt_f64(x: f64) -> f64;
    safe fn __ockl_activelane_u32() -> u32;
}
#[unsafe(no_mangle)]
pub unsafe extern \"gpu-kernel\" fn maths(x: *const f32, sines: *mut f32, roots: *mut f64, lanes: *mut u32) {
    let i = core::arch::amdgpu::workitem_id_x() as usize;
    unsafe {
        *sines.add(i) = __ocml_sin_f32(*x.add(i));
        *roots.add(i) = __ocml_rsqrt_f64(f64::from(*x.add(i)));
        if i % 2 == 1 {
            *lanes.add(i) = __ockl_activelane_u32();
        }
    }
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
";

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn package(root: &Path, name: &str, further: &str) {
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{further}");
    write(root, &format!("{name}/Cargo.toml"), &manifest);
}

fn amdinst(directory: &Path, words: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).args(["--color", "never"]).args(words.split_whitespace());
    command.env_remove("CARGO_TARGET_DIR").envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The tests take turns: then the second one finds what the first one has compiled.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_program_of_gpu_kernel_is_built_as_it_is() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    package(root, "amdgpu-device-libs", "");
    write(root, "amdgpu-device-libs/src/lib.rs", DEVICE_LIBS);
    package(
        root,
        "gpu-kernel",
        "[dependencies]\namdgpu-device-libs = { path = \"../amdgpu-device-libs\" }\n",
    );
    write(root, "gpu-kernel/src/lib.rs", "#![no_std]\npub use amdgpu_device_libs::print;\n");
    let further =
        "[workspace]\n[features]\ngpu = []\n[dependencies]\ngpu-kernel = { path = \"../gpu-kernel\" }\n";
    package(root, "hello-world", further);
    write(root, "hello-world/src/main.rs", MAIN);
    let hello = root.join("hello-world");
    for cpu in ["gfx90a", "gfx1100"] {
        let output = amdinst(&hello, &format!("build --target-cpu {cpu}"), &[]);
        let told = text(&output.stderr);
        if output.status.code() == Some(3) {
            return support::skip("kernels of gpu-kernel", &told);
        }
        assert_eq!(output.status.code(), Some(0), "{told}");
        fs::write(hello.join("name"), "World").unwrap();
        let words = format!(
            "run -p hello-world --target-cpu {cpu} --kernel greet --grid 1 --block 10 --arg in:name --arg u64:5 --arg u32[10] \
             --print 3 --report -q"
        );
        let output = amdinst(&hello, &words, &[]);
        let (told, shown) = (text(&output.stderr), text(&output.stdout));
        // Some places are refused in this way of counting.
        assert!(matches!(output.status.code(), Some(0 | 7)), "{told}{shown}");
        for id in 0..10 {
            let line = format!("workgroup (0, 0, 0), work-item ({id}, 0, 0): Hello World from {id}\n");
            assert!(told.contains(&line), "{told}");
        }
        let sums = (0..10_u32).map(|id| (0..=id).map(|i| i * i).sum::<u32>().to_string());
        let found = shown.lines().skip(1).take_while(|line| line.starts_with(' '));
        let found = found.filter_map(|line| Some(line.split_once(':')?.1));
        let found: Vec<_> = found.flat_map(|line| line.split_whitespace().map(str::to_owned)).collect();
        assert_eq!(found, sums.collect::<Vec<_>>(), "{shown}");
        assert!(shown.contains("src/main.rs:"), "{shown}");
        assert!(shown.contains("counters and the emulator's own: equal"), "{shown}");
    }
}

#[test]
fn device_libraries_are_linked_or_named() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    package(root, "maths", "[workspace]\n[lib]\ncrate-type = [\"cdylib\"]\n");
    write(root, "maths/src/lib.rs", MATHS);
    let maths = root.join("maths");

    let nowhere = [("HIP_DEVICE_LIB_PATH", "/nowhere")];
    let output = amdinst(&maths, "build", &nowhere);
    let told = text(&output.stderr);
    if output.status.code() == Some(3) {
        return support::skip("device libraries", &told);
    }
    assert_eq!(output.status.code(), Some(4), "{told}");
    let error = "error: cannot link maths for gfx90a: kernels call `__ockl_activelane_u32`, which is in AMD's device libraries, and \
                 there is no ocml.bc in /nowhere: `apt-get install rocm-device-libs` (Debian) or ROCm installs it; if it is \
                 elsewhere, set HIP_DEVICE_LIB_PATH";
    assert!(told.contains(error), "{told}");

    const INSTALLED: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
    if !Path::new(INSTALLED).join("ocml.bc").is_file() {
        return support::skip(
            "device libraries",
            "error: no rocm-device-libs (apt-get install rocm-device-libs)",
        );
    }
    let x: Vec<f32> = (0..64).map(|i| 0.25 + i as f32).collect();
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(maths.join("x"), bytes).unwrap();
    for (cpu, lanes) in [("gfx90a", 64), ("gfx1100", 32)] {
        let there = [("HIP_DEVICE_LIB_PATH", INSTALLED)];
        let output = amdinst(&maths, &format!("build --target-cpu {cpu}"), &there);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let words = format!(
            "run -p maths --target-cpu {cpu} --grid 1 --block 64 --arg in:x --arg f32[64] --arg f64[64] --arg u32[64] --save 2=sines \
             --save 3=roots --save 4=lanes -q"
        );
        let output = amdinst(&maths, &words, &there);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let read = |name: &str| fs::read(maths.join(name)).unwrap();
        let sines = read("sines");
        let sines = sines.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        let roots = read("roots");
        let roots = roots.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        for ((x, sine), root) in x.iter().zip(sines).zip(roots) {
            assert!((f64::from(sine) - f64::from(*x).sin()).abs() < 3e-7, "sin {x} is {sine}");
            let expected = 1.0 / f64::from(*x).sqrt();
            assert!((root - expected).abs() < 1e-15 * expected.max(1.0), "rsqrt {x} is {root}");
        }
        let found: Vec<_> =
            read("lanes").chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
        // The number among the odd lanes of a wave.
        let expected = (0..64_u32).map(|i| if i % 2 == 1 { i % lanes / 2 } else { 0 });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{cpu}");
    }
}
