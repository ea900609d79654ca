//! The toolchain that compiles kernels: a rustc whose `core` can be built from source, and the LLVM tools
//! that fit it.
//!
//! [`discover`] looks in this order: `--toolchain`, `AMDINST_TOOLCHAIN`, rustup's nightly, a distribution's
//! rustc. What it passes over it says why ([`Rejection`]). `cargo amdinst setup` installs one when none is
//! there.

mod answers;
mod discover;
mod llvm;
mod rustc;

pub use answers::answer;
pub use discover::{Discovery, Places, Rejection, discover};
pub use llvm::LlvmTools;
pub use rustc::RustcVersion;

use std::path::PathBuf;
use std::process::Command;

/// The target that kernels are compiled for.
pub const TARGET: &str = "amdgcn-amd-amdhsa";

/// A complete toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler; never rustup's proxy.
    pub rustc: PathBuf,
    /// The cargo that belongs to it.
    pub cargo: PathBuf,
    /// Its own description.
    pub version: RustcVersion,
    /// LLVM's tools of the compiler's LLVM version.
    pub llvm: LlvmTools,
    /// How it was found (`rustup's nightly`, …).
    pub origin: String,
}

impl Toolchain {
    /// A command that runs its cargo with its compiler, free of what an outer cargo or rustup put in the
    /// environment.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        for variable in ["CARGO", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUST_RECURSION_COUNT", "CARGO_BUILD_TARGET"]
        {
            command.env_remove(variable);
        }
        command.env("RUSTC", &self.rustc);
        if !self.version.is_nightly() {
            // `-Zbuild-std` and the target's features are unstable; this is what a released compiler is told
            // to allow them with.
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command
    }
}
