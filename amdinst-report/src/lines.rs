//! Source lines by how often they ran, where blocks were measured: the table for a terminal, and the one for a page without
//! scripts and for Markdown.

use std::cmp::Reverse;
use std::fmt::Write as _;

use crate::sources::Sources;
use crate::summary::{KernelSummary, Line, Summary};

/// What lines without lanes have in their place.
const NO_LANES: &str = "-";

impl Line {
    /// Active lanes, an execution; `None` where none ran, or executions alone were counted.
    pub fn average_lanes(&self) -> Option<f64> {
        (self.lanes > 0).then(|| self.lanes as f64 / self.executions.max(1) as f64)
    }

    /// The same for people.
    pub(crate) fn lanes_text(&self) -> String {
        self.average_lanes().map_or_else(|| NO_LANES.to_owned(), |lanes| format!("{lanes:.1}"))
    }

    /// Where it stands: `src/lib.rs:4`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

impl KernelSummary {
    /// Its measured lines, those that ran the most often first; lines as often as each other by their place.
    pub fn lines_most_first(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        // Stable: they are in order.
        lines.sort_by_key(|line| Reverse(line.executions));
        lines
    }
}

impl Summary {
    /// Every measured line with its kernel, those that ran the most often first; lines as often as each other by their place.
    pub fn lines_most_first(&self) -> Vec<(&KernelSummary, &Line)> {
        let of_kernel = |kernel| move |line| (kernel, line);
        let mut lines: Vec<_> =
            self.kernels.iter().flat_map(|kernel| kernel.lines.iter().map(of_kernel(kernel))).collect();
        // Stable: kernels, and the lines in them, are in order.
        lines.sort_by_key(|(_, line)| Reverse(line.executions));
        lines
    }
}

/// At most `top` lines of a kernel for a terminal, with what stands there. Nothing if no blocks were measured.
pub(crate) fn table(kernel: &KernelSummary, sources: &Sources, top: usize) -> String {
    let mut lines = kernel.lines_most_first();
    let hidden = lines.len().saturating_sub(top);
    lines.truncate(top);
    let mut text = String::new();
    if lines.is_empty() {
        return text;
    }
    let width = lines.iter().map(|line| line.place().chars().count()).max().unwrap_or(0).max("line".len());
    let _ = writeln!(text, "  {:<width$}  executions  lanes of each", "line");
    for line in lines {
        let source = sources.get(&line.file);
        let shown = source.as_ref().and_then(|source| Some(source.line(line.line)?.1));
        let row = format!(
            "  {:<width$}  {:>10}  {:>13}  {}",
            line.place(),
            line.executions,
            line.lanes_text(),
            shown.unwrap_or_default().trim()
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if hidden > 0 {
        let _ = writeln!(text, "  {hidden} more not shown, --top shows more");
    }
    text
}
