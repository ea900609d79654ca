//! Choosing the machine sites of one source branch.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{Counts, Outcome, Report, SiteReport, WaveId, WaveReport};
use crate::counters::Probe;

/// Why a branch has no figures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectError {
    /// Nothing of that name in this kernel.
    #[error("kernel `{kernel}` has no probe `{name}`; it has {}", list(known))]
    NoSuchProbe {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The probe stands on a branch that has no counters.
    #[error("probe `{name}` at {location} has no counts: {}", explain(outcome))]
    NotCounted {
        /// The probe.
        name: String,
        /// Where it stands.
        location: String,
        /// Why.
        outcome: Outcome,
    },
    /// Something else than branches was measured.
    #[error(
        "kernel `{kernel}` has no counts of branches: it was instrumented with `--measure {}`; run the test with `--measure branches`",
        .probe.name()
    )]
    NoBranches {
        /// The kernel.
        kernel: String,
        /// The subject of the measurement.
        probe: Probe,
    },
    /// The kernel ran as it was compiled: it has no counters.
    #[error("kernel `{kernel}` has no counts of branches: {why}")]
    NotInstrumented {
        /// The kernel.
        kernel: String,
        /// Why.
        why: String,
    },
    /// Others were chosen.
    #[error("kernel `{kernel}` has no counts: it was not selected; `--kernel` chose others")]
    NotSelected {
        /// The kernel.
        kernel: String,
    },
    /// No site stands on that line.
    #[error("kernel `{kernel}` has no site at line {line}; it has some at {}", list(known))]
    NoSuchLine {
        /// The kernel.
        kernel: String,
        /// The line asked for.
        line: u32,
        /// What there is.
        known: Vec<String>,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn explain(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Counted { .. } => "its sites are missing from the report",
        Outcome::Uniform => {
            "uniform: its condition is the same in every lane, so it is a scalar branch and cannot diverge"
        }
        Outcome::IfConverted => {
            "if-converted: the compiler computes both sides and selects, so no lane is ever switched off"
        }
        Outcome::Removed => "removed: the compiler left no code for it",
        Outcome::Refused => {
            "refused: its sites could not be instrumented safely; the report's refusals say why"
        }
        Outcome::LeftOut => {
            "not selected: `--probe` or `--line` chose others, or it is in code that formats text (`--formatting`)"
        }
    }
}

/// The machine sites of one source branch, taken together.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    sites: Vec<&'a SiteReport>,
}

impl<'a> Selection<'a> {
    /// The sites, in order of address.
    pub fn sites(&self) -> &[&'a SiteReport] {
        &self.sites
    }

    /// Only the sites of one kind (`if`, `loop-exit`): a probe on a loop also holds the branches in its body
    /// that have no probe of their own.
    pub fn of_kind(&self, kind: &str) -> Self {
        Self { sites: self.sites.iter().copied().filter(|site| site.kind == kind).collect() }
    }

    /// The counters, summed over waves and sites.
    pub fn counts(&self) -> Counts {
        self.sites.iter().map(|site| site.counts).sum()
    }

    /// The counters wave by wave, summed over sites, in order of workgroup (x fastest) and wave. Waves that
    /// never came to any of the sites are left out.
    pub fn waves(&self) -> Vec<WaveReport> {
        let mut waves = BTreeMap::<_, Counts>::new();
        for wave in self.sites.iter().flat_map(|site| &site.waves) {
            let [x, y, z] = wave.id.workgroup;
            *waves.entry((z, y, x, wave.id.wave)).or_default() += wave.counts;
        }
        let report =
            |((z, y, x, wave), counts)| WaveReport { id: WaveId { workgroup: [x, y, z], wave }, counts };
        waves.into_iter().map(report).collect()
    }

    /// Times that a wave came to the branch.
    pub fn executions(&self) -> u64 {
        self.counts().executions
    }

    /// Of these: every active lane stayed active.
    pub fn all(&self) -> u64 {
        self.counts().all
    }

    /// Of these: no lane stayed active.
    pub fn none(&self) -> u64 {
        self.counts().none
    }

    /// Of these: lanes disagreed.
    pub fn diverged(&self) -> u64 {
        self.counts().diverged
    }

    /// Active lanes before, summed over executions.
    pub fn lanes_in(&self) -> u64 {
        self.counts().lanes_in
    }

    /// Active lanes after, summed over executions. Which side of the branch these are is the compiler's
    /// choice: it may invert a condition; for a loop they are the lanes that go on.
    pub fn lanes_taken(&self) -> u64 {
        self.counts().lanes_taken
    }

    /// Share of executions that diverged, 0 to 1.
    pub fn divergence(&self) -> f64 {
        self.counts().divergence()
    }

    /// Active lanes after, an execution.
    pub fn average_lanes_active(&self) -> f64 {
        self.counts().average_lanes_active()
    }

    /// The old name of [`Self::average_lanes_active`].
    #[deprecated(note = "it is called `average_lanes_active` now")]
    pub fn average_active(&self) -> f64 {
        self.average_lanes_active()
    }

    /// Waves in which the branch diverged at least once.
    pub fn diverged_waves(&self) -> usize {
        self.waves().iter().filter(|wave| wave.counts.diverged > 0).count()
    }
}

impl Report {
    /// The sites of the probe called `name`.
    ///
    /// # Errors
    /// When there is no such probe, or the compiler made something of it that has no counts: never a silent
    /// zero.
    pub fn find(&self, name: &str) -> Result<Selection<'_>, SelectError> {
        self.has_branches()?;
        let sites: Vec<_> = self.sites.iter().filter(|site| site.name.as_deref() == Some(name)).collect();
        if !sites.is_empty() {
            return Ok(Selection { sites });
        }
        match self.probes.iter().find(|probe| probe.name == name) {
            Some(probe) => Err(SelectError::NotCounted {
                name: name.to_owned(),
                location: probe.location.to_string(),
                outcome: probe.outcome.clone(),
            }),
            None => Err(SelectError::NoSuchProbe {
                kernel: self.kernel.clone(),
                name: name.to_owned(),
                known: self.probes.iter().map(|probe| format!("`{}`", probe.name)).collect(),
            }),
        }
    }

    /// The sites on a source line, whatever their probes. The file is that of the kernel's code; of several
    /// files with that line, all are meant.
    ///
    /// # Errors
    /// When no site stands there.
    pub fn at_line(&self, line: u32) -> Result<Selection<'_>, SelectError> {
        self.has_branches()?;
        let sites: Vec<_> = self.sites.iter().filter(|site| site.location.line == Some(line)).collect();
        if sites.is_empty() {
            let mut known: Vec<_> = self.sites.iter().map(|site| site.location.to_string()).collect();
            known.dedup();
            return Err(SelectError::NoSuchLine { kernel: self.kernel.clone(), line, known });
        }
        Ok(Selection { sites })
    }

    fn has_branches(&self) -> Result<(), SelectError> {
        if let Some(why) = &self.not_instrumented {
            return Err(SelectError::NotInstrumented { kernel: self.kernel.clone(), why: why.clone() });
        }
        if self.not_selected {
            return Err(SelectError::NotSelected { kernel: self.kernel.clone() });
        }
        let has_any = !self.sites.is_empty() || !self.probes.is_empty();
        match self.probe {
            Probe::Branches if let Some(why) = self.refusals.first().filter(|_| !has_any) => {
                Err(SelectError::NotInstrumented { kernel: self.kernel.clone(), why: why.clone() })
            }
            Probe::Branches => Ok(()),
            probe => Err(SelectError::NoBranches { kernel: self.kernel.clone(), probe }),
        }
    }

    /// Every site of the kernel, taken together; none of a kernel without branches that can diverge.
    ///
    /// # Errors
    /// When the kernel ran without counters, or something else than branches was measured.
    pub fn every_site(&self) -> Result<Selection<'_>, SelectError> {
        self.has_branches()?;
        Ok(Selection { sites: self.sites.iter().collect() })
    }

    /// What became of the probe called `name`, if the kernel has it. A probe that was inlined or unrolled
    /// into several branches is counted if any of them is.
    pub fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.probes.iter().find(|probe| probe.name == name).map(|probe| &probe.outcome)
    }
}
