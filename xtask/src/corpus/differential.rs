//! `cargo xtask corpus differential`: hands over to the crate `differential`, which this program is not built with so that
//! other chores need no emulator.

use anyhow::{Context as _, Result};

/// Options of `cargo xtask corpus differential`.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options of the crate's own program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Runs it. `Ok(false)` if anything differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let status = crate::cargo()
        .args(["run", "--quiet", "--package", "differential", "--"])
        .args(&options.options)
        .status()
        .context("running cargo")?;
    Ok(status.success())
}
