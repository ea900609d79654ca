//! Results as JUnit XML.

use std::path::Path;
use std::time::Duration;

use amdinst_core::report::Counts;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::recorder::{Ending, Finished, Launches};

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
pub(super) fn program() -> String {
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
        let tables: Vec<_> = result
            .launches
            .reports
            .iter()
            .map(|report| format!("{}\n{}", report.heading(), report.table()))
            .collect();
        if !tables.is_empty() {
            case.set_system_out(tables.join("\n"));
        }
        for (name, value) in properties(&result.launches) {
            case.add_property((name, value.as_str()));
        }
        suite.add_test_case(case);
    }
    suite
}

/// What a test's launches come to, for dashboards that plot properties: sums over launches and sites, and the kind of each
/// fault.
fn properties(launches: &Launches) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if !launches.reports.is_empty() {
        let sites = launches.reports.iter().flat_map(|report| &report.sites);
        let sum: Counts = sites.map(|site| site.counts).sum();
        let waves: u64 = launches.reports.iter().map(|report| report.waves).sum();
        properties.extend([
            ("amdinst.launches", launches.reports.len().to_string()),
            ("amdinst.waves", waves.to_string()),
            ("amdinst.executions", sum.executions.to_string()),
            ("amdinst.diverged", sum.diverged.to_string()),
            ("amdinst.lanes_in", sum.lanes_in.to_string()),
            ("amdinst.lanes_taken", sum.lanes_taken.to_string()),
        ]);
    }
    properties.extend(launches.faults.iter().map(|fault| ("amdinst.fault", fault.kind.clone())));
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &str, ending: Ending) -> Finished {
        Finished {
            name: name.to_owned(),
            time: Duration::from_millis(5),
            ending,
            launches: Launches::default(),
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
        assert!(text.contains("slow") && !text.contains("amdinst."), "{text}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn figures_are_properties() {
        let report = |executions, diverged| {
            let counts = Counts { executions, diverged, lanes_in: 64 * executions, ..Counts::default() };
            let json = serde_json::json!({
                "schema": 1, "kernel": "k", "target": "gfx90a", "home": "register", "grid": [1, 1, 1],
                "block": [64, 1, 1], "waves": 1, "memory_equal": null, "oracle_equal": null, "probes": [], "sites": [],
            });
            let mut report: amdinst_core::report::Report = serde_json::from_value(json).unwrap();
            let location = amdinst_core::report::Location::default();
            let (kind, waves) = ("if".to_owned(), Vec::new());
            let site =
                amdinst_core::report::SiteReport { id: 0, kind, pc: 0, location, name: None, counts, waves };
            report.sites = vec![site.clone(), site];
            report
        };
        let launches =
            Launches { reports: vec![report(2, 1), report(3, 0)], faults: Vec::new(), timings: Vec::new() };
        let value = |name: &str| {
            let found = properties(&launches);
            found.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value).unwrap()
        };
        // Two sites a launch.
        assert_eq!((value("amdinst.launches"), value("amdinst.waves")), ("2".to_owned(), "2".to_owned()));
        assert_eq!(
            (value("amdinst.executions"), value("amdinst.diverged")),
            ("10".to_owned(), "2".to_owned())
        );
        assert_eq!(value("amdinst.lanes_in"), "640");
    }
}
