//! The command line: every command and option, and how `argv` reaches them.

mod files;
pub mod gpus;
mod launch;
mod measure;
mod package;
mod renamed;
mod replay;
mod start;
mod wave;

use std::ffi::OsString;
use std::path::PathBuf;

use amdinst_launch::language::{self, Argument, Expectation, FollowedBack, Save, Selector};
use amdinst_report::Gate;
use amdinst_report::resources::ResourceLimit;
use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum};

pub use self::files::{FileArgs, InputArgs};
pub use self::gpus::{TestGpu, TestGpus};
pub use self::launch::{CheckArgs, Dim3, LimitArgs, TimingChoice};
pub use self::measure::{AbiChoice, CounterChoice, LevelChoice, MeasureArgs, MeasureChoice};
pub use self::package::{LockArgs, PackageArgs, RenamedSource, ToolchainArgs};
pub use self::renamed::Renamed;
pub use self::replay::ReplayArgs;
pub use self::start::{CompletionsArgs, DoctorArgs, ManArgs, NewArgs, SourceArgs};
pub use self::wave::WaveChoice;
use crate::exit::Exit;
use crate::output::is_same_file;

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
    /// Print commands as they run, and whole tables (twice: also the output of the commands)
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Print nothing but errors and the data asked for
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", help_heading = "Output")]
    pub color: Option<ColorChoice>,
}

/// When to use colors.
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
    /// Check this machine for building and running kernels, and say how to fix problems
    Doctor(DoctorArgs),
    /// Build kernels and instrument them
    Build(BuildArgs),
    /// Build, instrument and run a package's kernel tests
    Test(TestArgs),
    /// Show how the branches of the saved test run diverged
    Report(ReportArgs),
    /// Show what a code object holds: kernels, registers, occupancy, sites
    Inspect(InspectArgs),
    /// Disassemble a code object
    Disasm(DisasmArgs),
    /// Rewrite a code object so that every branch that can diverge counts what its waves do
    Instrument(InstrumentArgs),
    /// Launch a kernel in the emulator
    Run(RunArgs),
    /// Replay a recorded run in the emulator, beside the GPU's results
    Replay(ReplayArgs),
    /// Run a HIP or HSA program, unchanged, with the emulator as its GPU
    Exec(ExecArgs),
    /// Measure the cost of instrumentation for nine kernels, on a modeled GPU
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

/// `cargo amdinst setup`.
#[derive(Clone, Debug, Default, Args)]
pub struct SetupArgs {
    /// Which toolchain.
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
    /// Print the toolchain found and the steps that would follow, and change nothing
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

/// `cargo amdinst build`.
#[derive(Clone, Debug, Default, Args)]
#[command(
    after_help = "Without --counters, kernels are instrumented once for each counter storage; `test` chooses among these."
)]
pub struct BuildArgs {
    /// What to build.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Build the original code objects only
    #[arg(long, conflicts_with_all = [MeasureArgs::ID, "kernel"])]
    pub no_instrument: bool,
    /// Instrument only this kernel; may be repeated [default: all]
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// What instrumented kernels measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
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

/// `cargo amdinst test`.
#[derive(Clone, Debug, Default, Args)]
pub struct TestArgs {
    /// Which tests run.
    #[command(flatten)]
    pub which: WhichTests,
    /// What to build.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Test one file with kernels and tests, which needs no package: `cargo amdinst test --one-shot FILE.rs`
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["package", "workspace", "manifest_path", "features", "all_features"],
        hide_short_help = true
    )]
    pub one_shot: Option<PathBuf>,
    /// Run the tests once per profile, and list those that end differently: two or more, separated by commas
    #[arg(long, value_name = "P,P", value_delimiter = ',', conflicts_with_all = ["profile", "release"], hide_short_help = true)]
    pub profiles: Vec<String>,
    /// Run the tests once for each of these GPUs, side by side: processors
    /// (`gfx1100`), with a size of waves (`gfx1100/64`), or families (`cdna`, `rdna`, `rdna2`, `rdna3`,
    /// `rdna4`), separated by commas
    #[arg(
        long,
        value_name = "GPU,GPU",
        value_delimiter = ',',
        conflicts_with_all = ["profiles", "target_cpu", "wave_size", "timing", "list"],
        hide_short_help = true
    )]
    pub gpus: Vec<TestGpus>,
    /// Run the tests once for each instruction set and size of waves, side by side
    #[arg(long, conflicts_with_all = ["gpus", "profiles", "target_cpu", "wave_size", "timing", "list"])]
    pub all_gpus: bool,
    /// Run the tests once for each level of optimization of the kernels, side by side
    #[arg(long, conflicts_with_all = ["profiles", "timing", "list"], hide_short_help = true)]
    pub all_levels: bool,
    /// Run the tests in so many other orders of waves and workgroups as well, until one ends differently (on
    /// the emulator)
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["profiles", "gpus", "all_gpus", "all_levels", "timing", "list", "schedule"],
        hide_short_help = true
    )]
    pub schedules: Option<u32>,
    /// Where to launch the kernels
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
    /// Run the original kernels: nothing is counted, and assertions on branches fail
    #[arg(long, conflicts_with_all = [MeasureArgs::ID, "kernel"])]
    pub no_instrument: bool,
    /// Instrument only this kernel; may be repeated [default: all]. The others run as they were compiled
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// What instrumented kernels measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
    /// How launches run on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Measure memory accesses by source line: bytes, cache lines, bank conflicts of LDS, atomics at one
    /// address, scratch (on the emulator)
    #[arg(long, hide_short_help = true)]
    pub memory: bool,
    /// Of a fault, tell the lines that led there: where the address of an access comes from, or the condition
    /// of a panic (on the emulator)
    #[arg(long, hide_short_help = true)]
    pub why: bool,
    /// Model how long each launch takes on this GPU, original and instrumented (on the emulator)
    #[arg(long, value_name = "GPU")]
    pub timing: Option<TimingChoice>,
    /// With --timing: write when each wave was on which SIMD, as traces for Perfetto's viewer or Chrome's,
    /// one per launch: DIR/PKG/PROGRAM.TEST.NUMBER.KERNEL.json
    #[arg(long, value_name = "DIR", requires = "timing", hide_short_help = true)]
    pub timeline_dir: Option<PathBuf>,
    /// The old name of `--timeline-dir`.
    #[arg(
        long = "timeline",
        value_name = "DIR",
        hide = true,
        requires = "timing",
        conflicts_with = "timeline_dir"
    )]
    pub old_timeline: Option<PathBuf>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// With several GPUs or levels: add the table and what differs to this file as Markdown, as a job's
    /// summary on GitHub (`"$GITHUB_STEP_SUMMARY"`)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub markdown: Option<PathBuf>,
    /// More names of tests, and options of the test runner
    #[arg(last = true, value_name = "FILTER")]
    pub filters: Vec<OsString>,
}

impl TestArgs {
    /// Where traces of modeled launches go.
    pub fn timelines(&self) -> Option<&PathBuf> {
        self.timeline_dir.as_ref().or(self.old_timeline.as_ref())
    }

    /// Whether this is a run in another order, after one in the usual order.
    pub fn is_further_order(&self) -> bool {
        self.schedules.is_some() && self.limits.schedule.is_some()
    }

    /// Whether the tests run several times, side by side: once a GPU, a level of optimization or an order.
    pub fn has_columns(&self) -> bool {
        self.schedules.is_some() || self.all_gpus || !self.gpus.is_empty() || self.all_levels
    }
}

/// The heading over the options that choose tests.
const TESTS: &str = "Selecting tests";

/// Which tests run: the options that `cargo test` and nextest have for this.
#[derive(Clone, Debug, Default, Args)]
pub struct WhichTests {
    /// Run only tests whose name contains one of these
    #[arg(value_name = "TESTNAME")]
    pub names: Vec<OsString>,
    /// Run only tests whose whole name is one of TESTNAME
    #[arg(long, help_heading = TESTS, hide_short_help = true)]
    pub exact: bool,
    /// Skip tests whose name contains this; may be repeated
    #[arg(long, value_name = "NAME", help_heading = TESTS)]
    pub skip: Vec<OsString>,
    /// Run only the tests of this test target; may be repeated [default: all with `harness = false`]
    #[arg(long, value_name = "TARGET", help_heading = TESTS, hide_short_help = true)]
    pub test: Vec<String>,
    /// Run only tests that are marked `ignore`
    #[arg(long, help_heading = TESTS, hide_short_help = true)]
    pub ignored: bool,
    /// Run tests that are marked `ignore` too
    #[arg(long, conflicts_with = "ignored", help_heading = TESTS, hide_short_help = true)]
    pub include_ignored: bool,
    /// List the tests, and run none
    #[arg(long, help_heading = TESTS, hide_short_help = true)]
    pub list: bool,
    /// Build kernels and tests, and run nothing
    #[arg(long, conflicts_with_all = ["junit", "timeline_dir", "old_timeline", "profiles", "list"], help_heading = TESTS)]
    pub no_run: bool,
    /// Tests that run at once [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = TESTS)]
    pub test_threads: Option<u16>,
}

impl WhichTests {
    /// What test programs are told, by names and options of theirs.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = self.names.clone();
        for (given, option) in [
            (self.exact, "--exact"),
            (self.ignored, "--ignored"),
            (self.include_ignored, "--include-ignored"),
            (self.list, "--list"),
        ] {
            words.extend(given.then(|| option.into()));
        }
        words.extend(self.skip.iter().flat_map(|name| ["--skip".into(), name.clone()]));
        words.extend(self.test_threads.iter().flat_map(|n| ["--test-threads".into(), n.to_string().into()]));
        words
    }

    /// What of the words, and of `filters` behind them, leaves tests out.
    pub fn choosing(&self, filters: &[OsString]) -> Vec<String> {
        let chosen =
            Self { exact: false, list: false, include_ignored: false, test_threads: None, ..self.clone() };
        let is_name = |word: &&OsString| !word.to_string_lossy().starts_with('-') || *word == "--skip";
        let behind: Vec<_> = filters.iter().filter(is_name).cloned().collect();
        let separator = (!behind.is_empty()).then(|| "--".into());
        let targets = self.test.iter().flat_map(|target| ["--test".into(), target.into()]);
        let words = chosen.words().into_iter().chain(targets).chain(separator).chain(behind);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
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
Limits, as in --fail-on diverged:5% (at most 5 %; for `active`, `coalescing` and `occupancy`: at least). Or as a comparison that must be
false, as in --fail-on 'diverged>5%' (<, <=, > or >=):
  diverged           executions of a branch that diverged; with %, their share
  active             lanes that stay active at a branch, on average
  lost               lanes that stood idle because of a branch
                     (these three pass over branches marked #[probe(expect)])
  occupancy          waves of a kernel that a SIMD can hold, for the original
  sgprs, vgprs, lds, scratch
                     resources of a kernel, for the original
  ticks              the median time of a kernel's waves, if times were measured
  cycles             cycles of a kernel's launch on average, if they were modeled (test --timing)
  slower             with --baseline: by how much a kernel takes longer, as in slower>5%
  coalescing         at least: cache lines that a line's access needs, in % of those it touches
  bank-conflicts     cycles that bank conflicts of LDS cost a line; with %, their share
  same-address       lanes of an atomic at one address
  scratch-bytes      bytes that a kernel loads from scratch and stores there
                     (these four: if memory was measured, test --memory)
  refused            sites and kernels that were not instrumented
  worse              with --baseline: anything that is worse than there")]
pub struct ReportArgs {
    /// Package whose run is shown [default: the one in the current directory]
    #[arg(short, long, value_name = "PKG")]
    pub package: Option<String>,
    /// Path of Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// A saved run [default: the package's last, target/amdinst/PKG/last-run.json]
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// After tests on several GPUs, the run of one: `gfx1100/64` [default: all, side by side]
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,
    /// Only this kernel; may be repeated [default: all]
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// Branches shown (0: none): those that lost the most lanes; or lines, those that ran most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: ReportFormat,
    /// Compare with an earlier run: what `--format json` printed, or a saved run
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// A limit; may be repeated: exit code 12 if something is beyond it, see below
    #[arg(long, value_name = "LIMIT")]
    pub fail_on: Vec<Gate>,
    /// Write the report as one page for a browser, DIR/index.html, which needs nothing else
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
    /// Write the coverage of branches by lanes as an LCOV tracefile, for genhtml, Codecov or an editor
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Write faults and passed limits as SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

/// `cargo amdinst inspect`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Limits of --resources, as in --fail-on vgprs:128 (at most 128; for `occupancy`: at least). Or as a comparison that must be
false, as in --fail-on 'vgprs>128' (<, <=, > or >=):
  spills             registers that the compiler had to spill; the word alone: none may be
  scratch            bytes of scratch memory a work-item
  occupancy          waves a SIMD, in the largest workgroup that the kernel allows
  vgprs agprs sgprs  registers
  lds                bytes of LDS a workgroup
  code               bytes of code
With --baseline, how much worse each may be: vgprs:+8, occupancy:-1, code:+5%; or `worse`: nothing may be.")]
pub struct InspectArgs {
    /// Which code objects.
    #[command(flatten)]
    pub input: InputArgs,
    /// Show one line a kernel: registers, spills, LDS, scratch memory, occupancy, bytes of code
    #[arg(long)]
    pub resources: bool,
    /// Only this kernel; may be repeated
    #[arg(long, value_name = "K", requires = "resources")]
    pub kernel: Vec<String>,
    /// Show the kernels that differ from those of an earlier file, or of what `--resources --format json`
    /// printed
    #[arg(long, value_name = "FILE", requires = "resources")]
    pub baseline: Option<PathBuf>,
    /// A limit; may be repeated: exit code 12 if a kernel is beyond it, see below
    #[arg(long, value_name = "LIMIT", requires = "resources")]
    pub fail_on: Vec<ResourceLimit>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: InspectFormat,
}

/// How `inspect` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InspectFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON document, which `--baseline` takes.
    Json,
    /// Of --resources: Markdown, for a job's summary or a comment.
    Markdown,
    /// Of --resources: workflow commands that GitHub shows, one for each kernel beyond a limit.
    Github,
}

/// `cargo amdinst disasm`.
#[derive(Clone, Debug, Args)]
pub struct DisasmArgs {
    /// Which code objects.
    #[command(flatten)]
    pub input: InputArgs,
    /// Only this kernel; may be repeated [default: all of the code]
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
#[command(group = ArgGroup::new("result").args(["output", "plan"]).required(true))]
pub struct InstrumentArgs {
    /// Which code object.
    #[command(flatten)]
    pub input: FileArgs,
    /// The instrumented code object; its probe map goes beside it. Or use --plan, which writes nothing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write the whole bundle, library or program with all its code objects instrumented, not one code object
    /// on its own; implied when OUT is FILE
    #[arg(long)]
    pub whole: bool,
    /// Only this kernel; may be repeated [default: all]
    #[arg(long, value_name = "K")]
    pub kernel: Vec<String>,
    /// What to measure.
    #[command(flatten)]
    pub measuring: MeasureArgs,
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

/// `cargo amdinst run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = language::HELP)]
#[command(mut_group(MeasureArgs::ID, |group| group.requires("report")))]
pub struct RunArgs {
    /// Which code object.
    #[command(flatten)]
    pub input: InputArgs,
    /// The kernel to launch [default: the only one]
    #[arg(long, value_name = "K")]
    pub kernel: Option<String>,
    /// Workgroups
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub grid: Dim3,
    /// Work-items per workgroup
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Dim3,
    /// Dynamic LDS, added to the kernel's static LDS
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub lds: u32,
    /// A file with another code object, whose functions the kernel may call by their addresses; may be
    /// repeated
    #[arg(long, value_name = "FILE", conflicts_with = "report")]
    pub with: Vec<PathBuf>,
    /// An argument, see below
    #[arg(long = "arg", value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    pub args: Vec<Argument>,
    /// Print elements of a buffer argument after the launch, see below; may be repeated
    #[arg(long, value_name = "ARG[:TYPE][RANGE]")]
    pub print: Vec<Selector>,
    /// Write a buffer argument to a file after the launch; may be repeated
    #[arg(long, value_name = "ARG=FILE")]
    pub save: Vec<Save>,
    /// Compare a buffer argument with a file after the launch, see below; may be repeated
    #[arg(long, value_name = "ARG=FILE[~TOL]")]
    pub expect: Vec<Expectation>,
    /// Print the lines that made an element of a buffer argument, from its value backwards; of a NaN or an
    /// infinity, the way back to where it was made. `fault`: the lines that led to the launch's fault
    #[arg(long, value_name = "ARG[INDEX]|fault")]
    pub why: Option<FollowedBack>,
    /// Print the instructions that one wave runs, with the registers that each writes
    #[arg(long)]
    pub trace: bool,
    /// With --trace: the wave, by its index in the launch or by its workgroup [default: 0; if the kernel
    /// faults: the wave at fault]
    #[arg(long, value_name = "N|X[,Y[,Z]]:N", requires = "trace")]
    pub trace_wave: Option<WaveChoice>,
    /// With --trace: the lane whose vector registers are printed [default: 0; if the kernel faults: the lane
    /// at fault]
    #[arg(long, value_name = "N", requires = "trace")]
    pub trace_lane: Option<u8>,
    /// With --trace: instructions that are printed, at most
    #[arg(long, value_name = "N", default_value_t = 200, requires = "trace")]
    pub trace_limit: u32,
    /// With --trace: print the instructions that ran last, not first [default: if the kernel faults]
    #[arg(long, requires = "trace")]
    pub trace_last: bool,
    /// The subject of the measurement.
    #[command(flatten)]
    pub measuring: MeasureArgs,
    /// How it runs on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Print how many instructions ran, how fast, and how faithfully each is executed
    #[arg(long)]
    pub stats: bool,
    /// Run the original and the instrumented kernel, compare, and print how each branch diverged, or what
    /// else was measured
    #[arg(long)]
    pub report: bool,
    /// With --report: write what each wave counted, one line of JSON each; a report has some waves of a large
    /// launch
    #[arg(long, value_name = "FILE", requires = "report")]
    pub waves: Option<PathBuf>,
    /// Measure its memory accesses by source line: bytes, cache lines, bank conflicts of LDS, atomics at one
    /// address, scratch
    #[arg(long)]
    pub memory: bool,
    /// Model how long it takes on this GPU, and where the cycles go; with --report of the instrumented kernel
    /// too
    #[arg(long, value_name = "GPU")]
    pub timing: Option<TimingChoice>,
    /// With --timing: write when each wave was on which SIMD, as a trace for Perfetto's viewer or Chrome's
    #[arg(long, value_name = "FILE", requires = "timing")]
    pub timeline: Option<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
}

/// The options of `exec` that have kernels instrumented.
const COUNTING: &str = "counting";

/// `cargo amdinst exec`.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new(COUNTING).multiple(true)))]
#[command(after_help = "\
The program finds the installed ROCm runtime (5.2 or later: HIP, libhsa-runtime64.so.1) as it does without this command. A \
library that is preloaded (LD_PRELOAD) answers for the kernel's driver; there need be no /dev/kfd. The exit code is the program's \
own.")]
pub struct ExecArgs {
    /// The GPU's processor: gfx900, gfx906, gfx908, gfx90a, gfx942, gfx1010, gfx1030, gfx1100 or gfx1201, as
    /// far as the runtime knows it [default: gfx90a; under `cargo amdinst test`, the processor of the tests]
    #[arg(long, value_name = "CPU")]
    pub target_cpu: Option<String>,
    /// How many GPUs there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub gpus: u32,
    /// How it runs on the emulator.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Instrument code objects as the program loads them, as `cargo amdinst instrument --abi global` does
    #[arg(long, group = COUNTING)]
    pub instrument: bool,
    /// Instrument, and print how each branch of the kernels diverged when the program ends, on stderr
    #[arg(long, group = COUNTING)]
    pub report: bool,
    /// Where counters are stored while a kernel runs (with --instrument or --report) [default: auto]
    #[arg(long, value_name = "STORAGE", requires = COUNTING)]
    pub counters: Option<CounterChoice>,
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
    /// The GPU to model
    #[arg(long, value_name = "GPU", default_value = "vega10")]
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
#[command(mut_arg("message_format", |arg| arg.hide(true)))]
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
    #[arg(long, value_name = "CPU", default_value = "gfx90a")]
    pub target_cpu: String,
    /// Only mnemonics that contain this
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How to print
    #[arg(long, value_name = "FMT", default_value = "human")]
    pub format: Format,
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
}
