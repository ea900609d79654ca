//! Developers' chores. Run as `cargo xtask`.

mod bindgen;

use std::path::Path;

use clap::Parser;

#[derive(Parser)]
#[command(name = "xtask")]
enum Chore {
    /// Regenerate the HIP bindings
    Bindgen(bindgen::Options),
}

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    match Chore::parse() {
        Chore::Bindgen(options) => bindgen::run(root, &options),
    }
}
