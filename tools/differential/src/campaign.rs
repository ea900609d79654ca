//! Many batches of programs, on all cores, and what came of them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use amdgpu_isa::Arch;
use anyhow::{Context as _, Result, bail, ensure};
use rayon::prelude::*;

use crate::coverage::Coverage;
use crate::difference::Difference;
use crate::generate::Calls;
use crate::program::{Pressure, Program};
use crate::run::{self, Checks, Outcome};
use crate::target::Target;
use crate::{generate, reduce, render, toolchain, triage};

/// The optimisation levels, which take turns. The quickest to compile stands in most of them.
const LEVELS: [&str; 8] = ["-O1", "-O0", "-O1", "-O2", "-O1", "-O1", "-O3", "-O1"];

/// Run random programs on the emulator and on the host, and compare their memory
#[derive(Clone, Debug, clap::Parser)]
#[command(
    name = "differential",
    bin_name = "cargo xtask corpus differential",
    after_help = "\
        The first programs of a seed do one operation each, the others mix them. A long run can be cut into slices with \
        --first (multiples of --batch), whose coverage adds up in the file of --coverage. Clang takes most of the time; \
        the emulator is optimised in the development profile, so --release gains little."
)]
pub struct Options {
    /// How many programs
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub programs: u64,
    /// The seed that they are made up from
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
    /// The number of the first program
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub first: u64,
    /// A processor to compile them for (repeatable)
    #[arg(
        long,
        default_values_t = [Arch::Gfx900, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1151, Arch::Gfx1201],
        value_name = "CPU"
    )]
    pub target_cpu: Vec<Arch>,
    /// Lanes of a wave, where a processor has several sizes; each one when left out
    #[arg(long, value_name = "LANES")]
    pub wave_size: Option<u32>,
    /// Run each batch on one of the processors, in waves of one size, in turn, and not on all of them
    #[arg(long)]
    pub one_target: bool,
    /// Programs of a batch, which are compiled together
    #[arg(long, default_value_t = 128, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: u64,
    /// Batches at a time; 0 for one a core
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub jobs: usize,
    /// Do not run them on the host
    #[arg(long)]
    pub no_host: bool,
    /// Instrument each program with every counter home at both levels, and compare memory, and counters with
    /// the emulator's count
    #[arg(long)]
    pub instrument: bool,
    /// Make kernels short of registers, in ways that take turns: spills, none to spare. The host does nothing
    /// alike
    #[arg(long, requires = "no_host")]
    pub pressure: bool,
    /// Have programs call functions often, and all through pointers
    #[arg(long)]
    pub pointers: bool,
    /// Where programs that differ are written, as C
    #[arg(long, default_value = "target/differential", value_name = "DIR")]
    pub keep: PathBuf,
    /// Leave programs that differ as they are, instead of cutting them down
    #[arg(long)]
    pub no_reduce: bool,
    /// Also print which mnemonics no program executed
    #[arg(long)]
    pub missing: bool,
    /// A file of mnemonics executed: its counts are added, and all is written to it, so that slices add up
    #[arg(long, value_name = "FILE")]
    pub coverage: Option<PathBuf>,
}

impl Options {
    fn checks(&self) -> Checks {
        Checks { host: !self.no_host, instrument: self.instrument }
    }

    fn program(&self, index: u64) -> Program {
        let pressure = if self.pressure { Pressure::of(index) } else { Pressure::None };
        let calls = if self.pointers { Calls::ByPointer } else { Calls::Seldom };
        Program { pressure, ..generate::program(self.seed, index, calls) }
    }
}

/// What a campaign did.
#[derive(Debug, Default)]
pub struct Report {
    /// Outcome of the runs on both sides, added up.
    pub outcome: Outcome,
    /// Programs that were compiled and run.
    pub programs: u64,
    /// What clang would not compile, with its first words.
    pub refused: Vec<(u64, String)>,
    /// One line a difference.
    pub differences: Vec<String>,
}

/// Runs the campaign and prints what came of it. `Ok(false)` if anything differs.
///
/// # Errors
/// Clang is missing, or nothing can be written.
pub fn run(options: &Options) -> Result<bool> {
    if !toolchain::installed() {
        bail!("clang-22 and ld.lld-22 are not installed (apt-get install clang-22 lld-22)");
    }
    ensure!(
        !targets(options, 0).is_empty(),
        "none of the processors has waves of {} lanes",
        options.wave_size.unwrap_or_default()
    );
    let start = Instant::now();
    let report = campaign(options)?;
    let mut executed = report.outcome.coverage.clone();
    if let Some(path) = &options.coverage {
        if path.exists() {
            executed.add(&Coverage::read(path)?);
        }
        std::fs::write(path, executed.lines()).with_context(|| format!("writing {}", path.display()))?;
    }
    print!("{}", executed.summary(options.missing));
    if options.instrument {
        print!("{}", report.outcome.transparency);
    }
    for (target, runs) in &report.outcome.runs {
        println!("{target}: {runs} runs");
    }
    for (index, words) in &report.refused {
        println!("program {index}: refused by clang: {words}");
    }
    for line in &report.differences {
        println!("DIFFERENCE {line}");
    }
    let runs: u64 = report.outcome.runs.values().sum();
    println!(
        "seed {}: {} programs, {runs} runs, {} refused by clang, {} wave-instructions, {} mnemonics, {:.0} s; {} differences",
        options.seed,
        report.programs,
        report.refused.len(),
        report.outcome.wave_instructions,
        report.outcome.coverage.mnemonics(),
        start.elapsed().as_secs_f64(),
        report.differences.len()
    );
    Ok(report.differences.is_empty())
}

/// Runs every batch.
///
/// # Errors
/// The host's side fails, or nothing can be written.
pub fn campaign(options: &Options) -> Result<Report> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let input = run::input(options.seed);
    let batches = options.programs.div_ceil(options.batch.max(1));
    let report = Mutex::new(Report::default());
    pool.install(|| {
        (0..batches).into_par_iter().try_for_each(|batch| {
            let first = options.first + batch * options.batch;
            let end = (first + options.batch).min(options.first + options.programs);
            let programs: Vec<Program> = (first..end).map(|index| options.program(index)).collect();
            one_batch(options, &programs, &input, &report)
        })
    })?;
    let mut report = report.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    report.refused.sort();
    report.differences.sort();
    Ok(report)
}

/// The targets of a batch: each processor, with waves of each size, at a level; levels take turns.
fn targets(options: &Options, batch: u64) -> Vec<Target> {
    let sizes = |arch: Arch| {
        let sizes = arch.generation().wave_sizes().iter().map(|wave| wave.lanes());
        let wanted = sizes.filter(|lanes| options.wave_size.is_none_or(|wanted| wanted == *lanes));
        wanted.map(move |lanes| (arch, lanes))
    };
    let kinds: Vec<_> = options.target_cpu.iter().copied().flat_map(sizes).collect();
    let at_level = |(arch, lanes), turn: u64| Target { arch, lanes, level: LEVELS[(turn % 8) as usize] };
    if options.one_target {
        // None where no processor has waves of the size.
        let count = (kinds.len() as u64).max(1);
        let kind = kinds.get((batch % count) as usize);
        kind.map(|&kind| at_level(kind, batch / count)).into_iter().collect()
    } else {
        kinds.into_iter().zip(batch..).map(|(kind, turn)| at_level(kind, turn)).collect()
    }
}

fn one_batch(options: &Options, programs: &[Program], input: &[u8], report: &Mutex<Report>) -> Result<()> {
    let targets = targets(options, programs[0].index / options.batch.max(1));
    let outcome = match run::compare(programs, &targets, input, options.checks()) {
        Ok(outcome) => outcome,
        Err(error) if programs.len() == 1 => {
            let words = format!("{error:#}");
            let line = words.lines().find(|line| line.contains("error")).unwrap_or(&words).to_owned();
            lock(report).refused.push((programs[0].index, line));
            return Ok(());
        }
        // One program that clang cannot compile must not take the others with it.
        Err(_) => {
            let (left, right) = programs.split_at(programs.len() / 2);
            one_batch(options, left, input, report)?;
            return one_batch(options, right, input, report);
        }
    };
    let lines = outcome
        .differences
        .iter()
        .map(|(slot, target, difference)| {
            let program = &programs[*slot];
            let mut line = format!("program {} {target}: {difference}", program.index);
            // Instrumented forms are none of the compiler's.
            if !matches!(difference, Difference::Instrumented(..)) {
                let verdict = triage::triage(program, target, input, !options.no_host);
                verdict.iter().for_each(|verdict| line.push_str(&format!("; {verdict}")));
            }
            eprintln!("{line}");
            let path = keep(options, program, target, (difference, &line), input)?;
            Ok(format!("{line}; see {}", path.display()))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut report = lock(report);
    report.programs += programs.len() as u64;
    report.outcome.add(outcome);
    report.differences.extend(lines);
    Ok(())
}

fn lock(report: &Mutex<Report>) -> std::sync::MutexGuard<'_, Report> {
    report.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Cuts a program that differs down, and writes it.
fn keep(
    options: &Options,
    program: &Program,
    target: &Target,
    (difference, line): (&Difference, &str),
    input: &[u8],
) -> Result<PathBuf> {
    let (program, last) = if options.no_reduce {
        (program.clone(), line.to_owned())
    } else {
        let (program, difference) = reduce::reduce(program, target, input, options.checks(), difference);
        let line = difference.map_or_else(|| line.to_owned(), |difference| difference.to_string());
        (program, line)
    };
    std::fs::create_dir_all(&options.keep).with_context(|| format!("creating {}", options.keep.display()))?;
    let lanes = target.lanes;
    let name =
        format!("seed-{}-program-{}-{}-{lanes}{}.c", options.seed, program.index, target.arch, target.level);
    let path = options.keep.join(name);
    let text = format!("// {target}: {last}\n{}", render::source(std::slice::from_ref(&program)));
    std::fs::write(&path, text)?;
    std::fs::write(options.keep.join("prelude.h"), render::PRELUDE)?;
    Ok(path)
}
