//! The report as Markdown (GitHub's), for job summaries and comments.

use std::fmt::Write as _;

use amdinst_core::report::{Certainty, Counts, Lost, refused};
use amdinst_text::count;

use crate::fault::sentence;
use crate::fold::{Dependency, Shown, fold};
use crate::gate::Violation;
use crate::human::{explain, found};
use crate::memory::cost_text;
use crate::summary::{Branch, KernelSummary, Resources, Summary};

/// The whole report: faults, limits that were passed, the branches that diverged (at most `top`) or the lines
/// that ran, the kernels. Ends with a newline.
pub fn render(summary: &Summary, violations: &[Violation], top: usize) -> String {
    let mut text = format!("## Divergence of `{}`\n\n", summary.package);
    let branches = summary.worst_first();
    let diverged = fold(branches.into_iter().filter(|(_, branch)| branch.counts.diverged > 0), false);
    let tests = &summary.tests;
    let _ = writeln!(
        text,
        "{}, {}. Tests: {} passed, {} failed, {} ignored.\n",
        count(summary.kernels.len() as u64, "kernel"),
        found(summary),
        tests.passed,
        tests.failed,
        tests.ignored
    );
    for program in &summary.unfinished_programs {
        let _ = writeln!(text, "> [!WARNING]\n> Test program `{program}` did not come to its end.\n");
    }
    let faults: Vec<_> = summary.unexpected_faults().collect();
    let (lanes, races) = summary.doubts.iter().partition(|doubt| doubt.fault.kind == "no-such-lane");
    let doubts = [("Races unless atomic", races), ("Lanes that do not exist", lanes)];
    for (title, faults) in [("Faults", faults)].into_iter().chain(doubts) {
        if faults.is_empty() {
            continue;
        }
        let _ = writeln!(text, "### {title}\n\n| kernel | source | fault | test |\n|---|---|---|---|");
        for fault in faults {
            let _ = writeln!(
                text,
                "| `{}` | `{}` | {} | `{}` |",
                fault.fault.kernel,
                fault.fault.location,
                cell(&sentence(&fault.fault)),
                fault.test
            );
        }
        text.push('\n');
    }
    for sampled in &summary.sampled {
        let _ = writeln!(text, "> [!NOTE]\n> `{}`\n", crate::human::sentence(sampled));
    }
    if !violations.is_empty() {
        text.push_str("### Beyond a limit\n\n| limit | source | |\n|---|---|---|\n");
        for violation in violations {
            let place = violation.location.as_ref().map(|place| format!("`{place}`")).unwrap_or_default();
            let _ = writeln!(text, "| `{}` | {place} | {} |", violation.gate, cell(&violation.message));
        }
        text.push('\n');
    }
    if !diverged.is_empty() {
        text.push_str(
            "### Branches, the most lanes lost first\n\n\
             | kernel | source | branch | executions | diverged | lanes active | lanes lost | waves |\n\
             |---|---|---|--:|--:|--:|--:|--:|\n",
        );
        for shown in diverged.iter().take(top) {
            match shown {
                Shown::Branch(kernel, branch) => row(&mut text, kernel, branch),
                Shown::Dependency(dependency) => folded(&mut text, dependency),
            }
        }
        if diverged.len() > top {
            let _ = writeln!(text, "\n{} more are not shown.", diverged.len() - top);
        }
        text.push('\n');
    }
    lines(&mut text, summary, top);
    memory(&mut text, summary, top);
    if !summary.unlaunched.is_empty() {
        let names: Vec<String> = summary.unlaunched_names().iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(text, "Not launched: {}.\n", names.join(", "));
    }
    uncounted(&mut text, summary);
    kernels(&mut text, summary);
    text
}

/// The lines that ran the most often, if blocks were measured.
fn lines(text: &mut String, summary: &Summary, top: usize) {
    let lines = summary.lines_most_first();
    if lines.is_empty() {
        return;
    }
    text.push_str(
        "### Lines, those that ran most first\n\n\
         | kernel | source | executions | lanes of each |\n\
         |---|---|--:|--:|\n",
    );
    for (kernel, line) in lines.iter().take(top) {
        let _ = writeln!(
            text,
            "| `{}` ({}) | `{}` | {} | {} |",
            kernel.name,
            kernel.cpu,
            line.place(),
            line.executions,
            line.lanes_text()
        );
    }
    if lines.len() > top {
        let _ = writeln!(text, "\n{} more are not shown.", lines.len() - top);
    }
    text.push('\n');
}

/// The lines that cost the most by their memory instructions, if these were measured.
fn memory(text: &mut String, summary: &Summary, top: usize) {
    let measured = summary.kernels.iter().filter_map(|kernel| Some((kernel, kernel.memory.as_ref()?)));
    for (kernel, memory) in measured {
        let _ = writeln!(
            text,
            "### Memory of `{}` ({}), {}\n\n\
             | source | access | executions | lanes of each | bytes | cost |\n\
             |---|---|--:|--:|--:|---|",
            kernel.name,
            kernel.cpu,
            memory.sentence()
        );
        for line in memory.lines.iter().take(top) {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {} |",
                line.place(false),
                line.access.words(),
                line.figures.executions,
                line.lanes_text(),
                line.figures.bytes,
                cost_text(line.access, &line.figures, &memory.rules)
            );
        }
        if memory.lines.len() > top {
            let _ = writeln!(text, "\n{} more are not shown.", memory.lines.len() - top);
        }
        text.push('\n');
    }
}

/// Lanes active, and lanes lost.
fn lanes(counts: &Counts, lost: &Lost) -> (String, String) {
    if counts.lanes_in == 0 && counts.executions > 0 {
        return ("–".to_owned(), "–".to_owned());
    }
    let sign = match lost.certainty {
        Certainty::AtMost => "≤ ",
        Certainty::About => "≈ ",
        Certainty::Exact | Certainty::Unknown => "",
    };
    let before = counts.lanes_in as f64 / counts.executions.max(1) as f64;
    (format!("{:.1} of {before:.1}", counts.average_lanes_active()), format!("{sign}{}", lost.lanes))
}

/// Branches of a dependency.
fn folded(text: &mut String, dependency: &Dependency<'_>) {
    let counts = dependency.counts();
    let (active, lost) = lanes(&counts, &dependency.lost());
    let _ = writeln!(
        text,
        "| `{}` ({}) | `{}` | {} of `{}` | {} | {} ({:.1} %) | {active} | {lost} | |",
        dependency.kernel.name,
        dependency.kernel.cpu,
        dependency.place().short(),
        count(dependency.branches.len() as u64, "branch"),
        dependency.package,
        counts.executions,
        counts.diverged,
        100.0 * counts.divergence(),
    );
}

fn row(text: &mut String, kernel: &KernelSummary, branch: &Branch) {
    let counts = &branch.counts;
    let (active, lost) = lanes(counts, &branch.lost);
    let expected = if branch.expected { " (expected)" } else { "" };
    let _ = writeln!(
        text,
        "| `{}` ({}) | `{}` | {}{expected} | {} | {} ({:.1} %) | {active} | {lost} | {} of {} |",
        kernel.name,
        kernel.cpu,
        branch.location.short(),
        cell(&branch.title()),
        counts.executions,
        counts.diverged,
        branch.diverged_percent,
        branch.waves_diverged,
        branch.waves_here
    );
}

fn uncounted(text: &mut String, summary: &Summary) {
    let mut rows = String::new();
    for kernel in &summary.kernels {
        for probe in &kernel.uncounted {
            let _ = writeln!(
                rows,
                "| `{}` ({}) | `{}` | {} | {}: {} |",
                kernel.name,
                kernel.cpu,
                probe.location,
                cell(&probe.probe),
                probe.outcome,
                explain(&probe.outcome)
            );
        }
        if kernel.not_selected {
            let _ = writeln!(rows, "| `{}` ({}) | | | not selected |", kernel.name, kernel.cpu);
        }
        for refusal in &refused::folded(&kernel.refusals) {
            let _ = writeln!(
                rows,
                "| `{}` ({}) | | | not instrumented: {} |",
                kernel.name,
                kernel.cpu,
                cell(refusal)
            );
        }
    }
    if !rows.is_empty() {
        let _ = writeln!(
            text,
            "### Without counts\n\n| kernel | source | probe | why |\n|---|---|---|---|\n{rows}"
        );
    }
}

fn kernels(text: &mut String, summary: &Summary) {
    let modelled = summary.kernels.iter().any(|kernel| kernel.modelled.is_some());
    let (head, rule) = if modelled { (" cycles a launch, modeled |", "--:|") } else { ("", "") };
    let _ = writeln!(
        text,
        "### Kernels\n\n\
         | kernel | launches | waves | counters | SGPRs | VGPRs | LDS | scratch | occupancy |{head}\n\
         |---|--:|--:|---|--:|--:|--:|--:|--:|{rule}"
    );
    for kernel in &summary.kernels {
        let change = |value: fn(&Resources) -> [u32; 2]| match kernel.resources.as_ref().map(value) {
            None => "–".to_owned(),
            Some([before, after]) if before == after => before.to_string(),
            Some([before, after]) => format!("{before} → {after}"),
        };
        let _ = writeln!(
            text,
            "| `{}` ({}) | {} | {} | {} | {} | {} | {} | {} | {} |{}",
            kernel.name,
            kernel.cpu,
            kernel.launches,
            kernel.waves,
            kernel.counter_storage,
            change(|resources| resources.sgprs),
            change(|resources| resources.vgprs),
            change(|resources| resources.lds),
            change(|resources| resources.scratch),
            kernel.resources.map_or_else(|| "–".to_owned(), |resources| resources.occupancy_text(" → ")),
            match &kernel.modelled {
                _ if !modelled => String::new(),
                None => " – |".to_owned(),
                Some(time) => format!(" {:.0}: {} |", time.cycles_a_launch(), time.largest(2)),
            }
        );
    }
    for kernel in &summary.kernels {
        if let Some(moved) = kernel.resources.and_then(|resources| resources.moved_text()) {
            let _ = writeln!(text, "\n`{}` ({}): {moved}", kernel.name, kernel.cpu);
        }
    }
}

/// Text as it may stand in a cell.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "<br>")
}
