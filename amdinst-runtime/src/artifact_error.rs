//! Why there is no code object to launch.

use std::path::{Path, PathBuf};

use amdinst_format::interface::LaunchFailure;
use thiserror::Error;

/// Why there is no code object to launch. Each says what to do.
#[derive(Clone, Debug, Error)]
pub(crate) enum ArtifactError {
    /// No manifest for the package.
    #[error(
        "the kernels of package `{package}` are not built: no manifest at {}\n  \
         run `cargo amdinst build -p {package}`, or the tests through `cargo amdinst test -p {package}`",
        paths(tried)
    )]
    NotBuilt {
        /// The package.
        package: String,
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// Not built for the device's processor.
    #[error(
        "the kernels of package `{package}` are built for {}, not for {cpu}{}\n  \
         run `cargo amdinst build -p {package} --target-cpu {cpu}`, or have AMDINST_TARGET_CPU name one that they are built for",
        built.join(", "),
        profile.as_ref().map(|profile| format!(" with profile `{profile}`")).unwrap_or_default()
    )]
    OtherTarget {
        /// The package.
        package: String,
        /// The processor.
        cpu: String,
        /// The profile, if one was asked for.
        profile: Option<String>,
        /// What there is.
        built: Vec<String>,
    },
    /// The kernels were built, but not instrumented for this counter home.
    #[error(
        "the kernels of package `{package}` are not instrumented with counters in `{home}`\n  run `cargo amdinst build -p {package}`"
    )]
    NotInstrumented {
        /// The package.
        package: String,
        /// `auto`, `register`, `lds` or `global`.
        home: &'static str,
    },
    /// The program has no kernels in it.
    #[error(
        "the kernels of package `{package}` were left out of this program (AMDINST_SKIP_BUILD)\n  build it again without that variable"
    )]
    LeftOut {
        /// The package.
        package: String,
    },
    /// The kernels in the program count elsewhere.
    #[error(
        "the kernels of package `{package}` in this program have no counters in `{home}`: its build script chose where they are\n  \
         leave AMDINST_COUNTERS away, or choose `{home}` there"
    )]
    EmbeddedOtherwise {
        /// The package.
        package: String,
        /// `register`, `lds` or `global`.
        home: &'static str,
    },
    /// The kernels are older than their sources, and could not be built again.
    #[error("the kernels of package `{package}` are stale: {what}{}\n  run `{command}`", reason.as_deref().unwrap_or_default())]
    Stale {
        /// The package.
        package: String,
        /// What has changed.
        what: String,
        /// Why building them again failed.
        reason: Option<String>,
        /// What to run.
        command: String,
    },
    /// A file that is missing or broken.
    #[error("{}: {message}\n  build the kernels again with `cargo amdinst build`", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", nor at ")
}

impl From<ArtifactError> for LaunchFailure {
    fn from(error: ArtifactError) -> Self {
        Self::Artifacts { message: error.to_string() }
    }
}

/// A file that is missing or broken.
pub(crate) fn broken(path: &Path, message: impl ToString) -> ArtifactError {
    ArtifactError::Broken { path: path.to_owned(), message: message.to_string() }
}
