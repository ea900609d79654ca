//! Resources for terminals, pull requests and job summaries.

use std::fmt::{self, Display, Write as _};

use amdinst_format::probes::Limiter;
use amdinst_text::count;

use super::{
    Figure, KernelChange, KernelResources, Metric, ResourceDiff, ResourceTable, ResourceViolation,
    SpillSource,
};
use crate::diff::Verdict;
use crate::{github, markdown};

/// The columns in front of the name: title, text of a kernel, and whether it stands left.
type Column = (&'static str, fn(&KernelResources) -> String, bool);

const COLUMNS: [Column; 10] = [
    ("target", |kernel| kernel.target.clone(), true),
    ("wave", |kernel| kernel.lanes.to_string(), false),
    ("VGPRs", |kernel| kernel.vgprs.to_string(), false),
    ("AGPRs", |kernel| kernel.agprs.to_string(), false),
    ("SGPRs", |kernel| kernel.sgprs.to_string(), false),
    ("spilled", spilled, false),
    ("LDS", |kernel| kernel.lds_bytes.to_string(), false),
    ("scratch", scratch, false),
    ("occupancy", occupancy, true),
    ("code", |kernel| kernel.code_bytes.to_string(), false),
];

/// `3 v, 2 s`: registers of both kinds.
fn spilled(kernel: &KernelResources) -> String {
    let Some(spills) = kernel.spills else { return "?".to_owned() };
    let parts = [(spills.vgprs, 'v'), (spills.sgprs, 's')];
    let parts: Vec<_> = parts.iter().filter(|(number, _)| *number > 0).collect();
    let at_most = if spills.by == SpillSource::Code { "≤ " } else { "" };
    match &parts[..] {
        [] => "0".to_owned(),
        parts => {
            let told: Vec<_> = parts.iter().map(|(number, kind)| format!("{number} {kind}")).collect();
            format!("{at_most}{}", told.join(", "))
        }
    }
}

fn scratch(kernel: &KernelResources) -> String {
    format!("{}{}", kernel.scratch_bytes, if kernel.dynamic_stack { "+" } else { "" })
}

fn occupancy(kernel: &KernelResources) -> String {
    let KernelResources { occupancy, max_occupancy, limiter, .. } = kernel;
    match limiter {
        Limiter::Hardware => format!("{occupancy} of {max_occupancy}"),
        limiter => format!("{occupancy} of {max_occupancy}, {}", limiter.name()),
    }
}

/// The table, a line a kernel, and a line of totals.
pub fn human(table: &ResourceTable) -> String {
    let rows: Vec<[String; COLUMNS.len()]> =
        table.kernels.iter().map(|kernel| COLUMNS.map(|(_, text, _)| text(kernel))).collect();
    let width = |column: usize| {
        let texts = rows.iter().map(|row| &*row[column]).chain([COLUMNS[column].0]);
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: [&str; COLUMNS.len()], name: &str| {
        for ((cell, width), (_, _, left)) in cells.iter().zip(&widths).zip(COLUMNS) {
            let _ = if left { write!(text, "{cell:<width$}  ") } else { write!(text, "{cell:>width$}  ") };
        }
        let _ = writeln!(text, "{name}");
    };
    line(COLUMNS.map(|(title, _, _)| title), "kernel");
    for (row, kernel) in rows.iter().zip(&table.kernels) {
        line(row.each_ref().map(String::as_str), &kernel.title());
    }
    let _ = writeln!(text, "\n{}", totals(table));
    text
}

/// `30 kernels for gfx1100: 1 spills registers, 2 use scratch memory`.
fn totals(table: &ResourceTable) -> String {
    let mut targets: Vec<&str> = table.kernels.iter().map(|kernel| &*kernel.target).collect();
    targets.sort_unstable();
    targets.dedup();
    let such =
        |is_so: fn(&KernelResources) -> bool| table.kernels.iter().filter(|kernel| is_so(kernel)).count();
    let spilling = such(|kernel| Metric::Spills.of(kernel).is_some_and(|spills| spills > 0));
    let unknown = such(|kernel| kernel.spills.is_none());
    let with_scratch = such(|kernel| kernel.scratch_bytes > 0 || kernel.dynamic_stack);
    let mut told = format!(
        "{} for {}: {spilling} with spilled registers, {with_scratch} with scratch memory",
        count(table.kernels.len() as u64, "kernel"),
        targets.join(", ")
    );
    if unknown > 0 {
        let _ = write!(told, "; spills of {unknown} are not known");
    }
    told
}

/// The comparison, a line a kernel that differs.
pub fn human_diff(diff: &ResourceDiff) -> String {
    let mut text = String::new();
    for change in &diff.changes {
        let (target, title) = (&change.kernel.target, change.kernel.title());
        let _ = write!(text, "{:<6}  {target}  {title}", change.verdict.word());
        let _ = match change.figures.is_empty() {
            true => writeln!(text),
            false => writeln!(text, ": {}", change.figures_told()),
        };
    }
    let _ = writeln!(text, "{}", tally(diff));
    text
}

/// `2 kernels worse, 1 new, 27 as they were`.
fn tally(diff: &ResourceDiff) -> String {
    let of = |verdict: Verdict| diff.changes.iter().filter(|change| change.verdict == verdict).count();
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::New, Verdict::Gone];
    let told: Vec<_> = verdicts
        .iter()
        .filter(|&&verdict| of(verdict) > 0)
        .map(|&verdict| format!("{} {}", of(verdict), verdict.word()))
        .chain([format!("{} as before", diff.unchanged)])
        .collect();
    let features = match diff.other_targets {
        0 => String::new(),
        other => format!("; of {other}, the targets have one processor and other features"),
    };
    format!("kernels: {}{features}", told.join(", "))
}

/// The table in Markdown, with the limits that were passed before it; with a baseline, what differs in its
/// place.
pub fn markdown(
    table: &ResourceTable,
    diff: Option<&ResourceDiff>,
    violations: &[ResourceViolation],
) -> String {
    let mut text = format!("## Resources of `{}`\n\n", table.file);
    let _ = writeln!(text, "{}\n", diff.map_or_else(|| totals(table), tally));
    if !violations.is_empty() {
        text.push_str("### Beyond a limit\n\n| limit | target | kernel | |\n|---|---|---|---|\n");
        for ResourceViolation { limit, kernel, what } in violations {
            let (target, name) = (&kernel.target, code(kernel));
            let _ = writeln!(text, "| `{limit}` | {target} | {name} | {} |", markdown::cell(what));
        }
        text.push('\n');
    }
    match diff {
        None => {
            let titles: Vec<_> = COLUMNS.iter().map(|(title, _, _)| *title).chain(["kernel"]).collect();
            let _ = writeln!(text, "| {} |\n|{}", titles.join(" | "), "---|".repeat(titles.len()));
            for kernel in &table.kernels {
                let cells = COLUMNS.map(|(_, text, _)| markdown::cell(&text(kernel)));
                let _ = writeln!(text, "| {} | {} |", cells.join(" | "), code(kernel));
            }
        }
        Some(diff) if diff.changes.is_empty() => {}
        Some(diff) => {
            text.push_str("| | target | kernel | |\n|---|---|---|---|\n");
            for change in &diff.changes {
                let (target, name) = (&change.kernel.target, code(&change.kernel));
                let told = markdown::cell(&change.figures_told());
                let _ = writeln!(text, "| {} | {target} | {name} | {told} |", change.verdict.word());
            }
        }
    }
    text
}

/// A kernel's name as code in a cell.
fn code(kernel: &KernelResources) -> String {
    format!("`{}`", markdown::cell(&kernel.title()))
}

/// The limits that were passed as GitHub's workflow commands: an error each, at the kernel's line if that is
/// known.
pub fn annotations(violations: &[ResourceViolation]) -> String {
    let mut text = String::new();
    for violation in violations {
        let title = format!("--fail-on {}", violation.limit);
        github::line(&mut text, "error", &violation.kernel.location, &title, &violation.to_string());
    }
    text
}

impl Display for ResourceViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}: {}", self.kernel.title(), self.kernel.target, self.what)
    }
}

impl Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |figure: Option<u64>| figure.map_or("?".to_owned(), |figure| figure.to_string());
        write!(f, "{} -> {} {}", told(self.before), told(self.after), self.metric.unit())
    }
}

impl KernelChange {
    /// `4 -> 6 VGPRs, 16 -> 12 waves a SIMD`.
    pub(super) fn figures_told(&self) -> String {
        self.figures.iter().map(Figure::to_string).collect::<Vec<_>>().join(", ")
    }
}
