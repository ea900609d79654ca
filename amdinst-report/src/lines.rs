//! Source lines by how often they ran, where blocks were measured: the table for a terminal, and the one for
//! a page without scripts and for Markdown.

use std::cmp::Reverse;
use std::fmt::Write as _;

use amdinst_core::report::Origin;
use amdinst_core::report::columns::{self, Column, Fit, Layout};
use amdinst_core::report::origin::short;
use amdinst_text::count;

use crate::sources::Sources;
use crate::summary::{KernelSummary, Line, Summary};

/// What lines without lanes have in their place.
const NO_LANES: &str = "-";

impl Line {
    /// Active lanes, an execution; `None` where none ran, or executions alone were counted.
    pub fn average_lanes(&self) -> Option<f64> {
        (self.lanes > 0).then(|| self.lanes as f64 / self.executions.max(1) as f64)
    }

    /// The lanes of the line, for people.
    pub(crate) fn lanes_text(&self) -> String {
        self.average_lanes().map_or_else(|| NO_LANES.to_owned(), |lanes| format!("{lanes:.1}"))
    }

    /// Where it stands: `src/lib.rs:4`, `libm-0.2.16/src/math/powf.rs:85`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", short(&self.file), self.line)
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
    /// Every measured line with its kernel, those that ran the most often first; lines as often as each other
    /// by their place.
    pub fn lines_most_first(&self) -> Vec<(&KernelSummary, &Line)> {
        let of_kernel = |kernel| move |line| (kernel, line);
        let mut lines: Vec<_> =
            self.kernels.iter().flat_map(|kernel| kernel.lines.iter().map(of_kernel(kernel))).collect();
        // Stable: kernels, and the lines in them, are in order.
        lines.sort_by_key(|(_, line)| Reverse(line.executions));
        lines
    }
}

const COLUMNS: [Column; 4] = [
    Column { head: "line", right: false, fit: Fit::Path },
    Column { head: "executions", right: true, fit: Fit::Keep },
    Column { head: "lanes of each", right: true, fit: Fit::Keep },
    Column { head: "", right: false, fit: Fit::Cut },
];

/// At most `top` lines of a kernel for a terminal, with what stands there; those of dependencies only if all
/// are shown. Nothing if no blocks were measured.
pub(crate) fn table(kernel: &KernelSummary, sources: &Sources, top: usize, layout: &Layout) -> String {
    let mut lines = kernel.lines_most_first();
    let all = lines.len();
    if !layout.all {
        lines.retain(|line| Origin::of(&line.file).is_own());
    }
    let of_dependencies = all - lines.len();
    let hidden = lines.len().saturating_sub(top);
    lines.truncate(top);
    let mut text = String::new();
    if all == 0 || top == 0 {
        return text;
    }
    let row = |line: &&Line| {
        let source = sources.get(&line.file);
        let shown = source.as_ref().and_then(|source| Some(source.line(line.line)?.1));
        let shown = shown.unwrap_or_default().trim().to_owned();
        let place = if layout.all { format!("{}:{}", line.file, line.line) } else { line.place() };
        let cells = vec![place, line.executions.to_string(), line.lanes_text(), shown];
        columns::Line { cells, rest: String::new() }
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    text.push_str(&columns::table(&COLUMNS, &rows, layout));
    if hidden > 0 {
        let _ = writeln!(text, "  {hidden} more not shown, --top shows more");
    }
    if of_dependencies > 0 {
        let _ = writeln!(
            text,
            "  {} of dependencies not shown, -v shows them",
            count(of_dependencies as u64, "line")
        );
    }
    text
}
