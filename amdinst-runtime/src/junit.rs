//! Results as JUnit XML.

use std::path::Path;

use amdinst_format::interface::{JunitEnding, JunitSuite};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Adds a test program's results, as one suite, to the file at `path`, which is made if it is not there: a
/// package has several test programs, and they run one after the other.
///
/// # Errors
/// A file that cannot be read as JUnit XML, or not be written.
pub(crate) fn write(path: &Path, results: &JunitSuite) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("JUnit report {}: {error}", path.display());
    let mut report = match std::fs::read_to_string(path) {
        Ok(text) => Report::deserialize_from_str(&text).map_err(|error| told(&error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Report::new("cargo amdinst test"),
        Err(error) => return Err(told(&error)),
    };
    report.add_test_suite(suite(results));
    let text = report.to_string().map_err(|error| told(&error))?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(|error| told(&error))?;
    }
    std::fs::write(path, text).map_err(|error| told(&error))
}

fn suite(results: &JunitSuite) -> TestSuite {
    let mut suite = TestSuite::new(results.name.as_str());
    suite.set_time(results.time);
    for result in &results.cases {
        let status = match &result.ending {
            JunitEnding::Passed => TestCaseStatus::success(),
            JunitEnding::Failed(message) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status
                    .set_message(message.lines().next().unwrap_or_default())
                    .set_description(message.as_str());
                status
            }
            JunitEnding::Ignored(reason) => {
                let mut status = TestCaseStatus::skipped();
                if let Some(reason) = reason {
                    status.set_message(reason.as_str());
                }
                status
            }
        };
        let mut case = TestCase::new(result.name.as_str(), status);
        case.set_classname(results.name.as_str()).set_time(result.time);
        if !result.output.is_empty() {
            case.set_system_out(result.output.as_str());
        }
        for (name, value) in &result.properties {
            case.add_property((name.as_str(), value.as_str()));
        }
        suite.add_test_case(case);
    }
    suite
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use amdinst_format::interface::JunitCase;

    use super::*;

    fn finished(name: &str, ending: JunitEnding) -> JunitCase {
        JunitCase {
            name: name.to_owned(),
            time: Duration::from_millis(5),
            ending,
            output: String::new(),
            properties: vec![("amdinst.launches".to_owned(), "2".to_owned())],
        }
    }

    #[test]
    fn programs_add_their_suites_to_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deeper/junit.xml");
        let cases = vec![
            finished("good", JunitEnding::Passed),
            finished("bad", JunitEnding::Failed("first line\nsecond <line>".to_owned())),
            finished("later", JunitEnding::Ignored(Some("slow".to_owned()))),
        ];
        let suite = JunitSuite { name: "kernels".to_owned(), time: Duration::from_secs(1), cases };
        write(&path, &suite).unwrap();
        write(&path, &JunitSuite { cases: suite.cases[..1].to_vec(), ..suite }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((report.tests, report.failures, report.test_suites.len()), (4, 1, 2));
        assert!(text.contains("first line") && text.contains("second &lt;line&gt;"), "{text}");
        assert!(text.contains("slow") && text.contains("amdinst.launches"), "{text}");
        std::fs::write(&path, "no XML").unwrap();
        let error =
            write(&path, &JunitSuite { name: String::new(), time: Duration::ZERO, cases: Vec::new() });
        assert!(error.unwrap_err().contains("junit.xml"));
    }
}
