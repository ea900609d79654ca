//! Which packages to build, and with which settings.

use std::path::PathBuf;

use amdgpu_isa::{Arch, UnknownArch};
use amdinst_core::instrument::Counters;
use cargo_metadata::{Metadata, MetadataCommand, Package};

use super::selection;
use super::settings::Settings;
use crate::cli::PackageArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// Where everything is built unless something is said.
const DEFAULT_CPU: &str = "gfx90a";
const DEFAULT_PROFILE: &str = "release";

/// One package and how to build it.
#[derive(Clone, Debug)]
pub struct KernelPackage {
    /// Its name.
    pub name: String,
    /// The name of its library's file, without an ending.
    pub library: String,
    /// Its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// The workspace's directory.
    pub workspace_root: PathBuf,
    /// Cargo's target directory.
    pub target_directory: PathBuf,
    /// Processors, in the order they were asked for.
    pub cpus: Vec<String>,
    /// Cargo profile.
    pub profile: String,
    /// Features to activate.
    pub features: Vec<String>,
    /// Features that the command was asked for.
    pub asked_features: Vec<String>,
    /// Whether to activate every feature.
    pub all_features: bool,
    /// Whether to activate the default ones, too.
    pub default_features: bool,
    /// What `auto` means for its counters.
    pub counters: Counters,
    /// Options about `Cargo.lock` and the network, for each cargo that is run.
    pub lock_options: Vec<String>,
    /// Code object version, if not LLVM's default.
    pub code_object_version: Option<u8>,
}

impl KernelPackage {
    /// Cargo's options that say which features.
    pub fn feature_options(&self) -> Vec<String> {
        let mut options = Vec::new();
        if self.all_features {
            options.push("--all-features".to_owned());
        }
        if !self.features.is_empty() {
            options.extend(["--features".to_owned(), self.features.join(",")]);
        }
        if !self.default_features {
            options.push("--no-default-features".to_owned());
        }
        options
    }

    /// Where its code objects go.
    pub fn output_directory(&self) -> PathBuf {
        self.target_directory.join("amdinst").join(&self.name)
    }

    /// Where cargo builds it for `cpu`. Each processor has a directory of its own: flags differ, and cargo would rebuild
    /// `core` at every change of them.
    pub fn build_directory(&self, cpu: &str) -> PathBuf {
        self.target_directory.join("amdinst").join("build").join(cpu)
    }
}

/// Finds the packages that `args` ask for, see `selection::choose`.
///
/// # Errors
/// A broken `Cargo.toml`, no such package, a package without a library, wrong settings, a feature that no package has.
pub fn find(context: &Context, args: &PackageArgs) -> CommandResult<Vec<KernelPackage>> {
    let mut command = MetadataCommand::new();
    // Dependencies are read from `Cargo.toml` alone: resolving them would cost more than all else here.
    command.no_deps();
    command.other_options(args.lock.options());
    if let Some(path) = &args.manifest_path {
        command.manifest_path(path);
    }
    context.shell.command(&command.cargo_command());
    let metadata = command.exec().map_err(|error| match error {
        // Cargo's own words say it all.
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let told = stderr.trim();
            Failure::msg(Exit::BuildFailed, told.strip_prefix("error: ").unwrap_or(told).to_owned())
        }
        error => {
            let error = anyhow::Error::new(error).context("`cargo metadata` failed");
            Failure::new(Exit::BuildFailed, error)
        }
    })?;

    let chosen = selection::choose(context, &metadata, args)?;
    let package = |package: &&Package| {
        let features = selection::features(package, &chosen, args)?;
        with_settings(context, &metadata, package, args, features)
    };
    chosen.iter().map(package).collect()
}

fn library(package: &Package) -> Option<String> {
    let target =
        package.targets.iter().find(|target| target.is_lib() || target.is_cdylib() || target.is_rlib())?;
    Some(target.name.replace('-', "_"))
}

fn with_settings(
    context: &Context,
    metadata: &Metadata,
    package: &Package,
    args: &PackageArgs,
    asked_features: Vec<String>,
) -> CommandResult<KernelPackage> {
    let (settings, warnings) = Settings::read(&package.metadata)
        .or_exit_with(Exit::BuildFailed, || package.manifest_path.to_string())?;
    for warning in warnings {
        context.shell.warn(format_args!("{}: {warning}", package.manifest_path));
    }
    let library = library(package).ok_or_else(|| {
        Failure::msg(Exit::BuildFailed, format!("package `{}` has no library", package.name))
            .help("kernels stand in a library: add src/lib.rs")
    })?;
    let mut cpus = match (&args.target_cpu[..], settings.target_cpus) {
        ([], cpus) if cpus.is_empty() => vec![DEFAULT_CPU.to_owned()],
        ([], cpus) => cpus,
        (asked, _) => asked.to_vec(),
    };
    for cpu in &cpus {
        let known = || Arch::ALL.map(Arch::name).join(", ");
        cpu.parse::<Arch>().map_err(|error| {
            let exit = match error {
                UnknownArch::NotInstrumented(_) => Exit::Unsupported,
                UnknownArch::Unknown(_) => Exit::Usage,
            };
            Failure::new(exit, error).note(format!("processors that kernels are built for: {}", known()))
        })?;
    }
    let mut seen = Vec::new();
    cpus.retain(|cpu| {
        let new = !seen.contains(cpu);
        seen.push(cpu.clone());
        new
    });
    let mut features = settings.features;
    features.extend(asked_features.iter().cloned());
    let asked = args.profile.clone().or_else(|| args.release.then(|| DEFAULT_PROFILE.to_owned()));
    Ok(KernelPackage {
        name: package.name.to_string(),
        library,
        manifest_path: package.manifest_path.clone().into_std_path_buf(),
        workspace_root: metadata.workspace_root.clone().into_std_path_buf(),
        target_directory: metadata.target_directory.clone().into_std_path_buf(),
        cpus,
        profile: asked.or(settings.profile).unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
        features,
        asked_features,
        all_features: args.all_features,
        default_features: !args.no_default_features && settings.default_features.unwrap_or(true),
        counters: settings.counters.unwrap_or_default(),
        lock_options: args.lock.options(),
        code_object_version: args.code_object_version.or(settings.code_object_version),
    })
}
