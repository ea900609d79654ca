//! A matrix for terminals: a table of words, the reasons of tests that differ, a table of kernels.

use std::fmt::Write as _;

use amdinst_core::report::run::Ending;
use amdinst_text::listed;

use super::kernels::{KernelRow, text_of};
use super::{Axis, Matrix, MatrixCell, MatrixColumn};

/// The tests that are shown: a name for people, and a word a column.
pub fn rows(matrix: &Matrix) -> Vec<(String, Vec<&'static str>)> {
    let label = matrix.labels();
    let row = |test: &super::MatrixTest| {
        let words = test.cells.iter().zip(&matrix.columns).map(|(cell, column)| word(cell.as_ref(), column));
        (label(&test.name), words.collect())
    };
    match matrix.axis {
        Axis::Profiles | Axis::Schedules => matrix.differing().map(row).collect(),
        Axis::Gpus | Axis::Levels => matrix.tests.iter().map(row).collect(),
    }
}

/// All there is to tell: the tests, why they fail or differ, the kernels.
pub fn all(matrix: &Matrix, kernels: &[KernelRow]) -> String {
    [tests(matrix), reasons(matrix), self::kernels(matrix, kernels)].concat()
}

/// The tests, a column each. Empty if there are none to show.
pub fn tests(matrix: &Matrix) -> String {
    let rows = rows(matrix);
    let room: Vec<usize> = matrix.columns.iter().map(|column| word(None, column).len()).collect();
    let rows = rows.iter().map(|(label, words)| (&**label, words.iter().map(|&word| word.to_owned())));
    aligned("test", matrix, &room, rows)
}

/// The kernels, a column each: how many waves a SIMD can hold, registers, branches that diverged. Empty if
/// none was launched.
pub fn kernels(matrix: &Matrix, kernels: &[KernelRow]) -> String {
    let rows = kernels.iter().map(|row| (&*row.name, row.cells.iter().map(text_of)));
    let table = aligned("kernel", matrix, &vec![0; matrix.columns.len()], rows);
    if table.is_empty() { table } else { format!("{table}{}\n", super::kernels::LEGEND) }
}

/// A table with a title, a column each, and rows. Nothing without rows. Columns have `room` at least.
fn aligned<'a>(
    title: &str,
    matrix: &Matrix,
    room: &[usize],
    rows: impl Iterator<Item = (&'a str, impl Iterator<Item = String>)>,
) -> String {
    let rows: Vec<(&str, Vec<String>)> = rows.map(|(name, cells)| (name, cells.collect())).collect();
    if rows.is_empty() {
        return String::new();
    }
    let wide = |text: &str| text.chars().count();
    let first = rows.iter().map(|(name, _)| wide(name)).chain([wide(title)]).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().map(|(_, cells)| wide(&cells[column]));
        cells.chain([room[column], wide(&matrix.columns[column].title)]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..matrix.columns.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        let mut line = format!("{name:first$}");
        for (cell, width) in cells.zip(&widths) {
            // Writing to a String cannot fail, here and below.
            let _ = write!(line, "  {cell:width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(title, &mut matrix.titles());
    for (name, cells) in &rows {
        line(name, &mut cells.iter().map(String::as_str));
    }
    text
}

/// Of each test that fails or ends differently, the reasons, with the GPUs that have them. Of profiles, the
/// programs have printed them.
pub fn reasons(matrix: &Matrix) -> String {
    if matrix.axis == Axis::Profiles {
        return String::new();
    }
    let label = matrix.labels();
    let mut text = String::new();
    for test in matrix.remarkable() {
        for (cell, reason, columns) in reasons_of(matrix, &test.cells) {
            let _ = writeln!(text, "{} on {}: {reason}", label(&test.name), listed(&columns, columns.len()));
            hints(cell).for_each(|hint| _ = writeln!(text, "    {hint}"));
            let of_these = test.partings.iter().filter(|parting| columns.contains(&parting.here));
            for parting in of_these {
                let launch = parting.launch.text(&parting.here, &parting.there);
                launch.lines().for_each(|line| _ = writeln!(text, "    {line}"));
            }
        }
    }
    text
}

/// What a fault usually comes from where it is not everywhere, and what mends it: a line each.
pub(super) fn hints(cell: &MatrixCell) -> impl Iterator<Item = String> + '_ {
    let suspect = cell.suspect.iter().map(|text| format!("suspect: {text}"));
    suspect.chain(cell.help.iter().map(|text| format!("help: {text}")))
}

/// The reasons of a test's cells, each with its first cell and the columns that have it.
pub(super) fn reasons_of<'a>(
    matrix: &Matrix,
    cells: &'a [Option<MatrixCell>],
) -> Vec<(&'a MatrixCell, &'a str, Vec<String>)> {
    let mut reasons: Vec<(&MatrixCell, &str, Vec<String>)> = Vec::new();
    for (cell, title) in cells.iter().zip(matrix.titles()) {
        let Some(cell) = cell else { continue };
        let Some(reason) = cell.reason.as_deref() else { continue };
        match reasons.iter_mut().find(|(_, known, _)| *known == reason) {
            Some((_, _, columns)) => columns.push(title.to_owned()),
            None => reasons.push((cell, reason, vec![title.to_owned()])),
        }
    }
    reasons
}

/// The word for how a test ended, as the test runner writes it.
pub(super) const fn word(cell: Option<&MatrixCell>, column: &MatrixColumn) -> &'static str {
    match cell {
        Some(MatrixCell { ending: Ending::Passed, .. }) => "ok",
        Some(MatrixCell { ending: Ending::Failed, .. }) => "FAILED",
        Some(MatrixCell { ending: Ending::Ignored, .. }) => "ignored",
        None if column.not_built => "not built",
        None => "not run",
    }
}
