//! `cargo xtask help-snapshots [--bless]`: the snapshots in `cargo-amdinst/tests/snapshots/help/`.
//!
//! The comparison itself is the test `help` of `cargo-amdinst`, so that `cargo test` makes it too.

use anyhow::{Result, ensure};

/// Options of `cargo xtask help-snapshots`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write the snapshots instead of comparing with them
    #[arg(long)]
    bless: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = crate::cargo();
    command.args(["test", "--quiet", "--package", "cargo-amdinst", "--test", "help"]);
    if options.bless {
        command.env("AMDINST_BLESS", "1");
    }
    ensure!(
        command.status()?.success(),
        "the help texts differ; look, then run `cargo xtask help-snapshots --bless`"
    );
    Ok(())
}
