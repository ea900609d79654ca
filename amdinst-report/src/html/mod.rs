//! The report as one self-contained page: no network, no framework. The figures are embedded as JSON, and the
//! page's script (`assets/report.js`) draws what is looked at; without a script the page shows the tables of
//! kernels and of the worst branches, or of the lines that ran.

mod data;
mod listing;
mod paint;

use std::fmt::Write as _;

use serde::Serialize;

pub use listing::{Instruction, KernelListing, OccupancyPicture, ResourcePicture};

use crate::diff::Diff;
use crate::gate::Violation;
use crate::human::heading;
use crate::sources::Sources;
use crate::summary::Summary;

const PAGE: &str = include_str!("../../assets/report.html");
/// The look of all pages.
pub(crate) const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

/// Branches, and lines, in the tables for browsers without scripts, at most.
const PLAIN_ROWS: usize = 100;

/// What a page shows besides the summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The disassembly of kernels.
    pub listings: &'a [KernelListing],
    /// Limits that were passed.
    pub violations: &'a [Violation],
    /// The comparison with an earlier run.
    pub diff: Option<&'a Diff>,
    /// The run that is compared with.
    pub baseline: Option<&'a Summary>,
    /// The other pages, if the page is of one GPU of several.
    pub gpus: Option<GpuLinks<'a>>,
}

/// The pages of other GPUs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GpuLinks<'a> {
    /// The page's own GPU.
    pub own: &'a str,
    /// The page of all of them, from this page on.
    pub all: &'a str,
    /// Each GPU that has a page: its name, and the page from this one on.
    pub pages: &'a [(String, String)],
}

/// The page.
///
/// # Errors
/// Figures that JSON cannot hold.
pub fn render(summary: &Summary, sources: &Sources, extras: &Extras<'_>) -> std::io::Result<String> {
    let json = as_data(&data::Data::new(summary, sources, extras))?;
    Ok(fill(
        PAGE,
        &[
            ("title", &escape(&format!("Divergence of {}", summary.package))),
            ("style", STYLE),
            ("plain", &plain(summary)),
            ("data", &json),
            ("script", SCRIPT),
        ],
    ))
}

/// JSON as it may stand in a page: nothing in it ends its element, or begins a comment there.
///
/// # Errors
/// What JSON cannot hold.
pub(crate) fn as_data(data: &impl Serialize) -> std::io::Result<String> {
    Ok(amdinst_text::json::to_string_shown(data)?.replace('<', "\\u003c"))
}

/// Puts values into a template, each where `{{name}}` stands. A value is not looked through again.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut text = String::with_capacity(template.len() + length);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            text.push_str("{{");
            rest = after;
            continue;
        };
        text.extend(values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// The tables for browsers without scripts.
fn plain(summary: &Summary) -> String {
    let mut text = "<ul>".to_owned();
    for kernel in &summary.kernels {
        let _ = write!(text, "<li>{}</li>", escape(&heading(kernel)));
    }
    text.push_str(
        "</ul><table><tr><th>kernel<th>source<th>branch<th>executions<th>diverged<th>lanes active on average<th>lanes lost",
    );
    for (kernel, branch) in summary.worst_first().into_iter().take(PLAIN_ROWS) {
        let _ = write!(
            text,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{} ({:.1} %)<td>{:.1}<td>{}",
            escape(&kernel.name),
            escape(&branch.location.short()),
            escape(&branch.title()),
            branch.counts.executions,
            branch.counts.diverged,
            branch.diverged_percent,
            branch.average_lanes_active,
            branch.lost
        );
    }
    text.push_str("</table>");
    let lines = summary.lines_most_first();
    if !lines.is_empty() {
        text.push_str("<table><tr><th>kernel<th>line<th>executions<th>lanes of each");
        for (kernel, line) in lines.into_iter().take(PLAIN_ROWS) {
            let _ = write!(
                text,
                "<tr><td>{}<td>{}<td>{}<td>{}",
                escape(&kernel.name),
                escape(&line.place()),
                line.executions,
                line.lanes_text()
            );
        }
        text.push_str("</table>");
    }
    text
}

/// Text as it may stand in a page, in quotes as well.
pub(crate) fn escape(text: &str) -> String {
    amdinst_text::shown(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        assert_eq!(fill("a {{x}} b {{y}} {{z}}c {{", &[("x", "{{y}}"), ("y", "2")]), "a {{y}} b 2 c {{");
    }

    #[test]
    fn the_page_has_its_places() {
        for (name, places) in [("title", 2), ("style", 1), ("plain", 1), ("data", 1), ("script", 1)] {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), places, "{name}");
        }
        // What would end the element it stands in.
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }
}
