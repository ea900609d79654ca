//! The program behind `cargo xtask corpus mutants`: mutated code objects on the whole path, on all processors
//! of this machine.

#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use differential::dice::Dice;
use differential::hostile::check::{Reached, whole_path};
use differential::hostile::mutate::mutate;
use rayon::prelude::*;

/// Mutate code objects, and take each all the way: container, code object, plan, rewriting, verification,
/// launches
#[derive(Debug, Parser)]
#[command(name = "mutants", bin_name = "cargo xtask corpus mutants")]
struct Options {
    /// What the mutants are made from
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// The first one's number
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// What they are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// An input may take so long
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    time_limit: u64,
    /// All of them together may take so much memory at a time
    #[arg(long, value_name = "MB", default_value_t = 512)]
    memory_limit: u64,
    /// Begin none after so long (default: none is left out)
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// Keep those that fail here
    #[arg(long, value_name = "DIR", default_value = "target/mutants")]
    keep: PathBuf,
}

fn main() -> ExitCode {
    differential::exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<bool> {
    let read = |path: &PathBuf| std::fs::read(path).with_context(|| path.display().to_string());
    let files = options.files.iter().map(read).collect::<Result<Vec<_>>>()?;
    for (path, file) in options.files.iter().zip(&files) {
        let reached =
            whole_path(file).map_err(anyhow::Error::msg).with_context(|| path.display().to_string())?;
        ensure!(reached.parsed > 0, "{} holds no code object that can be read", path.display());
    }
    let started = Instant::now();
    let (tally, slowest) = (Mutex::new(Reached::default()), Mutex::new((Duration::ZERO, 0)));
    let sound = AtomicBool::new(true);
    let until = options.seconds.map(|seconds| started + Duration::from_secs(seconds));
    (options.first..options.first + options.count).into_par_iter().for_each(|number| {
        if until.is_some_and(|until| Instant::now() >= until) {
            return;
        }
        let mut dice = Dice::new(options.seed, number);
        let mut bytes = dice.pick(&files).clone();
        mutate(&mut bytes, &mut dice);
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| whole_path(&bytes)));
        let took = begun.elapsed();
        let failure = match ended {
            Ok(Ok(reached)) => {
                *tally.lock().expect("nobody panics with it") += reached;
                (took > Duration::from_secs(options.time_limit)).then(|| format!("it takes {took:.1?}"))
            }
            Ok(Err(what)) => Some(what),
            Err(_) => Some("panic".to_owned()),
        };
        let mut slowest = slowest.lock().expect("nobody panics with it");
        *slowest = (*slowest).max((took, number));
        drop(slowest);
        if let Some(what) = failure {
            sound.store(false, Relaxed);
            let path = options.keep.join(format!("{}-{number}.elf", options.seed));
            let kept = std::fs::create_dir_all(&options.keep).and_then(|()| std::fs::write(&path, &bytes));
            println!("{}: {what}{}", path.display(), if kept.is_ok() { "" } else { " (not kept)" });
        }
    });
    let (took, number) = *slowest.lock().expect("nobody panics with it");
    println!(
        "{:?} in {:.1} s; the slowest is number {number}, {took:.2?}",
        tally.lock().expect("nobody panics with it"),
        started.elapsed().as_secs_f64()
    );
    let peak = peak()?;
    println!("peak memory: {peak} MB");
    Ok(sound.load(Relaxed) && peak <= options.memory_limit)
}

/// The most memory that this process has had, in MB.
fn peak() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmHWM")?;
    Ok(kilobytes / 1000)
}
