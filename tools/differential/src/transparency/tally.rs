//! What the comparisons came to.

use std::collections::BTreeMap;
use std::fmt;

use amdinst_core::instrument::{Cost, ExecWriteClass, Home, InstrumentError, KernelProbes, Probe};
use amdinst_emu::MaskRecord;

use super::Original;
use crate::way::Way;

/// Figures of the sites of one form: a mnemonic in one part of the program's structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Sites of it in programs that ran.
    pub sites: u64,
    /// Of these: executed by some wave.
    pub executed: u64,
    /// Of these: some lanes went away at least once.
    pub narrowed: u64,
}

/// The sums over many programs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Kernels that were looked at, whatever became of them.
    pub kernels: u64,
    /// Instrumented runs without a difference, by way.
    pub runs: BTreeMap<String, u64>,
    /// Runs in which sites borrowed registers in use, by their kind.
    pub borrowing: BTreeMap<&'static str, u64>,
    /// Runs in which what only pointers reach counts in memory, and all else in registers.
    pub apart: u64,
    /// Sites of these runs.
    pub sites: u64,
    /// Their executions.
    pub executions: u64,
    /// Executions in which some lanes went on and others did not.
    pub diverged: u64,
    /// Executions of instructions in the blocks of these runs.
    pub in_blocks: u64,
    /// Kernels, in ways that count blocks, of which each instruction is in exactly one.
    pub covered: u64,
    /// The refusals: by way, whether it is a kernel or a site, and reason.
    pub refused: BTreeMap<String, u64>,
    /// Figures of sites, by mnemonic and kind.
    pub forms: BTreeMap<String, Form>,
    /// Addresses at which lanes went away and which are no site, by their class in the analysis.
    pub elsewhere: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds another tally to this one.
    pub fn add(&mut self, other: Self) {
        self.kernels += other.kernels;
        self.sites += other.sites;
        self.apart += other.apart;
        self.executions += other.executions;
        self.diverged += other.diverged;
        self.in_blocks += other.in_blocks;
        self.covered += other.covered;
        for (what, runs) in other.borrowing {
            *self.borrowing.entry(what).or_default() += runs;
        }
        for (of, more) in [
            (&mut self.runs, other.runs),
            (&mut self.refused, other.refused),
            (&mut self.elsewhere, other.elsewhere),
        ] {
            for (name, count) in more {
                *of.entry(name).or_default() += count;
            }
        }
        for (name, form) in other.forms {
            let of = self.forms.entry(name).or_default();
            of.sites += form.sites;
            of.executed += form.executed;
            of.narrowed += form.narrowed;
        }
    }

    /// Notes what was refused of a kernel.
    pub(super) fn refusals(&mut self, way: Way, kernel: &KernelProbes) {
        for refusal in &kernel.refusals {
            let what = if refusal.pc.is_some() { "site" } else { "kernel" };
            *self.refused.entry(format!("{way}: {what}: {:?}", refusal.reason)).or_default() += 1;
        }
    }

    /// Notes that a whole code object was refused.
    pub(super) fn refused_whole(&mut self, way: Way, error: &InstrumentError) {
        *self.refused.entry(format!("{way}: code object: {error}")).or_default() += 1;
    }

    /// Notes an instrumented run that was as it should be.
    pub(super) fn equal(&mut self, way: Way, kernel: &KernelProbes, original: &Original) {
        *self.runs.entry(way.to_string()).or_default() += 1;
        if way.probe == Probe::Blocks {
            self.in_blocks += original.execution.steps.iter().map(|step| step.executions).sum::<u64>();
        }
        let masks = &original.execution.masks;
        self.sites += kernel.sites.len() as u64;
        let Cost {
            borrowed_sgprs,
            borrowed_vgprs,
            scratch: [scratch, scratch_after],
            memory_operations_per_site,
            ..
        } = kernel.cost;
        for (what, borrowed) in [
            ("SGPRs", borrowed_sgprs > 0),
            ("lanes of a VGPR", borrowed_vgprs == 1),
            ("a lane each of two VGPRs", borrowed_vgprs == 2 && scratch == scratch_after),
            ("lanes of two VGPRs, by way of scratch memory", scratch != scratch_after),
        ] {
            *self.borrowing.entry(what).or_default() += u64::from(borrowed);
        }
        self.apart += u64::from(kernel.home == Some(Home::Register) && memory_operations_per_site > 0);
        for record in masks.iter().filter(|record| kernel.sites.iter().any(|site| site.pc == record.pc)) {
            self.executions += record.writes;
            self.diverged += record.writes - record.all - record.none;
        }
    }

    /// Notes where lanes went away, and says where they should not have: at an address that the analysis does
    /// not know, at a join, or at a restore that does not end a time in which all lanes were on.
    pub(super) fn narrowings(&mut self, kernel: &KernelProbes, masks: &[MaskRecord]) -> Vec<String> {
        self.kernels += 1;
        let mut at: BTreeMap<u64, MaskRecord> = BTreeMap::new();
        for record in masks {
            let sum = at.entry(record.pc).or_insert(MaskRecord { pc: record.pc, ..MaskRecord::default() });
            sum.writes += record.writes;
            sum.all += record.all;
            sum.narrowed += record.narrowed;
            sum.lanes_in += record.lanes_in;
        }
        for site in &kernel.sites {
            let mnemonic = site.instruction.split(' ').next().unwrap_or_default();
            let form = self.forms.entry(format!("{mnemonic} ({})", site.kind.name())).or_default();
            let seen = at.remove(&site.pc).unwrap_or_default();
            form.sites += 1;
            form.executed += u64::from(seen.writes > 0);
            form.narrowed += u64::from(seen.narrowed > 0);
        }
        let refused_whole = kernel.refusals.iter().any(|refusal| refusal.pc.is_none());
        let mut stray = Vec::new();
        for record in at.values().filter(|record| record.narrowed > 0) {
            let class =
                kernel.exec_writes.iter().find(|write| write.pc == record.pc).map(|write| write.class);
            let of_site = kernel.sites.iter().any(|site| site.else_pcs.contains(&record.pc));
            let refused =
                refused_whole || kernel.refusals.iter().any(|refusal| refusal.pc == Some(record.pc));
            let from_all_lanes = record.lanes_in == u64::from(kernel.lanes.get()) * record.writes;
            let (name, claimed) = match class {
                _ if of_site => ("other half of a site", true),
                Some(ExecWriteClass::Restore) if from_all_lanes => ("restore after all lanes were on", true),
                Some(ExecWriteClass::Else) if !kernel.refusals.is_empty() => {
                    ("other half, in a kernel with refused sites", true)
                }
                Some(ExecWriteClass::Else) => ("other half of no known site", true),
                Some(ExecWriteClass::Constant) => ("constant", true),
                _ if refused => ("refused", true),
                Some(ExecWriteClass::Restore) => ("restore", false),
                Some(ExecWriteClass::Join) => ("join", false),
                Some(ExecWriteClass::WholeWave) => ("all lanes, or all inactive ones", true),
                Some(ExecWriteClass::Unclassified) | None => ("unknown to the analysis", false),
            };
            *self.elsewhere.entry(name.to_owned()).or_default() += 1;
            if !claimed {
                stray.push(format!("lanes went away at {:#x}, which is no site but: {name}", record.pc));
            }
        }
        stray
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (way, runs) in &self.runs {
            writeln!(f, "instrumented, {way}: {runs} runs")?;
        }
        for (what, runs) in &self.borrowing {
            writeln!(f, "instrumented, sites borrow {what}: {runs} runs")?;
        }
        writeln!(
            f,
            "instrumented, what only pointers reach counts in memory, all else in registers: {} runs",
            self.apart
        )?;
        for (reason, count) in &self.refused {
            writeln!(f, "refused, {reason}: {count}")?;
        }
        for (name, form) in &self.forms {
            let Form { sites, executed, narrowed } = form;
            let never = if *narrowed == 0 { "; NONE EVER NARROWED" } else { "" };
            writeln!(f, "sites, {name}: {sites}, executed {executed}, narrowed {narrowed}{never}")?;
        }
        for (name, count) in &self.elsewhere {
            writeln!(f, "narrowed elsewhere, {name}: {count} addresses")?;
        }
        let sum = |of: fn(&Form) -> u64| -> u64 { self.forms.values().map(of).sum() };
        writeln!(
            f,
            "transparency: {} kernels, {} instrumented runs, {} sites in them, executed {} times, {} diverged, {} instructions in blocks; of {} sites {} \
             were executed and {} narrowed",
            self.kernels,
            self.runs.values().sum::<u64>(),
            self.sites,
            self.executions,
            self.diverged,
            self.in_blocks,
            sum(|form| form.sites),
            sum(|form| form.executed),
            sum(|form| form.narrowed),
        )
    }
}
