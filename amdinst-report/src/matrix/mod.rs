//! How tests ended in several columns, side by side: on each GPU, at each level of optimization, with each
//! profile of the kernels.
//!
//! A [`Matrix`] is plain data in the shape of its JSON (`schema` 1). `cargo amdinst test` begins a column,
//! adds the programs of each package, and keeps one document a package, [`FILE_NAME`], beside the runs that
//! it names. [`table`], [`markdown`], [`github`] and [`page`] are views of it, the last two with the
//! [`kernels`] of all columns.

pub mod github;
pub mod kernels;
pub mod markdown;
pub mod page;
mod reason;
mod single_waves;
pub mod table;

use amdinst_core::report::Location;
use amdinst_core::report::parting::PartedLaunch;
use amdinst_core::report::run::{Ending, Program};
use amdinst_core::schema;
use amdinst_text::count;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the document's JSON.
pub const SCHEMA: u32 = 1;

/// The document's name, in `target/amdinst/<package>`.
pub const FILE_NAME: &str = "last-matrix.json";

/// Beside the document, the directory of the runs that it names.
pub const RUNS: &str = "runs";

/// The columns of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Cargo profiles. Only tests that differ are shown.
    #[default]
    Profiles,
    /// GPUs. All tests are shown, and the reasons of those that differ.
    Gpus,
    /// GPUs, at levels of optimization; shown as GPUs are.
    Levels,
    /// Orders of waves and workgroups. Only tests that differ are shown, with their reasons.
    Schedules,
}

impl Axis {
    /// Whether all columns are of the same processors, so that these are no columns.
    const fn has_same_gpus(self) -> bool {
        matches!(self, Self::Profiles | Self::Schedules)
    }
}

/// The endings of all tests, one a column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The columns' kind.
    pub axis: Axis,
    /// The columns, from left to right.
    pub columns: Vec<MatrixColumn>,
    /// The tests, in order of their names.
    pub tests: Vec<MatrixTest>,
}

/// A matrix with its kernels, for programs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MatrixDocument<'a> {
    /// The tests.
    #[serde(flatten)]
    pub matrix: &'a Matrix,
    /// The kernels.
    pub kernels: &'a [kernels::KernelRow],
}

/// A profile, or a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixColumn {
    /// Its name for people: `gfx1100/64 -O2`.
    pub title: String,
    /// Its kernels could not be built.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_built: bool,
    /// The saved run of its tests, from the document's directory on; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl MatrixColumn {
    /// Its name for files and directories: `gfx1100-wave64-O2`.
    pub fn file_stem(&self) -> String {
        let text = self.title.replace(" -", "-").replace('/', "-wave");
        text.chars()
            .map(|char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' })
            .collect()
    }
}

/// A test, and how it ended in each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixTest {
    /// Which test.
    #[serde(flatten)]
    pub name: TestName,
    /// `None` where it did not come to its end, or was not run.
    pub cells: Vec<Option<MatrixCell>>,
    /// The launches that leave other values, of columns where it fails and passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partings: Vec<MatrixParting>,
}

impl MatrixTest {
    fn differs(&self) -> bool {
        let ending = |cell: &Option<MatrixCell>| cell.as_ref().map(|cell| cell.ending);
        self.cells.windows(2).any(|pair| ending(&pair[0]) != ending(&pair[1]))
    }
}

/// A test, of whichever column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TestName {
    /// The cargo package.
    pub package: String,
    /// The processor, where that is not the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_cpu: Option<String>,
    /// The test program.
    pub program: String,
    /// Its name there.
    pub test: String,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// The word.
    pub ending: Ending,
    /// Why it failed or was ignored, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The line of its kernel's fault, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What mends the fault, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// What a difference between columns usually comes from, in a sentence, where the fault shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// The kernel that a data race ended, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raced: Option<String>,
    /// The kernels that it launched in workgroups of one wave each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single_waves: Vec<String>,
}

/// Where a test parts that fails in one column and passes in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixParting {
    /// The column where it fails.
    pub here: String,
    /// The column where it passes.
    pub there: String,
    /// The first launch that leaves other values.
    pub launch: PartedLaunch,
}

/// A test that passes in one column and fails in another, by their numbers. No fault of a kernel says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Which test.
    pub name: TestName,
    /// The first column where it passes.
    pub passed: usize,
    /// A column where it fails.
    pub failed: usize,
}

impl Matrix {
    /// An empty one.
    pub fn new(axis: Axis) -> Self {
        Self { schema: SCHEMA, axis, ..Self::default() }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// Another version, or no such document.
    pub fn from_json(bytes: &[u8]) -> Result<Self, MatrixError> {
        let matrix: Self = schema::read(bytes, SCHEMA)?.map_err(|found| MatrixError::Schema { found })?;
        match matrix.tests.iter().find(|test| test.cells.len() != matrix.columns.len()) {
            Some(test) => Err(MatrixError::Cells { test: test.name.test.clone() }),
            None => Ok(matrix),
        }
    }

    /// Begins a column.
    pub fn begin(&mut self, title: &str) {
        self.columns.push(MatrixColumn { title: title.to_owned(), ..MatrixColumn::default() });
        self.tests.iter_mut().for_each(|test| test.cells.push(None));
    }

    /// The kernels of the column begun last cannot be built.
    pub fn lacks_build(&mut self) {
        if let Some(column) = self.columns.last_mut() {
            column.not_built = true;
        }
    }

    /// Takes in what test programs of a package kept, in the column begun last.
    pub fn add(&mut self, package: &str, programs: &[Program]) {
        for program in programs {
            for test in &program.tests {
                let name = TestName {
                    package: package.to_owned(),
                    target_cpu: self.axis.has_same_gpus().then(|| program.cpu.clone()),
                    program: program.name.clone(),
                    test: test.name.clone(),
                };
                let place = self.tests.binary_search_by(|known| known.name.cmp(&name));
                let place = place.unwrap_or_else(|place| {
                    let cells = vec![None; self.columns.len()];
                    self.tests.insert(place, MatrixTest { name, cells, partings: Vec::new() });
                    place
                });
                let cells = &mut self.tests[place].cells;
                if let Some(last) = cells.last_mut() {
                    *last = Some(MatrixCell::of(test));
                }
                single_waves::suspect(cells, &self.columns);
            }
        }
    }

    /// That of one package alone.
    pub fn of_package(&self, package: &str) -> Self {
        let mut matrix = self.clone();
        matrix.tests.retain(|test| test.name.package == package);
        matrix
    }

    /// The tests that do not end alike.
    pub fn differing(&self) -> impl Iterator<Item = &MatrixTest> {
        self.tests.iter().filter(|test| test.differs())
    }

    /// The tests that do not end alike, or that fail.
    fn remarkable(&self) -> impl Iterator<Item = &MatrixTest> {
        let fails = |cell: &MatrixCell| cell.ending == Ending::Failed;
        self.tests.iter().filter(move |test| test.differs() || test.cells.iter().flatten().any(fails))
    }

    /// Whether a test ended otherwise in one column than in another.
    pub fn differ(&self) -> bool {
        self.differing().next().is_some()
    }

    /// The tests that pass in one column and fail in another for no fault of a kernel: of columns with one
    /// reason, the first.
    pub fn splits(&self) -> Vec<Split> {
        let mut splits = Vec::new();
        for test in self.differing() {
            let ended = |ending| {
                let cells = test.cells.iter().enumerate();
                cells
                    .filter_map(move |(column, cell)| Some((column, cell.as_ref()?)))
                    .filter(move |(_, cell)| cell.ending == ending)
            };
            let Some((passed, _)) = ended(Ending::Passed).next() else { continue };
            let mut reasons = Vec::new();
            for (failed, cell) in ended(Ending::Failed) {
                if cell.location.is_none() && !reasons.contains(&&cell.reason) {
                    reasons.push(&cell.reason);
                    splits.push(Split { name: test.name.clone(), passed, failed });
                }
            }
        }
        splits
    }

    /// Takes in where a test parts.
    pub fn add_parting(&mut self, split: &Split, launch: PartedLaunch) {
        let title = |column: usize| self.columns[column].title.clone();
        let parting = MatrixParting { here: title(split.failed), there: title(split.passed), launch };
        self.tests.iter_mut().filter(|test| test.name == split.name).for_each(|test| {
            test.partings.push(parting.clone());
        });
    }

    /// Whether a test of the column begun last has come to its end.
    pub fn has_run(&self) -> bool {
        self.tests.iter().any(|test| test.cells.last().is_some_and(Option::is_some))
    }

    /// `17 tests with 3 profiles: 1 ends differently, 16 alike`.
    pub fn summary(&self) -> String {
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
            Axis::Schedules => format!("in {}", count(columns as u64, "order")),
        };
        format!("{} {columns}: {outcome}", count(all as u64, "test"))
    }

    /// `26 passed, 1 failed`: the tests of the column begun last.
    pub fn tally(&self) -> String {
        let endings = || self.tests.iter().filter_map(|test| test.cells.last()?.as_ref());
        let of = |ending: Ending| endings().filter(|cell| cell.ending == ending).count();
        let (passed, failed, ignored) = (of(Ending::Passed), of(Ending::Failed), of(Ending::Ignored));
        let ignored = if ignored > 0 { format!(", {ignored} ignored") } else { String::new() };
        format!("{passed} passed, {failed} failed{ignored}")
    }

    /// The titles of the columns.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| &*column.title)
    }

    /// A name for people: what all tests have in common is not worth a word.
    fn labels(&self) -> impl Fn(&TestName) -> String + use<> {
        let differs = |part: fn(&TestName) -> Option<&String>| {
            self.tests.windows(2).any(|pair| part(&pair[0].name) != part(&pair[1].name))
        };
        let cpus = differs(|name| name.target_cpu.as_ref());
        let packages = differs(|name| Some(&name.package));
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
}

/// A document that cannot be read as a [`Matrix`].
#[derive(Debug, Error)]
pub enum MatrixError {
    /// The document has another version of the schema.
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// The document's.
        found: u32,
    },
    /// A test has not a cell for each column.
    #[error("the test `{test}` has not one cell for each column")]
    Cells {
        /// The test's name.
        test: String,
    },
    /// The document is damaged, or is no matrix.
    #[error("it is not what `cargo amdinst test` writes of several GPUs")]
    Damaged(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use amdinst_core::report::run::{Program, Test};

    use super::*;

    fn program(tests: &[(&str, Ending)]) -> Program {
        let test = |&(name, ending): &(&str, Ending)| -> Test {
            serde_json::from_value(serde_json::json!({ "name": name, "ending": ending, "launches": [] }))
                .unwrap()
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
        let mut matrix = Matrix::new(Axis::Profiles);
        matrix.begin("release");
        matrix
            .add("p", &[program(&[("a", Passed), ("sorts", Failed), ("always", Failed), ("slow", Ignored)])]);
        matrix.begin("kernel-o0");
        matrix
            .add("p", &[program(&[("a", Passed), ("sorts", Passed), ("always", Failed), ("slow", Ignored)])]);
        assert!(matrix.differ());
        assert_eq!(matrix.summary(), "4 tests with 2 profiles: 1 ends differently, 3 alike");
        assert_eq!(table::tests(&matrix), "test   release  kernel-o0\nsorts  FAILED   ok\n");
        // A program that was killed, and a test that is there with one profile only.
        matrix.begin("dev");
        matrix.add("p", &[program(&[("new", Passed)])]);
        assert_eq!(
            table::tests(&matrix).lines().collect::<Vec<_>>(),
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
        let mut matrix = Matrix::new(Axis::Gpus);
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
            table::tests(&matrix).lines().collect::<Vec<_>>(),
            [
                "test      gfx90a   gfx1030  gfx1100  gfx1151",
                "adds      ok       ok       ok       not built",
                "shuffles  ok       FAILED   FAILED   not built",
            ]
        );
        assert!(
            table::reasons(&matrix).contains(
                "shuffles on gfx1030, gfx1100: assertion `left == right` failed; left: 1; right: 2\n"
            )
        );
        assert_eq!(matrix.summary(), "2 tests on 4 GPUs: 2 end differently, 0 alike");
        let text = serde_json::to_vec(&matrix).unwrap();
        assert_eq!(Matrix::from_json(&text).unwrap(), matrix);
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
        let mut matrix = Matrix::new(Axis::Gpus);
        matrix.begin("gfx1100");
        matrix.add("p", &[failing("left: 1")]);
        matrix.begin("gfx90a");
        matrix.add("p", &[program(&[("adds", Passed), ("races", Passed), ("wrong", Failed)])]);
        for message in ["left: 1", "left: 2"] {
            matrix.begin("another");
            matrix.add("p", &[failing(message)]);
        }
        let splits: Vec<_> =
            matrix.splits().into_iter().map(|split| (split.name.test, split.failed, split.passed)).collect();
        assert_eq!(splits, [("adds".to_owned(), 0, 1), ("adds".to_owned(), 3, 1)]);
    }

    #[test]
    fn nothing_differs() {
        let mut matrix = Matrix::new(Axis::Profiles);
        for profile in ["a", "b"] {
            matrix.begin(profile);
            matrix.add("p", &[program(&[("t", Ending::Failed)])]);
        }
        assert_eq!((matrix.differ(), table::tests(&matrix)), (false, String::new()));
        assert_eq!(matrix.summary(), "1 test with 2 profiles: all end alike");
    }
}
