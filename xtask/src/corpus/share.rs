//! `cargo xtask corpus share`: the share of branches that can be instrumented, and a table of what is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use amdinst_core::instrument::{Counters, InstrumentError, Options as Instrument, Reason, apply, plan};
use amdinst_core::object::CodeObject;
use anyhow::{Context as _, Result, bail};
use rayon::prelude::*;

use super::sources::{self, Sources};

/// Options of `cargo xtask corpus share`.
///
/// Every code object for a GFX9 processor is taken out of the files and instrumented, which includes that two readers take
/// the result. Branches are told apart by their address, so one in a function that several kernels call counts once.
#[derive(Debug, clap::Args)]
#[command(after_help = sources::HELP)]
pub(crate) struct Options {
    /// What is gone over
    #[command(flatten)]
    sources: Sources,
    /// Where counters are to live: auto, register, lds or global
    #[arg(long, value_name = "HOME", default_value = "auto", value_parser = home)]
    counters: Counters,
    /// How many code objects are worked on at a time; 0 for one a core
    #[arg(long, default_value_t = 0, value_name = "N")]
    jobs: usize,
    /// How many refusals of each reason are shown in full
    #[arg(long, value_name = "N", default_value_t = 2)]
    show: usize,
}

fn home(text: &str) -> Result<Counters, String> {
    serde_json::from_value(text.into()).map_err(|error: serde_json::Error| error.to_string())
}

/// What became of the code objects of a processor.
#[derive(Debug, Default)]
struct Tally {
    objects: usize,
    /// Bytes of their `.text`.
    text: usize,
    kernels: usize,
    /// Kernels with counters, by home.
    homes: BTreeMap<&'static str, usize>,
    without_sites: usize,
    refused_kernels: usize,
    sites: usize,
    counted: usize,
    /// Writes of EXEC that may be branches.
    unclassified: usize,
    /// Kernels and branches that were refused, by reason.
    refusals: BTreeMap<(bool, Reason), usize>,
    /// Writes of EXEC that are no branch, by what they are.
    others: BTreeMap<String, usize>,
    examples: BTreeMap<Reason, Vec<String>>,
    /// Code objects that were refused as a whole, or came out wrong.
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, object: &CodeObject, name: &str, options: &Options) {
        self.objects += 1;
        self.text += object.text.range.len();
        let plan = match plan(object, &Instrument { counters: options.counters, ..Instrument::default() }) {
            Ok(plan) => plan,
            Err(error) => return self.failures.push(format!("{name}: {error}")),
        };
        let (mut sites, mut counted, mut others, mut refused) =
            (BTreeSet::new(), BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        for kernel in plan.kernels() {
            self.kernels += 1;
            let pcs = kernel.sites.iter().map(|site| site.pc);
            sites.extend(pcs.clone());
            match kernel.home {
                Some(home) => {
                    *self.homes.entry(home.name()).or_default() += 1;
                    counted.extend(pcs);
                }
                None if kernel.refusals.iter().any(|refusal| refusal.pc.is_none()) => {
                    self.refused_kernels += 1
                }
                None => self.without_sites += 1,
            }
            others.extend(kernel.exec_writes.iter().map(|write| (write.pc, write.class)));
            for refusal in &kernel.refusals {
                match refusal.pc {
                    Some(pc) => _ = refused.insert(pc, refusal.reason),
                    None => *self.refusals.entry((true, refusal.reason)).or_default() += 1,
                }
                let examples = self.examples.entry(refusal.reason).or_default();
                if examples.len() < options.show {
                    let at = refusal.pc.map(|pc| format!(" at {pc:#x}")).unwrap_or_default();
                    examples.push(format!("{name}: {}{at}: {}", kernel.name, refusal.detail));
                }
            }
        }
        for (pc, reason) in refused {
            *self.refusals.entry((false, reason)).or_default() += 1;
            let is_known = reason != Reason::UnclassifiedNarrowing;
            self.unclassified += usize::from(!is_known);
            if is_known {
                sites.insert(pc);
            }
        }
        for class in others.into_values() {
            *self.others.entry(format!("{class:?}")).or_default() += 1;
        }
        self.sites += sites.len();
        self.counted += counted.len();
        match apply(object, &plan) {
            Ok(instrumented) => {
                if let Err(error) = CodeObject::parse(instrumented.bytes) {
                    self.failures.push(format!("{name}: the instrumented code object: {error}"));
                }
            }
            Err(InstrumentError::NothingInstrumented(_)) => {}
            Err(error) => self.failures.push(format!("{name}: {error}")),
        }
    }

    fn merge(&mut self, other: Self) {
        self.objects += other.objects;
        self.text += other.text;
        self.kernels += other.kernels;
        self.without_sites += other.without_sites;
        self.refused_kernels += other.refused_kernels;
        self.sites += other.sites;
        self.counted += other.counted;
        self.unclassified += other.unclassified;
        add(&mut self.homes, other.homes);
        add(&mut self.refusals, other.refusals);
        add(&mut self.others, other.others);
        for (reason, examples) in other.examples {
            self.examples.entry(reason).or_default().extend(examples);
        }
        self.failures.extend(other.failures);
    }

    fn print(&self, target: &str, show: usize) {
        let Self { objects, kernels, sites, counted, without_sites, refused_kernels, unclassified, .. } =
            self;
        let with_counters: usize = self.homes.values().sum();
        println!(
            "{target}: {objects} code objects, {:.1} MB of .text; {kernels} kernels: {with_counters} instrumented {:?}, \
             {without_sites} without a branch that can diverge, {refused_kernels} refused",
            self.text as f64 / 1e6,
            self.homes
        );
        let all = sites + unclassified;
        println!(
            "{target}: {counted} of {all} narrowings are counted ({:.3} %); {unclassified} may be narrowings",
            100.0 * *counted as f64 / all.max(1) as f64
        );
        println!("{target}: other writes of EXEC: {:?}", self.others);
        for ((is_kernel, reason), count) in &self.refusals {
            let what = if *is_kernel { "kernels" } else { "branches" };
            println!("{target}: refused: {count} {what}: {reason:?}");
        }
        for (reason, examples) in &self.examples {
            for example in examples.iter().take(show) {
                println!("    {reason:?}: {example}");
            }
        }
        for failure in &self.failures {
            println!("{target}: NOT INSTRUMENTED: {failure}");
        }
    }
}

fn add<K: Ord>(to: &mut BTreeMap<K, usize>, from: BTreeMap<K, usize>) {
    for (key, count) in from {
        *to.entry(key).or_default() += count;
    }
}

/// Counts. `Ok(false)` when a code object could not be instrumented at all.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let files = options.sources.files()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let tallies = Mutex::new(BTreeMap::<String, Tally>::new());
    pool.install(|| {
        files.par_iter().try_for_each(|path| {
            one_file(path, options, &tallies).with_context(|| format!("{}", path.display()))
        })
    })?;
    let mut tallies = tallies.into_inner()?;
    if tallies.is_empty() {
        bail!("no code object for a GFX9 processor");
    }
    for (target, tally) in &mut tallies {
        tally.failures.sort();
        tally.examples.values_mut().for_each(|examples| examples.sort());
        tally.print(target, options.show);
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    Ok(tallies.values().all(|tally| tally.failures.is_empty()))
}

fn one_file(path: &Path, options: &Options, tallies: &Mutex<BTreeMap<String, Tally>>) -> Result<()> {
    let bytes = sources::map(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    options.sources.code_objects(&bytes)?.par_iter().for_each(|(arch, code)| {
        let mut tally = Tally::default();
        match CodeObject::parse(code.bytes.to_vec()) {
            Ok(object) => tally.add(&object, &name, options),
            Err(error) => tally.failures.push(format!("{name}: {error}")),
        }
        tallies.lock().expect("no thread panics").entry(arch.to_string()).or_default().merge(tally);
    });
    Ok(())
}
