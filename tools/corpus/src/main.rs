//! The program behind `cargo xtask corpus`: comparisons with LLVM's tools over more input than a test run has
//! time for.

mod disasm;
mod foreign;
mod hardware;
mod hazards;
mod seeds;
mod share;
mod sources;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use amdgpu_isa::{Generation, Target};
use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

/// Compare with LLVM's tools over large inputs
#[derive(Debug, Parser)]
#[command(name = "corpus", bin_name = "cargo xtask corpus")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the first inputs of the fuzz targets
    Seeds(seeds::Options),
    /// Run random programs on the emulator and on the host, and compare their memory
    Differential(Handover),
    /// Disassemble whole libraries as LLVM does
    Disasm(disasm::Options),
    /// Run tinygrad's tests of single instructions, checked on a gfx1100, on the emulator
    Hardware(hardware::Options),
    /// Have LLVM's hazard recognizer look for missing wait states in instrumented code
    Hazards(hazards::Options),
    /// Compare the wait states between inserted and other instructions, each with each, with those of LLVM
    HazardPairs(hazards::pairs::Options),
    /// Mutate code objects, and take each all the way to its launches, on every path that must do the same
    Mutants(Handover),
    /// Launch kernels of whole libraries with made-up arguments, as they are and instrumented, and compare
    /// memory and counters
    Launches(Handover),
    /// Run programs of other compilers and libraries, and compare with the host
    Foreign(foreign::Options),
    /// Count how many branches of whole libraries can be instrumented, and the refusals
    Share(share::Options),
    /// List every opcode that LLVM knows, with an example, for the test of the opcode tables
    Opcodes(words::opcodes::Options),
    /// Decode random words as LLVM does, accepted and refused ones alike
    Words(words::Options),
}

/// Options of a comparison that is a program of its own.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
struct Handover {
    /// Options of the comparison's own program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Handover {
    /// Builds and runs `program`, one of the workspace's, with options of cargo. `Ok(false)` if it fails.
    fn run(&self, program: &str, cargo_options: &[&str]) -> Result<bool> {
        // Not by its package: `.cargo/config.toml` says why.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = std::process::Command::new(cargo)
            .current_dir(workspace_root())
            .args(["run", "--quiet", "--bin", program])
            .args(cargo_options)
            .arg("--")
            .args(&self.options)
            .status()
            .context("running cargo")?;
        Ok(status.success())
    }
}

/// The workspace's root. Compiled in: this program is only ever run from its checkout.
fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one comparison. `Ok(false)` when something differs.
fn run(command: &Command) -> Result<bool> {
    match command {
        Command::Seeds(options) => seeds::run(options),
        Command::Differential(options) => options.run("differential", &[]),
        Command::Mutants(options) => options.run("mutants", &["--release"]),
        Command::Launches(options) => options.run("launches", &["--release"]),
        Command::Disasm(options) => disasm::run(options),
        Command::Hardware(options) => hardware::run(options),
        Command::Hazards(options) => hazards::run(options),
        Command::HazardPairs(options) => hazards::pairs::run(options),
        Command::Foreign(options) => foreign::run(options),
        Command::Share(options) => share::run(options),
        Command::Opcodes(options) => words::opcodes::run(options),
        Command::Words(options) => words::run(options),
    }
}

/// The attribute by which LLVM's tools (`-mattr`) know that waves are of another size than a processor has by
/// default. Some processors know one size alone, and take no setting of it.
fn wave_attribute(target: Target) -> Option<String> {
    let is_default = target == target.arch.into();
    (!is_default).then(|| format!("+wavefrontsize{}", target.wave.lanes()))
}

/// As that, and LLVM reads and names halves of registers. It does so unasked on GFX11 alone.
fn attributes_with_halves(target: Target) -> Vec<String> {
    let halves = (target.arch.generation() == Generation::Gfx12).then(|| "+real-true16".to_owned());
    wave_attribute(target).into_iter().chain(halves).collect()
}

/// Whether a text names halves of registers.
fn names_halves(text: &str) -> bool {
    text.contains(".l") || text.contains(".h")
}

/// A text of LLVM's in which halves of registers are named, without these names. None where nothing else
/// tells an upper half.
fn without_halves(text: &str) -> Option<String> {
    let is_told = text.contains(" op_sel:[") || !text.contains(".h");
    is_told.then(|| text.replace(".l", "").replace(".h", ""))
}

/// What tells, behind the name of a processor, that its waves are not of the size that it has by default.
fn wave_suffix(target: Target) -> String {
    let is_default = target == target.arch.into();
    if is_default { String::new() } else { format!(" wave{}", target.wave.lanes()) }
}
