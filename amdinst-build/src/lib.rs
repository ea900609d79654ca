//! Builds a kernel package in a build script, and embeds its code objects in the host program.
//!
//! The kernels are a package of their own, which the host program depends on twice: on its library for the
//! typed handles, and through its build script for the code.
//!
//! ```toml
//! [dependencies]
//! harness = { package = "amdinst-harness", version = "0.1" }
//! my-kernels = { path = "../my-kernels" }
//! [build-dependencies]
//! amdinst-build = "0.1"
//! ```
//!
//! In the `main` of `build.rs`:
//!
//! ```no_run
//! amdinst_build::Kernels::new("../my-kernels").target_cpus(["gfx90a", "gfx942"]).embed();
//! ```
//!
//! In the program:
//!
//! ```ignore
//! use harness::{Device, Launch as _, Settings};
//!
//! static KERNELS: harness::Embedded = harness::embedded!("my-kernels");
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let settings = Settings { embedded: vec![&KERNELS], ..Settings::from_env()? };
//!     let (device, _) = Device::open(&settings)?;
//!     let mut out = device.zeroed::<f32>(64);
//!     my_kernels::fill.launch(&device, 1, 64, (1.5, &mut out))?;
//!     Ok(())
//! }
//! ```
//!
//! # What is run
//! `cargo-amdinst build`, of the program that is installed (`cargo install cargo-amdinst`) or that
//! `CARGO_AMDINST` names. It builds where `cargo amdinst test` does, so what that has built is built already,
//! and keeps its own lock, so that cargo does not wait for itself.
//!
//! # Environment
//! | variable | meaning |
//! |---|---|
//! | `AMDINST_SKIP_BUILD` | `1`: build no kernels and embed none, for `cargo check`, editors and documentation, where there may be no toolchain for kernels. A launch then fails and says so. docs.rs needs no word. |
//! | `CARGO_AMDINST` | the program to run |
//! | `AMDINST_TOOLCHAIN` | the toolchain for kernels, as `cargo amdinst build --toolchain` takes it |

#![forbid(unsafe_code)]

mod build;
mod dependencies;
mod generate;
mod messages;

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A kernel package, and how to embed it.
#[derive(Clone, Debug)]
pub struct Kernels {
    package: PathBuf,
    target_cpus: Vec<String>,
    wave_size: Option<u32>,
    profile: Option<String>,
    features: Vec<String>,
    default_features: bool,
    code_object_version: Option<u8>,
    counters: Option<Counters>,
}

/// Where the counters of instrumented kernels live while they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counters {
    /// The cheapest of the others, for each kernel.
    #[default]
    Auto,
    /// Spare registers.
    Register,
    /// LDS.
    Lds,
    /// Memory.
    Global,
}

impl Counters {
    /// The manifest's name of the counter home; `None` is `auto`.
    pub(crate) const fn home(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Register => Some("register"),
            Self::Lds => Some("lds"),
            Self::Global => Some("global"),
        }
    }
}

/// Why kernels could not be embedded. Each says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The program that calls is no build script: cargo has not set this variable.
    #[error("{0} is not set: kernels are embedded by build scripts, which cargo runs")]
    NoBuildScript(&'static str),
    /// `cargo-amdinst` cannot be started.
    #[error(
        "{} cannot be started: {source}\n  `cargo install cargo-amdinst` installs it, CARGO_AMDINST=PATH names another, and \
         AMDINST_SKIP_BUILD=1 builds without kernels",
        program.display()
    )]
    NoProgram {
        /// The program to start.
        program: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// `cargo-amdinst build` failed; it has said why.
    #[error("the kernels in {} could not be built ({status}); see above", package.display())]
    Failed {
        /// The kernel package's directory.
        package: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// The command succeeded and reported nothing that could be embedded.
    #[error("`cargo-amdinst build` told nothing of the kernels in {}: {reason}", package.display())]
    NothingTold {
        /// The kernel package's directory.
        package: PathBuf,
        /// The missing part.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Kernels {
    /// The kernels of the package in the directory `package`, which is relative to the one of the package
    /// whose build script this is. It is built as its `[package.metadata.amdinst]` says, and embedded without
    /// probes.
    pub fn new(package: impl Into<PathBuf>) -> Self {
        Self {
            package: package.into(),
            target_cpus: Vec::new(),
            wave_size: None,
            profile: None,
            features: Vec::new(),
            default_features: true,
            code_object_version: None,
            counters: None,
        }
    }

    /// The processors to build for.
    #[must_use]
    pub fn target_cpus(mut self, cpus: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.target_cpus = cpus.into_iter().map(Into::into).collect();
        self
    }

    /// Lanes of a wave, 32 or 64, where the processors have both sizes.
    #[must_use]
    pub const fn wave_size(mut self, lanes: u32) -> Self {
        self.wave_size = Some(lanes);
        self
    }

    /// The cargo profile of the kernels. It is not the host program's: without a word it is `release`.
    #[must_use]
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Features of the kernel package.
    #[must_use]
    pub fn features(mut self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.features = features.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the kernel package's default features are on; they are without a word.
    #[must_use]
    pub const fn default_features(mut self, on: bool) -> Self {
        self.default_features = on;
        self
    }

    /// Code object version, 4 to 6.
    #[must_use]
    pub const fn code_object_version(mut self, version: u8) -> Self {
        self.code_object_version = Some(version);
        self
    }

    /// Embeds instrumented kernels as well, so that launches report how branches diverged.
    #[must_use]
    pub const fn instrumented(mut self, counters: Counters) -> Self {
        self.counters = Some(counters);
        self
    }

    /// Builds and embeds the kernels. Ends the build script with a message if that fails.
    pub fn embed(&self) {
        if let Err(error) = self.try_embed() {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }

    /// Builds and embeds the kernels: writes what `harness::embedded!` includes to `OUT_DIR`, and tells cargo
    /// when to do it again.
    ///
    /// # Errors
    /// See [`enum@Error`]. Files of an earlier build stay unchanged.
    pub fn try_embed(&self) -> Result<(), Error> {
        for variable in [SKIP, PROGRAM, "AMDINST_TOOLCHAIN", "DOCS_RS"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        let directory = variable("CARGO_MANIFEST_DIR")?.join(&self.package);
        let out = variable("OUT_DIR")?;
        if skipped(std::env::var(SKIP).ok().as_deref(), std::env::var_os("DOCS_RS").is_some()) {
            let name = dependencies::package_name(&directory)?;
            return generate::write(&out, &name, &[]);
        }
        let built = build::run(self, &directory)?;
        for path in dependencies::of(&directory, &built.artifacts)? {
            println!("cargo:rerun-if-changed={}", path.display());
        }
        generate::write(&out, &built.package, &built.embed(self.counters, &directory)?)
    }
}

/// Set to `1`, kernels are not built.
const SKIP: &str = "AMDINST_SKIP_BUILD";
/// The program that builds kernels.
const PROGRAM: &str = "CARGO_AMDINST";

fn variable(name: &'static str) -> Result<PathBuf, Error> {
    std::env::var_os(name).map(PathBuf::from).ok_or(Error::NoBuildScript(name))
}

/// Whether kernels are to be left out, by the variable's value; an editor's `0` is no.
fn skipped(value: Option<&str>, on_docs_rs: bool) -> bool {
    value.map_or(on_docs_rs, |value| !matches!(value, "" | "0"))
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| Error::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::skipped;

    #[test]
    fn the_variable_wins_over_docs_rs() {
        assert!(!skipped(None, false) && skipped(None, true));
        assert!(skipped(Some("1"), false) && skipped(Some("yes"), false));
        assert!(!skipped(Some("0"), true) && !skipped(Some(""), false));
    }
}
