//! How tests ended side by side, as Markdown: the summary of a job.

use std::fmt::Write as _;

use super::matrix::Matrix;

/// A heading, a table with a column each, and what differs.
pub(super) fn markdown(matrix: &Matrix) -> String {
    let mut text = format!("### Kernel tests: {}\n\n| test |", matrix.summary());
    // Writing to a String cannot fail, here and below.
    for title in matrix.titles() {
        let _ = write!(text, " {} |", escaped(title));
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(matrix.titles().count()));
    text.push('\n');
    for (label, words) in matrix.rows() {
        let _ = write!(text, "| {} |", escaped(&label));
        for word in words {
            let _ = write!(text, " {} |", marked(word));
        }
        text.push('\n');
    }
    let reasons = matrix.reasons();
    if !reasons.is_empty() {
        let _ = write!(
            text,
            "\n<details open><summary>What differs</summary>\n\n~~~text\n{reasons}~~~\n\n</details>\n"
        );
    }
    text.push('\n');
    text
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
    use super::super::matrix::Axis;
    use super::*;

    #[test]
    fn cells_hold_what_names_have() {
        assert_eq!(escaped("a_b|c<d>"), "a\\_b\\|c&lt;d>");
        let mut matrix = Matrix::of(Axis::Gpus);
        matrix.begin("gfx90a");
        matrix.begin("gfx1100/64");
        let text = markdown(&matrix);
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
