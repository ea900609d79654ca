//! Chores that are programs of their own, which this one is not built with: so it needs neither what they
//! need nor the time to build that.

use anyhow::{Context as _, Result};

/// Options of such a chore.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options of the chore's own program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Builds and runs `program`, one of the workspace's. `Ok(false)` if it fails.
pub(crate) fn run(program: &str, options: &Options) -> Result<bool> {
    // Not by its package: `.cargo/config.toml` says why.
    let status = crate::cargo()
        .args(["run", "--quiet", "--bin", program, "--"])
        .args(&options.options)
        .status()
        .context("running cargo")?;
    Ok(status.success())
}
