//! `cargo xtask devices`: the kernel tests on the emulator and through HIP, and what both runs kept compared,
//! counter by counter.
//!
//! Through HIP means the real ROCm runtime with the emulator under it (`cargo amdinst exec`), or the GPU of
//! this machine. The emulator of the first run reads instructions and arguments by itself; that under the
//! runtime gets what AMD's loader and HIP make of them.
//!
//! Every test, launch, site and wave must be equal. Excepted are two answers that only the emulator's own
//! device has.

mod compare;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use amdinst_format::report::run::{FILE_NAME, Run};
use anyhow::{Context as _, Result, bail};

/// Options of `cargo xtask devices`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Package of kernel tests, may be repeated
    #[arg(short, long = "package", value_name = "PKG", default_value = "test-kernels")]
    packages: Vec<String>,
    /// Where counters live while a kernel runs, may be repeated
    #[arg(long, value_name = "HOME", default_value = "auto")]
    counters: Vec<String>,
    /// Cargo profile of the kernels
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
    /// Processor of the kernels, and of the GPU under the runtime (default: gfx90a)
    #[arg(long, value_name = "CPU")]
    target_cpu: Option<String>,
    /// Version of the code objects: the newest that the runtime reads
    #[arg(long, value_name = "VERSION", default_value = "4")]
    code_object_version: String,
    /// On the GPU of this machine, in place of the emulator under the runtime
    #[arg(long)]
    gpu: bool,
    /// How often both are run, in turns: for their times
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: u32,
    /// Write the results of the tests through HIP as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Names of tests to run
    #[arg(last = true, value_name = "FILTER")]
    filters: Vec<String>,
}

/// Runs the command. `Ok(false)` when a figure differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut same = true;
    for package in &options.packages {
        for home in &options.counters {
            same &= one(options, package, home)?;
        }
    }
    Ok(same)
}

/// One package, with counters in one home.
fn one(options: &Options, package: &str, home: &str) -> Result<bool> {
    let (mut emulator, mut hip) = (Vec::new(), Vec::new());
    let mut same = true;
    for _ in 0..options.rounds.max(1) {
        let (of_emulator, seconds) = test(options, package, home, "emu")?;
        emulator.push(seconds);
        let (of_hip, seconds) = test(options, package, home, "hip")?;
        hip.push(seconds);
        let outcome = compare::compare(of_emulator, of_hip);
        println!("{package}, counters {home}, emu and hip: {}", outcome.sums);
        outcome.differences.iter().for_each(|difference| println!("  {difference}"));
        same &= outcome.differences.is_empty();
    }
    let (emulator, hip) = (median(emulator), median(hip));
    println!("  {emulator:.2} s and {hip:.2} s, {:.2} times as long", hip / emulator);
    Ok(same)
}

/// The middle one.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Run the tests on a device; gives what was kept, and the seconds that it took, with all that cargo does
/// around it.
fn test(options: &Options, package: &str, home: &str, device: &str) -> Result<(Run, f64)> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let kept = crate::workspace_root().join(target).join("amdinst").join(package).join(FILE_NAME);
    let cpu: Vec<&str> = options.target_cpu.iter().flat_map(|cpu| ["--target-cpu", cpu]).collect();
    let mut command = crate::cargo();
    if device == "hip" && !options.gpu {
        command.args(["amdinst", "exec"]).args(&cpu).args(["--", "cargo"]);
    }
    command.args(["amdinst", "test"]).args(&cpu);
    command.args(["-p", package, "--device", device, "--counters", home]);
    command.args(["--profile", &options.profile, "--code-object-version", &options.code_object_version]);
    // Those on the emulator are a suite's own; here only their figures are wanted.
    if device == "emu" {
        command.stdout(Stdio::null());
    } else if let Some(path) = &options.junit {
        command.arg("--junit").arg(path);
    }
    command.arg("--").args(&options.filters);
    // No run but the one that begins now.
    remove(&kept)?;
    let begin = Instant::now();
    let status = command.status().context("running cargo")?;
    let seconds = begin.elapsed().as_secs_f64();
    if !status.success() {
        bail!("the tests of {package} on device {device}: {status}");
    }
    let bytes = std::fs::read(&kept).with_context(|| kept.display().to_string())?;
    Ok((Run::from_json(&bytes).with_context(|| kept.display().to_string())?, seconds))
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}
