//! `cargo xtask test`: the whole test suite, in the order in which it fails fastest. Kernels are built and
//! tested, and what needs them is tried, beside the host tests: each of the two leaves cores idle, with its
//! standard library in one process of rustc, or with its longest tests.
//!
//! What the suite needs and the machine lacks is skipped, loudly and with the reason;
//! `AMDINST_REQUIRE_TOOLS=1` turns each skip into a failure, as continuous integration wants it. What was
//! missing is said once more at the end, with the one command that brings it.

mod junit;
mod kernels;
mod referees;
mod step;
mod tally;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use step::{Counting, Step};
use tally::Tally;

/// Options of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Run only the steps whose name contains one of these words
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Leave out the steps whose name contains this, may be repeated
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// Print the names of the steps and stop
    #[arg(long)]
    list: bool,
    /// Where the results go as JUnit XML, one file a step
    #[arg(long, value_name = "DIR", default_value = "target/junit")]
    junit: PathBuf,
    /// Try kernels on each processor at each level of optimization, not each level on one of them
    #[arg(long)]
    every_level: bool,
    /// Minutes after which a step is ended and has failed (default: none)
    #[arg(long, value_name = "MINUTES")]
    limit: Option<u32>,
}

/// All packages but those with kernels, whose tests only `cargo amdinst test` can run.
const WITHOUT_KERNELS: [&str; 12] = [
    "--exclude",
    "test-kernels",
    "--exclude",
    "features",
    "--exclude",
    "matvec",
    "--exclude",
    "panics",
    "--exclude",
    "portability",
    "--exclude",
    "rodinia",
];
/// The HIP runtime of Debian 12.
const HIP: &str = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";

/// Every step.
fn steps(junit: &Path, every_level: bool) -> Vec<Step> {
    let mut steps = vec![
        Step::new("format", Counting::One, ["fmt", "--all", "--", "--check"]).needs_component("rustfmt"),
        Step::new("lint", Counting::One, ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
            .needs_component("clippy"),
        // By itself, for it fills all cores; what the steps behind it ask cargo for is there then.
        Step::new(
            "build",
            Counting::One,
            [&["test", "--no-run", "--workspace"][..], &WITHOUT_KERNELS].concat(),
        ),
    ];
    let set_up = [
        Step::new("set-up", Counting::One, ["amdinst", "setup"]).after_all(),
        // That every form of the nine kernels leaves the same memory and counts the same, those of 2022 among
        // them.
        Step::new("evaluation", Counting::One, ["amdinst", "bench", "seed", "--quick"]),
        Step::new(
            "evaluation mi210",
            Counting::One,
            ["amdinst", "bench", "seed", "--quick", "--timing", "mi210"],
        ),
    ];
    steps.extend(set_up.map(Step::beside));
    let compiled = kernels::compiled(every_level);
    steps.extend(compiled.iter().map(|kernels| kernels.build().beside()));
    // Its test holds modelled rates against measured ones, where there is a model.
    let args = ["amdinst", "test", "--device", "emu", "-p", "matvec", "--timing", "mi210"];
    steps.push(Step::new("model matvec", Counting::One, args).beside());
    steps.extend(compiled.iter().flat_map(|kernels| kernels.tests(junit)).map(Step::beside));
    // The same tests through the real HIP runtime, under which the emulator stands in for the driver; and
    // once more without it, for what the two count must be the same.
    for home in kernels::HOMES {
        let name = format!("runtime {home}");
        let args = ["xtask", "devices", "-p", "test-kernels", "--counters", home];
        let mut step =
            Step::new(&name, Counting::Tests, args).writing_junit(junit).needs_file(HIP, "libamdhip64-5");
        // The tests in modules: not those of `failures`, whose faults end the program here, as they do on a
        // GPU; those of `formats` once, for they are the longest.
        step.args.extend(["--", "::", "--skip", "called::"].map(str::to_owned));
        if home != kernels::HOMES[0] {
            step.args.extend(["--skip", "formats::"].map(str::to_owned));
        }
        steps.push(step.beside());
    }
    // Panics that say why: their kernels are compiled otherwise than all others, which is for the emulator
    // what it is for the runtime.
    let args = ["amdinst", "test", "--device", "emu", "-p", kernels::PANICS];
    steps.push(Step::new("panics", Counting::Tests, args).writing_junit(junit).beside());
    let args = ["xtask", "devices", "-p", "rodinia", "-p", "matvec", "-p", kernels::PANICS];
    let packages = Step::new("runtime packages", Counting::Tests, args).needs_file(HIP, "libamdhip64-5");
    // Behind the kernels, for it shows what was built of them.
    steps.extend([packages, Step::new("readme", Counting::One, ["xtask", "readme"])].map(Step::beside));
    steps.extend([
        // The output of tests that passed is asked for because skips are told in it; `Step::run` shows only
        // those.
        Step::new(
            "host tests",
            Counting::Tests,
            [&["xtask", "programs"][..], &WITHOUT_KERNELS, &["--", "--show-output"]].concat(),
        )
        .gives_way(),
        // With what the step before has built, so of the same packages: cargo turns on the features that the
        // packages of one command ask for, and what is built with others is built once more. Whether the
        // benchmarks work, not how fast they are.
        Step::new(
            "benchmarks",
            Counting::One,
            [
                &["bench", "--profile", "dev", "--workspace"][..],
                &WITHOUT_KERNELS,
                &["--bench", "throughput", "--bench", "modes", "--bench", "opcodes", "--", "--test"],
            ]
            .concat(),
        ),
        Step::new("bindings", Counting::One, ["xtask", "bindgen", "--check"])
            .needs_file("/usr/include/hip/hip_runtime_api.h", "libamdhip64-dev"),
        Step::new("documentation", Counting::One, ["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    ]);
    steps
}

/// What the steps have come to so far.
struct Suite {
    /// Where the results go.
    junit: PathBuf,
    total: Tally,
    /// The summary's, one a step.
    lines: Vec<String>,
}

impl Suite {
    /// Takes in what a step came to.
    fn ended(&mut self, step: &Step, tally: Tally, took: Duration) -> Result<()> {
        let seconds = took.as_secs_f64();
        if !step.writes_junit {
            junit::write(&step.junit(&self.junit), &step.name, &tally, seconds)?;
        }
        self.lines.push(format!("{seconds:>7.1} s  {:<28} {}", step.name, tally.summary()));
        self.total.add(tally);
        Ok(())
    }
}

/// Runs the suite. `Ok(false)` when something failed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let junit = crate::workspace_root().join(&options.junit);
    let mut steps = steps(&junit, options.every_level);
    if !options.only.is_empty() {
        steps.retain(|step| options.only.iter().any(|word| step.name.contains(word.as_str())));
        if steps.is_empty() {
            bail!(
                "no step's name contains `{}`; `cargo xtask test --list` names them",
                options.only.join("` or `")
            );
        }
    }
    steps.retain(|step| !options.skip.iter().any(|word| step.name.contains(word.as_str())));
    if options.list {
        steps.iter().for_each(|step| println!("{}", step.name));
        return Ok(true);
    }
    std::fs::create_dir_all(&junit)?;
    let strict = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");

    let mut suite = Suite { junit, total: Tally::default(), lines: Vec::new() };
    // Each stage begins with a step that comes after all before it.
    for stage in steps.chunk_by(|_, next| !next.after_all) {
        let (beside, main): (Vec<&Step>, Vec<&Step>) = stage.iter().partition(|step| step.beside);
        std::thread::scope(|scope| -> Result<()> {
            let running = scope.spawn(|| -> Result<Vec<_>> {
                let run = |step: &&Step| {
                    let start = Instant::now();
                    Ok((step.run_beside(strict, options.limit)?, start.elapsed()))
                };
                beside.iter().map(run).collect()
            });
            for step in main {
                step.announce();
                let start = Instant::now();
                let tally = step.run(strict, options.limit)?;
                suite.ended(step, tally, start.elapsed())?;
            }
            let ended = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            for (step, ((tally, printed), took)) in beside.iter().zip(ended) {
                step.announce();
                std::io::stdout().write_all(&printed)?;
                suite.ended(step, tally, took)?;
            }
            Ok(())
        })?;
    }
    let Suite { total, lines, .. } = suite;

    println!("\n==> summary");
    lines.iter().for_each(|line| println!("{line}"));
    for reason in &total.skips {
        println!("SKIPPED {reason}");
    }
    for name in &total.failures {
        println!("FAILED {name}");
    }
    for line in referees::Missing::here().lines(referees::is_root()) {
        println!("{line}");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0)
}
