//! `cargo xtask drill`: what crashes may do to files, many times. The test suite does the same a few times.

use anyhow::{Context as _, Result};

/// Options of the drill.
///
/// Kills `instrument` and `build` at random moments, has two writers at once, and lets each write in turn find no room. What is left
/// must be the old files or the new ones, and nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1000)]
    times: u32,
    /// Of `instrument` alone, which needs no toolchain for kernels
    #[arg(long)]
    no_build: bool,
}

/// Runs it. `Ok(false)` if something was lost.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = crate::cargo();
    command.env("AMDINST_DRILL", options.times.to_string());
    command.args(["test", "--package", "cargo-amdinst", "--test", "together", "--", "--nocapture"]);
    if !options.no_build {
        command.arg("--include-ignored");
    }
    Ok(command.status().context("running cargo")?.success())
}
