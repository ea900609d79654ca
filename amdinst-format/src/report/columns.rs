//! Tables of text that fit a terminal.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// How wide tables are, and how much of a report they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Every row, whole paths and every column, however wide that is.
    pub all: bool,
}

impl Layout {
    /// Where nothing says how wide the output is: a file, a pipe.
    pub const WIDTH: usize = 120;

    /// A layout of the width that the variable `COLUMNS` gives, else of [`Layout::WIDTH`].
    pub fn of_columns(columns: Option<&str>, all: bool) -> Self {
        let width = columns.and_then(|columns| columns.trim().parse().ok()).filter(|width| *width > 0);
        Self { width: width.unwrap_or(Self::WIDTH), all }
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self { width: Self::WIDTH, all: false }
    }
}

/// What becomes of a column where a table is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The column stays.
    Keep,
    /// The column is dropped; columns with the lowest numbers go first.
    Drop(u8),
    /// A path: it is shortened by directories, and at the left.
    Path,
    /// The text is cut at the right.
    Cut,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub head: &'static str,
    /// The column holds figures, so it is aligned right.
    pub right: bool,
    /// What becomes of it where there is no room.
    pub fit: Fit,
}

/// A row: a cell for each column; or for the first ones, and a text in place of the others.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The cells.
    pub cells: Vec<String>,
    /// The text in place of missing cells.
    pub rest: String,
}

/// Paths are shortened to this before a column is dropped, and to [`LEAST`] after.
const PATH: usize = 28;
/// Cells are not made shorter than this.
const LEAST: usize = 10;

/// The table, indented by two, each row with a newline. Columns without any text are left out.
pub fn table(columns: &[Column], lines: &[Line], layout: &Layout) -> String {
    let cell = |line: &'_ Line, index: usize| line.cells.get(index).cloned().unwrap_or_default();
    let length = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = (0..columns.len())
        .map(|index| lines.iter().map(|line| length(&cell(line, index))).max().unwrap_or(0))
        .collect();
    let mut shown: Vec<usize> = (0..columns.len()).filter(|&index| widths[index] > 0).collect();
    for &index in &shown {
        widths[index] = widths[index].max(length(columns[index].head));
    }
    if !layout.all {
        fit(columns, lines, &mut shown, &mut widths, layout.width);
    }
    let mut text = String::new();
    let mut row = |cells: &dyn Fn(usize) -> Option<String>, rest: &str| {
        let mut out = String::new();
        for &index in &shown {
            let Some(cell) = cells(index) else {
                let _ = write!(out, "  {rest}");
                break;
            };
            let width = widths[index];
            let _ = match columns[index].right {
                true => write!(out, "  {cell:>width$}"),
                false => write!(out, "  {cell:<width$}"),
            };
        }
        let _ = writeln!(text, "{}", out.trim_end());
    };
    row(&|index| Some(columns[index].head.to_owned()), "");
    for line in lines {
        let shortened = |index: usize| {
            let cell = line.cells.get(index)?;
            Some(match columns[index].fit {
                Fit::Path => shorter_path(cell, widths[index]),
                _ => cut(cell, widths[index]),
            })
        };
        row(&shortened, &line.rest);
    }
    text
}

/// Makes a table as wide as `width`, if that can be done.
fn fit(columns: &[Column], lines: &[Line], shown: &mut Vec<usize>, widths: &mut [usize], width: usize) {
    let excess = |shown: &[usize], widths: &[usize]| {
        let first = |count: usize| {
            shown.iter().filter(|&&index| index < count).map(|&index| widths[index] + 2).sum::<usize>()
        };
        let of_rest = |line: &Line| first(line.cells.len()) + 2 + line.rest.chars().count();
        let short = lines.iter().filter(|line| line.cells.len() < columns.len());
        short.map(of_rest).chain([first(columns.len())]).max().unwrap_or(0).saturating_sub(width)
    };
    let shrink = |shown: &[usize], widths: &mut [usize], what: Fit, least: usize| {
        for &index in shown.iter().filter(|&&index| columns[index].fit == what) {
            let least = least.max(columns[index].head.len()).min(widths[index]);
            widths[index] = widths[index].saturating_sub(excess(shown, widths)).max(least);
        }
    };
    let whole = widths.to_vec();
    shrink(shown, widths, Fit::Path, PATH);
    while excess(shown, widths) > 0 {
        let order = |&index: &usize| match columns[index].fit {
            Fit::Drop(order) => Some((order, index)),
            _ => None,
        };
        let Some((_, next)) = shown.iter().filter_map(order).min() else { break };
        shown.retain(|&index| index != next);
    }
    for what in [Fit::Cut, Fit::Path] {
        shrink(shown, widths, what, 2 * LEAST);
    }
    for what in [Fit::Cut, Fit::Path] {
        shrink(shown, widths, what, LEAST);
    }
    // What columns left that were dropped is for those that were shortened for them.
    for at in 0..shown.len() {
        let index = shown[at];
        while widths[index] < whole[index] {
            widths[index] += 1;
            if excess(shown, widths) > 0 {
                widths[index] -= 1;
                break;
            }
        }
    }
}

/// A text of at most `width` characters: cut at the right.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// A path of at most `width` characters: without its first directories, else cut at the left. The cell's text
/// before it, up to the last space, stays.
pub fn shorter_path(text: &str, width: usize) -> String {
    let length = |text: &str| text.chars().count();
    if length(text) <= width {
        return text.to_owned();
    }
    let at = text.rfind(' ').map_or(0, |at| at + 1);
    let (lead, path) = text.split_at(at);
    let room = width.saturating_sub(length(lead));
    let mut rest = path;
    while let Some((_, inner)) = rest.split_once('/') {
        rest = inner;
        if length(rest) + 2 <= room {
            return format!("{lead}…/{rest}");
        }
    }
    let kept: Vec<char> = rest.chars().rev().take(room.saturating_sub(1)).collect();
    format!("{lead}…{}", kept.into_iter().rev().collect::<String>())
}

/// Text folded at `width`: broken behind a comma, what follows indented by `indent`.
pub fn folded(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (index, part) in text.split_inclusive(", ").enumerate() {
        let length = part.trim_end().chars().count();
        if index > 0 && column + length > width {
            out.truncate(out.trim_end().len());
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        }
        out.push_str(part);
        column += part.chars().count();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column { head: "source", right: false, fit: Fit::Path },
        Column { head: "what", right: false, fit: Fit::Cut },
        Column { head: "much", right: true, fit: Fit::Keep },
        Column { head: "less", right: true, fit: Fit::Drop(0) },
    ];

    fn line(cells: &[&str]) -> Line {
        Line { cells: cells.iter().map(|&cell| cell.to_owned()).collect(), rest: "nothing".to_owned() }
    }

    #[test]
    fn what_is_too_wide_is_shortened_then_dropped() {
        let lines = [
            line(&["kernels/deeper/src/finance.rs:24:8", "if tail", "12345", "1"]),
            line(&["src/a.rs:1", "loop until all of them have converged", "7", "22"]),
            line(&["src/b.rs:1", "if"]),
        ];
        let at = |width| table(&COLUMNS, &lines, &Layout { width, all: false });
        for width in [20, 40, 60, 80, 100, 200] {
            let text = at(width);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.max(33), "{width}: {widest}\n{text}");
            assert!(text.contains("12345") && text.contains("finance.rs:24:8") || width < 40, "{text}");
        }
        assert!(at(200).contains("kernels/deeper/src/finance.rs:24:8  if tail "), "{}", at(200));
        assert!(at(200).contains("less") && !at(60).contains("less"), "{}", at(60));
        let whole = table(&COLUMNS, &lines, &Layout { width: 20, all: true });
        assert_eq!(whole, at(200));
        assert!(whole.ends_with("  if                                     nothing\n"), "{whole}");
    }

    #[test]
    fn room_that_a_dropped_column_left_is_used() {
        let cells = ["kernels/src/finance_of_options.rs:2", "if", "12345", "1234567890123456789012345678"];
        let text = table(&COLUMNS, &[line(&cells)], &Layout { width: 50, all: false });
        assert!(text.contains("  kernels/src/finance_of_options.rs:2  if    12345\n"), "{text}");
        assert!(!text.contains("less"), "{text}");
    }

    #[test]
    fn columns_without_text_are_left_out() {
        let text = table(&COLUMNS, &[line(&["a", "", "1", ""])], &Layout::default());
        assert_eq!(text, "  source  much\n  a          1\n");
    }

    #[test]
    fn paths_lose_directories_first() {
        assert_eq!(shorter_path("a/b/c.rs:1", 10), "a/b/c.rs:1");
        assert_eq!(shorter_path("a/bb/c.rs:1", 10), "…/c.rs:1");
        assert_eq!(shorter_path("  from a/bb/c.rs:1", 16), "  from …/c.rs:1");
        assert_eq!(shorter_path("a/longer_name.rs:1", 8), "…me.rs:1");
    }

    #[test]
    fn widths_are_of_columns_or_120() {
        let width = |columns| Layout::of_columns(columns, false).width;
        assert_eq!(
            [width(Some("80")), width(Some("0")), width(Some("wide")), width(None)],
            [80, 120, 120, 120]
        );
    }

    #[test]
    fn long_lines_are_broken_at_commas() {
        assert_eq!(folded("k: 1 launch, 2 waves, SGPRs 3", 100, 4), "k: 1 launch, 2 waves, SGPRs 3");
        assert_eq!(folded("k: 1 launch, 2 waves, SGPRs 3", 22, 4), "k: 1 launch, 2 waves,\n    SGPRs 3");
    }
}
