//! The report as one self-contained page: no network, no framework. The figures are embedded as JSON, and the
//! page's script (`assets/report.js`) draws what is looked at; without a script the page shows the tables of
//! kernels and of the worst branches, or of the lines that ran.

mod data;
pub(crate) mod frame;
mod listing;
mod paint;

use std::fmt::Write as _;

use serde::Serialize;

pub use listing::{Instruction, KernelListing, OccupancyPicture, ResourcePicture};

use self::frame::{Frame, escape};
use crate::diff::Diff;
use crate::gate::Violation;
use crate::human::heading;
use crate::sources::Sources;
use crate::summary::Summary;

const SCRIPT: &str = include_str!("../../assets/report.js");

/// What the figures mean.
const FOOTER: &str = "Lanes lost: lanes that stood idle because their wave went on without them.\n≤ at most, ≈ about (loops), else exact. Diverged: executions in which some lanes went on and others did not.";

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
    let frame = Frame {
        title: &escape(&format!("Divergence of {}", summary.package)),
        main: &format!("<noscript>{}</noscript>", plain(summary)),
        footer: FOOTER,
        script: SCRIPT,
        ..Frame::default()
    };
    frame.with(&data::Data::new(summary, sources, extras))
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

#[cfg(test)]
mod tests {
    use super::SCRIPT;

    #[test]
    fn nothing_in_the_script_ends_it() {
        assert!(!SCRIPT.contains("</script"));
    }
}
