//! `cargo xtask snapshots [--bless]`: everything that is compared with a kept text.
//!
//! The comparisons are tests of the packages, so that `cargo test` makes them too. This runs those tests
//! alone, and with `--bless` writes what they print now instead: `git diff` then shows what has changed.

use anyhow::{Result, ensure};

/// The tests that compare with snapshots: what they show, and the arguments of cargo.
const TESTS: &[(&str, &[&str])] = &[
    ("help texts", &["test", "--package", "cargo-amdinst", "--test", "help"]),
    ("inserted code", &["test", "--package", "amdinst-core", "--test", "inserted"]),
    ("vector addition on RDNA 3", &["test", "--package", "cargo-amdinst", "--test", "rdna"]),
    ("renderings of reports", &["test", "--package", "amdinst-report", "--test", "renderings"]),
    ("pictures of the page", &["test", "--package", "amdinst-report", "--test", "browser", "pictures"]),
    ("failures that users see", &["amdinst", "test", "--package", "test-kernels", "--test", "failures"]),
    ("counters of kernels", &["amdinst", "test", "--package", "test-kernels", "--test", "kernels"]),
];

/// Options of `cargo xtask snapshots`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write the snapshots instead of comparing with them
    #[arg(long)]
    bless: bool,
    /// Only those with one of these words in what they show (`help`, `inserted`)
    #[arg(value_name = "WORD")]
    only: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    let chosen =
        |shows: &str| options.only.is_empty() || options.only.iter().any(|word| shows.contains(word));
    let mut different = Vec::new();
    for (shows, arguments) in TESTS.iter().filter(|(shows, _)| chosen(shows)) {
        let mut command = crate::cargo();
        command.args(*arguments).env("INSTA_UPDATE", if options.bless { "always" } else { "no" });
        if options.bless {
            command.env("AMDINST_BLESS", "1");
        }
        if !command.status()?.success() {
            different.push(*shows);
        }
    }
    ensure!(
        different.is_empty(),
        "{} differ; look, then run `cargo xtask snapshots --bless`",
        different.join(", ")
    );
    Ok(())
}
