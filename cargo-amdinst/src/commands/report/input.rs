//! Finding and reading a saved run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use amdinst_core::report::run::{FILE_NAME, Run};
use amdinst_launch::files;
use amdinst_report::matrix::{self, Matrix, MatrixColumn};
use amdinst_report::{Sources, Summary};

use crate::build::package;
use crate::cli::{PackageArgs, ReportArgs};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// A run, and where its sources and artifacts are.
#[derive(Debug)]
pub(super) struct SavedRun {
    pub(super) run: Run,
    pub(super) sources: Sources,
    /// The workspace's directory.
    pub(super) root: PathBuf,
    /// Where the package's artifacts are.
    pub(super) artifacts: PathBuf,
}

/// The last runs of a package on several GPUs.
#[derive(Debug)]
pub(super) struct SavedMatrix {
    pub(super) package: String,
    pub(super) matrix: Matrix,
    /// The workspace's directory.
    root: PathBuf,
    /// Where the package's artifacts are.
    artifacts: PathBuf,
}

/// What is reported on.
#[derive(Debug)]
pub(super) enum Saved {
    /// The run of one GPU.
    Run(SavedRun),
    /// Those of several.
    Matrix(SavedMatrix),
}

impl SavedMatrix {
    /// The run of a column; `None` if it has none.
    ///
    /// # Errors
    /// A document that cannot be read.
    pub(super) fn run_of(&self, column: &MatrixColumn) -> CommandResult<Option<SavedRun>> {
        let Some(name) = &column.run else { return Ok(None) };
        saved_run(&self.artifacts.join(name), &self.root, &self.artifacts, &self.package).map(Some)
    }

    /// The run of the GPU that `--gpu` names.
    ///
    /// # Errors
    /// No such GPU, or one that has no run.
    pub(super) fn run_named(&self, name: &str) -> CommandResult<SavedRun> {
        let column = self.matrix.columns.iter().find(|column| column.title == name);
        let run = column.map(|column| self.run_of(column)).transpose()?.flatten();
        run.ok_or_else(|| {
            Failure::msg(Exit::Usage, format!("the last tests have no run on `{name}`"))
                .help(self.names_one())
        })
    }

    /// How one of them is shown.
    pub(super) fn names_one(&self) -> String {
        let with_run = self.matrix.columns.iter().filter(|column| column.run.is_some());
        let options: Vec<String> = with_run
            .map(|column| match column.title.contains(' ') {
                true => format!("`--gpu \"{}\"`", column.title),
                false => format!("`--gpu {}`", column.title),
            })
            .collect();
        format!("{} shows one of them", options.join(" or "))
    }
}

/// Reads the run that `args` name, else the last one of the package.
///
/// # Errors
/// No such package, no run, a document that cannot be read; `--gpu` where there is one run alone.
pub(super) fn find(context: &Context, args: &ReportArgs) -> CommandResult<Saved> {
    let (path, root, package) = match &args.run {
        Some(path) => {
            // Sources are named from the directory in which cargo runs.
            let here = std::env::current_dir().or_exit_with(Exit::BadInput, || "the current directory")?;
            (path.clone(), here, None)
        }
        None => last(context, args)?,
    };
    if let (Some(name), Err(error)) = (&package, path.metadata())
        && error.kind() == ErrorKind::NotFound
    {
        let message = format!("package `{name}` has no saved run: no {}", path.display());
        return Err(Failure::msg(Exit::BadInput, message)
            .help(format!("run its tests: `cargo amdinst test -p {name}`")));
    }
    let artifacts = path.parent().unwrap_or(Path::new("")).to_owned();
    let again = package.as_deref().unwrap_or("PKG");
    if path.file_name().is_some_and(|name| name == matrix::FILE_NAME) {
        let matrix = Matrix::from_json(&files::read(&path)?).map_err(|error| damaged(&path, again, error))?;
        let package = matrix.tests.first().map(|test| test.name.package.clone()).unwrap_or_default();
        return Ok(Saved::Matrix(SavedMatrix { package, matrix, root, artifacts }));
    }
    if args.gpu.is_some() {
        return Err(Failure::msg(
            Exit::Usage,
            "`--gpu` is for tests on several GPUs, and the last run is of one",
        )
        .help(format!("`cargo amdinst test -p {again} --all-gpus` tests on each")));
    }
    saved_run(&path, &root, &artifacts, again).map(Saved::Run)
}

/// Reads a run.
fn saved_run(path: &Path, root: &Path, artifacts: &Path, package: &str) -> CommandResult<SavedRun> {
    let run = Run::from_json(&files::read(path)?).map_err(|error| damaged(path, package, error))?;
    let sources = Sources::new(root, &run.sources);
    Ok(SavedRun { run, sources, root: root.to_owned(), artifacts: artifacts.to_owned() })
}

/// A document that cannot be read.
fn damaged(path: &Path, package: &str, error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(Exit::BadInput, anyhow::Error::new(error).context(path.display().to_string()))
        .help(format!("run the tests again: `cargo amdinst test -p {package}`"))
}

/// The document of a package's last run, the workspace's directory, and the package's name.
fn last(context: &Context, args: &ReportArgs) -> CommandResult<(PathBuf, PathBuf, Option<String>)> {
    let packages = package::find(
        context,
        &PackageArgs {
            package: args.package.iter().cloned().collect(),
            manifest_path: args.manifest_path.clone(),
            ..PackageArgs::default()
        },
    )?;
    // After tests on several GPUs there is the one, after others the other.
    let document = |package: &package::KernelPackage| {
        let directory = package.output_directory();
        let of_several = directory.join(matrix::FILE_NAME);
        if of_several.is_file() { of_several } else { directory.join(FILE_NAME) }
    };
    let kept: Vec<_> = packages.iter().filter(|package| document(package).is_file()).collect();
    // Of a workspace, the only package with a run; where there is none, the error names the first.
    let package = match (&kept[..], &packages[..]) {
        ([package], _) => *package,
        ([], [package, ..]) => package,
        _ => {
            let names: Vec<_> = kept.iter().map(|package| package.name.as_str()).collect();
            return Err(Failure::msg(Exit::Usage, "several packages have a run")
                .note(format!("they are: {}", names.join(", ")))
                .help("name one with `-p`"));
        }
    };
    Ok((document(package), package.workspace_root.clone(), Some(package.name.clone())))
}

/// The summary that a run is compared with: as printed, or of a saved run.
///
/// # Errors
/// A file that cannot be read, or is neither.
pub(super) fn baseline(path: &Path) -> CommandResult<Summary> {
    let bytes = files::read(path)?;
    // Both are versioned alike; a run has programs, and a summary has tests.
    let is_run = serde_json::from_slice::<serde_json::Value>(&bytes)
        .is_ok_and(|value| value.get("programs").is_some());
    let told = || format!("cannot read {}", path.display());
    if is_run {
        let run = Run::from_json(&bytes).or_exit_with(Exit::BadInput, told)?;
        return Ok(Summary::new(&run));
    }
    Summary::from_json(&bytes).or_exit_with(Exit::BadInput, told)
}
