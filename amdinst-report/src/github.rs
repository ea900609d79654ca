//! The report as GitHub's workflow commands, which stand beside the lines of a pull request: an error for
//! each fault and each limit that was passed, a warning for each branch that diverged without being meant to.
//! Branches of a dependency are one warning, at the user's line that called it.

use std::fmt::Write as _;

use amdinst_core::report::Location;
use amdinst_text::count;

use crate::fault::sentence;
use crate::fold::{Shown, fold};
use crate::gate::Violation;
use crate::summary::Summary;

/// One line an annotation; at most `top` branches. GitHub shows ten warnings and ten errors of a step.
pub fn render(summary: &Summary, violations: &[Violation], top: usize) -> String {
    let mut text = String::new();
    for fault in summary.unexpected_faults() {
        let mut message =
            format!("kernel `{}`: {} (test {})", fault.fault.kernel, sentence(&fault.fault), fault.test);
        fault.fault.help.iter().take(1).for_each(|help| message += &format!("\nhelp: {help}"));
        line(&mut text, "error", &fault.fault.location, "fault", &message);
    }
    for doubt in &summary.doubts {
        let message =
            format!("kernel `{}`: {} (test {})", doubt.fault.kernel, sentence(&doubt.fault), doubt.test);
        line(&mut text, "warning", &doubt.fault.location, &doubt.fault.kind.replace('-', " "), &message);
    }
    limits(&mut text, violations);
    let diverged = summary.worst_first().into_iter().filter(|(_, branch)| branch.is_worth_a_warning());
    for shown in fold(diverged, false).iter().take(top) {
        let (kernel, branch) = match shown {
            Shown::Branch(kernel, branch) => (kernel, branch),
            Shown::Dependency(dependency) => {
                let title = format!("divergence in {}", dependency.kernel.name);
                line(&mut text, "warning", &dependency.place(), &title, &dependency.sentence());
                continue;
            }
        };
        let message = format!(
            "{}{} diverged in {} of {} ({:.1} %), in {} of {}; {}",
            branch.title(),
            if branch.near { " near here" } else { "" },
            branch.counts.diverged,
            count(branch.counts.executions, "execution"),
            branch.diverged_percent,
            branch.waves_diverged,
            count(branch.waves_here, "wave"),
            branch.lost
        );
        line(&mut text, "warning", &branch.location, &format!("divergence in {}", kernel.name), &message);
    }
    text
}

/// An error for each limit that was passed.
pub(crate) fn limits(text: &mut String, violations: &[Violation]) {
    for violation in violations {
        let location = violation.location.clone().unwrap_or_default();
        line(text, "error", &location, &format!("--fail-on {}", violation.gate), &violation.message);
    }
}

/// An annotation at a place.
pub(crate) fn line(text: &mut String, command: &str, location: &Location, title: &str, message: &str) {
    let mut properties = Vec::new();
    if let Some(file) = &location.file {
        properties.push(format!("file={}", property(file)));
    }
    properties.extend(location.line.map(|line| format!("line={line}")));
    properties.extend(location.column.map(|column| format!("col={column}")));
    properties.push(format!("title={}", property(title)));
    let _ = writeln!(text, "::{command} {}::{}", properties.join(","), data(message));
}

/// Escaped as `@actions/core` does (`command.ts`, `escapeData`).
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a workflow command's property (`escapeProperty`).
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_property_is_escaped() {
        let mut text = String::new();
        let location = Location { file: Some("a,b:c.rs".to_owned()), line: Some(3), column: None };
        line(&mut text, "error", &location, "100 %", "one\ntwo: 5 %");
        assert_eq!(text, "::error file=a%2Cb%3Ac.rs,line=3,title=100 %25::one%0Atwo: 5 %25\n");
    }
}
