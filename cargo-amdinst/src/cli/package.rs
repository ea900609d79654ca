//! What to build, and with what: the options that `build`, `test` and `show-env` share.

use std::path::PathBuf;

use amdgpu_isa::WaveSize;
use clap::Args;

use super::Format;

/// The heading over the options that few need.
const BUILDING: &str = "Building";

/// Which toolchain builds the kernels.
#[derive(Clone, Debug, Default, Args)]
pub struct ToolchainArgs {
    /// Toolchain for kernels: a rustup toolchain's name, or the path of a rustc [env: AMDINST_TOOLCHAIN]
    #[arg(long, value_name = "TOOLCHAIN", help_heading = BUILDING, hide_short_help = true)]
    pub toolchain: Option<String>,
}

/// How cargo comes by dependencies: its own options, passed on to each cargo that is run.
#[derive(Clone, Debug, Default, Args)]
pub struct LockArgs {
    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long, help_heading = BUILDING, hide_short_help = true)]
    pub locked: bool,
    /// Run without accessing the network
    #[arg(long, help_heading = BUILDING, hide_short_help = true)]
    pub offline: bool,
    /// Equivalent to specifying both --locked and --offline
    #[arg(long, help_heading = BUILDING, hide_short_help = true)]
    pub frozen: bool,
}

impl LockArgs {
    /// The options as cargo takes them.
    pub fn options(&self) -> Vec<String> {
        [(self.locked, "--locked"), (self.offline, "--offline"), (self.frozen, "--frozen")]
            .into_iter()
            .filter(|(given, _)| *given)
            .map(|(_, option)| option.to_owned())
            .collect()
    }
}

/// A source file that is made of another one: messages and line tables name that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedSource {
    /// The file that is compiled.
    pub from: PathBuf,
    /// The file that people have.
    pub to: PathBuf,
}

/// What to build.
#[derive(Clone, Debug, Default, Args)]
pub struct PackageArgs {
    /// Processor to build for; may be repeated [default: the package's `target-cpus`, else gfx90a]
    #[arg(long, value_name = "CPU", value_delimiter = ',')]
    pub target_cpu: Vec<String>,
    /// Package to build; may be repeated [default: the one in the current directory, else all with kernels]
    #[arg(short, long, value_name = "PKG")]
    pub package: Vec<String>,
    /// Build every package of the workspace that has kernels
    #[arg(long, visible_alias = "all", conflicts_with = "package")]
    pub workspace: bool,
    /// Cargo profile for the kernels [default: the package's `profile`, else release]
    #[arg(long, value_name = "P")]
    pub profile: Option<String>,
    /// Kernels with the profile release, whatever the package's `profile` says
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// Another level of optimization than the profile's.
    #[arg(skip)]
    pub level: Option<&'static str>,
    /// A source file that has another name for people.
    #[arg(skip)]
    pub renamed: Option<RenamedSource>,
    /// Features to activate, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// With --workspace: all but this package; may be repeated
    #[arg(long, value_name = "PKG", requires = "workspace", help_heading = BUILDING, hide_short_help = true)]
    pub exclude: Vec<String>,
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = BUILDING, hide_short_help = true)]
    pub manifest_path: Option<PathBuf>,
    /// Lanes of a wave, 32 or 64, where the processor has both (GFX10 and later) [default: the package's
    /// `wave-size`, else 32 there]
    #[arg(long, value_name = "LANES", value_parser = wave_size, help_heading = BUILDING, hide_short_help = true)]
    pub wave_size: Option<WaveSize>,
    /// Activate all features
    #[arg(long, help_heading = BUILDING, hide_short_help = true)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long, help_heading = BUILDING, hide_short_help = true)]
    pub no_default_features: bool,
    /// Code object version, 4 to 6 [default: the package's `code-object-version`, else LLVM's]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(4..=6),
        help_heading = BUILDING,
        hide_short_help = true
    )]
    pub code_object_version: Option<u8>,
    /// Kernels whose panics say why, with their values, at any level of optimization [default: the package's
    /// `panic-messages`, else off]
    #[arg(long, help_heading = BUILDING)]
    pub panic_messages: bool,
    /// How cargo comes by dependencies.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Which toolchain.
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
    /// Human-readable messages, or cargo's own and ours as JSON lines on stdout
    #[arg(
        long,
        value_name = "FMT",
        default_value = "human",
        help_heading = BUILDING,
        hide_short_help = true
    )]
    pub message_format: Format,
}

/// Reads `--wave-size`.
fn wave_size(text: &str) -> Result<WaveSize, &'static str> {
    text.parse().ok().and_then(WaveSize::from_lanes).ok_or("a wave has 32 or 64 lanes")
}
