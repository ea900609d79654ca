//! How tests end with each profile of the kernels, or on each GPU: gathered while they run, told and kept.
//!
//! What is shown is made by [`amdinst_report::matrix`]. Of GPUs, one document a package is kept, beside the
//! run of each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use amdinst_core::report::run::{Ending, FILE_NAME, Run};
use amdinst_report::Summary;
use amdinst_report::matrix::kernels::{self, KernelRow};
use amdinst_report::matrix::{self, Axis, Matrix, MatrixParting, MatrixTest, TestName, markdown, table};
use amdinst_text::json;
use serde::Serialize;

use crate::build::files;
use crate::cli::{Format, TestArgs};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::output;
use crate::together::removed;

/// The endings of all columns, and the runs that they come from.
#[derive(Debug, Default)]
pub(super) struct Endings {
    pub(super) matrix: Matrix,
    /// Of each package, the directory of its artifacts, and a run a column. None of profiles and orders: each
    /// run takes the place of the one before.
    packages: BTreeMap<String, PackageRuns>,
}

#[derive(Debug)]
struct PackageRuns {
    directory: PathBuf,
    runs: Vec<Option<Run>>,
}

impl Endings {
    /// None yet.
    pub(super) fn of(axis: Axis) -> Self {
        Self { matrix: Matrix::new(axis), packages: BTreeMap::new() }
    }

    /// Takes in a run of a package, whose artifacts are in `directory`, in the column begun last.
    pub(super) fn add(&mut self, directory: &Path, run: Run) {
        self.matrix.add(&run.package, &run.programs);
        if matches!(self.matrix.axis, Axis::Profiles | Axis::Schedules) {
            return;
        }
        let column = self.matrix.columns.len();
        let of_package = self.packages.entry(run.package.clone());
        let of_package =
            of_package.or_insert_with(|| PackageRuns { directory: directory.to_owned(), runs: Vec::new() });
        of_package.runs.resize_with(column, || None);
        if let Some(last) = of_package.runs.last_mut() {
            *last = Some(run);
        }
    }

    /// The kernels of all packages.
    fn kernels(&self) -> Vec<KernelRow> {
        let of_package = |(name, package): (&String, &PackageRuns)| {
            let columns = 0..self.matrix.columns.len();
            let summary = |column: usize| package.runs.get(column)?.as_ref().map(Summary::new);
            let summaries: Vec<Option<Summary>> = columns.map(summary).collect();
            kernels::rows(name, &summaries.iter().map(Option::as_ref).collect::<Vec<_>>())
        };
        self.packages.iter().flat_map(of_package).collect()
    }

    /// Shows how tests ended side by side.
    ///
    /// # Errors
    /// A standard output that is full, a file of `--markdown` that cannot be written.
    pub(super) fn tell(&self, context: &Context, args: &TestArgs) -> CommandResult<()> {
        let Self { matrix, .. } = self;
        let kernels = self.kernels();
        if args.package.message_format == Format::Json {
            output::print(&format_args!("{}\n", line(matrix, &kernels)))?;
        } else {
            output::print(&table::all(matrix, &kernels))?;
        }
        if let Some(path) = &args.markdown {
            output::append(path, markdown::render(matrix, &kernels, &[]).as_bytes())?;
        }
        context.shell.status("Compared", matrix.summary());
        Ok(())
    }

    /// Keeps the documents that `cargo amdinst report` shows: of each package the matrix, and a run a column.
    /// The run of one GPU that was kept before is no longer the last.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub(super) fn keep(self, context: &Context, args: &TestArgs) -> CommandResult<()> {
        for (name, PackageRuns { directory, runs }) in self.packages {
            let mut matrix = self.matrix.of_package(&name);
            remove(&directory.join(matrix::FILE_NAME))?;
            for (column, run) in matrix.columns.iter_mut().zip(runs) {
                let Some(run) = run else { continue };
                let stem = format!("{}/{}", matrix::RUNS, column.file_stem());
                let path = format!("{stem}.json");
                write(&directory.join(&path), &with_own_files(run, &directory, &stem)?)?;
                column.run = Some(path);
            }
            write(&directory.join(matrix::FILE_NAME), &matrix)?;
            remove(&directory.join(FILE_NAME))?;
            let report = super::report_command(args, &name, &directory.join(matrix::FILE_NAME));
            context.shell.status("Saved", format_args!("the runs: `{report}` shows them"));
        }
        Ok(())
    }
}

/// A run whose code objects are copies that begin with `stem` in `directory`: those of a build make way for
/// the next column's.
///
/// # Errors
/// A code object that cannot be copied.
fn with_own_files(mut run: Run, directory: &Path, stem: &str) -> CommandResult<Run> {
    let mut copies = BTreeMap::new();
    for kernel in &mut run.kernels {
        let number = copies.len();
        let copy = match copies.entry(kernel.code_object.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let copy = format!("{stem}.{number}.elf");
                let bytes = fs::read(directory.join(&kernel.code_object));
                let written = bytes.and_then(|bytes| files::write(&directory.join(&copy), &bytes));
                written.or_exit_with(Exit::OutputFailed, || format!("cannot copy {}", kernel.code_object))?;
                new.insert(copy)
            }
        };
        kernel.code_object.clone_from(copy);
    }
    Ok(run)
}

/// Removes the matrix that was kept in `directory` before the run of one GPU alone.
///
/// # Errors
/// A file that cannot be removed.
pub(super) fn forget(directory: &Path) -> CommandResult<()> {
    remove(&directory.join(matrix::FILE_NAME))?;
    let removed = removed(fs::remove_dir_all(directory.join(matrix::RUNS)));
    removed.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", directory.display()))
}

fn remove(path: &Path) -> CommandResult<()> {
    let removed = removed(fs::remove_file(path));
    removed.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))
}

/// Writes a document as one line.
///
/// # Errors
/// A directory or a file that cannot be written.
pub(super) fn write(path: &Path, document: &impl Serialize) -> CommandResult<()> {
    let mut bytes = json::to_vec(document).or_exit(Exit::OutputFailed)?;
    bytes.push(b'\n');
    let written = files::write(path, &bytes);
    written.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))
}

/// A test in the line for programs.
#[derive(Serialize)]
struct TestLine<'a> {
    #[serde(flatten)]
    name: &'a TestName,
    endings: Vec<Option<Ending>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Vec<Option<&'a str>>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    partings: &'a [MatrixParting],
}

/// One line for programs: every test, with its ending by column, and every kernel, with its figures.
fn line(matrix: &Matrix, kernels: &[KernelRow]) -> serde_json::Value {
    let of_test = |test: &'_ MatrixTest| {
        let MatrixTest { name, cells, partings } = test;
        let reasons = cells.iter().map(|cell| cell.as_ref()?.reason.as_deref()).collect();
        serde_json::json!(TestLine {
            name,
            endings: cells.iter().map(|cell| cell.as_ref().map(|cell| cell.ending)).collect(),
            reasons: (matrix.axis != Axis::Profiles).then_some(reasons),
            partings,
        })
    };
    let tests: Vec<serde_json::Value> = matrix.tests.iter().map(of_test).collect();
    let titles: Vec<&str> = matrix.titles().collect();
    match matrix.axis {
        Axis::Profiles => {
            serde_json::json!({ "reason": "amdinst-profiles", "profiles": titles, "tests": tests })
        }
        Axis::Schedules => {
            serde_json::json!({ "reason": "amdinst-schedules", "orders": titles, "tests": tests })
        }
        Axis::Gpus | Axis::Levels => serde_json::json!({
            "reason": "amdinst-gpus", "gpus": titles, "tests": tests, "kernels": kernels,
        }),
    }
}

#[cfg(test)]
mod tests {
    use amdinst_core::report::run::Program;

    use super::*;

    #[test]
    fn a_line_has_an_ending_a_column() {
        let test = serde_json::json!({ "name": "adds", "ending": "passed", "launches": [] });
        let test = serde_json::from_value(test).unwrap();
        let program = Program { tests: vec![test], ..Program::default() };
        let mut matrix = Matrix::new(Axis::Gpus);
        matrix.begin("gfx90a");
        matrix.add("p", &[program]);
        matrix.begin("gfx1100");
        let json = line(&matrix, &[]);
        assert_eq!(json["reason"], "amdinst-gpus");
        assert_eq!(json["tests"][0]["endings"], serde_json::json!(["passed", null]));
        assert_eq!(json["tests"][0]["reasons"][0], serde_json::Value::Null);
    }
}
