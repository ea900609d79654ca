//! How tests ended with one cargo profile of the kernels beside the others: `test --profiles`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use amdinst_core::report::run::{Ending, Program};
use serde::Serialize;

/// A test, of whichever profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct TestName {
    package: String,
    target_cpu: String,
    program: String,
    test: String,
}

/// The endings of all tests, one a profile. `None` for a test that did not come to its end, or was not run.
#[derive(Debug, Default)]
pub(super) struct Endings {
    profiles: Vec<String>,
    tests: BTreeMap<TestName, Vec<Option<Ending>>>,
}

/// A test in the JSON line.
#[derive(Serialize)]
struct JsonTest<'a> {
    #[serde(flatten)]
    name: &'a TestName,
    endings: &'a [Option<Ending>],
}

impl Endings {
    /// Begins a profile's column.
    pub(super) fn begin(&mut self, profile: &str) {
        self.profiles.push(profile.to_owned());
        self.tests.values_mut().for_each(|endings| endings.push(None));
    }

    /// Takes in what test programs of a package kept, with the profile begun last.
    pub(super) fn add(&mut self, package: &str, programs: &[Program]) {
        let columns = self.profiles.len();
        for (program, test) in
            programs.iter().flat_map(|program| program.tests.iter().map(move |t| (program, t)))
        {
            let name = TestName {
                package: package.to_owned(),
                target_cpu: program.cpu.clone(),
                program: program.name.clone(),
                test: test.name.clone(),
            };
            let endings = self.tests.entry(name).or_insert_with(|| vec![None; columns]);
            if let Some(last) = endings.last_mut() {
                *last = Some(test.ending);
            }
        }
    }

    fn differing(&self) -> impl Iterator<Item = (&TestName, &[Option<Ending>])> {
        let differs = |endings: &[Option<Ending>]| endings.windows(2).any(|pair| pair[0] != pair[1]);
        self.tests
            .iter()
            .map(|(name, endings)| (name, &endings[..]))
            .filter(move |(_, endings)| differs(endings))
    }

    /// Whether a test ended otherwise with one profile than with another.
    pub(super) fn differ(&self) -> bool {
        self.differing().next().is_some()
    }

    /// `17 tests with 3 profiles: 1 ends differently, 16 alike`.
    pub(super) fn summary(&self) -> String {
        let (all, differing) = (self.tests.len(), self.differing().count());
        let plural = if all == 1 { "test" } else { "tests" };
        let outcome = match differing {
            0 => "all end alike".to_owned(),
            1 => format!("1 ends differently, {} alike", all - 1),
            _ => format!("{differing} end differently, {} alike", all - differing),
        };
        format!("{all} {plural} with {} profiles: {outcome}", self.profiles.len())
    }

    /// The tests that end differently, a column a profile. Empty if there are none.
    pub(super) fn table(&self) -> String {
        let parts = |value: fn(&TestName) -> &str| {
            let mut names = self.tests.keys().map(value);
            let first = names.next();
            names.any(|name| Some(name) != first)
        };
        // What all have in common is not worth a word.
        let (packages, cpus) = (parts(|name| &name.package), parts(|name| &name.target_cpu));
        let label = |name: &TestName| {
            let mut text = name.test.clone();
            if packages {
                text = format!("{} {text}", name.package);
            }
            if cpus {
                text = format!("{text} ({})", name.target_cpu);
            }
            text
        };
        let rows: Vec<_> = self.differing().map(|(name, endings)| (label(name), endings)).collect();
        if rows.is_empty() {
            return String::new();
        }
        let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0).max("test".len());
        let mut table = format!("{:width$}", "test");
        let widths: Vec<usize> =
            self.profiles.iter().map(|profile| profile.len().max("not run".len())).collect();
        for (profile, width) in self.profiles.iter().zip(&widths) {
            let _ = write!(table, "  {profile:width$}");
        }
        for (label, endings) in rows {
            let _ = write!(table, "\n{label:width$}");
            for (ending, width) in endings.iter().zip(&widths) {
                let _ = write!(table, "  {:width$}", word(*ending));
            }
        }
        let trimmed: Vec<&str> = table.lines().map(str::trim_end).collect();
        trimmed.join("\n") + "\n"
    }

    /// One line for programs: every test, with its ending by profile.
    pub(super) fn json(&self) -> serde_json::Value {
        let tests: Vec<JsonTest<'_>> =
            self.tests.iter().map(|(name, endings)| JsonTest { name, endings }).collect();
        serde_json::json!({ "reason": "amdinst-profiles", "profiles": self.profiles, "tests": tests })
    }
}

/// The word for how a test ended, as the test runner writes it.
const fn word(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::Passed) => "ok",
        Some(Ending::Failed) => "FAILED",
        Some(Ending::Ignored) => "ignored",
        None => "not run",
    }
}

#[cfg(test)]
mod tests {
    use amdinst_core::report::run::Test;

    use super::*;

    fn program(tests: &[(&str, Ending)]) -> Program {
        let test = |&(name, ending): &(&str, Ending)| Test {
            name: name.to_owned(),
            ending,
            message: None,
            launches: Vec::new(),
            faults: Vec::new(),
            doubts: Vec::new(),
            sampled: Vec::new(),
            modelled: Vec::new(),
        };
        Program {
            name: "kernels".to_owned(),
            cpu: "gfx90a".to_owned(),
            finished: true,
            tests: tests.iter().map(test).collect(),
        }
    }

    #[test]
    fn only_what_differs_is_shown() {
        use Ending::{Failed, Ignored, Passed};
        let mut endings = Endings::default();
        endings.begin("release");
        endings
            .add("p", &[program(&[("a", Passed), ("sorts", Failed), ("always", Failed), ("slow", Ignored)])]);
        endings.begin("kernel-o0");
        endings
            .add("p", &[program(&[("a", Passed), ("sorts", Passed), ("always", Failed), ("slow", Ignored)])]);
        assert!(endings.differ());
        assert_eq!(endings.summary(), "4 tests with 2 profiles: 1 ends differently, 3 alike");
        assert_eq!(endings.table(), "test   release  kernel-o0\nsorts  FAILED   ok\n");
        assert_eq!(endings.json()["tests"][3]["endings"][1], "passed");
        // A program that was killed, and a test that is there with one profile only.
        endings.begin("dev");
        endings.add("p", &[program(&[("new", Passed)])]);
        assert_eq!(
            endings.table().lines().collect::<Vec<_>>(),
            [
                "test    release  kernel-o0  dev",
                "a       ok       ok         not run",
                "always  FAILED   FAILED     not run",
                "new     not run  not run    ok",
                "slow    ignored  ignored    not run",
                "sorts   FAILED   ok         not run",
            ]
        );
    }

    #[test]
    fn nothing_differs() {
        let mut endings = Endings::default();
        for profile in ["a", "b"] {
            endings.begin(profile);
            endings.add("p", &[program(&[("t", Ending::Failed)])]);
        }
        assert_eq!((endings.differ(), endings.table()), (false, String::new()));
        assert_eq!(endings.summary(), "1 test with 2 profiles: all end alike");
    }
}
