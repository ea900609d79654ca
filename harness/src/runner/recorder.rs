//! What the tests of a program did: how each ended, and the reports of its launches.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use amdinst_format::interface::{Doubt, LaunchTiming, Launched};
use amdinst_format::printed::Printed;
use amdinst_format::report::run::{FaultReport, Sampled, told_again};
use amdinst_format::report::{Layout, MemoryUse, Modelled};

use super::kept::Kept;
use crate::report::Report;
use crate::runtime;

/// What the launches of a test left.
#[derive(Clone, Debug, Default)]
pub(super) struct Launches {
    /// Reports of those that ended well.
    pub(super) reports: Vec<Report>,
    /// The others.
    pub(super) faults: Vec<FaultReport>,
    /// Modelled launches, one for each launch, or none.
    pub(super) timings: Vec<Timed>,
    /// What memory instructions asked for, one for each launch, or none.
    pub(super) memory: Vec<MemoryUse>,
    /// What may be mistakes of kernels, each once.
    pub(super) doubts: Vec<Doubt>,
    /// What was looked for in some workgroups only.
    pub(super) sampled: Vec<Sampled>,
    /// What looks like a mistake in how kernels were launched.
    pub(super) warnings: BTreeSet<String>,
    /// What kernels printed, with their names.
    pub(super) printed: Vec<(String, Printed)>,
}

/// A launch that was modelled.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    /// What is told of it.
    pub(super) told: LaunchTiming,
    /// The modelled time, for the saved run.
    pub(super) kept: Option<Modelled>,
    /// When each wave ran, as a trace, if that was asked for.
    pub(super) timeline: Option<String>,
}

thread_local! {
    /// Of the test that runs on this thread.
    static LAUNCHES: RefCell<Launches> = RefCell::default();
}

/// Notes a launch of the running test.
pub(crate) fn record(launched: &Launched<Report>) {
    let Launched { report, timing, modelled, timeline, memory, doubts, sampled, printed, .. } = launched;
    LAUNCHES.with_borrow_mut(|launches| {
        launches.reports.push(report.clone());
        for doubt in doubts {
            if !launches.doubts.iter().any(|known| is_same(known, doubt)) {
                launches.doubts.push(doubt.clone());
            }
        }
        launches.sampled.extend_from_slice(sampled);
        launches.memory.extend(memory.clone());
        if !printed.is_empty() {
            launches.printed.push((report.kernel.clone(), printed.clone()));
        }
        launches.timings.extend(timing.clone().map(|told| Timed {
            told,
            kept: modelled.clone(),
            timeline: timeline.clone(),
        }));
    });
}

/// Whether two are of the same instructions.
fn is_same(one: &Doubt, other: &Doubt) -> bool {
    let key = |doubt: &Doubt| (doubt.fault.kernel.clone(), doubt.fault.instructions());
    key(one) == key(other)
}

/// Notes what looks like a mistake in how the running test launched a kernel.
pub(crate) fn record_warning(text: &str) {
    LAUNCHES.with_borrow_mut(|launches| launches.warnings.insert(text.to_owned()));
}

/// Notes a launch of the running test that ended in a fault.
pub(crate) fn record_fault(fault: FaultReport) {
    LAUNCHES.with_borrow_mut(|launches| launches.faults.push(fault));
}

/// The launches noted on this thread, which are forgotten.
pub(super) fn take() -> Launches {
    LAUNCHES.take()
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Well.
    Passed,
    /// With this message.
    Failed(String),
    /// The test was not run, for this reason if one was given; or it began, and asked for counts that there
    /// are none of.
    Ignored(Option<String>),
}

/// One test.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) name: String,
    pub(super) time: Duration,
    pub(super) ending: Ending,
    pub(super) launches: Launches,
}

/// The tests that ended so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Results(Arc<Mutex<(Vec<Finished>, Option<Kept>)>>);

impl Results {
    /// Keeps each test that ends from now on in a file, too.
    pub(super) fn keep(&self, kept: Kept) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(kept);
    }

    pub(super) fn add(&self, finished: Finished) {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (tests, kept) = &mut *results;
        if let Some(kept) = kept {
            kept.add(&finished);
        }
        tests.push(finished);
    }

    /// The tests in order of their names, for threads end in any order; and the file that keeps them.
    pub(super) fn take(&self) -> (Vec<Finished>, Option<Kept>) {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut tests, kept) = std::mem::take(&mut *results);
        tests.sort_by(|a, b| a.name.cmp(&b.name));
        (tests, kept)
    }
}

/// Tells on standard error what may be mistakes of kernels, each once, and what was looked for in some
/// workgroups only.
pub(super) fn warn(results: &[Finished]) {
    // With the others of the same lines.
    let mut told: Vec<(&str, Vec<&Doubt>)> = Vec::new();
    for test in results {
        for doubt in &test.launches.doubts {
            match told.iter_mut().find(|(_, known)| known[0].fault.is_of_the_lines_of(&doubt.fault)) {
                Some((_, known)) if known.iter().any(|known| is_same(known, doubt)) => {}
                Some((_, known)) => known.push(doubt),
                None => told.push((&test.name, vec![doubt])),
            }
        }
    }
    for (test, doubts) in told {
        eprintln!("warning: test {test}: {}\n", doubts[0].text);
        if let Some(more) = told_again(doubts.len() - 1) {
            eprintln!("note: {more}\n");
        }
    }
    for test in results {
        test.launches.warnings.iter().for_each(|text| eprintln!("warning: test {}: {text}", test.name));
    }
    for line in sampled(results) {
        eprintln!("{line}");
    }
}

/// What was looked for in some workgroups only, in a line for each kernel and check. In none is a warning:
/// nothing is known then.
fn sampled(results: &[Finished]) -> Vec<String> {
    let mut sums: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    for Sampled { kernel, check, workgroups, of } in results.iter().flat_map(|test| &test.launches.sampled) {
        let sum = sums.entry((kernel, check)).or_default();
        *sum = [sum[0] + workgroups, sum[1] + of, sum[2] + 1];
    }
    sums.into_iter().map(|((kernel, check), sum)| sampled_line(kernel, check, sum)).collect()
}

fn sampled_line(kernel: &str, check: &str, [workgroups, of, launches]: [u64; 3]) -> String {
    let what = if check == "uninitialized" { "uninitialized values" } else { check };
    let launches = if launches == 1 { "a launch".to_owned() } else { format!("{launches} launches") };
    if check == "nan" {
        return format!(
            "note: kernel `{kernel}`: looked for NaNs in {workgroups} of {of} workgroups of {launches}: another one waits for one behind it"
        );
    }
    let all = "`--check all` (`AMDINST_CHECK=all`) looks in all";
    if workgroups == 0 {
        let each = if of == 1 { "its one workgroup" } else { "a workgroup" };
        return format!(
            "warning: kernel `{kernel}`: nobody looked for {what} in {launches}: {each} takes longer than tests look by themselves; {all}"
        );
    }
    format!(
        "note: kernel `{kernel}`: looked for {what} in {workgroups} of {of} workgroups of {launches}, to save time; {all}"
    )
}

/// Lines of a launch that are shown of what its kernel printed.
const MOST_PRINTED: usize = 64;

/// Prints what kernels printed, and the launches as `AMDINST_REPORT` asks: nothing, a table for each kernel,
/// as wide as `COLUMNS` says (`full`: with every row), or a JSON line for each launch.
pub(super) fn print(results: &[Finished]) {
    for test in results {
        for (kernel, printed) in &test.launches.printed {
            println!("---- test {}: printed by kernel `{kernel}` ----", test.name);
            let text = printed.to_string();
            text.lines().take(MOST_PRINTED).for_each(|line| println!("{line}"));
            match text.lines().count().saturating_sub(MOST_PRINTED) {
                0 => println!(),
                more => println!("and {more} lines more, which `printed()` of the launch has\n"),
            }
        }
    }
    match std::env::var("AMDINST_REPORT").as_deref() {
        Ok(kind @ ("summary" | "full")) => {
            let columns = std::env::var("COLUMNS").ok();
            match summary(results, &Layout::of_columns(columns.as_deref(), kind == "full")) {
                Ok(text) => print!("{text}"),
                Err(message) => eprintln!("warning: the launches cannot be shown: {message}"),
            }
            for timing in results.iter().flat_map(|test| &test.launches.timings) {
                println!("{}", timing.told.line());
            }
        }
        Ok("json") => {
            for test in results {
                for report in &test.launches.reports {
                    println!(
                        "{}",
                        serde_json::json!({ "type": "report", "test": test.name, "report": report })
                    );
                }
                for timing in &test.launches.timings {
                    println!(
                        "{}",
                        serde_json::json!({ "type": "timing", "test": test.name, "timing": timing.told })
                    );
                }
            }
        }
        _ => {}
    }
}

/// What a test that has compared lists by `assert_eq!` may do to learn more.
pub(super) fn help(message: &str, launches: &[Report]) -> &'static str {
    let are_lists =
        message.starts_with("assertion `left == right` failed") && message.contains("\n  left: [");
    if are_lists && !launches.is_empty() {
        "\n  help: `buffer.assert_eq(expected)` says where the first wrong element of a buffer comes from"
    } else {
        ""
    }
}

/// The launches of a failed test, to stand below its message.
pub(super) fn launches(reports: &[Report]) -> String {
    let launch = |report: &Report| format!("\n  launched {}\n{}", report.heading(), report.table());
    reports.iter().map(launch).collect::<String>().trim_end().to_owned()
}

/// One table for each kernel, over all its launches, in order of the kernels' names.
fn summary(results: &[Finished], layout: &Layout) -> Result<String, String> {
    let reports: Vec<&Report> = results.iter().flat_map(|test| &test.launches.reports).collect();
    if reports.is_empty() {
        return Ok(String::new());
    }
    runtime::summary(&reports, layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looked_for_is_a_warning() {
        let told = sampled_line("k", "races", [0, 1, 1]);
        let expected =
            "warning: kernel `k`: nobody looked for races in a launch: its one workgroup takes longer";
        assert!(told.starts_with(expected) && told.ends_with("(`AMDINST_CHECK=all`) looks in all"), "{told}");
        let told = sampled_line("k", "uninitialized", [8, 40, 2]);
        let expected =
            "note: kernel `k`: looked for uninitialized values in 8 of 40 workgroups of 2 launches, ";
        assert!(told.starts_with(expected), "{told}");
    }
}
