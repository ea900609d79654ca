//! What the tests of a program did: how each ended, and the reports of its launches.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use amdinst_core::report::Report;

use crate::timing::LaunchTiming;

thread_local! {
    /// Reports of the launches of the test that runs on this thread.
    static REPORTS: RefCell<Vec<Report>> = const { RefCell::new(Vec::new()) };
    /// Modelled times of its launches.
    static TIMINGS: RefCell<Vec<LaunchTiming>> = const { RefCell::new(Vec::new()) };
}

/// Notes a launch of the running test.
pub(crate) fn record(report: &Report) {
    REPORTS.with_borrow_mut(|reports| reports.push(report.clone()));
}

/// Notes how long a launch of the running test takes, modelled.
pub(crate) fn record_timing(timing: &LaunchTiming) {
    TIMINGS.with_borrow_mut(|timings| timings.push(timing.clone()));
}

/// The launches noted on this thread, which are forgotten.
pub(super) fn take() -> (Vec<Report>, Vec<LaunchTiming>) {
    (REPORTS.take(), TIMINGS.take())
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Well.
    Passed,
    /// With this message.
    Failed(String),
    /// It was not run, for this reason.
    Ignored(Option<&'static str>),
}

/// One test.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) name: String,
    pub(super) time: Duration,
    pub(super) ending: Ending,
    pub(super) reports: Vec<Report>,
    /// One for each launch, or none.
    pub(super) timings: Vec<LaunchTiming>,
}

/// The tests that ended so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Results(Arc<Mutex<Vec<Finished>>>);

impl Results {
    pub(super) fn add(&self, finished: Finished) {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        results.push(finished);
    }

    /// The tests in order of their names, for threads end in any order.
    pub(super) fn take(&self) -> Vec<Finished> {
        let mut results = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        results.sort_by(|a, b| a.name.cmp(&b.name));
        results
    }
}

/// Prints the launches as `AMDINST_REPORT` asks: nothing, a table for each kernel, or a JSON line for each launch.
pub(super) fn print(results: &[Finished]) {
    match std::env::var("AMDINST_REPORT").as_deref() {
        Ok("summary") => {
            print!("{}", summary(results));
            for timing in results.iter().flat_map(|test| &test.timings) {
                println!("{}", timing.line());
            }
        }
        Ok("json") => {
            for test in results {
                for report in &test.reports {
                    println!(
                        "{}",
                        serde_json::json!({ "type": "report", "test": test.name, "report": report })
                    );
                }
                for timing in &test.timings {
                    println!(
                        "{}",
                        serde_json::json!({ "type": "timing", "test": test.name, "timing": timing })
                    );
                }
            }
        }
        _ => {}
    }
}

/// The launches of a failed test, to stand below its message.
pub(super) fn launches(reports: &[Report]) -> String {
    let launch = |report: &Report| format!("\n  launched {}\n{}", report.heading(), report.table());
    reports.iter().map(launch).collect::<String>().trim_end().to_owned()
}

/// One table for each kernel, over all its launches, in order of the kernels' names.
fn summary(results: &[Finished]) -> String {
    let mut kernels: Vec<(usize, Report)> = Vec::new();
    for report in results.iter().flat_map(|test| &test.reports) {
        match kernels.iter_mut().find(|(_, known)| known.kernel == report.kernel) {
            Some((launches, known)) => {
                *launches += 1;
                known.add_launch(report);
            }
            None => kernels.push((1, report.clone())),
        }
    }
    kernels.sort_by(|(_, a), (_, b)| a.kernel.cmp(&b.kernel));
    let mut text = String::new();
    for (launches, report) in kernels {
        let plural = if launches == 1 { "" } else { "es" };
        let home = match report.home.as_str() {
            "none" => String::new(),
            home => format!(", counters: {home}"),
        };
        text.push_str(&format!(
            "{} on {}: {launches} launch{plural}, {} wave{}{home}\n{}\n",
            report.kernel,
            report.target,
            report.waves,
            if report.waves == 1 { "" } else { "s" },
            report.table()
        ));
    }
    text
}
