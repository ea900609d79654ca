//! A `#[probe]` where it cannot stand, told once.
//!
//! On an expression, the compiler refuses any attribute by itself, and then expands it, whose error says
//! where it can stand. Two or three errors are about one mistake. Those of the compiler are held back until
//! it is known whether one of ours follows.

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};

/// The compiler's errors about attributes `#[probe]`.
#[derive(Debug, Default)]
pub(super) struct Misplaced {
    held: Vec<String>,
    explained: bool,
}

impl Misplaced {
    /// Whether `diagnostic` waits here. Else it is to be shown.
    pub(super) fn holds(&mut self, diagnostic: &Diagnostic) -> bool {
        if diagnostic.message.starts_with("#[probe] ") {
            self.explained = true;
            return false;
        }
        let about = match diagnostic.level {
            DiagnosticLevel::Error => stands_at_a_probe(diagnostic),
            // `For more information about this error, try …`.
            DiagnosticLevel::FailureNote => {
                !self.held.is_empty() && diagnostic.message.contains(" this error, ")
            }
            _ => false,
        };
        if about {
            self.held.extend(diagnostic.rendered.clone());
        }
        about
    }

    /// What is to be shown at the end: all that waited, unless an error of ours was shown.
    pub(super) fn left(self) -> Vec<String> {
        if self.explained { Vec::new() } else { self.held }
    }
}

/// Whether the place of an error is an attribute `#[probe]`, and nothing else.
fn stands_at_a_probe(diagnostic: &Diagnostic) -> bool {
    let Some(span) = diagnostic.spans.iter().find(|span| span.is_primary) else { return false };
    let Some(line) = span.text.first() else { return false };
    let marked = line.text.chars().take(line.highlight_end.saturating_sub(1));
    let marked: String = marked.skip(line.highlight_start.saturating_sub(1)).collect();
    let Some(path) = marked.strip_prefix("#[").and_then(|rest| rest.split(['(', ']', '=']).next()) else {
        return false;
    };
    path.rsplit("::").next().is_some_and(|name| name.trim() == "probe")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn diagnostic(level: &str, message: &str, line: &str, start: usize, end: usize) -> Diagnostic {
        let text = json!({ "text": line, "highlight_start": start, "highlight_end": end });
        let span = json!({
            "file_name": "src/lib.rs", "byte_start": 0, "byte_end": 1, "line_start": 3, "line_end": 3, "column_start": start,
            "column_end": end, "is_primary": true, "text": [text], "label": null, "suggested_replacement": null,
            "suggestion_applicability": null, "expansion": null,
        });
        let spans = if level == "failure-note" { json!([]) } else { json!([span]) };
        serde_json::from_value(json!({
            "message": message, "code": null, "level": level, "spans": spans, "children": [], "rendered": format!("{message}\n"),
        }))
        .unwrap()
    }

    #[test]
    fn one_mistake_is_one_error() {
        let line = "    #[amdinst_device::probe(\"x\")]";
        let first = diagnostic("error", "attributes on expressions are experimental", line, 5, 34);
        let note = diagnostic("failure-note", "For more information about this error, try `x`.", "", 0, 0);
        let ours = diagnostic("error", "#[probe] on a branch needs #[kernel]", "    if n > 1 {", 5, 7);
        let mut misplaced = Misplaced::default();
        assert!(misplaced.holds(&first));
        assert!(!misplaced.holds(&ours) && misplaced.holds(&note));
        assert!(misplaced.left().is_empty());
        // Without ours, nothing is lost.
        let mut misplaced = Misplaced::default();
        assert!(misplaced.holds(&first) && misplaced.holds(&note));
        assert_eq!(misplaced.left(), [first.rendered.unwrap(), note.rendered.unwrap()]);
    }

    #[test]
    fn other_errors_are_not_held() {
        let mut misplaced = Misplaced::default();
        for (line, start, end) in
            [("    #[inline] x", 5, 14), ("    probe(3);", 5, 13), ("    #[probed]", 5, 14)]
        {
            assert!(!misplaced.holds(&diagnostic("error", "no", line, start, end)), "{line}");
        }
        assert!(!misplaced.holds(&diagnostic(
            "failure-note",
            "more information about this error, try",
            "",
            0,
            0
        )));
    }
}
