//! Developers' chores: `cargo xtask <COMMAND>`.

#![forbid(unsafe_code)]

mod console;
mod devices;
mod drill;
mod handover;
mod libraries;
mod programs;
mod readme;
mod snapshots;
mod suite;
mod workflow;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Developers' chores
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole test suite; the last line is `N passed, N failed`
    Test(suite::Options),
    /// Run the test programs of the packages, several at a time
    Programs(programs::Options),
    /// Compare help texts, inserted code, reports and failures with their snapshots
    #[command(alias = "help-snapshots")]
    Snapshots(snapshots::Options),
    /// Compare with LLVM's tools over large inputs
    Corpus(handover::Options),
    /// Run kernel tests on the emulator and through HIP, and compare what both counted
    Devices(devices::Options),
    /// Run AMD's own tests of the ROCm libraries on the emulator
    Libraries(libraries::Options),
    /// Kill writers at random moments, have two at once, and no room, a thousand times
    Drill(drill::Options),
    /// Run the console blocks of README and guide, and compare
    Readme(readme::Options),
    /// Do the job that the guide gives for GitHub, from nothing, and compare what it prints
    Workflow(workflow::Options),
    /// Generate the HIP bindings from the installed headers
    Bindgen(handover::Options),
}

/// The workspace's root. Compiled in: this program is only ever run from its checkout.
fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// The cargo that runs us.
fn cargo() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    command
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test(options) => suite::run(&options),
        Command::Programs(options) => programs::run(&options),
        Command::Snapshots(options) => snapshots::run(&options).map(|()| true),
        Command::Corpus(options) => handover::run("corpus", &options),
        Command::Devices(options) => devices::run(&options),
        Command::Libraries(options) => libraries::run(&options),
        Command::Drill(options) => drill::run(&options),
        Command::Readme(options) => readme::run(&options).map(|()| true),
        Command::Workflow(options) => workflow::run(&options).map(|()| true),
        Command::Bindgen(options) => handover::run("bindings", &options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
