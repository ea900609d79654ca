//! Results as JUnit XML.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::recorder::{Ending, Finished};

/// Adds this program's tests, as one suite, to the file at `path`, which is made if it is not there: a package has
/// several test programs, and they run one after the other.
pub(super) fn write(path: &Path, results: &[Finished], time: Duration) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("JUnit report {}: {error}", path.display());
    let mut report = match std::fs::read_to_string(path) {
        Ok(text) => Report::deserialize_from_str(&text).map_err(|error| told(&error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Report::new("cargo amdinst test"),
        Err(error) => return Err(told(&error)),
    };
    report.add_test_suite(suite(&program(), results, time));
    let text = report.to_string().map_err(|error| told(&error))?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(|error| told(&error))?;
    }
    std::fs::write(path, text).map_err(|error| told(&error))
}

/// This program's name without cargo's hash.
fn program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => name,
    }
}

fn suite(name: &str, results: &[Finished], time: Duration) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.set_time(time);
    for result in results {
        let status = match &result.ending {
            Ending::Passed => TestCaseStatus::success(),
            Ending::Failed(message) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status
                    .set_message(message.lines().next().unwrap_or_default())
                    .set_description(message.as_str());
                status
            }
            Ending::Ignored(reason) => {
                let mut status = TestCaseStatus::skipped();
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    status.set_message(reason);
                }
                status
            }
        };
        let mut case = TestCase::new(result.name.as_str(), status);
        case.set_classname(name).set_time(result.time);
        let tables: Vec<_> =
            result.reports.iter().map(|report| format!("{}\n{}", report.heading(), report.table())).collect();
        if !tables.is_empty() {
            case.set_system_out(tables.join("\n"));
        }
        suite.add_test_case(case);
    }
    suite
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &str, ending: Ending) -> Finished {
        Finished {
            name: name.to_owned(),
            time: Duration::from_millis(5),
            ending,
            reports: Vec::new(),
            timings: Vec::new(),
        }
    }

    #[test]
    fn programs_add_their_suites_to_one_file() {
        let path = std::env::temp_dir().join(format!("amdinst-junit-{}.xml", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let results = [
            finished("good", Ending::Passed),
            finished("bad", Ending::Failed("first line\nsecond <line>".to_owned())),
            finished("later", Ending::Ignored(Some("slow"))),
        ];
        write(&path, &results, Duration::from_secs(1)).unwrap();
        write(&path, &results[..1], Duration::from_secs(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((report.tests, report.failures, report.test_suites.len()), (4, 1, 2));
        assert!(text.contains("first line") && text.contains("second &lt;line&gt;"), "{text}");
        assert!(text.contains("slow"), "{text}");
        std::fs::remove_file(path).unwrap();
    }
}
