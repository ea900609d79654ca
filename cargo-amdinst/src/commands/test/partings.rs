//! Why a test passes on one GPU and fails on another: it runs once more where it fails, each launch beside
//! the same launch with the kernels that it passes with. The first launch that leaves other values is told,
//! with the lines where the two executions part.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use amdinst_core::report::parting::{BesideRequest, PartedLaunch};
use amdinst_report::matrix::{Matrix, Split};

use super::TestRun;
use super::columns::ColumnRun;
use crate::build::Built;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::interrupted;

/// Tests that run once more, at most.
const MOST: usize = 24;

/// Adds what is found of the tests that end differently.
///
/// # Errors
/// Files that cannot be written, a `cargo` that cannot be started.
pub(super) fn find(
    context: &Context,
    runs: &[ColumnRun],
    endings: &mut Matrix,
    scratch: &Path,
) -> CommandResult<()> {
    let splits = endings.splits();
    if !splits.is_empty() {
        let tests = amdinst_text::count(splits.len().min(MOST) as u64, "failure");
        context.shell.status("Comparing", format_args!("{tests} with columns where the tests pass"));
    }
    for split in splits.into_iter().take(MOST) {
        let (failed, passed) = (&runs[split.failed], &runs[split.passed]);
        let launch = match (&failed.built, &passed.built) {
            (Some(own), Some(other)) => again(context, (failed, own), (passed, other), &split, scratch)?,
            _ => None,
        };
        if let Some(launch) = launch {
            endings.add_parting(&split, launch);
        }
    }
    Ok(())
}

/// Runs a test on the GPU where it fails, beside one where it passes.
fn again(
    context: &Context,
    (failed, own): (&ColumnRun, &Built),
    (passed, other): (&ColumnRun, &Built),
    split: &Split,
    scratch: &Path,
) -> CommandResult<Option<PartedLaunch>> {
    let Some(package) = own.packages.iter().find(|one| one.package.name == split.name.package) else {
        return Ok(None);
    };
    // Of orders, both sides are of the processor that the test is of.
    let cpu_of =
        |run: &ColumnRun| split.name.target_cpu.clone().or(run.args.package.target_cpu.first().cloned());
    let (Some(cpu), Some(other_cpu)) = (cpu_of(failed), cpu_of(passed)) else { return Ok(None) };
    let code_objects = originals(other, &other_cpu);
    let request = BesideRequest { code_objects, report: scratch.join("parted.json") };
    let path = scratch.join("beside.json");
    let bytes = serde_json::to_vec(&request).or_exit(Exit::OutputFailed)?;
    let failed_to = |path: &Path| format!("cannot write {}", path.display());
    std::fs::write(&path, bytes).or_exit_with(Exit::OutputFailed, || failed_to(&path))?;
    // Of an earlier test.
    let _ = std::fs::remove_file(&request.report);
    let mut args = failed.args.clone();
    args.filters = vec![OsString::from(&split.name.test), "--exact".into()];
    args.which.names = Vec::new();
    args.which.exact = false;
    args.which.skip = Vec::new();
    let manifests = std::env::join_paths(&failed.manifests);
    let manifests = manifests.or_exit_with(Exit::BuildFailed, || "the paths of the manifests")?;
    let run = TestRun {
        args: &args,
        package,
        cpu: &cpu,
        tests: std::slice::from_ref(&split.name.program),
        manifests: &manifests,
        runtime: &crate::runtime::file()?,
        junit: None,
        timelines: None,
    };
    let mut command = run.command(context, &package.package);
    command.env("AMDINST_BESIDE", &path).env_remove("AMDINST_RUN").env_remove("AMDINST_STATUS");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    context.shell.command(&command);
    interrupted::status(&mut command).or_exit_with(Exit::BuildFailed, || "cargo cannot be started")?;
    let told = std::fs::read(&request.report).ok();
    Ok(told.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The code objects of a build for a processor as compiled, by package.
fn originals(built: &Built, cpu: &str) -> BTreeMap<String, PathBuf> {
    let original = |package: &crate::build::BuiltPackage| {
        let directory = package.manifest_path.parent()?;
        let artifact = package.manifest.code_objects.iter().find(|artifact| artifact.cpu == cpu)?;
        Some((package.manifest.package.clone(), directory.join(&artifact.original)))
    };
    built.packages.iter().filter_map(original).collect()
}
