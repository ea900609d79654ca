//! Commands for somebody who begins.

use std::path::PathBuf;

use clap::Args;

use super::{Format, ToolchainArgs};

/// The heading over the options that say where dependencies come from.
const SOURCE: &str = "Where its dependencies amdinst-device and harness come from [default: where its workspace has them from, \
                      else the checkout that DIR stands in, else where this program was installed from]";

/// `cargo amdinst new`.
#[derive(Clone, Debug, Args)]
pub struct NewArgs {
    /// Directory to make; its last part is the package's name
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The package's name [default: the directory's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// GPU that its kernels are built for, as `target-cpus` of its Cargo.toml; may be repeated [default: this
    /// machine's, else gfx90a]
    #[arg(long, value_name = "CPU", value_delimiter = ',')]
    pub target_cpu: Vec<String>,
    /// Where its dependencies come from.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// Where a new package's dependencies come from.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub struct SourceArgs {
    /// A checkout of cargo-amdinst; a relative path stays one
    #[arg(long, value_name = "DIR", help_heading = SOURCE)]
    pub path: Option<PathBuf>,
    /// A git repository
    #[arg(long, value_name = "URL", help_heading = SOURCE)]
    pub git: Option<String>,
    /// crates.io, the version of this program
    #[arg(long, help_heading = SOURCE)]
    pub registry: bool,
}

/// `cargo amdinst doctor`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Each line is one of
  ok                 well, or not needed here
  warning            something that not everybody needs is missing; the next line says what to do
  error              it does not work; the next line says what to do. Exit code 3 if kernels or tests cannot be built, else 10")]
pub struct DoctorArgs {
    /// Which toolchain.
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// `cargo amdinst completions`.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "\
bash:  cargo amdinst completions bash > ~/.local/share/bash-completion/completions/cargo-amdinst
       . ~/.local/share/bash-completion/completions/cargo-amdinst     # in ~/.bashrc, for `cargo amdinst`
zsh:   cargo amdinst completions zsh > DIR/_cargo-amdinst             # a DIR in $fpath; cargo's own completion calls it
fish:  cargo amdinst completions fish > ~/.config/fish/completions/cargo-amdinst.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `cargo amdinst man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Directory for the pages, which is made if need be: cargo-amdinst.1, and one a command
    #[arg(short, long, value_name = "DIR", required_unless_present = "old_out")]
    pub output: Option<PathBuf>,
    /// The old name of `--output`.
    #[arg(long = "out", hide = true, conflicts_with = "output")]
    pub old_out: Option<PathBuf>,
}

impl ManArgs {
    /// Where the pages go.
    pub fn directory(&self) -> Option<&PathBuf> {
        self.output.as_ref().or(self.old_out.as_ref())
    }
}
