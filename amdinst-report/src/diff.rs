//! A run beside an earlier one: which branches diverge more, which kernels lost occupancy or time.
//!
//! Branches are the same when kernel, processor, source place, kind and probe are; addresses do not matter. A
//! branch with a probe that has moved to another line is found by the probe's name.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use amdinst_core::report::Certainty;
use amdinst_core::report::Location;
use serde::{Deserialize, Serialize};

use crate::summary::{Branch, KernelSummary, Summary};

/// The version of the comparison's JSON.
pub const SCHEMA: u32 = 1;

/// What became of a branch, a kernel, a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more than before.
    Worse,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
    /// It costs less than before.
    Better,
    /// Other figures, and no more divergence than before.
    Changed,
}

impl Verdict {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Better => "better",
            Self::Changed => "changed",
        }
    }
}

/// The comparison of two runs: what differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The worse first.
    pub changes: Vec<Change>,
    /// Branches and kernels that are as they were.
    pub unchanged: u64,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What became of it.
    pub verdict: Verdict,
    /// The kernel.
    pub kernel: String,
    /// The processor.
    pub cpu: String,
    /// The branch's place; none for what concerns the kernel.
    #[serde(flatten)]
    pub location: Location,
    /// The user's line that called there, if it is a dependency's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Location>,
    /// The branch (`branch `tail``), or what of the kernel (`occupancy`).
    pub what: String,
    /// The figures before, for people.
    pub before: Option<String>,
    /// The figures now.
    pub after: Option<String>,
    /// How much longer a kernel takes, in per cent; of what concerns its time alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_percent: Option<f64>,
}

impl Change {
    /// How much longer a kernel takes, to stand behind the figures; empty for what does not concern its time.
    fn slower(&self) -> String {
        self.slower_percent.map(|slower| format!(" ({slower:+.1} %)")).unwrap_or_default()
    }
}

impl Diff {
    /// Compares `now` with `before`.
    pub fn new(before: &Summary, now: &Summary) -> Self {
        let mut diff = Self { schema: SCHEMA, ..Self::default() };
        let find = |summary: &'_ Summary, kernel: &KernelSummary| {
            summary.kernels.iter().position(|known| known.is_same(kernel))
        };
        for kernel in &now.kernels {
            match find(before, kernel) {
                Some(index) => diff.kernels(&before.kernels[index], kernel),
                None => diff.kernel_alone(Verdict::New, kernel),
            }
        }
        for kernel in before.kernels.iter().filter(|kernel| find(now, kernel).is_none()) {
            diff.kernel_alone(Verdict::Gone, kernel);
        }
        let key = |change: &Change| {
            (change.verdict, change.kernel.clone(), change.cpu.clone(), change.location.clone())
        };
        diff.changes.sort_by_key(key);
        diff
    }

    /// Whether anything is worse.
    pub fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.verdict == Verdict::Worse)
    }

    fn kernel_alone(&mut self, verdict: Verdict, kernel: &KernelSummary) {
        let branches = Some(amdinst_text::count(kernel.branches.len(), "branch"));
        let (before, after) = if verdict == Verdict::New { (None, branches) } else { (branches, None) };
        self.changes.push(Change {
            verdict,
            kernel: kernel.name.clone(),
            cpu: kernel.cpu.clone(),
            location: Location::default(),
            caller: None,
            what: "kernel".to_owned(),
            before,
            after,
            slower_percent: None,
        });
    }

    fn kernels(&mut self, before: &KernelSummary, now: &KernelSummary) {
        self.of_kernel(before, now);
        // Of branches that one of the runs did not ask for there is nothing to compare.
        if before.not_selected || now.not_selected {
            return;
        }
        let mut used = BTreeSet::new();
        for branch in &now.branches {
            let index = counterpart(branch, &before.branches, &used);
            let old = index.map(|index| &before.branches[index]);
            used.extend(index);
            match verdict(old, branch) {
                None => self.unchanged += 1,
                Some(verdict) => self.changes.push(Change {
                    verdict,
                    kernel: now.name.clone(),
                    cpu: now.cpu.clone(),
                    location: branch.location.clone(),
                    caller: branch.caller.clone(),
                    what: branch.title(),
                    before: old.map(figures),
                    after: Some(figures(branch)),
                    slower_percent: None,
                }),
            }
        }
        if used.len() < now.branches.len().max(before.branches.len()) {
            self.of_lanes(before, now);
        }
        for (index, branch) in before.branches.iter().enumerate() {
            if !used.contains(&index) {
                self.changes.push(Change {
                    verdict: Verdict::Gone,
                    kernel: before.name.clone(),
                    cpu: before.cpu.clone(),
                    location: branch.location.clone(),
                    caller: branch.caller.clone(),
                    what: branch.title(),
                    before: Some(figures(branch)),
                    after: None,
                    slower_percent: None,
                });
            }
        }
    }

    /// Occupancy, of the kernel itself; and how long it takes.
    fn of_kernel(&mut self, before: &KernelSummary, now: &KernelSummary) {
        let occupancy = |kernel: &KernelSummary| Some(kernel.resources?.occupancy[0]);
        if let (Some(old), Some(new)) = (occupancy(before), occupancy(now)) {
            let verdict = match new.cmp(&old) {
                Ordering::Less => Some(Verdict::Worse),
                Ordering::Equal => None,
                Ordering::Greater => Some(Verdict::Better),
            };
            self.of_figure(now, "occupancy", verdict, [old.to_string(), new.to_string()], None);
        }
        for (what, old, new) in times(before, now) {
            let slower = 100.0 * (new - old) / old.max(1.0);
            let verdict = match slower {
                0.0 => None,
                TIME.. => Some(Verdict::Worse),
                slower if slower > -TIME => Some(Verdict::Changed),
                _ => Some(Verdict::Better),
            };
            self.of_figure(now, &what, verdict, [format!("{old:.0}"), format!("{new:.0}")], Some(slower));
        }
    }

    /// Lanes lost by all branches together. Where branches came or went, they say what the branches one by
    /// one cannot: whether the kernel diverges more, or its lines have moved.
    fn of_lanes(&mut self, before: &KernelSummary, now: &KernelSummary) {
        let (Some(old), Some(new)) = (lost_a_wave(before), lost_a_wave(now)) else { return };
        let verdict = match new - old {
            0.0 => return,
            more if more >= old * TIME / 100.0 => Verdict::Worse,
            less if -less >= old * TIME / 100.0 => Verdict::Better,
            _ => Verdict::Changed,
        };
        let figures = [old, new].map(|lanes| format!("{lanes:.1}"));
        self.of_figure(now, "lanes lost a wave", Some(verdict), figures, None);
    }

    /// A figure of a kernel; without a verdict it is as it was.
    fn of_figure(
        &mut self,
        kernel: &KernelSummary,
        what: &str,
        verdict: Option<Verdict>,
        [before, after]: [String; 2],
        slower_percent: Option<f64>,
    ) {
        let Some(verdict) = verdict else {
            self.unchanged += 1;
            return;
        };
        self.changes.push(Change {
            verdict,
            kernel: kernel.name.clone(),
            cpu: kernel.cpu.clone(),
            location: Location::default(),
            caller: None,
            what: what.to_owned(),
            before: Some(before),
            after: Some(after),
            slower_percent,
        });
    }

    /// For people: a line each. Ends with a newline.
    pub fn human(&self) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let Change { verdict, kernel, cpu, location, what, before, after, .. } = change;
            let place =
                location.file.as_ref().map(|_| format!(" at {}", location.short())).unwrap_or_default();
            let _ = write!(text, "{:<7} {kernel} on {cpu}: {what}{place}: ", verdict.word());
            let _ = match (before, after) {
                (Some(before), Some(after)) => {
                    writeln!(text, "{before} -> {after}{}", change.slower())
                }
                (Some(only), None) | (None, Some(only)) => writeln!(text, "{only}"),
                (None, None) => writeln!(text),
            };
        }
        let worse = self.changes.iter().filter(|change| change.verdict == Verdict::Worse).count();
        let _ = writeln!(
            text,
            "compared with the baseline: {worse} worse, {} other changes, {} unchanged",
            self.changes.len() - worse,
            self.unchanged
        );
        text
    }

    /// The comparison as Markdown.
    pub fn markdown(&self) -> String {
        if self.changes.is_empty() {
            return "### Compared with the baseline\n\nNothing has changed.\n".to_owned();
        }
        let mut text = "### Compared with the baseline\n\n\
             | | kernel | source | what | before | now |\n|---|---|---|---|---|---|\n"
            .to_owned();
        for change in &self.changes {
            let place = match change.location.file {
                Some(_) => format!("`{}`", change.location.short()),
                None => String::new(),
            };
            let cell = |figures: &Option<String>| figures.clone().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | `{}` ({}) | {place} | {} | {} | {}{} |",
                change.verdict.word(),
                change.kernel,
                change.cpu,
                change.what.replace('|', "\\|"),
                cell(&change.before),
                cell(&change.after),
                change.slower()
            );
        }
        text
    }
}

/// The branch of an earlier run that `branch` was, of those that are not taken.
pub(crate) fn counterpart(branch: &Branch, before: &[Branch], used: &BTreeSet<usize>) -> Option<usize> {
    let free = || before.iter().enumerate().filter(|(index, _)| !used.contains(index));
    let alike = |old: &Branch| old.kind == branch.kind && old.probe == branch.probe;
    let place = |location: &Location| (location.file.clone(), location.line, location.column);
    let here = |old: &Branch| alike(old) && place(&old.location) == place(&branch.location);
    // In a dependency, the one that the same line led to, if there is one.
    let called = free().find(|(_, old)| here(old) && old.caller == branch.caller);
    let exact = called.or_else(|| free().find(|(_, old)| here(old)));
    let moved = || {
        branch.probe.as_ref()?;
        let mut found = free().filter(|(_, old)| alike(old) && old.location.file == branch.location.file);
        // Two of a name may have changed places.
        let first = found.next()?;
        found.next().is_none().then_some(first)
    };
    exact.or_else(moved).map(|(index, _)| index)
}

/// Times, and lanes of whole kernels, that differ by less than this many per cent are neither better nor
/// worse.
const TIME: f64 = 1.0;

/// Lanes that all branches of a kernel lost, a wave; `None` where they were not counted.
fn lost_a_wave(kernel: &KernelSummary) -> Option<f64> {
    let known = kernel.branches.iter().all(|branch| branch.lost.certainty != Certainty::Unknown);
    let lanes: u64 = kernel.branches.iter().map(|branch| branch.lost.lanes).sum();
    known.then(|| lanes as f64 / kernel.waves.max(1) as f64)
}

/// The times that both runs have of a kernel: what, before, now.
pub(crate) fn times(before: &KernelSummary, now: &KernelSummary) -> Vec<(String, f64, f64)> {
    let mut times = Vec::new();
    if let (Some(before), Some(now)) = (before.time, now.time) {
        times.push(("median ticks".to_owned(), before.median as f64, now.median as f64));
    }
    if let (Some(before), Some(now)) = (&before.modelled, &now.modelled)
        && before.device == now.device
    {
        let what = format!("cycles a launch, modeled on {}", now.device);
        times.push((what, before.cycles_a_launch(), now.cycles_a_launch()));
    }
    times
}

/// Shares that differ by less than this are the same: a per mille.
const SHARE: f64 = 0.1;

/// `None` when nothing changed.
fn verdict(before: Option<&Branch>, now: &Branch) -> Option<Verdict> {
    let Some(before) = before else { return Some(Verdict::New) };
    if before.counts == now.counts {
        return None;
    }
    let share = now.diverged_percent - before.diverged_percent;
    if share.abs() >= SHARE {
        return Some(if share > 0.0 { Verdict::Worse } else { Verdict::Better });
    }
    if before.lost.lanes == now.lost.lanes || before.counts.executions != now.counts.executions {
        return Some(Verdict::Changed);
    }
    Some(if now.lost.lanes > before.lost.lanes { Verdict::Worse } else { Verdict::Better })
}

fn figures(branch: &Branch) -> String {
    format!("{:.1} % of {} diverged, {}", branch.diverged_percent, branch.counts.executions, branch.lost)
}
