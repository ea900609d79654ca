//! A matrix as the first page for a browser: tests and kernels with a column each. A cell opens the kernel in
//! the page of that column, which stands in a directory beside this page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kernels::{KernelCell, KernelRow, LEGEND};
use super::{Matrix, MatrixColumn, MatrixTest, table};
use crate::gate::Violation;
use crate::html::frame::{Frame, escape};

const STYLE: &str = include_str!("../../assets/matrix.css");
const SCRIPT: &str = include_str!("../../assets/matrix.js");

/// The most of a cell's colour, for a kernel that loses all of its lanes.
const DARKEST: f64 = 0.6;

impl MatrixColumn {
    /// Its page, from the matrix's on.
    pub fn page(&self) -> String {
        format!("{}/index.html", self.file_stem())
    }
}

/// The page of a package.
///
/// # Errors
/// Names that JSON cannot hold.
pub fn render(
    package: &str,
    matrix: &Matrix,
    kernels: &[KernelRow],
    violations: &[Violation],
) -> std::io::Result<String> {
    let with_page = || matrix.columns.iter().filter(|column| column.run.is_some());
    let pages: Vec<(&str, String)> = with_page().map(|column| (&*column.title, column.page())).collect();
    let has_run = |row: &KernelRow| {
        let columns = row.cells.iter().zip(&matrix.columns);
        let shown = |cell: &Option<KernelCell>| cell.as_ref().is_some_and(KernelCell::has_run);
        let columns = columns.filter(|(cell, column)| shown(cell) && column.run.is_some());
        columns.map(|(_, column)| column.title.clone()).collect::<Vec<_>>()
    };
    let of_kernels = kernels.iter().map(|row| (&*row.name, has_run(row)));
    let of_kernels: BTreeMap<&str, Vec<String>> =
        of_kernels.filter(|(_, columns)| !columns.is_empty()).collect();
    let data = serde_json::json!({ "pages": pages, "kernels": of_kernels });
    let mut tables = String::new();
    limits(&mut tables, violations);
    tests(&mut tables, matrix);
    of_each(&mut tables, matrix, kernels);
    reasons(&mut tables, matrix);
    let footer = format!(
        "A cell opens the kernel on that GPU; a kernel's name opens it on two GPUs side by side.\n{}",
        escape(LEGEND)
    );
    let frame = Frame {
        title: &escape(&format!("Kernels of {package} on each GPU")),
        // The pages of GPUs, beside this one.
        policy: "; frame-src 'self' file:",
        style: STYLE,
        main: &tables,
        beside: "<section id=\"beside\" hidden></section>\n",
        footer: &footer,
        script: SCRIPT,
    };
    frame.with(&data)
}

fn limits(text: &mut String, violations: &[Violation]) {
    for violation in violations {
        // Writing to a String cannot fail, here and below.
        let _ = write!(
            text,
            "<p class=\"note error\">--fail-on {}: {}</p>",
            escape(&violation.gate),
            escape(&violation.message)
        );
    }
}

fn heads(text: &mut String, what: &str, matrix: &Matrix) {
    let _ = write!(
        text,
        "<h2>{}</h2><div class=\"wide\"><table class=\"matrix\"><thead><tr><th scope=\"col\">{what}",
        {
            match what {
                "test" => escape(&matrix.summary()),
                _ => "Kernels".to_owned(),
            }
        }
    );
    for column in &matrix.columns {
        let title = escape(&column.title);
        let _ = match column.run {
            Some(_) => write!(text, "<th scope=\"col\"><a href=\"{}\">{title}</a>", escape(&column.page())),
            None => write!(text, "<th scope=\"col\">{title}"),
        };
    }
    text.push_str("</thead><tbody>");
}

fn tests(text: &mut String, matrix: &Matrix) {
    heads(text, "test", matrix);
    let label = matrix.labels();
    for test in &matrix.tests {
        let _ = write!(text, "<tr><td><code>{}</code>", escape(&label(&test.name)));
        let MatrixTest { cells, .. } = test;
        for (cell, column) in cells.iter().zip(&matrix.columns) {
            let word = table::word(cell.as_ref(), column);
            let class = match word {
                "ok" => "ok",
                "FAILED" => "failed",
                _ => "dim",
            };
            let reason = cell.as_ref().and_then(|cell| cell.reason.as_deref()).unwrap_or_default();
            let _ = write!(text, "<td class=\"{class}\" title=\"{}\">{word}", escape(reason));
        }
    }
    text.push_str("</tbody></table></div>");
}

fn of_each(text: &mut String, matrix: &Matrix, kernels: &[KernelRow]) {
    if kernels.is_empty() {
        return;
    }
    heads(text, "kernel", matrix);
    for row in kernels {
        let name = escape(&row.name);
        let link = percent_encoded(&row.name);
        let runs = row.cells.iter().flatten().any(KernelCell::has_run);
        let _ = match runs {
            true => write!(text, "<tr><td><a href=\"#/beside/{link}\"><code>{name}</code></a>"),
            false => write!(text, "<tr><td><code>{name}</code>"),
        };
        for (cell, column) in row.cells.iter().zip(&matrix.columns) {
            let Some(cell) = cell else {
                text.push_str("<td class=\"dim\">–");
                continue;
            };
            let class = if cell.has_run() { "figures" } else { "failed" };
            let _ = write!(
                text,
                "<td class=\"{class}\" style=\"--lost:{:.3}\" title=\"{}\">",
                DARKEST * cell.lost_percent / 100.0,
                escape(&cell.told())
            );
            // A kernel without figures has no page.
            let place = if cell.has_run() { format!("kernel/{link}") } else { String::new() };
            let _ = match column.run {
                Some(_) => {
                    write!(text, "<a href=\"{}#/{place}\">{}</a>", escape(&column.page()), cell.text())
                }
                None => write!(text, "{}", cell.text()),
            };
        }
    }
    text.push_str("</tbody></table></div>");
}

fn reasons(text: &mut String, matrix: &Matrix) {
    let reasons = table::reasons(matrix);
    if !reasons.is_empty() {
        let lines: Vec<String> = reasons.lines().map(escape).collect();
        let _ = write!(
            text,
            "<section class=\"reasons\"><h2>What differs</h2><pre>{}</pre></section>",
            lines.join("\n")
        );
    }
}

/// As `encodeURIComponent` writes it, which the pages' scripts read.
fn percent_encoded(name: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    name.bytes()
        .map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
