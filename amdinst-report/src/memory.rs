//! What memory instructions asked for, by line: the table for a terminal, and the words of other renderings.

use std::fmt::Write as _;

use amdinst_core::report::columns::{self, Column, Fit, Layout};
use amdinst_core::report::origin::short;
use amdinst_core::report::{MemoryAccess, MemoryFigures, MemoryRules, MemoryVerb};
use amdinst_text::count;

use crate::summary::{LineMemory, MemorySummary};

const COLUMNS: [Column; 5] = [
    Column { head: "line", right: false, fit: Fit::Path },
    Column { head: "access", right: false, fit: Fit::Keep },
    Column { head: "lanes of each", right: true, fit: Fit::Keep },
    Column { head: "bytes", right: true, fit: Fit::Keep },
    Column { head: "cost", right: false, fit: Fit::Keep },
];

impl LineMemory {
    /// Where it stands: `src/lib.rs:4`, or with the `whole` path; `-` for instructions of no line.
    pub(crate) fn place(&self, whole: bool) -> String {
        let Some(file) = &self.file else { return "-".to_owned() };
        let file = if whole { file.into() } else { short(file) };
        self.line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"))
    }

    /// Lanes of an execution.
    pub(crate) fn lanes_text(&self) -> String {
        let MemoryFigures { lanes, executions, .. } = self.figures;
        format!("{:.1}", lanes as f64 / executions.max(1) as f64)
    }
}

/// The cost of what an instruction, or those of a line, ask for, in words: `256 cache lines, 50 % coalesced`,
/// `64 bank cycles, 62 by conflicts`, `up to 64 lanes at one address`.
pub(crate) fn cost_text(access: MemoryAccess, figures: &MemoryFigures, rules: &MemoryRules) -> String {
    let mut parts = Vec::new();
    if let Some(percent) = figures.coalescing_percent(rules.line_bytes) {
        let [lines, _] = figures.lines(rules.line_bytes);
        parts.push(format!("{}, {percent:.0} % coalesced", count(lines, "cache line")));
    }
    if figures.bank_cycles > 0 {
        let conflicts = figures.bank_conflicts();
        parts.push(format!("{}, {conflicts} by conflicts", count(figures.bank_cycles, "bank cycle")));
    }
    if access.access == MemoryVerb::Atomic {
        parts.push(format!("up to {} at one address", count(figures.most_turns, "lane")));
    }
    parts.join("; ")
}

/// At most `top` lines of a kernel for a terminal, the costliest first. Nothing if it has no figures.
pub fn table(memory: &MemorySummary, top: usize, layout: &Layout) -> String {
    if top == 0 {
        return String::new();
    }
    let shown = memory.lines.iter().take(top);
    let row = |line: &LineMemory| {
        let access = line.access.words().to_owned();
        let (lanes, bytes) = (line.lanes_text(), line.figures.bytes.to_string());
        let cost = cost_text(line.access, &line.figures, &memory.rules);
        let cells = vec![line.place(layout.all), access, lanes, bytes, cost];
        columns::Line { cells, rest: String::new() }
    };
    let rows: Vec<_> = shown.map(row).collect();
    let mut text = format!("  memory ({}):\n", memory.sentence());
    if rows.is_empty() {
        text.push_str("  no memory instruction ran\n");
        return text;
    }
    text.push_str(&columns::table(&COLUMNS, &rows, layout));
    let hidden = memory.lines.len().saturating_sub(top);
    if hidden > 0 {
        let _ = writeln!(text, "  {hidden} more not shown, --top shows more");
    }
    text
}
