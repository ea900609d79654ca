//! Finding and reading a saved run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use amdinst_core::report::run::{FILE_NAME, Run};
use amdinst_launch::files;
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

/// Reads the run that `args` name, else the last one of the package.
///
/// # Errors
/// No such package, no run, a document that cannot be read.
pub(super) fn find(context: &Context, args: &ReportArgs) -> CommandResult<SavedRun> {
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
    let bytes = files::read(&path)?;
    let run = Run::from_json(&bytes).map_err(|error| {
        let again = package.as_deref().unwrap_or("PKG");
        Failure::new(Exit::BadInput, anyhow::Error::new(error).context(path.display().to_string()))
            .help(format!("run the tests again: `cargo amdinst test -p {again}`"))
    })?;
    let sources = Sources::new(&root, &run.sources);
    let artifacts = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(SavedRun { run, sources, root, artifacts })
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
    let document = |package: &package::KernelPackage| package.output_directory().join(FILE_NAME);
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
