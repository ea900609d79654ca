//! Two saved runs of the same tests, on the emulator and through HIP: each test's ending, each launch, each
//! counter of each wave.

use std::collections::BTreeMap;
use std::fmt;

use amdinst_format::report::Report;
use amdinst_format::report::run::{FaultReport, Run, Test};

/// Differences that are told at most.
const MOST: usize = 20;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) tests: usize,
    pub(super) launches: usize,
    pub(super) sites: usize,
    /// Sites, each by the waves that came there.
    pub(super) records: usize,
    /// Differences, told or not.
    pub(super) differences: usize,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tests, launches, sites, records, differences } = self;
        write!(
            f,
            "{tests} tests, {launches} launches, {sites} sites, counters of {records} waves at them, {differences} differences"
        )
    }
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) sums: Sums,
    /// The first of them.
    pub(super) differences: Vec<String>,
}

impl Outcome {
    fn differs(&mut self, what: impl fmt::Display) {
        self.sums.differences += 1;
        if self.differences.len() < MOST {
            self.differences.push(what.to_string());
        }
    }
}

/// Compare them.
pub(super) fn compare(emulator: Run, hip: Run) -> Outcome {
    let mut outcome = Outcome::default();
    if emulator.kernels != hip.kernels {
        outcome.differs("the kernels' code objects are others");
    }
    let mut others = by_name(hip);
    for (name, ours) in by_name(emulator) {
        match others.remove(&name) {
            Some(theirs) => test(&mut outcome, &name, &ours, &theirs),
            None => outcome.differs(format_args!("{name} ran on the emulator alone")),
        }
    }
    for name in others.into_keys() {
        outcome.differs(format_args!("{name} ran through HIP alone"));
    }
    if outcome.sums.launches == 0 {
        outcome.differs("nothing was launched");
    }
    outcome
}

/// All tests, by program, processor and name.
fn by_name(run: Run) -> BTreeMap<String, Test> {
    let tests = run.programs.into_iter().flat_map(|program| {
        let (name, cpu) = (program.name, program.cpu);
        program.tests.into_iter().map(move |test| (format!("{name} {cpu} {}", test.name), test))
    });
    tests.collect()
}

fn test(outcome: &mut Outcome, name: &str, ours: &Test, theirs: &Test) {
    outcome.sums.tests += 1;
    if (ours.ending, &ours.message, faults(ours)) != (theirs.ending, &theirs.message, faults(theirs)) {
        outcome.differs(format_args!(
            "{name}: {:?} on the emulator, {:?} through HIP",
            ours.ending, theirs.ending
        ));
    }
    if ours.launches.len() != theirs.launches.len() {
        let (ours, theirs) = (ours.launches.len(), theirs.launches.len());
        outcome.differs(format_args!("{name}: {ours} launches on the emulator, {theirs} through HIP"));
        return;
    }
    for (number, (ours, theirs)) in ours.launches.iter().zip(&theirs.launches).enumerate() {
        launch(outcome, &format!("{name}, launch {number}, {}", ours.kernel), ours, theirs);
    }
}

/// The faults of a test, without what nobody but the emulator can see: the instruction, and the calls that
/// led there.
fn faults(test: &Test) -> Vec<FaultReport> {
    let seen = |fault: &FaultReport| FaultReport {
        pc: None,
        executed_pc: None,
        instruction: String::new(),
        frames: Vec::new(),
        waves: Vec::new(),
        help: Vec::new(),
        why: None,
        ..fault.clone()
    };
    test.faults.iter().map(seen).collect()
}

fn launch(outcome: &mut Outcome, name: &str, ours: &Report, theirs: &Report) {
    outcome.sums.launches += 1;
    // Nobody but the emulator can see what the original does.
    if ours.memory_equal == Some(false) || ours.oracle_equal == Some(false) {
        outcome.differs(format_args!("{name}: the emulator's two runs differ"));
    }
    if (theirs.memory_equal, theirs.oracle_equal) != (None, None) {
        outcome.differs(format_args!("{name}: not launched through HIP"));
    }
    if ours.sites.len() == theirs.sites.len() {
        for (ours, theirs) in ours.sites.iter().zip(&theirs.sites) {
            outcome.sums.sites += 1;
            outcome.sums.records += ours.waves.len();
            if ours != theirs {
                outcome.differs(format_args!(
                    "{name}, {} at {}: {:?} on the emulator, {:?} through HIP{}",
                    ours.kind,
                    ours.location,
                    ours.counts,
                    theirs.counts,
                    if ours.counts == theirs.counts { ", of other waves" } else { "" }
                ));
            }
        }
    }
    // All the rest, be it added after this was written.
    let without = |report: &Report| {
        let mut report = Report { memory_equal: None, oracle_equal: None, ..report.clone() };
        report.sites.iter_mut().for_each(|site| site.waves.clear());
        report.sites.iter_mut().for_each(|site| site.counts = Default::default());
        report
    };
    if without(ours) != without(theirs) {
        outcome.differs(format_args!("{name}: the reports differ, not only in counters"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A run of two launches, of which this is the second one's report.
    fn run(change: impl Fn(&mut serde_json::Value)) -> Run {
        let counts = json!({
            "executions": 2, "all": 1, "none": 0, "diverged": 1, "lanes_in": 128, "lanes_taken": 100
        });
        let mut wave = counts.clone();
        wave["workgroup"] = json!([0, 0, 0]);
        wave["wave"] = json!(1);
        let mut site = counts;
        for (key, value) in [
            ("id", json!(0)),
            ("kind", json!("if")),
            ("pc", json!(64)),
            ("file", json!("lib.rs")),
            ("line", json!(14)),
            ("column", json!(8)),
            ("name", json!("tail")),
            ("waves", json!([wave])),
        ] {
            site[key] = value;
        }
        let mut report = json!({
            "schema": 1, "kernel": "k", "target": "gfx90a", "counter_storage": "register", "grid": [2, 1, 1], "block": [64, 1, 1],
            "waves": 2, "memory_equal": null, "oracle_equal": null, "sites": [site], "probes": []
        });
        let first = report.clone();
        change(&mut report);
        let test = json!({ "name": "a::b", "ending": "passed", "launches": [first, report] });
        let program = json!({ "name": "kernels", "cpu": "gfx90a", "finished": true, "tests": [test] });
        let run = json!({
            "schema": 1, "package": "p", "profile": "release", "programs": [program], "kernels": [], "sources": []
        });
        Run::from_json(&serde_json::to_vec(&run).unwrap()).unwrap()
    }

    #[test]
    fn what_the_emulator_alone_can_see_is_no_difference() {
        let watched = |report: &mut serde_json::Value| {
            report["memory_equal"] = json!(true);
            report["oracle_equal"] = json!(true);
        };
        let outcome = compare(run(watched), run(|_| {}));
        assert_eq!(outcome.differences, Vec::<String>::new());
        assert_eq!(outcome.sums, Sums { tests: 1, launches: 2, sites: 2, records: 2, differences: 0 });
        // The other way round, HIP has launched nothing.
        assert_eq!(compare(run(|_| {}), run(watched)).sums.differences, 1);
    }

    #[test]
    fn each_change_is_a_difference() {
        type Change = fn(&mut serde_json::Value);
        let changes: [(&str, Change, &str); 6] = [
            ("a sum", |report| report["sites"][0]["lanes_taken"] = json!(99), "if at lib.rs:14:8"),
            ("a wave", |report| report["sites"][0]["waves"][0]["wave"] = json!(0), "of other waves"),
            ("no wave", |report| report["sites"][0]["waves"] = json!([]), "of other waves"),
            ("the home", |report| report["counter_storage"] = json!("lds"), "not only in counters"),
            ("no site", |report| report["sites"] = json!([]), "not only in counters"),
            ("memory", |report| report["memory_equal"] = json!(false), "not launched through HIP"),
        ];
        for (name, change, told) in changes {
            let outcome = compare(run(|_| {}), run(change));
            assert_eq!(outcome.sums.differences, 1, "{name}: {:?}", outcome.differences);
            assert!(outcome.differences[0].contains(told), "{name}: {:?}", outcome.differences);
        }
    }

    #[test]
    fn tests_and_launches_that_are_missing_are_differences() {
        let mut short = run(|_| {});
        short.programs[0].tests[0].launches.pop();
        let outcome = compare(run(|_| {}), short);
        assert!(outcome.differences[0].ends_with("2 launches on the emulator, 1 through HIP"), "{outcome:?}");
        let mut without = run(|_| {});
        without.programs[0].tests.clear();
        let told = |outcome: Outcome| outcome.differences.join("; ");
        assert_eq!(
            told(compare(run(|_| {}), without.clone())),
            "kernels gfx90a a::b ran on the emulator alone; nothing was launched"
        );
        assert_eq!(
            told(compare(without, run(|_| {}))),
            "kernels gfx90a a::b ran through HIP alone; nothing was launched"
        );
    }
}
