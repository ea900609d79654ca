//! `cargo xtask corpus words`: random words, decoded by us and by LLVM.

use amdinst_core::Arch;
use anyhow::Result;

/// Options of `cargo xtask corpus words`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The processor, for example gfx90a; all of them when left out
    #[arg(long, value_name = "CPU")]
    target_cpu: Option<Arch>,
    /// How many words a processor gets
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Compares. `Ok(false)` when something differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    anyhow::bail!("{options:?}: not written yet")
}
