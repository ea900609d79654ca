//! Chores that are programs of their own, which this one is not built with: so it needs neither what they need nor the time
//! to build that.

use anyhow::{Context as _, Result};

/// Options of such a chore.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Options of the chore's own program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Builds and runs the program of `package`. `Ok(false)` if it fails.
pub(crate) fn run(package: &str, options: &Options) -> Result<bool> {
    run_as(&["--package", package], options)
}

/// Runs a program that `program` chooses, with options of cargo.
pub(crate) fn run_as(program: &[&str], options: &Options) -> Result<bool> {
    let status = crate::cargo()
        .args(["run", "--quiet"])
        .args(program)
        .arg("--")
        .args(&options.options)
        .status()
        .context("running cargo")?;
    Ok(status.success())
}
