//! What the launches came to, by source and processor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Source;
use super::session::Origin;

/// A launch that went well.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Wave-instructions of the original kernel.
    pub(crate) wave_instructions: u64,
    /// Mnemonic, fidelity and executions.
    pub(crate) opcodes: Vec<(&'static str, &'static str, u64)>,
    /// With `--instrument`.
    pub(crate) instrumented: Option<Shown>,
}

/// An instrumented kernel that left the same memory as the original and right counters.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The kernel had a site to count, and ran.
    pub(crate) runs: bool,
    /// Sites counted.
    pub(crate) sites: u64,
    /// Their executions.
    pub(crate) executions: u64,
    /// What was not instrumented, and why.
    pub(crate) refusals: Vec<String>,
}

/// One source on one processor.
#[derive(Debug, Default)]
struct Row {
    kernels: BTreeSet<String>,
    launches: u64,
    failed: u64,
    wave_instructions: u64,
    instrumented: u64,
    without_sites: u64,
    refused: u64,
    sites: u64,
    executions: u64,
}

/// What the launches came to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rows: BTreeMap<(Source, String), Row>,
    /// Executions of opcodes that are executed approximately.
    approximate: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds one launch, and tells of it when it went wrong.
    pub(crate) fn add(&mut self, origin: Origin<'_>, kernel: &str, label: &str, result: Result<Ran, String>) {
        let processor = origin.target.split(':').next().unwrap_or_default().to_owned();
        let row = self.rows.entry((origin.source, processor)).or_default();
        row.launches += 1;
        let ran = match result {
            Ok(ran) => ran,
            Err(why) => {
                println!("FAILED {label}: {why}");
                row.failed += 1;
                return;
            }
        };
        row.kernels.insert(kernel.to_owned());
        row.wave_instructions += ran.wave_instructions;
        for (name, fidelity, executions) in ran.opcodes {
            if fidelity == "approximate" {
                *self.approximate.entry(name).or_default() += executions;
            }
        }
        if let Some(instrumented) = ran.instrumented {
            match (instrumented.runs, instrumented.refusals.is_empty()) {
                (true, _) => row.instrumented += 1,
                (false, true) => row.without_sites += 1,
                (false, false) => row.refused += 1,
            }
            row.sites += instrumented.sites;
            row.executions += instrumented.executions;
            for refusal in instrumented.refusals {
                *self.refusals.entry(without_addresses(&refusal)).or_default() += 1;
            }
        }
    }

    /// Launches in all.
    pub(crate) fn launches(&self) -> u64 {
        self.rows.values().map(|row| row.launches).sum()
    }

    /// Launches that faulted, or left something wrong.
    pub(crate) fn failed(&self) -> u64 {
        self.rows.values().map(|row| row.failed).sum()
    }
}

/// A refusal's reason without what is different in each kernel: words with digits.
fn without_addresses(reason: &str) -> String {
    let plain = |word: &&str| !word.contains(|c: char| c.is_ascii_digit() || c == '`' || c == '_');
    reason.split(' ').filter(plain).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "source      processor  kernels  launches  failed  wave-instructions")?;
        for ((source, processor), row) in &self.rows {
            let Row { kernels, launches, failed, wave_instructions, .. } = row;
            let (source, kernels) = (source.name(), kernels.len());
            writeln!(
                f,
                "{source:<10}  {processor:<9}  {kernels:>7}  {launches:>8}  {failed:>6}  {wave_instructions:>17}"
            )?;
        }
        let all: BTreeSet<_> = self
            .rows
            .iter()
            .flat_map(|((source, _), row)| row.kernels.iter().map(move |kernel| (source, kernel)))
            .collect();
        let sum = |count: fn(&Row) -> u64| -> u64 { self.rows.values().map(count).sum() };
        let instrumented = sum(|row| row.instrumented);
        if instrumented + sum(|row| row.without_sites + row.refused) > 0 {
            writeln!(
                f,
                "instrumented: {instrumented} launches with {} sites, executed {} times: equal memory, equal counters; \
                 {} without a site; {} refused",
                sum(|row| row.sites),
                sum(|row| row.executions),
                sum(|row| row.without_sites),
                sum(|row| row.refused)
            )?;
            for (reason, count) in &self.refusals {
                writeln!(f, "  {count:>5} x {reason}")?;
            }
        }
        if self.approximate.is_empty() {
            writeln!(f, "no opcode was executed approximately")?;
        } else {
            let list: Vec<_> =
                self.approximate.iter().map(|(name, count)| format!("{name} {count}")).collect();
            writeln!(f, "executed approximately: {}", list.join(", "))?;
        }
        writeln!(f, "{} kernels, {} launches, {} failed", all.len(), self.launches(), self.failed())
    }
}
