//! `cargo xtask corpus`: comparisons with LLVM's tools over more input than a test run has time for.

mod words;

use anyhow::Result;

/// Comparisons with LLVM's tools over large inputs.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Decode random words as LLVM does, accepted and refused ones alike
    Words(words::Options),
}

/// Runs one comparison. `Ok(false)` when something differs.
pub(crate) fn run(command: &Command) -> Result<bool> {
    match command {
        Command::Words(options) => words::run(options),
    }
}
