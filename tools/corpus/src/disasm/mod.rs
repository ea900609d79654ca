//! `cargo xtask corpus disasm`: our disassembly and `llvm-objdump`'s, line by line.

pub(crate) mod compare;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::sources::{self, Sources};
use compare::Comparison;

/// Options of `cargo xtask corpus disasm`.
///
/// Every code object for a known processor is taken out of the files, disassembled by us and by
/// `llvm-objdump -d`, and the two listings are compared line by line: labels, instructions, addresses, bytes,
/// branch targets, data, gaps.
#[derive(Debug, clap::Args)]
#[command(after_help = sources::HELP)]
pub(crate) struct Options {
    /// What is gone over
    #[command(flatten)]
    sources: Sources,
    /// How many code objects are worked on at a time; all cores when left out
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// LLVM's disassembler
    #[arg(long, value_name = "PATH", default_value = "llvm-objdump-22")]
    llvm_objdump: PathBuf,
    /// How many differences are shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,
}

/// What was compared, and how it went.
#[derive(Clone, Debug, Default)]
struct Tally {
    objects: u64,
    instructions: u64,
    other_lines: u64,
    different: u64,
    ours: Duration,
    llvm: Duration,
}

impl Tally {
    fn add(&mut self, comparison: &Comparison) {
        self.objects += 1;
        self.instructions += comparison.instructions;
        self.other_lines += comparison.other_lines;
        self.different += comparison.different;
        self.ours += comparison.ours;
        self.llvm += comparison.llvm;
    }
}

/// Compares. `Ok(false)` when something differs.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut shown = 0;
    for path in options.sources.files()? {
        let bytes = sources::map(&path).with_context(|| format!("opening {}", path.display()))?;
        let objects = options.sources.code_objects(&bytes).with_context(|| format!("{}", path.display()))?;
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        let work = || -> Result<()> {
            let directory = tempfile::tempdir()?;
            while let Some((arch, code)) = objects.get(next.fetch_add(1, Ordering::Relaxed)) {
                let comparison = compare::compare(&options.llvm_objdump, directory.path(), code)?;
                results.lock().expect("no thread panics").push((arch.to_string(), comparison));
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs.min(objects.len())).map(|_| scope.spawn(work)).collect();
            let results = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
            results.collect::<Result<Vec<()>>>()
        })
        .with_context(|| format!("{}", path.display()))?;
        for (target, comparison) in results.into_inner()? {
            tallies.entry(target).or_default().add(&comparison);
            for example in comparison.examples.iter().take(options.show.saturating_sub(shown)) {
                println!("{}:\n{example}", path.display());
                shown += 1;
            }
        }
    }
    if tallies.is_empty() {
        bail!("no code object for a known processor");
    }
    print(&tallies);
    Ok(tallies.values().all(|tally| tally.different == 0))
}

fn print(tallies: &BTreeMap<String, Tally>) {
    println!(
        "{:<8} {:>7} {:>13} {:>11} {:>11} {:>9} {:>9}",
        "target", "objects", "instructions", "other lines", "differences", "ours s", "llvm s"
    );
    let mut total = Tally::default();
    let line = |name: &str, tally: &Tally| {
        println!(
            "{name:<8} {:>7} {:>13} {:>11} {:>11} {:>9.1} {:>9.1}",
            tally.objects,
            tally.instructions,
            tally.other_lines,
            tally.different,
            tally.ours.as_secs_f64(),
            tally.llvm.as_secs_f64()
        );
    };
    for (name, tally) in tallies {
        line(name, tally);
        total.objects += tally.objects;
        total.instructions += tally.instructions;
        total.other_lines += tally.other_lines;
        total.different += tally.different;
        total.ours += tally.ours;
        total.llvm += tally.llvm;
    }
    line("total", &total);
}
