//! JUnit XML of a step, for the services that show it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::tally::{Tally, Verdict};

/// Writes `tally` as one test suite.
pub(crate) fn write(path: &Path, suite: &str, tally: &Tally, seconds: f64) -> Result<()> {
    std::fs::write(path, xml(suite, tally, seconds)).with_context(|| format!("writing {}", path.display()))
}

fn xml(suite: &str, tally: &Tally, seconds: f64) -> String {
    let suite = escaped(suite);
    let (tests, failures) = (tally.cases.len(), tally.failed);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        text,
        "  <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failures}\" time=\"{seconds:.3}\">"
    );
    for case in &tally.cases {
        let name = escaped(&case.name);
        let _ = match case.verdict {
            Verdict::Passed => writeln!(text, "    <testcase classname=\"{suite}\" name=\"{name}\"/>"),
            Verdict::Failed => writeln!(
                text,
                "    <testcase classname=\"{suite}\" name=\"{name}\"><failure message=\"see the log\"/></testcase>"
            ),
            Verdict::Ignored => {
                writeln!(text, "    <testcase classname=\"{suite}\" name=\"{name}\"><skipped/></testcase>")
            }
        };
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let text = xml("a & b", &Tally::one("Vec<u8>", false), 1.0);
        assert!(text.contains("name=\"a &amp; b\" tests=\"1\" failures=\"1\" time=\"1.000\""));
        assert!(text.contains("name=\"Vec&lt;u8&gt;\"><failure"));
    }
}
