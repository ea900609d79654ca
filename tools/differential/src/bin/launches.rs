//! The program behind `cargo xtask corpus launches`: kernels of whole libraries, launched with made-up
//! arguments as they are and instrumented, and compared.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use amdgpu_object::{CodeObject, container};
use amdinst_core::instrument::Counters;
use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use differential::hostile::launches::{HomeTally, Launched, Ways, launch};
use rayon::prelude::*;

/// Launch kernels of whole libraries with made-up arguments, as they are and instrumented, and compare memory
/// and counters
#[derive(Debug, Parser)]
#[command(name = "launches", bin_name = "cargo xtask corpus launches")]
struct Options {
    /// Code objects, bundles, or libraries that carry them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only code objects whose target has this in its name, for example gfx90a:xnack-
    #[arg(long, value_name = "TARGET")]
    target_cpu: Option<String>,
    /// Only so many kernels, spread evenly over all that there are
    #[arg(long, value_name = "KERNELS")]
    sample: Option<usize>,
    /// Wave-instructions that a workgroup of the original may run
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    budget: u64,
}

fn main() -> ExitCode {
    differential::exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<bool> {
    let mut objects = Vec::new();
    for path in &options.files {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        for found in container::open(&bytes).with_context(|| path.display().to_string())? {
            let Ok(object) = CodeObject::parse(found.bytes.to_vec()) else { continue };
            let is_wanted = |word: &String| object.target.to_string().contains(word);
            if options.target_cpu.as_ref().is_none_or(is_wanted) {
                objects.push(object);
            }
        }
    }
    let kernels: Vec<(usize, usize)> = objects
        .iter()
        .enumerate()
        .flat_map(|(at, object)| (0..object.kernels.len()).map(move |kernel| (at, kernel)))
        .collect();
    ensure!(!kernels.is_empty(), "no kernel can be read");
    let size = options.sample.unwrap_or(kernels.len()).min(kernels.len());
    let chosen: Vec<(usize, usize)> = (0..size).map(|index| kernels[index * kernels.len() / size]).collect();
    let mut by_object: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (object, kernel) in chosen {
        by_object.entry(object).or_default().push(kernel);
    }
    let outcomes: Vec<Result<Vec<Launched>, String>> = by_object
        .par_iter()
        .map(|(&at, kernels)| {
            let ways = Ways::of(&objects[at]).map_err(|error| format!("{}: {error}", objects[at].target))?;
            let kernels = kernels.iter().map(|&kernel| &objects[at].kernels[kernel]);
            Ok(kernels.map(|kernel| launch(&objects[at], kernel, &ways, options.budget)).collect())
        })
        .collect();
    for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        println!("a code object cannot be instrumented: {error}");
    }
    let outcomes: Vec<Launched> = outcomes.into_iter().flatten().flatten().collect();
    Ok(report(kernels.len(), &outcomes))
}

/// Prints what became of the kernels. Whether nothing differed.
fn report(all: usize, outcomes: &[Launched]) -> bool {
    println!("{} of {all} kernels", outcomes.len());
    let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in outcomes.iter().filter_map(|one| one.fault.as_deref()) {
        *faults.entry(fault).or_default() += 1;
    }
    let ended = outcomes.iter().filter(|one| one.fault.is_none()).count();
    println!("{ended} ended well as they are");
    for (fault, count) in faults {
        println!("{count} did not: {fault}");
    }
    for counters in [Counters::Auto, Counters::Register, Counters::Lds, Counters::Global] {
        let of = |one: &Launched| one.ways.get(&format!("{counters:?}")).cloned().unwrap_or_default();
        let sum = |what: fn(&HomeTally) -> u64| -> u64 { outcomes.iter().map(|one| what(&of(one))).sum() };
        println!(
            "{counters:?}: {} equal in memory and counters, with {} executions of sites; {} have no site, {} are refused, {} differ as \
             two runs of themselves may",
            sum(|way| way.equal),
            sum(|way| way.executions),
            sum(|way| way.none),
            sum(|way| way.refused),
            sum(|way| way.by_chance)
        );
    }
    let differences: Vec<&String> = outcomes.iter().flat_map(|one| &one.differences).collect();
    for difference in &differences {
        println!("DIFFERENT {difference}");
    }
    println!("{} differences", differences.len());
    differences.is_empty()
}
