//! `cargo xtask drill`: what crashes may do to files, many times. The test suite does the same a few times.

use anyhow::{Context as _, Result};

/// Options of the drill.
///
/// Kills `instrument`, `report`, `build` and `test` at random moments, has two writers at once, and fills a
/// small disk so that each write in turn finds no room. What is left must be the old files or the new ones,
/// and nothing else. Builds and tests have a target directory of their own.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1000)]
    times: u32,
    /// Of `instrument` and `report` alone, which need no toolchain for kernels
    #[arg(long)]
    no_build: bool,
    /// In place of that, `exec` under mixed launches, faults, forks and signals for so long: nothing may grow
    /// or be wrong
    #[arg(long, value_name = "MINUTES")]
    soak: Option<u32>,
}

/// Runs it. `Ok(false)` if something was lost.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = crate::cargo();
    if let Some(minutes) = options.soak {
        command.env("AMDINST_SOAK", (60 * minutes).to_string());
        command.args([
            "test",
            "--package",
            "amdinst-hsakmt",
            "--test",
            "runtime",
            "--",
            "--nocapture",
            "soak::",
        ]);
        return Ok(command.status().context("running cargo")?.success());
    }
    command.env("AMDINST_DRILL", options.times.to_string());
    command.args([
        "test",
        "--package",
        "cargo-amdinst",
        "--test",
        "together",
        "--test",
        "kept",
        "--test",
        "full_disk",
        "--",
        "--nocapture",
    ]);
    if !options.no_build {
        command.arg("--include-ignored");
    }
    Ok(command.status().context("running cargo")?.success())
}
