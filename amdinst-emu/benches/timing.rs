//! How fast the timing model is, and launches with figures of memory, beside the emulator alone on one
//! thread.
//!
//! `cargo bench -p amdinst-emu --bench timing`. The kernels are compiled by clang-22.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use amdgpu_object::CodeObject;
use amdinst_emu::timing::{Parameters, simulate};
use amdinst_emu::{Config, Launch, Machine};

const SOURCE: &str = include_str!("sources/timing.cl");

fn compile(directory: &Path) -> CodeObject {
    let (input, output) = (directory.join("kernels.cl"), directory.join("kernels.elf"));
    std::fs::write(&input, SOURCE).expect("writing the source");
    let result = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "cl", "-cl-std=CL2.0", "-mcpu=gfx90a", "-O2"])
        .args(["-Xclang", "-finclude-default-header", "-fuse-ld=lld-22", "-o"])
        .args([&output, &input])
        .status()
        .expect("running clang-22");
    assert!(result.success(), "clang-22");
    CodeObject::parse(std::fs::read(&output).expect("reading")).expect("a code object")
}

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let object = compile(directory.path());
    println!(
        "| kernel | wave-instructions | modeled cycles | cycles/s | M wave-instructions/s | slowdown | with memory |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (kernel, groups) in [("arithmetic", 416), ("stream", 8192), ("reduce", 4096)] {
        let mut machine = Machine::new(object.target.arch, Config::default());
        let program = machine.load(&object).expect("loading");
        let bytes = u64::from(groups) * 1024;
        let [out, input] = [0; 2].map(|_| machine.alloc(bytes, 256, "data").expect("allocating"));
        let launch = Launch {
            grid: [groups, 1, 1],
            block: [256, 1, 1],
            kernarg: [out, input].iter().flat_map(|argument| argument.to_le_bytes()).collect(),
            threads: 1,
            ..Launch::new(kernel)
        };
        machine.launch(&program, &launch).expect("launching");
        let started = Instant::now();
        let execution = machine.launch(&program, &launch).expect("launching");
        let functional = started.elapsed().as_secs_f64();
        let measured = Launch { record_memory: true, ..launch.clone() };
        let started = Instant::now();
        machine.launch(&program, &measured).expect("launching");
        let with_memory = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let timing = simulate(&mut machine, &program, &launch, &Parameters::mi210()).expect("simulating");
        let modelled = started.elapsed().as_secs_f64();
        assert_eq!(timing.wave_instructions, execution.wave_instructions);
        println!(
            "| {kernel} | {} | {} | {:.0} k | {:.2} | {:.1}x | {:.1}x |",
            timing.wave_instructions,
            timing.cycles,
            timing.cycles as f64 / modelled / 1e3,
            timing.wave_instructions as f64 / modelled / 1e6,
            modelled / functional,
            with_memory / functional
        );
    }
}
