//! How tests ended with each profile of the kernels, or on each GPU: `test --profiles`, `test --gpus`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use amdinst_core::report::parting::PartedLaunch;
use amdinst_core::report::run::{Ending, FaultReport, Program, Test};
use amdinst_text::{count, listed};
use serde::Serialize;

/// The columns of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Axis {
    /// Cargo profiles. Only tests that differ are shown.
    #[default]
    Profiles,
    /// GPUs. All tests are shown, and the reasons of those that differ.
    Gpus,
    /// GPUs, at levels of optimization; shown as GPUs are.
    Levels,
}

/// A test, of whichever column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct TestName {
    package: String,
    /// The processor, where that is not the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_cpu: Option<String>,
    program: String,
    test: String,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    ending: Ending,
    /// Why it failed or was ignored, in a line.
    reason: Option<String>,
    /// The reason names the line of a kernel's fault.
    is_fault: bool,
}

/// A test that passes in one column and fails in another, by their numbers. No fault of a kernel says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) package: String,
    pub(super) program: String,
    pub(super) test: String,
    pub(super) passed: usize,
    pub(super) failed: usize,
}

/// A test that passes on one GPU and fails on another, with the launch that leaves other values.
#[derive(Debug)]
pub(super) struct PartedTest {
    pub(super) split: Split,
    pub(super) launch: PartedLaunch,
}

/// The endings of all tests, one a column. `None` for a test that did not come to its end, or was not run.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    axis: Axis,
    columns: Vec<Column>,
    tests: BTreeMap<TestName, Vec<Option<Cell>>>,
    /// What is known of tests that pass on one GPU and fail on another.
    partings: Vec<PartedTest>,
}

/// A profile, or a GPU.
#[derive(Clone, Debug)]
struct Column {
    title: String,
    /// Its kernels could not be built.
    is_without_build: bool,
}

/// A test in the JSON line.
#[derive(Serialize)]
struct JsonTest<'a> {
    #[serde(flatten)]
    name: &'a TestName,
    endings: Vec<Option<Ending>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<Option<&'a str>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partings: Vec<PartingView<'a>>,
}

/// Where a test parts that fails on `here` and passes on `there`.
#[derive(Serialize)]
struct PartingView<'a> {
    here: &'a str,
    there: &'a str,
    launch: &'a PartedLaunch,
}

impl Matrix {
    /// An empty one.
    pub(super) fn of(axis: Axis) -> Self {
        Self { axis, ..Self::default() }
    }

    /// Begins a column.
    pub(super) fn begin(&mut self, title: &str) {
        self.columns.push(Column { title: title.to_owned(), is_without_build: false });
        self.tests.values_mut().for_each(|cells| cells.push(None));
    }

    /// The kernels of the column begun last cannot be built.
    pub(super) fn lacks_build(&mut self) {
        if let Some(column) = self.columns.last_mut() {
            column.is_without_build = true;
        }
    }

    /// Takes in what test programs of a package kept, in the column begun last.
    pub(super) fn add(&mut self, package: &str, programs: &[Program]) {
        let columns = self.columns.len();
        for (program, test) in
            programs.iter().flat_map(|program| program.tests.iter().map(move |t| (program, t)))
        {
            let name = TestName {
                package: package.to_owned(),
                target_cpu: (self.axis == Axis::Profiles).then(|| program.cpu.clone()),
                program: program.name.clone(),
                test: test.name.clone(),
            };
            let cells = self.tests.entry(name).or_insert_with(|| vec![None; columns]);
            if let Some(last) = cells.last_mut() {
                let is_fault = test.faults.first().is_some_and(|fault| fault.location.file.is_some());
                *last = Some(Cell { ending: test.ending, reason: reason(test), is_fault });
            }
        }
    }

    fn differing(&self) -> impl Iterator<Item = (&TestName, &[Option<Cell>])> {
        let ending = |cell: &Option<Cell>| cell.as_ref().map(|cell| cell.ending);
        let differs =
            move |cells: &[Option<Cell>]| cells.windows(2).any(|pair| ending(&pair[0]) != ending(&pair[1]));
        self.tests.iter().map(|(name, cells)| (name, &cells[..])).filter(move |(_, cells)| differs(cells))
    }

    /// The tests that pass in one column and fail in another for no fault of a kernel: of columns with one
    /// reason, the first.
    pub(super) fn splits(&self) -> Vec<Split> {
        let mut splits = Vec::new();
        for (name, cells) in self.differing() {
            let ended = |ending| {
                let cells = cells.iter().enumerate();
                cells
                    .filter_map(move |(column, cell)| Some((column, cell.as_ref()?)))
                    .filter(move |(_, cell)| cell.ending == ending)
            };
            let Some((passed, _)) = ended(Ending::Passed).next() else { continue };
            let mut reasons = Vec::new();
            for (failed, cell) in ended(Ending::Failed) {
                if cell.is_fault || reasons.contains(&&cell.reason) {
                    continue;
                }
                reasons.push(&cell.reason);
                let TestName { package, program, test, .. } = name.clone();
                splits.push(Split { package, program, test, passed, failed });
            }
        }
        splits
    }

    /// Takes in what is known of tests that pass on one GPU and fail on another.
    pub(super) fn add_partings(&mut self, partings: Vec<PartedTest>) {
        self.partings = partings;
    }

    /// Whether a test ended otherwise in one column than in another.
    pub(super) fn differ(&self) -> bool {
        self.differing().next().is_some()
    }

    /// `17 tests with 3 profiles: 1 ends differently, 16 alike`.
    pub(super) fn summary(&self) -> String {
        let (all, differing) = (self.tests.len(), self.differing().count());
        let outcome = match differing {
            _ if all == 0 => "none has run".to_owned(),
            0 => "all end alike".to_owned(),
            1 => format!("1 ends differently, {} alike", all - 1),
            _ => format!("{differing} end differently, {} alike", all - differing),
        };
        let columns = self.columns.len();
        let columns = match self.axis {
            Axis::Profiles => format!("with {}", count(columns as u64, "profile")),
            Axis::Levels => format!("in {}", count(columns as u64, "column")),
            Axis::Gpus => format!("on {}", count(columns as u64, "GPU")),
        };
        format!("{} {columns}: {outcome}", count(all as u64, "test"))
    }

    /// Whether a test of the column begun last has come to its end.
    pub(super) fn has_run(&self) -> bool {
        self.tests.values().any(|cells| cells.last().is_some_and(Option::is_some))
    }

    /// `26 passed, 1 failed`: the tests of the column begun last.
    pub(super) fn tally(&self) -> String {
        let endings = || self.tests.values().filter_map(|cells| cells.last()?.as_ref());
        let of = |ending: Ending| endings().filter(|cell| cell.ending == ending).count();
        let (passed, failed, ignored) = (of(Ending::Passed), of(Ending::Failed), of(Ending::Ignored));
        let ignored = if ignored > 0 { format!(", {ignored} ignored") } else { String::new() };
        format!("{passed} passed, {failed} failed{ignored}")
    }

    /// A name for people: what all tests have in common is not worth a word.
    fn labels(&self) -> impl Fn(&TestName) -> String + use<> {
        let first = self.tests.keys().next().cloned();
        let differs = |part: &dyn Fn(&TestName) -> &Option<String>| {
            self.tests.keys().any(|name| first.as_ref().is_some_and(|first| part(first) != part(name)))
        };
        let cpus = differs(&|name| &name.target_cpu);
        let packages =
            self.tests.keys().any(|name| first.as_ref().is_some_and(|first| first.package != name.package));
        move |name| {
            let mut text = name.test.clone();
            if packages {
                text = format!("{} {text}", name.package);
            }
            if let Some(cpu) = name.target_cpu.as_ref().filter(|_| cpus) {
                text = format!("{text} ({cpu})");
            }
            text
        }
    }

    /// The titles of the columns.
    pub(super) fn titles(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| &*column.title)
    }

    /// The tests that are shown: a name for people, and a word a column.
    pub(super) fn rows(&self) -> Vec<(String, Vec<&'static str>)> {
        let label = self.labels();
        let row = |(name, cells): (&TestName, &[Option<Cell>])| {
            let words = cells.iter().zip(&self.columns).map(|(cell, column)| word(cell.as_ref(), column));
            (label(name), words.collect())
        };
        match self.axis {
            Axis::Profiles => self.differing().map(row).collect(),
            Axis::Gpus | Axis::Levels => self.tests.iter().map(|(name, cells)| row((name, cells))).collect(),
        }
    }

    /// The tests, a column each. Empty if there are none to show.
    pub(super) fn table(&self) -> String {
        let rows = self.rows();
        if rows.is_empty() {
            return String::new();
        }
        let widest = rows.iter().map(|(label, _)| label.chars().count()).max();
        let width = widest.unwrap_or(0).max("test".len());
        let mut table = format!("{:width$}", "test");
        let width_of = |column: &Column| column.title.len().max(word(None, column).len());
        let widths: Vec<usize> = self.columns.iter().map(width_of).collect();
        for (title, width) in self.titles().zip(&widths) {
            let _ = write!(table, "  {title:width$}");
        }
        for (label, words) in &rows {
            let _ = write!(table, "\n{label:width$}");
            for (word, width) in words.iter().zip(&widths) {
                let _ = write!(table, "  {word:width$}");
            }
        }
        let trimmed: Vec<&str> = table.lines().map(str::trim_end).collect();
        trimmed.join("\n") + "\n"
    }

    /// Of each test that ends differently, the reasons, with the GPUs that have them. Of profiles, the
    /// programs have printed them.
    pub(super) fn reasons(&self) -> String {
        if self.axis == Axis::Profiles {
            return String::new();
        }
        let label = self.labels();
        let mut text = String::new();
        for (name, cells) in self.differing() {
            let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
            for (cell, column) in cells.iter().zip(&self.columns) {
                let Some(reason) = cell.as_ref().and_then(|cell| cell.reason.as_deref()) else { continue };
                match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, columns)) => columns.push(column.title.clone()),
                    None => reasons.push((reason, vec![column.title.clone()])),
                }
            }
            for (reason, columns) in reasons {
                let _ = writeln!(text, "{} on {}: {reason}", label(name), listed(&columns, columns.len()));
                for parting in self
                    .partings_of(name)
                    .filter(|parting| columns.iter().any(|column| column == parting.here))
                {
                    let launch = parting.launch.text(parting.here, parting.there);
                    launch.lines().for_each(|line| _ = writeln!(text, "    {line}"));
                }
            }
        }
        text
    }

    /// What is known of where a test parts.
    fn partings_of(&self, name: &TestName) -> impl Iterator<Item = PartingView<'_>> {
        let is_of = move |parting: &&PartedTest| {
            let Split { package, program, test, .. } = &parting.split;
            (package, program, test) == (&name.package, &name.program, &name.test)
        };
        self.partings.iter().filter(is_of).map(|parting| PartingView {
            here: &self.columns[parting.split.failed].title,
            there: &self.columns[parting.split.passed].title,
            launch: &parting.launch,
        })
    }

    fn json_of<'a>(&'a self, name: &'a TestName, cells: &'a [Option<Cell>]) -> JsonTest<'a> {
        let reasons = cells.iter().map(|cell| cell.as_ref()?.reason.as_deref()).collect();
        JsonTest {
            name,
            endings: cells.iter().map(|cell| cell.as_ref().map(|cell| cell.ending)).collect(),
            reasons: (self.axis != Axis::Profiles).then_some(reasons),
            partings: self.partings_of(name).collect(),
        }
    }

    /// One line for programs: every test, with its ending by column.
    pub(super) fn json(&self) -> serde_json::Value {
        let tests: Vec<JsonTest<'_>> =
            self.tests.iter().map(|(name, cells)| self.json_of(name, cells)).collect();
        let titles: Vec<&str> = self.titles().collect();
        match self.axis {
            Axis::Profiles => {
                serde_json::json!({ "reason": "amdinst-profiles", "profiles": titles, "tests": tests })
            }
            Axis::Gpus | Axis::Levels => {
                serde_json::json!({ "reason": "amdinst-gpus", "gpus": titles, "tests": tests })
            }
        }
    }
}

/// Characters of a reason, at most.
const LONGEST_REASON: usize = 200;

/// Why a test failed or was ignored, in a line: the fault of its kernel if there was one; else its message,
/// and a doubt about its kernels.
fn reason(test: &Test) -> Option<String> {
    let told = |fault: &FaultReport| match fault.location.file.is_some() {
        true => format!("{} at {}", fault.message, fault.location.short()),
        false => fault.message.clone(),
    };
    let text = match (test.ending, test.faults.first()) {
        (Ending::Passed, _) => return None,
        (Ending::Failed, Some(fault)) => told(fault),
        (Ending::Failed, None) => {
            let mut lines =
                test.message.iter().flat_map(|message| message.lines()).map(|line| line.trim().to_owned());
            let first = lines.next();
            let parts = first.into_iter().chain(test.doubts.first().map(told)).chain(lines);
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
        }
        (Ending::Ignored, _) => test.message.clone()?,
    };
    let text = text.lines().next()?;
    match text.char_indices().nth(LONGEST_REASON) {
        None => Some(text.to_owned()),
        Some((end, _)) => Some(format!("{}…", &text[..end])),
    }
}

/// The word for how a test ended, as the test runner writes it.
const fn word(cell: Option<&Cell>, column: &Column) -> &'static str {
    match cell {
        Some(Cell { ending: Ending::Passed, .. }) => "ok",
        Some(Cell { ending: Ending::Failed, .. }) => "FAILED",
        Some(Cell { ending: Ending::Ignored, .. }) => "ignored",
        None if column.is_without_build => "not built",
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
        let mut matrix = Matrix::of(Axis::Profiles);
        matrix.begin("release");
        matrix
            .add("p", &[program(&[("a", Passed), ("sorts", Failed), ("always", Failed), ("slow", Ignored)])]);
        matrix.begin("kernel-o0");
        matrix
            .add("p", &[program(&[("a", Passed), ("sorts", Passed), ("always", Failed), ("slow", Ignored)])]);
        assert!(matrix.differ());
        assert_eq!(matrix.summary(), "4 tests with 2 profiles: 1 ends differently, 3 alike");
        assert_eq!(matrix.table(), "test   release  kernel-o0\nsorts  FAILED   ok\n");
        assert_eq!(matrix.json()["tests"][3]["endings"][1], "passed");
        // A program that was killed, and a test that is there with one profile only.
        matrix.begin("dev");
        matrix.add("p", &[program(&[("new", Passed)])]);
        assert_eq!(
            matrix.table().lines().collect::<Vec<_>>(),
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

    /// All tests are shown; those that differ have their reasons, and the GPUs of each.
    #[test]
    fn gpus_side_by_side() {
        use Ending::{Failed, Passed};
        let failing = |message: &str| {
            let mut program = program(&[("shuffles", Failed), ("adds", Passed)]);
            program.tests[0].message = Some(message.to_owned());
            program
        };
        let mut matrix = Matrix::of(Axis::Gpus);
        matrix.begin("gfx90a");
        matrix.add("p", &[program(&[("shuffles", Passed), ("adds", Passed)])]);
        for gpu in ["gfx1030", "gfx1100"] {
            matrix.begin(gpu);
            matrix.add("p", &[failing("assertion `left == right` failed\n  left: 1\n right: 2\n")]);
            assert_eq!(matrix.tally(), "1 passed, 1 failed");
        }
        matrix.begin("gfx1151");
        matrix.lacks_build();
        assert_eq!(
            matrix.table().lines().collect::<Vec<_>>(),
            [
                "test      gfx90a   gfx1030  gfx1100  gfx1151",
                "adds      ok       ok       ok       not built",
                "shuffles  ok       FAILED   FAILED   not built",
            ]
        );
        assert!(
            matrix.reasons().contains(
                "shuffles on gfx1030, gfx1100: assertion `left == right` failed; left: 1; right: 2\n"
            )
        );
        assert_eq!(matrix.summary(), "2 tests on 4 GPUs: 2 end differently, 0 alike");
        let json = matrix.json();
        assert_eq!(json["reason"], "amdinst-gpus");
        assert_eq!(json["tests"][1]["endings"], serde_json::json!(["passed", "failed", "failed", null]));
        assert_eq!(json["tests"][1]["reasons"][0], serde_json::Value::Null);
    }

    /// A test that fails for no fault of a kernel is compared with where it passes, once a reason.
    #[test]
    fn failures_are_compared_with_where_the_test_passes() {
        use Ending::{Failed, Passed};
        let failing = |message: &str| {
            let mut program = program(&[("adds", Failed), ("races", Failed), ("wrong", Failed)]);
            program.tests[0].message = Some(message.to_owned());
            let fault = serde_json::json!({
                "kernel": "k", "kind": "race", "message": "", "instruction": "",
                "file": "src/lib.rs", "line": 1, "workgroup": [0, 0, 0], "wave": 0,
            });
            program.tests[1].faults = vec![serde_json::from_value(fault).unwrap()];
            program
        };
        let mut matrix = Matrix::of(Axis::Gpus);
        matrix.begin("gfx1100");
        matrix.add("p", &[failing("left: 1")]);
        matrix.begin("gfx90a");
        matrix.add("p", &[program(&[("adds", Passed), ("races", Passed), ("wrong", Failed)])]);
        for message in ["left: 1", "left: 2"] {
            matrix.begin("another");
            matrix.add("p", &[failing(message)]);
        }
        let splits: Vec<_> =
            matrix.splits().into_iter().map(|split| (split.test, split.failed, split.passed)).collect();
        assert_eq!(splits, [("adds".to_owned(), 0, 1), ("adds".to_owned(), 3, 1)]);
    }

    #[test]
    fn nothing_differs() {
        let mut matrix = Matrix::of(Axis::Profiles);
        for profile in ["a", "b"] {
            matrix.begin(profile);
            matrix.add("p", &[program(&[("t", Ending::Failed)])]);
        }
        assert_eq!((matrix.differ(), matrix.table()), (false, String::new()));
        assert_eq!(matrix.summary(), "1 test with 2 profiles: all end alike");
    }
}
