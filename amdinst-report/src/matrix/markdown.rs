//! A matrix as Markdown: the summary of a job.

use std::fmt::Write as _;

use super::kernels::{KernelCell, KernelRow, LEGEND, text_of};
use super::{Matrix, table};
use crate::gate::Violation;

/// A heading, the tests with a column each, the limits that were passed, what differs, the kernels with a
/// column each.
pub fn render(matrix: &Matrix, kernels: &[KernelRow], violations: &[Violation]) -> String {
    let mut text = format!("### Kernel tests: {}\n\n", matrix.summary());
    let words = table::rows(matrix)
        .into_iter()
        .map(|(label, words)| (label, words.into_iter().map(marked).collect::<Vec<_>>()));
    rows(&mut text, "test", matrix, words);
    // Writing to a String cannot fail, here and below.
    if !violations.is_empty() {
        text.push_str("\n#### Beyond a limit\n\n");
        for violation in violations {
            let _ = writeln!(text, "- `{}`: {}", violation.gate, escaped(&violation.message));
        }
    }
    let reasons = table::reasons(matrix);
    if !reasons.is_empty() {
        let _ = write!(
            text,
            "\n<details open><summary>What differs</summary>\n\n~~~text\n{reasons}~~~\n\n</details>\n"
        );
    }
    if !kernels.is_empty() {
        text.push_str("\n<details><summary>Kernels</summary>\n\n");
        let cells = kernels.iter().map(|row| (row.name.clone(), row.cells.iter().map(shaded).collect()));
        rows(&mut text, "kernel", matrix, cells);
        let shades: Vec<String> =
            SHADES.iter().map(|(percent, sign)| format!("{sign} up to {percent} %")).collect();
        let _ = write!(text, "\n{LEGEND}\n\nlanes lost: {}\n\n</details>\n", shades.join(", "));
    }
    text.push('\n');
    text
}

/// A table with a column each.
fn rows(text: &mut String, title: &str, matrix: &Matrix, rows: impl Iterator<Item = (String, Vec<String>)>) {
    let _ = write!(text, "| {title} |");
    for title in matrix.titles() {
        let _ = write!(text, " {} |", escaped(title));
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(matrix.columns.len()));
    text.push('\n');
    for (label, cells) in rows {
        let _ = writeln!(text, "| {} | {} |", escaped(&label), cells.join(" | "));
    }
}

/// Colors for lanes lost, in per cent up to which each stands.
const SHADES: [(u8, &str); 4] = [(0, "🟩"), (10, "🟨"), (33, "🟧"), (100, "🟥")];

/// A kernel's figures behind a color that is seen from afar.
fn shaded(cell: &Option<KernelCell>) -> String {
    let text = text_of(cell);
    let Some(cell) = cell else { return text };
    let shade = SHADES.iter().find(|(percent, _)| cell.lost_percent <= f64::from(*percent));
    match shade {
        _ if !cell.has_run() => format!("❌ {text}"),
        Some((_, sign)) if cell.has_figures() => format!("{sign} {text}"),
        _ => text,
    }
}

/// A word with a sign that is seen from afar.
fn marked(word: &str) -> String {
    match word {
        "ok" => "✅ ok".to_owned(),
        "FAILED" => "❌ failed".to_owned(),
        word => format!("⬜ {word}"),
    }
}

/// Text in a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('_', "\\_")
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::*;

    #[test]
    fn cells_hold_what_names_have() {
        assert_eq!(escaped("a_b|c<d>"), "a\\_b\\|c&lt;d>");
        let mut matrix = Matrix::new(Axis::Gpus);
        matrix.begin("gfx90a");
        matrix.begin("gfx1100/64");
        let text = render(&matrix, &[], &[]);
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "### Kernel tests: 0 tests on 2 GPUs: none has run",
                "",
                "| test | gfx90a | gfx1100/64 |",
                "|---|---|---|",
                ""
            ]
        );
    }
}
