//! The command line: every command and option, and how `argv` reaches them.

mod start;

use std::ffi::OsString;
use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

use amdgpu_isa::WaveSize;
use amdinst_core::instrument::{Home, SiteSelector, SourceLines};
use amdinst_emu::{Config, OutOfRange, Uninitialised, Unmarked};
use amdinst_format::interface::Checks;
use amdinst_report::Gate;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub use self::start::{CompletionsArgs, DoctorArgs, ManArgs, NewArgs, SourceArgs};
use crate::commands::output::is_same_file;
use crate::commands::run::WaveChoice;
use crate::commands::run::language::{Argument, Expectation, Save, Selector};
use crate::exit::{CommandResult, Exit, Failure};

/// The program's name, as cargo looks for it.
pub const PROGRAM: &str = "cargo-amdinst";

/// Test, measure and check Rust GPU kernels for AMD, with or without the GPU
#[derive(Debug, Parser)]
#[command(
    name = "amdinst",
    bin_name = "cargo amdinst",
    version,
    after_help = Exit::help_table(),
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes.
#[derive(Clone, Debug, Default, Args)]
pub struct GlobalArgs {
    /// Print the exact commands that are run (twice: what they print, too)
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Print nothing but errors and the data asked for
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Output")]
    pub color: Option<ColorChoice>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a package with a kernel and a test that passes
    New(NewArgs),
    /// Find or prepare the toolchain that builds kernels
    Setup(SetupArgs),
    /// Look at what this machine can do with kernels, and say what mends what it cannot
    Doctor(DoctorArgs),
    /// Build kernels and instrument them
    Build(BuildArgs),
    /// Build, instrument and run a package's kernel tests
    Test(TestArgs),
    /// Show how the branches of the last test run diverged
    Report(ReportArgs),
    /// Show what a code object holds: kernels, registers, occupancy, sites
    Inspect(InspectArgs),
    /// Disassemble a code object
    Disasm(DisasmArgs),
    /// Make every branch that can diverge count what its wavefronts do
    Instrument(InstrumentArgs),
    /// Launch a kernel in the emulator
    Run(RunArgs),
    /// Run a HIP or HSA program, unchanged, with the emulator as its GPU
    Exec(ExecArgs),
    /// What instrumentation costs the kernels of an evaluation, on a device that is modelled
    Bench(BenchArgs),
    /// Print the environment and the commands with which to build by hand
    ShowEnv(ShowEnvArgs),
    /// List a processor's opcodes, and how faithfully the emulator executes each
    Isa(IsaArgs),
    /// Print a shell's completions
    Completions(CompletionsArgs),
    /// Write the manual's pages
    Man(ManArgs),
}

/// Which toolchain builds the kernels.
#[derive(Clone, Debug, Default, Args)]
pub struct ToolchainArgs {
    /// Toolchain for kernels: a rustup toolchain's name, or the path of a rustc [env: AMDINST_TOOLCHAIN]
    #[arg(long, value_name = "TOOLCHAIN")]
    pub toolchain: Option<String>,
}

/// `cargo amdinst setup`.
#[derive(Clone, Debug, Default, Args)]
pub struct SetupArgs {
    /// Which toolchain.
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
    /// Print what was found and what would be done, and change nothing
    #[arg(long)]
    pub print: bool,
    /// Install without asking
    #[arg(short, long)]
    pub yes: bool,
}

/// How people and programs want to read messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON document on stdout (or, for messages, one a line).
    Json,
}

/// How cargo comes by dependencies: its own options, passed on to each cargo that is run.
#[derive(Clone, Debug, Default, Args)]
pub struct LockArgs {
    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long)]
    pub locked: bool,
    /// Run without accessing the network
    #[arg(long)]
    pub offline: bool,
    /// Equivalent to specifying both --locked and --offline
    #[arg(long)]
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

/// What to build.
#[derive(Clone, Debug, Default, Args)]
pub struct PackageArgs {
    /// Package to build, may be repeated (default: the one in the current directory, else all with kernels)
    #[arg(short, long, value_name = "PKG")]
    pub package: Vec<String>,
    /// Build every package of the workspace that has kernels
    #[arg(long, visible_alias = "all", conflicts_with = "package")]
    pub workspace: bool,
    /// With --workspace: all but this package, may be repeated
    #[arg(long, value_name = "PKG", requires = "workspace")]
    pub exclude: Vec<String>,
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Processor to build for, may be repeated (default: the package's `target-cpus`, else gfx90a)
    #[arg(long, value_name = "CPU", value_delimiter = ',')]
    pub target_cpu: Vec<String>,
    /// Lanes of a wave, 32 or 64, where the processor has both: GFX11 (default: the package's `wave-size`, else 32 there)
    #[arg(long, value_name = "LANES", value_parser = wave_size)]
    pub wave_size: Option<WaveSize>,
    /// Cargo profile for the kernels (default: the package's `profile`, else release)
    #[arg(long, value_name = "P")]
    pub profile: Option<String>,
    /// Kernels with the profile release, whatever the package's `profile` says
    #[arg(short, long, conflicts_with = "profile")]
    pub release: bool,
    /// Features to activate, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Code object version, 4 to 6 (default: the package's `code-object-version`, else LLVM's)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(4..=6))]
    pub code_object_version: Option<u8>,
    /// How cargo comes by dependencies.
    #[command(flatten)]
    pub lock: LockArgs,
    /// Which toolchain.
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
    /// Human-readable messages, or cargo's own and ours as JSON lines on stdout
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub message_format: Format,
}

/// Reads `--wave-size`.
fn wave_size(text: &str) -> Result<WaveSize, &'static str> {
    text.parse().ok().and_then(WaveSize::from_lanes).ok_or("a wave has 32 or 64 lanes")
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProbeChoice {
    /// How branches diverge: executions, and lanes before and after, of each that can.
    #[default]
    Branches,
    /// How often each basic block runs, and with how many lanes.
    Blocks,
    /// How long each wave runs: the clock (s_memtime) at its entry and at its end.
    Time,
}

/// How much is counted of each branch or block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelChoice {
    /// How often it ran, and how often all lanes or none went on.
    Basic,
    /// The lanes before and after, too.
    #[default]
    Lanes,
}

/// The heading over the options that choose branches.
const WHICH: &str = "Branches, or blocks (default: all; of several options each adds what it chooses)";

/// Which branches count.
#[derive(Clone, Debug, Default, Args)]
pub struct SiteArgs {
    /// Only the branch of the `#[probe("NAME")]` in the source, or the blocks of its code, may be repeated
    #[arg(long, value_name = "NAME", help_heading = WHICH)]
    pub probe_name: Vec<String>,
    /// Only branches, or blocks with code, at a line of the source, or at several (FILE:FIRST-LAST), those of code inlined there included; FILE
    /// is a path or the end of one (`scan.rs`, `src/scan.rs`), may be repeated
    #[arg(long, value_name = "FILE:LINE", help_heading = WHICH)]
    pub site: Vec<SourceLines>,
}

impl SiteArgs {
    /// Nothing may be chosen where nothing is counted.
    ///
    /// # Errors
    /// A branch is chosen with `--no-instrument`.
    pub fn none_with(&self, no_instrument: bool) -> CommandResult<()> {
        match self.selectors().first().filter(|_| no_instrument) {
            Some(selector) => {
                let message = format!("{selector} is chosen, and nothing counts with --no-instrument");
                Err(Failure::msg(Exit::Usage, message))
            }
            None => Ok(()),
        }
    }

    /// The chosen sites, as the instrumenter takes them.
    pub fn selectors(&self) -> Vec<SiteSelector> {
        let names = self.probe_name.iter().cloned().map(SiteSelector::Probe);
        names.chain(self.site.iter().cloned().map(SiteSelector::Lines)).collect()
    }
}

/// `cargo amdinst build`.
#[derive(Clone, Debug, Default, Args)]
pub struct BuildArgs {
    /// What to build.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Build the code objects only
    #[arg(long)]
    pub no_instrument: bool,
    /// What to measure
    #[arg(long, value_name = "WHAT", default_value = "branches", conflicts_with = "no_instrument")]
    pub probe: ProbeChoice,
    /// How much to count of each branch or block
    #[arg(long, value_name = "LEVEL", default_value = "lanes", conflicts_with = "no_instrument")]
    pub level: LevelChoice,
    /// Instrument for this counter home only (default: for each)
    #[arg(long, value_name = "HOME", conflicts_with = "no_instrument")]
    pub counters: Option<CounterChoice>,
    /// How instrumented kernels learn where the counter buffer is
    #[arg(long, value_name = "ABI", default_value = "argument", conflicts_with = "no_instrument")]
    pub abi: AbiChoice,
    /// Which branches count.
    #[command(flatten)]
    pub sites: SiteArgs,
}

/// Where tests launch their kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// A GPU if HIP and a fitting device are there, else the emulator.
    #[default]
    Auto,
    /// The emulator.
    Emu,
    /// A GPU, through HIP.
    Hip,
}

/// Where counters live while a kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CounterChoice {
    /// The cheapest home that neither spills nor lowers occupancy.
    #[default]
    Auto,
    /// Spare registers, flushed once when a wave ends.
    Register,
    /// LDS, one update at each execution of a site, flushed once when a wave ends.
    Lds,
    /// Memory, one update at each execution of a site.
    Global,
}

impl CounterChoice {
    /// The home asked for; `None` leaves it to the planner.
    pub const fn home(self) -> Option<Home> {
        match self {
            Self::Auto => None,
            Self::Register => Some(Home::Register),
            Self::Lds => Some(Home::Lds),
            Self::Global => Some(Home::Global),
        }
    }
}

/// How instrumented kernels learn where the counter buffer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AbiChoice {
    /// By one more argument, after all others.
    #[default]
    Argument,
    /// By the device variable `__amdinst_buffer` (8 bytes), which the launcher sets; arguments stay as they are, and
    /// nothing is counted while it is zero.
    Global,
}

/// `cargo amdinst test`.
#[derive(Clone, Debug, Default, Args)]
pub struct TestArgs {
    /// What to build.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Run only tests whose name contains this
    #[arg(value_name = "TESTNAME")]
    pub name: Option<OsString>,
    /// Build kernels and tests, and run nothing
    #[arg(long, conflicts_with_all = ["junit", "timeline", "profiles"])]
    pub no_run: bool,
    /// Run the tests once a profile, and say which end differently: two or more, separated by commas
    #[arg(long, value_name = "P,P", value_delimiter = ',', conflicts_with_all = ["profile", "release"])]
    pub profiles: Vec<String>,
    /// Where to launch the kernels
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
    /// Run the kernels as they were compiled: nothing is counted, and assertions on branches fail
    #[arg(long)]
    pub no_instrument: bool,
    /// What to measure; assertions on branches need `branches`
    #[arg(long, value_name = "WHAT", default_value = "branches", conflicts_with = "no_instrument")]
    pub probe: ProbeChoice,
    /// How much to count of each branch or block; assertions on lanes need them
    #[arg(long, value_name = "LEVEL", default_value = "lanes", conflicts_with = "no_instrument")]
    pub level: LevelChoice,
    /// Where counters live while a kernel runs
    #[arg(long, value_name = "HOME", default_value = "auto", conflicts_with = "no_instrument")]
    pub counters: CounterChoice,
    /// How instrumented kernels learn where the counter buffer is
    #[arg(long, value_name = "ABI", default_value = "argument", conflicts_with = "no_instrument")]
    pub abi: AbiChoice,
    /// Which branches count.
    #[command(flatten)]
    pub sites: SiteArgs,
    /// What is a fault in the emulator besides what always is.
    #[command(flatten)]
    pub checks: CheckArgs,
    /// Model how long each launch takes on this device, original and instrumented (on the emulator)
    #[arg(long, value_name = "DEVICE")]
    pub timing: Option<TimingChoice>,
    /// With --timing: write when each wave was on which SIMD, as traces for Perfetto's viewer or Chrome's, one for each launch:
    /// DIR/PKG/PROGRAM.TEST.NUMBER.KERNEL.json
    #[arg(long, value_name = "DIR", requires = "timing")]
    pub timeline: Option<PathBuf>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Further names of tests to run, and options of the test runner
    #[arg(last = true, value_name = "FILTER")]
    pub filters: Vec<OsString>,
}

/// A device that is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingChoice {
    /// AMD Instinct MI210 (gfx90a).
    Mi210,
    /// One die of an AMD Instinct MI250X (gfx90a).
    Mi250x,
    /// A gfx900 of 64 compute units, as measured in 2022 (gfx900).
    Vega10,
}

impl TimingChoice {
    /// The device.
    pub const fn model(self) -> amdinst_emu::timing::Model {
        match self {
            Self::Mi210 => amdinst_emu::timing::Model::Mi210,
            Self::Mi250x => amdinst_emu::timing::Model::Mi250x,
            Self::Vega10 => amdinst_emu::timing::Model::Vega10,
        }
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a terminal: the source lines, and what their branches did.
    #[default]
    Human,
    /// One JSON document, which `--baseline` takes.
    Json,
    /// Markdown, for a job's summary or a comment.
    Markdown,
    /// Workflow commands that GitHub shows beside the lines of a pull request.
    Github,
}

/// `cargo amdinst report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Limits, as in --fail-on 'diverged>5%' (<, <=, > or >=, and what fulfils it fails):
  diverged           executions of a branch that diverged; with %, their share
  active             lanes that stay active at a branch, on average
  lost               lanes that stood idle because of a branch
                     (these three pass over branches marked #[probe(expect)])
  occupancy          waves that a SIMD can hold of a kernel, without probes
  sgprs, vgprs, lds, scratch
                     what a kernel takes, without probes
  ticks              the median time of a kernel's waves, if times were measured
  cycles             cycles of a kernel's launch on average, if they were modelled (test --timing)
  slower             with --baseline: by how much a kernel takes longer, as in slower>5%
  refused            what of a kernel was not instrumented
  worse              with --baseline: anything that is worse than there")]
pub struct ReportArgs {
    /// Package whose run is shown (default: the one in the current directory)
    #[arg(short, long, value_name = "PKG")]
    pub package: Option<String>,
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// A run that was kept elsewhere (default: the package's last, target/amdinst/PKG/last-run.json)
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// Only this kernel, may be repeated (default: all)
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// Branches shown (0: none): those that lost the most lanes; or lines, those that ran most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: ReportFormat,
    /// Compare with an earlier run: what `--format json` printed, or a kept run
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// A limit, may be repeated: exit code 12 if something is beyond it, see below
    #[arg(long, value_name = "LIMIT")]
    pub fail_on: Vec<Gate>,
    /// Write the report as one page for a browser, DIR/index.html, which needs nothing else
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
    /// Write the coverage of branches by lanes as an LCOV tracefile, for genhtml, Codecov or an editor
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Write faults, and what is beyond a limit, as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

/// Which of the code objects in a file.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// A code object, or any file with code objects in it: a bundle, a program, a library, an archive, a wheel
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
    /// A code object, or any file with code objects in it: a bundle, a program, a library, an archive, a wheel
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
    /// Cargo profile (default: the package's `profile`, else release)
    #[arg(long, value_name = "P", requires = "package", help_heading = OF_PACKAGE)]
    pub profile: Option<String>,
    /// Features to activate, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES", requires = "package", help_heading = OF_PACKAGE)]
    pub features: Vec<String>,
}

/// `cargo amdinst inspect`.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Which code objects.
    #[command(flatten)]
    pub input: InputArgs,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// `cargo amdinst disasm`.
#[derive(Clone, Debug, Args)]
pub struct DisasmArgs {
    /// Which code objects.
    #[command(flatten)]
    pub input: InputArgs,
    /// Only this kernel, may be repeated (default: all of the code)
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// Print the source text of each line before its instructions
    #[arg(short = 'S', long)]
    pub source: bool,
    /// Print file and line before the instructions of each line
    #[arg(short, long)]
    pub line_numbers: bool,
    /// Mark the sites, the instructions at which lanes part, with kind and probe
    #[arg(long)]
    pub sites: bool,
    /// How to print; JSON has lines and sites in any case
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// `cargo amdinst instrument`.
#[derive(Clone, Debug, Args)]
pub struct InstrumentArgs {
    /// Which code object.
    #[command(flatten)]
    pub input: FileArgs,
    /// The instrumented code object; its probe map goes beside it
    #[arg(short, long, value_name = "OUT", required_unless_present = "plan")]
    pub output: Option<PathBuf>,
    /// Write the whole bundle, library or program with all its code objects instrumented, not one code object on its
    /// own; implied when OUT is FILE
    #[arg(long)]
    pub whole: bool,
    /// Only this kernel, may be repeated (default: all)
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// What to measure
    #[arg(long, value_name = "WHAT", default_value = "branches")]
    pub probe: ProbeChoice,
    /// How much to count of each branch or block
    #[arg(long, value_name = "LEVEL", default_value = "lanes")]
    pub level: LevelChoice,
    /// Where counters live while a kernel runs
    #[arg(long, value_name = "HOME", default_value = "auto")]
    pub counters: CounterChoice,
    /// How instrumented kernels learn where the counter buffer is
    #[arg(long, value_name = "ABI", default_value = "argument")]
    pub abi: AbiChoice,
    /// Which branches count.
    #[command(flatten)]
    pub sites: SiteArgs,
    /// Show sites, registers and cost, and write nothing
    #[arg(long)]
    pub plan: bool,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

impl InstrumentArgs {
    /// Whether the file that holds the code objects is to be written, not one of them.
    pub fn is_whole(&self) -> bool {
        self.whole || self.output.as_ref().is_some_and(|output| is_same_file(&self.input.file, output))
    }
}

/// How a launch runs on the emulator.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// Host threads of a launch, at most 1024 (default: all cores)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Wave-instructions a workgroup may run before the launch is called endless (default: 268435456)
    #[arg(long, value_name = "N", value_parser = budget)]
    pub budget: Option<u64>,
    /// What is looked for besides what always is.
    #[command(flatten)]
    pub checks: CheckArgs,
}

/// What the emulator looks for, though hardware lets it pass.
#[derive(Clone, Debug, Default, Args)]
pub struct CheckArgs {
    /// Mistakes to look for that need not show in results: `all`, `none`, or some of `races`, `barriers` and
    /// `uninitialised`, with commas between (default: `all` for `test` on the emulator, else `none`); with `atomicity`,
    /// races unless both accesses are atomic are errors, too, not warnings
    #[arg(long, value_name = "LIST", value_parser = parsed::<Checks>)]
    pub check: Option<Checks>,
    /// Accesses whose races are meant, with commas between: `FILE`, `FILE:LINE`, or the function that they are in
    #[arg(long, value_name = "PLACE", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// The old name of `--check barriers`
    #[arg(long, hide = true)]
    pub strict_barriers: bool,
    /// The old name of `--check races`
    #[arg(long, hide = true)]
    pub check_races: bool,
    /// What each dword of registers, LDS and scratch memory holds before it is written (default: 0x7ffb7ffb, a NaN of
    /// 16, 32 and 64 bits)
    #[arg(long, value_name = "DWORD", value_parser = parsed::<Uninitialised>)]
    pub uninitialised: Option<Uninitialised>,
    /// What becomes of accesses to LDS beyond the workgroup's: `fault`, or as on `hardware`, where reads return zero and writes are
    /// discarded (default: `hardware` for `exec`, else `fault`)
    #[arg(long, value_name = "HOW", value_parser = parsed::<OutOfRange>)]
    pub out_of_range: Option<OutOfRange>,
}

impl CheckArgs {
    /// What is asked for, if anything is said about it.
    pub fn asked(&self) -> Option<Checks> {
        let old = Checks { races: self.check_races, barriers: self.strict_barriers, ..Checks::NONE };
        match self.check {
            Some(asked) => Some(Checks {
                races: asked.races || old.races,
                barriers: asked.barriers || old.barriers,
                ..asked
            }),
            None => old.any().then_some(old),
        }
    }

    /// What one launch can find of what is asked for, for the emulator.
    pub fn set(&self, config: &mut Config) {
        let asked = self.asked().unwrap_or_default();
        config.strict_barriers = asked.barriers;
        config.check_races = asked.races;
        config.unmarked = Unmarked::checked(asked.atomicity);
        config.allowed.clone_from(&self.allow);
        config.uninitialised = self.uninitialised.unwrap_or_default();
        config.out_of_range = self.out_of_range.unwrap_or_default();
    }

    /// What is asked for, by the variables that test programs and the emulated driver know it by.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let all = [
            ("AMDINST_CHECK", self.asked().map(|asked| asked.to_string())),
            ("AMDINST_ALLOW", (!self.allow.is_empty()).then(|| self.allow.join(","))),
            ("AMDINST_UNINITIALISED", self.uninitialised.map(|Uninitialised(dword)| format!("{dword:#x}"))),
            ("AMDINST_OUT_OF_RANGE", self.out_of_range.map(|how| how.to_string())),
        ];
        all.into_iter().filter_map(|(variable, value)| Some((variable, value?)))
    }
}

/// A value that says by itself what is expected instead.
fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|expected| format!("expected: {expected}"))
}

/// A limit of instructions; nothing runs at all without one.
fn budget(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("a budget of 0 runs nothing".to_owned()),
        Ok(budget) => Ok(budget),
        Err(error) => Err(match ParseIntError::kind(&error) {
            IntErrorKind::PosOverflow => format!("`{text}` does not fit in 64 bits"),
            _ => format!("`{text}` is not a whole number"),
        }),
    }
}

/// `cargo amdinst run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = crate::commands::run::language::HELP)]
pub struct RunArgs {
    /// Which code object.
    #[command(flatten)]
    pub input: InputArgs,
    /// The kernel to launch (default: the only one)
    #[arg(long, value_name = "K")]
    pub kernel: Option<String>,
    /// Workgroups
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub grid: Dim3,
    /// Work-items a workgroup
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Dim3,
    /// Dynamic LDS, added to the kernel's static LDS
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub lds: u32,
    /// An argument, see below
    #[arg(long = "arg", value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    pub args: Vec<Argument>,
    /// Print elements of a buffer argument after the launch, see below, may be repeated
    #[arg(long, value_name = "ARG[:TYPE][RANGE]")]
    pub print: Vec<Selector>,
    /// Write a buffer argument to a file after the launch, may be repeated
    #[arg(long, value_name = "ARG=FILE")]
    pub save: Vec<Save>,
    /// Compare a buffer argument with a file after the launch, see below, may be repeated
    #[arg(long, value_name = "ARG=FILE[~TOL]")]
    pub expect: Vec<Expectation>,
    /// Print the instructions that one wave runs, with the registers that each writes
    #[arg(long)]
    pub trace: bool,
    /// With --trace: the wave, by its index in the launch or by its workgroup (default: 0; if the kernel faults: the wave
    /// at fault)
    #[arg(long, value_name = "N|X[,Y[,Z]]:N", requires = "trace")]
    pub trace_wave: Option<WaveChoice>,
    /// With --trace: the lane whose vector registers are printed (default: 0; if the kernel faults: the lane at fault)
    #[arg(long, value_name = "N", requires = "trace")]
    pub trace_lane: Option<u8>,
    /// With --trace: instructions that are printed, at most
    #[arg(long, value_name = "N", default_value_t = 200, requires = "trace")]
    pub trace_limit: u32,
    /// With --trace: print the instructions that ran last, not first (default: if the kernel faults)
    #[arg(long, requires = "trace")]
    pub trace_last: bool,
    /// What to measure (with --report)
    #[arg(long, value_name = "WHAT", default_value = "branches", requires = "report")]
    pub probe: ProbeChoice,
    /// How much to count of each branch or block (with --report)
    #[arg(long, value_name = "LEVEL", default_value = "lanes", requires = "report")]
    pub level: LevelChoice,
    /// Where counters live while a kernel runs (with --report)
    #[arg(long, value_name = "HOME", default_value = "auto", requires = "report")]
    pub counters: CounterChoice,
    /// How the instrumented kernel learns where the counter buffer is (with --report)
    #[arg(long, value_name = "ABI", default_value = "argument", requires = "report")]
    pub abi: AbiChoice,
    /// Which branches count.
    #[command(flatten)]
    pub sites: SiteArgs,
    /// How it runs on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Print how many instructions ran, how fast, and how faithfully each is executed
    #[arg(long)]
    pub stats: bool,
    /// Run the original and the instrumented kernel, compare, and print how each branch diverged, or what else was
    /// measured
    #[arg(long)]
    pub report: bool,
    /// With --report: write what each wave counted, a line of JSON each; a report has some waves of a large launch
    #[arg(long, value_name = "FILE", requires = "report")]
    pub waves: Option<PathBuf>,
    /// Model how long it takes on this device, and where the cycles go; with --report of the instrumented kernel too
    #[arg(long, value_name = "DEVICE")]
    pub timing: Option<TimingChoice>,
    /// With --timing: write when each wave was on which SIMD, as a trace for Perfetto's viewer or Chrome's
    #[arg(long, value_name = "FILE", requires = "timing")]
    pub timeline: Option<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// `cargo amdinst exec`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The program finds the installed ROCm runtime (Debian's 5.2: HIP, libhsa-runtime64.so.1) as it does without this command. Only \
the library that asks the kernel's driver, libhsakmt.so.1, is replaced, by way of LD_LIBRARY_PATH; there need be no \
/dev/kfd. The exit code is the program's own.")]
pub struct ExecArgs {
    /// The GPU's processor: gfx900, gfx906, gfx908 or gfx90a (default: gfx90a; under `cargo amdinst test`, what it tests)
    #[arg(long, value_name = "CPU")]
    pub target_cpu: Option<String>,
    /// How many GPUs there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub gpus: u32,
    /// How it runs on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Instrument code objects as the program loads them, as `cargo amdinst instrument --abi global` does
    #[arg(long)]
    pub instrument: bool,
    /// Print how each branch of the kernels diverged when the program ends, on stderr (with --instrument)
    #[arg(long, requires = "instrument")]
    pub report: bool,
    /// Where counters live while a kernel runs (with --instrument)
    #[arg(long, value_name = "HOME", default_value = "auto", requires = "instrument")]
    pub counters: CounterChoice,
    /// Kill the program when the process that started this command ends, however it ends
    #[arg(long)]
    pub die_with_parent: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `cargo amdinst bench`.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// Which evaluation.
    #[command(subcommand)]
    pub what: BenchWhat,
}

/// Evaluations.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchWhat {
    /// Nine Rodinia kernels of this repository with counters in every home, beside the figures of 2022
    Seed(SeedArgs),
    /// Fit the model's unpublished constants to three of those kernels
    Fit(FitArgs),
}

/// `cargo amdinst bench seed`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Every kernel is modelled as it was compiled, with our counters in registers, LDS and memory, and with those of 2022 in LDS and
memory; in each form it is launched twice. All forms must leave the same in memory, and count the same. Slowdowns are of the
first launch of a kernel that its program launches once, else of the second.")]
pub struct SeedArgs {
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Only this kernel, by its name in the table (may be repeated)
    #[arg(long, value_name = "NAME")]
    pub kernel: Vec<String>,
    /// Inputs of a few workgroups, to see that everything works: the figures mean nothing
    #[arg(long)]
    pub quick: bool,
    /// The device that is modelled
    #[arg(long, value_name = "DEVICE", default_value = "vega10")]
    pub timing: TimingChoice,
    /// Write a chart of the slowdowns, as SVG
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: SeedFormat,
}

/// How the table of an evaluation is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SeedFormat {
    /// For a terminal.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// Markdown.
    Markdown,
}

/// `cargo amdinst bench fit`.
#[derive(Clone, Debug, Args)]
pub struct FitArgs {
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
}

/// `cargo amdinst show-env`.
#[derive(Clone, Debug, Default, Args)]
pub struct ShowEnvArgs {
    /// What would be built.
    #[command(flatten)]
    pub package: PackageArgs,
}

/// `cargo amdinst isa`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each line has the encoding, the opcode, the mnemonic and one of
  exact              the result is the device's, to the bit
  approximate        the result may differ from the device's; the line says by how much
  unsupported        a kernel that comes to it ends with a fault; the line says why")]
pub struct IsaArgs {
    /// Processor
    #[arg(long, value_name = "CPU")]
    pub target_cpu: String,
    /// Only mnemonics that contain this
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// Sizes in x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl FromStr for Dim3 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = [1; 3];
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} sizes, at most three are possible", parts.len()));
        }
        for (size, part) in sizes.iter_mut().zip(parts) {
            *size = part.trim().parse().map_err(|error: ParseIntError| match error.kind() {
                IntErrorKind::PosOverflow => format!("`{part}` does not fit in 32 bits"),
                _ => format!("`{part}` is not a whole number"),
            })?;
            if *size == 0 {
                return Err("a size of 0 launches nothing".to_owned());
            }
        }
        Ok(Self(sizes))
    }
}

/// Drops the word `amdinst` that cargo puts in front when it starts `cargo-amdinst` as a subcommand
/// (`cargo amdinst build` runs `cargo-amdinst amdinst build`); the checkout's alias does not put it there.
pub fn without_subcommand_name(argv: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut argv: Vec<_> = argv.into_iter().collect();
    if argv.get(1).is_some_and(|word| word == "amdinst") {
        argv.remove(1);
    }
    argv
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn both_ways_to_be_started() {
        for argv in
            [&["cargo-amdinst", "amdinst", "setup", "--print"][..], &["cargo-amdinst", "setup", "--print"]]
        {
            let argv = without_subcommand_name(argv.iter().map(OsString::from));
            let cli = Cli::try_parse_from(argv).unwrap();
            assert!(matches!(cli.command, Command::Setup(SetupArgs { print: true, .. })));
        }
    }

    #[test]
    fn sizes() {
        assert_eq!("4".parse(), Ok(Dim3([4, 1, 1])));
        assert_eq!("4,2,3".parse(), Ok(Dim3([4, 2, 3])));
        for wrong in ["", "0", "1,2,3,4", "-1", "4294967296", "x"] {
            assert!(wrong.parse::<Dim3>().is_err(), "{wrong}");
        }
    }
}
