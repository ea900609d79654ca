//! A matrix as GitHub's workflow commands: an error for each reason why a test fails, at the line of the
//! fault, or where values part. Columns with one reason are one error.

use amdinst_core::report::run::Ending;
use amdinst_text::listed;

use super::{Matrix, MatrixTest, table};
use crate::gate::Violation;
use crate::github::{limits, line};

/// One line an annotation.
pub fn render(matrix: &Matrix, violations: &[Violation]) -> String {
    let mut text = String::new();
    for test in &matrix.tests {
        of_test(&mut text, matrix, test);
    }
    limits(&mut text, violations);
    text
}

fn of_test(text: &mut String, matrix: &Matrix, test: &MatrixTest) {
    for (cell, reason, columns) in table::reasons_of(matrix, &test.cells) {
        if cell.ending != Ending::Failed {
            continue;
        }
        let parting = test.partings.iter().find(|parting| columns.contains(&parting.here));
        let parted = parting.and_then(|parting| Some(parting.launch.here.as_ref()?.location.clone()));
        let location = cell.location.clone().or(parted);
        let told = parting.map(|parting| format!("\n{}", parting.launch.text(&parting.here, &parting.there)));
        let title = format!("{} fails on {}", test.name.test, listed(&columns, columns.len()));
        let hints: String = table::hints(cell).map(|hint| format!("\n{hint}")).collect();
        let message = format!("{reason}{hints}{}", told.unwrap_or_default());
        line(text, "error", &location.unwrap_or_default(), &title, &message);
    }
}
