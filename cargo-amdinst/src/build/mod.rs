//! Building kernels: cargo with the kernel toolchain, then the instrumenter, then the manifest.
//!
//! [`package`], `selection` and [`settings`] say what to build and how, [`flags`] and [`profile`] what the compiler is told,
//! [`cargo`] runs it, [`instrument`] makes the files under `target/amdinst/<package>`.

pub mod cargo;
pub mod files;
pub mod flags;
pub mod instrument;
mod misplaced;
mod origin;
pub mod package;
pub mod profile;
mod selection;
pub mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use amdinst_core::manifest::{Manifest, SCHEMA};
use serde_json::json;

use self::instrument::Forms;
use self::package::KernelPackage;
use crate::cli::{Format, PackageArgs};
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::setup;
use crate::toolchain::Toolchain;

/// What a build made.
#[derive(Clone, Debug)]
pub struct Built {
    /// One entry a package, in the order of the workspace.
    pub packages: Vec<BuiltPackage>,
}

/// What the build of one package made.
#[derive(Clone, Debug)]
pub struct BuiltPackage {
    /// How it was built.
    pub package: KernelPackage,
    /// Its `manifest.json`.
    pub manifest_path: PathBuf,
    /// What stands in it.
    pub manifest: Manifest,
}

/// Builds and instruments what `args` asks for. Sets up the toolchain first if there is none.
///
/// # Errors
/// No toolchain, no package, errors of the compiler or the link step, files that cannot be written. What was built before
/// is left as it was.
pub fn build(context: &mut Context, args: &PackageArgs, forms: &Forms) -> CommandResult<Built> {
    let packages = package::find(context, args)?;
    let toolchain = setup::ready(context, args.toolchain.toolchain.as_deref(), setup::Consent::Ask)?;
    let executable = executable()?;
    let mut built = Built { packages: Vec::new() };
    for package in packages {
        built.packages.push(build_package(context, args, forms, package, &toolchain, &executable)?);
    }
    Ok(built)
}

/// The code object of the one package that `args` asks for, as compiled. Cargo builds it if it is not up to date; instrumented
/// forms and the manifest stay as they are.
///
/// # Errors
/// As those of [`build`], and several packages or processors to choose from.
pub fn original(context: &mut Context, args: &PackageArgs) -> CommandResult<PathBuf> {
    let packages = package::find(context, args)?;
    let toolchain = setup::ready(context, args.toolchain.toolchain.as_deref(), setup::Consent::Ask)?;
    let executable = executable()?;
    let several = |what: &str, names: String, help: &str| {
        Failure::msg(Exit::Usage, format!("{what} to choose from: {names}")).help(help)
    };
    let [package] = &packages[..] else {
        let names: Vec<_> = packages.iter().map(|package| package.name.as_str()).collect();
        return Err(several("several packages", names.join(", "), "name one with -p"));
    };
    let [cpu] = &package.cpus[..] else {
        return Err(several("several processors", package.cpus.join(", "), "name one with --target-cpu"));
    };
    let directory = std::env::current_dir().or_exit_with(Exit::BuildFailed, || "the current directory")?;
    let flags = flags::of_user(&toolchain, &directory).with(&flags::for_all(cpu));
    let command = cargo::command(package, cpu, &toolchain, &executable, &flags);
    let built = cargo::run(context, package, cpu, command, Format::Human)?.code_object;
    // The copy that `build` made has a name that people know.
    let manifest = fs::read(package.output_directory().join("manifest.json")).ok();
    let manifest = manifest.and_then(|bytes| Manifest::from_json(&bytes).ok()).unwrap_or_default();
    let stamp = files::stamp(&built);
    let copy = manifest.code_objects.iter().find(|artifact| {
        let is_of_this =
            |(name, value): &(String, String)| name == instrument::CODE_OBJECT && *value == stamp;
        artifact.cpu == *cpu && artifact.profile == package.profile && artifact.inputs.iter().any(is_of_this)
    });
    let copy = copy.map(|artifact| package.output_directory().join(&artifact.original));
    Ok(copy.filter(|copy| copy.is_file()).unwrap_or(built))
}

fn build_package(
    context: &Context,
    args: &PackageArgs,
    forms: &Forms,
    package: KernelPackage,
    toolchain: &Toolchain,
    executable: &Path,
) -> CommandResult<BuiltPackage> {
    let manifest_path = package.output_directory().join("manifest.json");
    let previous: Manifest =
        fs::read(&manifest_path).ok().and_then(|bytes| Manifest::from_json(&bytes).ok()).unwrap_or_default();
    let mut manifest = Manifest { schema: SCHEMA, package: package.name.clone(), code_objects: Vec::new() };
    let directory = std::env::current_dir().or_exit_with(Exit::BuildFailed, || "the current directory")?;
    let user_flags = flags::of_user(toolchain, &directory);
    for cpu in &package.cpus {
        let flags = user_flags.with(&flags::for_all(cpu));
        let started = SystemTime::now();
        let command = cargo::command(&package, cpu, toolchain, executable, &flags);
        let built = cargo::run(context, &package, cpu, command, args.message_format)?;
        let entry = previous
            .code_objects
            .iter()
            .find(|artifact| artifact.cpu == *cpu && artifact.profile == package.profile);
        let mut finished = instrument::finish(context, &package, cpu, &built.code_object, forms, entry)?;
        let build = origin::Build { package: &package, toolchain, executable, args, forms, started };
        finished.artifact.origin = Some(origin::of(&build, &built)?);
        if args.message_format == Format::Json {
            let message = json!({
                "reason": "amdinst-artifact",
                "package": package.name,
                "manifest": manifest_path,
                "artifact": finished.artifact,
                "fresh": finished.fresh,
            });
            println!("{message}");
        }
        manifest.code_objects.push(finished.artifact);
    }
    let mut bytes = serde_json::to_vec_pretty(&manifest).or_exit(Exit::BuildFailed)?;
    bytes.push(b'\n');
    files::write(&manifest_path, &bytes)
        .or_exit_with(Exit::BuildFailed, || format!("cannot write {}", manifest_path.display()))?;
    Ok(BuiltPackage { package, manifest_path, manifest })
}

/// The path of the running program, which rustc starts as its linker.
///
/// # Errors
/// The system does not say where it is.
pub fn executable() -> CommandResult<PathBuf> {
    std::env::current_exe().or_exit_with(Exit::BuildFailed, || "cannot find this program's own file")
}
