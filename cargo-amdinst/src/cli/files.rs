//! Which code object: the options that `inspect`, `disasm`, `instrument` and `run` share.

use std::path::PathBuf;

use clap::Args;

/// Which of the code objects in a file.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// A code object, or any file with code objects in it: a bundle, a program, a library, an archive, a
    /// wheel
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only code objects for this processor (`gfx90a`) or target (`gfx90a:xnack-`)
    #[arg(long, value_name = "CPU")]
    pub target_cpu: Option<String>,
    /// Only the code object of this number, as `inspect` shows them
    #[arg(long, value_name = "N")]
    pub object: Option<usize>,
}

/// The heading over the options that choose a package's code object.
const OF_PACKAGE: &str = "A package's code object, in place of FILE";

/// Which of the code objects in a file, or which package's.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// A code object, or any file with code objects in it: a bundle, a program, a library, an archive, a
    /// wheel
    #[arg(value_name = "FILE", required_unless_present = "package")]
    pub file: Option<PathBuf>,
    /// Only code objects for this processor (`gfx90a`) or target (`gfx90a:xnack-`)
    #[arg(long, value_name = "CPU")]
    pub target_cpu: Option<String>,
    /// Only the code object of this number, as `inspect` shows them
    #[arg(long, value_name = "N", conflicts_with = "package")]
    pub object: Option<usize>,
    /// Package whose code object is taken, and built first if it is not up to date
    #[arg(short, long, value_name = "PKG", conflicts_with = "file", help_heading = OF_PACKAGE)]
    pub package: Option<String>,
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH", requires = "package", help_heading = OF_PACKAGE)]
    pub manifest_path: Option<PathBuf>,
    /// Cargo profile [default: the package's `profile`, else release]
    #[arg(long, value_name = "P", requires = "package", help_heading = OF_PACKAGE)]
    pub profile: Option<String>,
    /// Features to activate, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES", requires = "package", help_heading = OF_PACKAGE)]
    pub features: Vec<String>,
}
