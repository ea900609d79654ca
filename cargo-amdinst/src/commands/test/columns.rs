//! Tests once a GPU, and once a level of optimization: `test --gpus`, `test --all-gpus`, `test --all-levels`.
//!
//! Kernels are compiled for several columns at a time, as the host has cores. The tests run for one column
//! after another, each with manifests of its own: those of the packages name what was built last.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use amdgpu_isa::Arch;
use amdinst_core::manifest::Manifest;
use amdinst_report::matrix::Axis;
use rayon::prelude::*;

use super::matrix::Endings;
use super::scratch::Scratch;
use super::{forms_of, partings, run_built};
use crate::build::instrument::Forms;
use crate::build::package::{self, KernelPackage};
use crate::build::profile::{self, LEVELS};
use crate::build::{Built, CompiledKernels, KernelBuild};
use crate::cli::{TestArgs, TestGpu, TestGpus};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};

/// A GPU, and a level of optimization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TestColumn {
    pub(super) gpu: TestGpu,
    /// `None` for the profile's, where no other is asked for.
    level: Option<&'static str>,
}

impl fmt::Display for TestColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            None => self.gpu.fmt(f),
            Some(level) => write!(f, "{} -O{level}", self.gpu),
        }
    }
}

/// A column, and what its tests need.
pub(super) struct ColumnRun {
    /// The command's options, for this column.
    pub(super) args: TestArgs,
    /// The kernels; `None` if they could not be built.
    pub(super) built: Option<Rc<Built>>,
    /// The manifests of its packages, which name files by absolute paths.
    pub(super) manifests: Vec<PathBuf>,
}

/// The columns of a matrix, each once; none where the tests run as they do by themselves. `--all-gpus` are
/// the GPUs that the packages name, else one for each instruction set and size of waves.
///
/// # Errors
/// No such package, or wrong settings of one.
pub(super) fn chosen(context: &Context, args: &TestArgs) -> CommandResult<Vec<TestColumn>> {
    if !args.has_columns() {
        return Ok(Vec::new());
    }
    let mut asked: Vec<TestGpu> = args.gpus.iter().flat_map(|some| some.0.clone()).collect();
    if asked.is_empty() {
        let packages = package::find(context, &args.package)?;
        let of_package = |package: KernelPackage| match args.all_gpus {
            true => package.gpus,
            false => built_for(&package),
        };
        asked = packages.into_iter().flat_map(of_package).collect();
    }
    let asked = if args.all_gpus && asked.is_empty() { TestGpus::all().0 } else { asked };
    let levels: Vec<Option<&str>> =
        if args.all_levels { LEVELS.into_iter().map(Some).collect() } else { vec![None] };
    let mut columns = Vec::new();
    for gpu in asked {
        for level in &levels {
            let column = TestColumn { gpu, level: *level };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
    }
    Ok(columns)
}

/// The GPUs that a package is built for by itself.
fn built_for(package: &KernelPackage) -> Vec<TestGpu> {
    let archs = package.cpus.iter().filter_map(|cpu| Arch::from_name(cpu));
    archs.map(|arch| TestGpu { arch, wave: package.wave_size.unwrap_or(arch.default_wave()) }).collect()
}

/// Runs the tests once a column, and shows how they ended side by side, and where executions part that end
/// differently. Kernels that cannot be built for one column are tested in the others.
///
/// # Errors
/// No toolchain, no kernel tests, files that cannot be written.
pub(super) fn run(
    context: &mut Context,
    args: &TestArgs,
    columns: &[TestColumn],
    junit: Option<&Path>,
) -> CommandResult {
    // Without levels there is nothing to compare with the profile's.
    let packages = if args.all_levels { package::find(context, &args.package)? } else { Vec::new() };
    let is_own = |level: &&str| {
        packages.iter().all(|package| profile::level(&package.workspace_root, &package.profile) == **level)
    };
    let of_column = |column: &TestColumn| {
        let mut args = args.clone();
        args.package.target_cpu = vec![column.gpu.arch.name().to_owned()];
        args.package.wave_size = Some(column.gpu.wave);
        args.package.level = column.level.filter(|level| !is_own(level));
        let forms = forms_of(&args)?;
        Ok((*column, args, forms))
    };
    let each: Vec<(TestColumn, TestArgs, Forms)> =
        columns.iter().map(of_column).collect::<CommandResult<_>>()?;
    let jobs = each.iter().map(|(_, args, forms)| KernelBuild::new(context, &args.package, forms));
    let jobs = jobs.collect::<CommandResult<Vec<_>>>()?;
    let names: Vec<String> = columns.iter().map(TestColumn::to_string).collect();
    context.shell.status("Building", format_args!("kernels for {}", names.join(", ")));
    context.shell.quiet_builds();
    // Each fills a core, whatever the number of crates.
    let compiled: Vec<CommandResult<CompiledKernels<'_>>> =
        jobs.into_par_iter().with_max_len(1).map(|job| job.compile(context)).collect();
    let axis = if args.all_levels { Axis::Levels } else { Axis::Gpus };
    let (mut exit, mut endings) = (Exit::Success, Endings::of(axis));
    let mut runs = Vec::new();
    let mut scratch = None;
    for ((column, args, _), compiled) in each.iter().zip(compiled) {
        endings.matrix.begin(&column.to_string());
        let mut run = ColumnRun { args: args.clone(), built: None, manifests: Vec::new() };
        let ended = match compiled.and_then(|compiled| compiled.finish(context)) {
            Err(failure) if failure.exit == Exit::BuildFailed => {
                context.shell.failure(&failure);
                endings.matrix.lacks_build();
                Exit::BuildFailed
            }
            built => {
                let built = built?;
                if scratch.is_none() {
                    scratch = Scratch::of(&built)?;
                }
                let scratch = scratch.as_ref().map_or(Path::new("."), Scratch::path);
                run.manifests = manifests_of(&built, scratch, runs.len())?;
                let ended = run_built(context, args, &built, &run.manifests, junit, &mut endings);
                run.built = Some(Rc::new(built));
                match ended {
                    // Functions without code, which no test needs.
                    Err(failure) if failure.exit == Exit::BuildFailed && endings.matrix.has_run() => {
                        context.shell.failure(&failure);
                        failure.exit
                    }
                    ended => ended?,
                }
            }
        };
        context.shell.status("Tested", format_args!("{column}: {}", endings.matrix.tally()));
        exit = exit.max(ended);
        runs.push(run);
    }
    if let Some(scratch) = &scratch {
        partings::find(context, &runs, &mut endings.matrix, scratch.path())?;
    }
    endings.tell(context, args)?;
    endings.keep(context, args)?;
    Ok(exit)
}

/// Writes manifests of a build that stay when the next one is made: one a package.
pub(super) fn manifests_of(built: &Built, scratch: &Path, number: usize) -> CommandResult<Vec<PathBuf>> {
    let one = |package: &crate::build::BuiltPackage| {
        let directory = package.manifest_path.parent().unwrap_or(Path::new("."));
        let manifest = with_absolute_paths(&package.manifest, directory);
        let path = scratch.join(format!("manifest-{number}-{}.json", package.package.name));
        let bytes = serde_json::to_vec(&manifest).or_exit(Exit::BuildFailed)?;
        let written = std::fs::write(&path, bytes);
        written.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    built.packages.iter().map(one).collect()
}

fn with_absolute_paths(manifest: &Manifest, directory: &Path) -> Manifest {
    let absolute = |name: &String| directory.join(name).to_string_lossy().into_owned();
    let mut manifest = manifest.clone();
    for artifact in &mut manifest.code_objects {
        artifact.original = absolute(&artifact.original);
        for form in &mut artifact.instrumented {
            form.file = form.file.as_ref().map(absolute);
            form.probes = absolute(&form.probes);
        }
    }
    manifest
}
