//! A run beside an earlier one: which branches diverge more, which kernels lost occupancy or time.
//!
//! Branches are the same when kernel, processor, source place, kind and probe are; addresses do not matter. A branch with
//! a probe that has moved to another line is found by the probe's name.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use amdinst_core::report::Location;
use serde::{Deserialize, Serialize};

use crate::summary::{Branch, KernelSummary, Summary};

/// The version of the comparison's JSON.
pub const SCHEMA: u32 = 1;

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more.
    Worse,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
    /// It costs less.
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
    /// What is worse first.
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
    /// The branch (`branch `tail``), or what of the kernel (`occupancy`).
    pub what: String,
    /// The figures before, for people.
    pub before: Option<String>,
    /// The figures now.
    pub after: Option<String>,
}

impl Diff {
    /// Compares `now` with `before`.
    pub fn new(before: &Summary, now: &Summary) -> Self {
        let mut diff = Self { schema: SCHEMA, ..Self::default() };
        let find = |summary: &'_ Summary, kernel: &KernelSummary| {
            summary.kernels.iter().position(|known| known.name == kernel.name && known.cpu == kernel.cpu)
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
        let branches = Some(crate::human::count(kernel.branches.len() as u64, "branch"));
        let (before, after) = if verdict == Verdict::New { (None, branches) } else { (branches, None) };
        self.changes.push(Change {
            verdict,
            kernel: kernel.name.clone(),
            cpu: kernel.cpu.clone(),
            location: Location::default(),
            what: "kernel".to_owned(),
            before,
            after,
        });
    }

    fn kernels(&mut self, before: &KernelSummary, now: &KernelSummary) {
        self.of_kernel(before, now);
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
                    what: branch.title(),
                    before: old.map(figures),
                    after: Some(figures(branch)),
                }),
            }
        }
        for (index, branch) in before.branches.iter().enumerate() {
            if !used.contains(&index) {
                self.changes.push(Change {
                    verdict: Verdict::Gone,
                    kernel: before.name.clone(),
                    cpu: before.cpu.clone(),
                    location: branch.location.clone(),
                    what: branch.title(),
                    before: Some(figures(branch)),
                    after: None,
                });
            }
        }
    }

    /// Occupancy, of the kernel itself; and how long its waves ran.
    fn of_kernel(&mut self, before: &KernelSummary, now: &KernelSummary) {
        let occupancy = |kernel: &KernelSummary| Some(u64::from(kernel.resources?.occupancy[0]));
        let ticks = |kernel: &KernelSummary| Some(kernel.time?.median);
        let figures: [(&str, _, _, bool); 2] = [
            ("occupancy", occupancy(before), occupancy(now), true),
            ("median ticks", ticks(before), ticks(now), false),
        ];
        for (what, old, new, more_is_better) in figures {
            let (Some(old), Some(new)) = (old, new) else { continue };
            if old == new {
                self.unchanged += 1;
                continue;
            }
            self.changes.push(Change {
                verdict: if (new > old) == more_is_better { Verdict::Better } else { Verdict::Worse },
                kernel: now.name.clone(),
                cpu: now.cpu.clone(),
                location: Location::default(),
                what: what.to_owned(),
                before: Some(old.to_string()),
                after: Some(new.to_string()),
            });
        }
    }

    /// For people: a line each. Ends with a newline.
    pub fn human(&self) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let Change { verdict, kernel, cpu, location, what, before, after } = change;
            let place = location.file.as_ref().map(|_| format!(" at {location}")).unwrap_or_default();
            let _ = write!(text, "{:<7} {kernel} on {cpu}: {what}{place}: ", verdict.word());
            let _ = match (before, after) {
                (Some(before), Some(after)) => writeln!(text, "{before} -> {after}"),
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

    /// The same as Markdown.
    pub fn markdown(&self) -> String {
        if self.changes.is_empty() {
            return "### Compared with the baseline\n\nNothing has changed.\n".to_owned();
        }
        let mut text = "### Compared with the baseline\n\n\
             | | kernel | source | what | before | now |\n|---|---|---|---|---|---|\n"
            .to_owned();
        for change in &self.changes {
            let place = match change.location.file {
                Some(_) => format!("`{}`", change.location),
                None => String::new(),
            };
            let cell = |figures: &Option<String>| figures.clone().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | `{}` ({}) | {place} | {} | {} | {} |",
                change.verdict.word(),
                change.kernel,
                change.cpu,
                change.what.replace('|', "\\|"),
                cell(&change.before),
                cell(&change.after)
            );
        }
        text
    }
}

/// The branch of an earlier run that `branch` was, of those that are not taken.
fn counterpart(branch: &Branch, before: &[Branch], used: &BTreeSet<usize>) -> Option<usize> {
    let free = || before.iter().enumerate().filter(|(index, _)| !used.contains(index));
    let alike = |old: &Branch| old.kind == branch.kind && old.probe == branch.probe;
    let place = |location: &Location| (location.file.clone(), location.line, location.column);
    let exact = free().find(|(_, old)| alike(old) && place(&old.location) == place(&branch.location));
    let moved = || {
        branch.probe.as_ref()?;
        let mut found = free().filter(|(_, old)| alike(old) && old.location.file == branch.location.file);
        // Two of a name may have changed places.
        let first = found.next()?;
        found.next().is_none().then_some(first)
    };
    exact.or_else(moved).map(|(index, _)| index)
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
