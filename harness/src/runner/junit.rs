//! Results for JUnit XML, which the runtime writes.

use std::path::Path;
use std::time::Duration;

use amdinst_format::interface::{JunitCase, JunitEnding, JunitSuite};
use amdinst_format::report::{self, Counts};

use super::recorder::{Ending, Finished, Launches};
use crate::report::Report;
use crate::runtime::{self, Answer, slice};

/// Adds this program's tests, as one suite, to the file at `path`.
pub(super) fn write(path: &Path, results: &[Finished], time: Duration) -> Result<(), String> {
    let name = match std::env::var("AMDINST_JUNIT_GPU") {
        Ok(gpu) if !gpu.is_empty() => format!("{} on {gpu}", program()),
        _ => program(),
    };
    let suite = JunitSuite { name, time, cases: results.iter().map(case).collect() };
    let text = serde_json::to_string(&suite).map_err(|error| error.to_string())?;
    let interface = runtime::interface().map_err(|error| error.to_string())?;
    let name = path.to_str().ok_or_else(|| format!("AMDINST_JUNIT={} is not UTF-8", path.display()))?;
    // SAFETY: text that lives through the call.
    let owned = unsafe { (interface.write_junit)(slice(name), slice(&text)) };
    Answer::new(interface, owned).empty_or_text()
}

/// The name of the running test program, without cargo's hash.
pub(super) fn program() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => name,
    }
}

fn case(result: &Finished) -> JunitCase {
    let table = |report: &Report| format!("{}\n{}", report.heading(), report.table());
    JunitCase {
        name: result.name.clone(),
        time: result.time,
        ending: match &result.ending {
            Ending::Passed => JunitEnding::Passed,
            Ending::Failed(message) => JunitEnding::Failed(message.clone()),
            Ending::Ignored(reason) => {
                JunitEnding::Ignored(reason.clone().filter(|reason| !reason.is_empty()))
            }
        },
        output: result.launches.reports.iter().map(table).collect::<Vec<_>>().join("\n"),
        properties: properties(&result.launches)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// What a test's launches come to, for dashboards that plot properties: sums over launches and sites, and the
/// kind of each fault. Without counters there are no sums of them.
fn properties(launches: &Launches) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if !launches.reports.is_empty() {
        let sites = launches.reports.iter().flat_map(|report| &report.sites);
        let sum: Counts = sites.map(|site| site.counts).sum();
        let waves: u64 = launches.reports.iter().map(|report| report.waves).sum();
        properties.extend([
            ("amdinst.launches", launches.reports.len().to_string()),
            ("amdinst.waves", waves.to_string()),
        ]);
        if launches.reports.iter().any(|report| report::Report::every_site(report).is_ok()) {
            properties.extend([
                ("amdinst.executions", sum.executions.to_string()),
                ("amdinst.diverged", sum.diverged.to_string()),
                ("amdinst.lanes_in", sum.lanes_in.to_string()),
                ("amdinst.lanes_taken", sum.lanes_taken.to_string()),
            ]);
        }
    }
    properties.extend(launches.faults.iter().map(|fault| ("amdinst.fault", fault.kind.clone())));
    properties.extend(launches.doubts.iter().map(|doubt| ("amdinst.doubt", doubt.fault.kind.clone())));
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_properties() {
        let report = |executions, diverged| {
            let counts = Counts { executions, diverged, lanes_in: 64 * executions, ..Counts::default() };
            let json = serde_json::json!({
                "schema": 1, "kernel": "k", "target": "gfx90a", "counter_storage": "register", "grid": [1, 1, 1],
                "block": [64, 1, 1], "waves": 1, "memory_equal": null, "oracle_equal": null, "probes": [], "sites": [],
            });
            let mut report: report::Report = serde_json::from_value(json).unwrap();
            let location = report::Location::default();
            let (kind, waves) = ("if".to_owned(), Vec::new());
            let site = report::SiteReport {
                id: 0,
                kind,
                pc: 0,
                location,
                near: false,
                name: None,
                caller: None,
                expected: false,
                counts,
                waves,
                left_out: None,
            };
            report.sites = vec![site.clone(), site];
            Report::new(serde_json::value::to_raw_value(&report).unwrap())
        };
        let launches = Launches { reports: vec![report(2, 1), report(3, 0)], ..Launches::default() };
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
