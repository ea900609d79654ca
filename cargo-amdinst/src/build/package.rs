//! Which packages to build, and with which settings.

use std::path::{Path, PathBuf};

use amdgpu_isa::{Arch, Feature, UnknownArch, WaveSize};
use amdinst_core::heap::DEFAULT_SIZE;
use amdinst_core::instrument::Counters;
use cargo_metadata::{Metadata, MetadataCommand, Package};

use super::settings::Settings;
use super::{flags, foreign, program, selection};
use crate::cli::{PackageArgs, RenamedSource, TestGpu};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// Where everything is built unless something is said.
/// The processor that kernels are built for where none is named.
pub const DEFAULT_CPU: &str = "gfx90a";
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
    /// The one that cargo builds its kernels with: another one, if they stand in a program.
    pub library_manifest_path: PathBuf,
    /// The workspace's directory.
    pub workspace_root: PathBuf,
    /// Cargo's target directory.
    pub target_directory: PathBuf,
    /// Processors, in the order they were asked for.
    pub cpus: Vec<String>,
    /// The size of waves that was asked for; each of the processors has it.
    pub wave_size: Option<WaveSize>,
    /// The GPUs of `test --all-gpus`, if it names any.
    pub gpus: Vec<TestGpu>,
    /// Cargo profile.
    pub profile: String,
    /// Another level of optimization than the profile's. Such a build is for the command that makes it alone.
    pub level: Option<&'static str>,
    /// A source file of it that has another name for people.
    pub renamed: Option<RenamedSource>,
    /// Features to activate.
    pub features: Vec<String>,
    /// Features that the command was asked for.
    pub asked_features: Vec<String>,
    /// Whether to activate every feature.
    pub all_features: bool,
    /// Whether to activate the default ones as well.
    pub default_features: bool,
    /// What `auto` means for its counters.
    pub counters: Counters,
    /// Options about `Cargo.lock` and the network, for each cargo that is run.
    pub lock_options: Vec<String>,
    /// Code object version, if not LLVM's default.
    pub code_object_version: Option<u8>,
    /// Whether `alloc` is built for it.
    pub alloc: bool,
    /// Bytes that its kernels allocate from.
    pub heap: u64,
    /// Whether a build script may look for AMD's device libraries.
    pub device_libraries: bool,
    /// Whether its panics say why.
    pub panic_messages: bool,
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

    /// The size of waves that kernels for `cpu` are compiled for, if it is another than LLVM's default.
    pub fn other_wave(&self, cpu: &str) -> Option<WaveSize> {
        let arch = Arch::from_name(cpu)?;
        self.wave_size.filter(|&wave| wave != arch.default_wave())
    }

    /// rustc's flags for every crate of it.
    pub fn flags(&self, cpu: &str) -> Vec<String> {
        flags::for_all(cpu, self.other_wave(cpu), self.panic_messages)
    }

    /// The directory for `cpu`, among those of other processors: `gfx1100`, or `gfx1100-wave64` with waves of
    /// another size than LLVM's default.
    pub fn directory_of(&self, cpu: &str) -> String {
        match self.other_wave(cpu) {
            None => cpu.to_owned(),
            Some(wave) => format!("{cpu}-wave{}", wave.lanes()),
        }
    }

    /// The code object version for `cpu`, if it is to be another than LLVM's default. That may be older than
    /// generic processors, or newer than what LLVM compiles right.
    pub fn code_object_version_for(&self, cpu: &str) -> Option<u8> {
        let needed = |arch: Arch| match arch {
            _ if arch.is_generic() => Some(SINCE_GENERIC),
            _ if !arch.has(Feature::ApertureRegisters) => Some(APERTURES_BY_QUEUE),
            _ => None,
        };
        self.code_object_version.or_else(|| Arch::from_name(cpu).and_then(needed))
    }

    /// Where cargo builds it for `cpu`. Where flags differ, the directory does: cargo would rebuild `core` at
    /// every change of them.
    pub fn build_directory(&self, cpu: &str) -> PathBuf {
        let mut name = self.directory_of(cpu);
        if let Some(level) = self.level {
            name.push_str("-o");
            name.push_str(level);
        }
        if self.panic_messages {
            name.push_str("-panic-messages");
        }
        self.target_directory.join("amdinst").join("build").join(name)
    }
}

/// Finds the packages that `args` ask for, see `selection::choose`.
///
/// # Errors
/// A broken `Cargo.toml`, no such package, a package without a library, wrong settings, a feature that no
/// package has.
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

/// The main file of a package's program; that of the first, if it has several.
fn program(package: &Package) -> Option<&Path> {
    let target = package.targets.iter().find(|target| target.is_bin())?;
    Some(target.src_path.as_std_path())
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
    let (library, library_manifest_path) = match (library(package), program(package)) {
        (Some(library), _) => (library, package.manifest_path.clone().into_std_path_buf()),
        (None, Some(main)) if foreign::is_of_gpu_kernel(package) => {
            (package.name.replace('-', "_"), program::as_library(metadata, package, main)?)
        }
        (None, _) => {
            let message = format!("package `{}` has no library", package.name);
            return Err(
                Failure::msg(Exit::BuildFailed, message).help("kernels stand in a library: add src/lib.rs")
            );
        }
    };
    let mut cpus = match (&args.target_cpu[..], settings.target_cpus) {
        ([], cpus) if cpus.is_empty() => vec![DEFAULT_CPU.to_owned()],
        ([], cpus) => cpus,
        (asked, _) => asked.to_vec(),
    };
    let wave_size = args.wave_size.or(settings.wave_size);
    let code_object_version = args.code_object_version.or(settings.code_object_version);
    for cpu in &cpus {
        let arch = target(cpu)?;
        if let Some(wave) = wave_size {
            check_wave_size(arch, wave, args.wave_size.is_none())?;
        }
        if let Some(version) = code_object_version {
            check_version(arch, version)?;
        }
    }
    let mut seen = Vec::new();
    cpus.retain(|cpu| {
        let new = !seen.contains(cpu);
        seen.push(cpu.clone());
        new
    });
    let mut features = settings.features;
    features.extend(asked_features.iter().cloned());
    features.extend(foreign::own_feature(package));
    let asked = args.profile.clone().or_else(|| args.release.then(|| DEFAULT_PROFILE.to_owned()));
    Ok(KernelPackage {
        name: package.name.to_string(),
        library,
        manifest_path: package.manifest_path.clone().into_std_path_buf(),
        library_manifest_path,
        workspace_root: metadata.workspace_root.clone().into_std_path_buf(),
        target_directory: metadata.target_directory.clone().into_std_path_buf(),
        cpus,
        wave_size,
        gpus: settings.gpus,
        profile: asked.or(settings.profile).unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
        level: args.level,
        renamed: args.renamed.clone(),
        features,
        asked_features,
        all_features: args.all_features,
        default_features: !args.no_default_features && settings.default_features.unwrap_or(true),
        counters: settings.counters.unwrap_or_default(),
        lock_options: args.lock.options(),
        code_object_version,
        alloc: settings.alloc.unwrap_or_else(|| foreign::allocates(package)),
        heap: settings.heap.unwrap_or(DEFAULT_SIZE),
        device_libraries: foreign::uses_device_libraries(package),
        panic_messages: args.panic_messages || settings.panic_messages.unwrap_or_default(),
    })
}

/// The processor of that name, if kernels are built for it.
///
/// # Errors
/// It is unknown, or not supported yet.
pub fn target(cpu: &str) -> CommandResult<Arch> {
    cpu.parse::<Arch>().map_err(|error| {
        let exit = match error {
            UnknownArch::NotExecuted(_) => Exit::Unsupported,
            UnknownArch::Unknown(_) => Exit::Usage,
        };
        let known = Arch::BUILT.map(Arch::name).join(", ");
        Failure::new(exit, error).note(format!("processors that kernels are built for: {known}"))
    })
}

/// The code object version from which on there are generic processors.
const SINCE_GENERIC: u8 = 6;

/// The last code object version in which the queue says where LDS and scratch are among flat addresses. Later
/// the hidden arguments do. LLVM 22 has functions that are no kernels read these at address 0xc0, for it
/// reaches them as a kernel does (`SITargetLowering::loadImplicitKernelArgument`).
const APERTURES_BY_QUEUE: u8 = 4;

/// Refuses a code object version that does not know a generic processor.
fn check_version(arch: Arch, version: u8) -> CommandResult<()> {
    if !arch.is_generic() || version >= SINCE_GENERIC {
        return Ok(());
    }
    let message = format!(
        "code object version {version} does not support {arch}: generic processors need {SINCE_GENERIC}"
    );
    let members: Vec<_> = arch.members().iter().map(|member| member.name()).collect();
    let help = format!("remove the version, or build for one of its processors: {}", members.join(", "));
    Err(Failure::msg(Exit::Usage, message).help(help))
}

/// Refuses a size of waves that a processor does not have.
fn check_wave_size(arch: Arch, wave: WaveSize, by_setting: bool) -> CommandResult<()> {
    let sizes = arch.generation().wave_sizes();
    if sizes.contains(&wave) {
        return Ok(());
    }
    let has: Vec<_> = sizes.iter().map(|size| size.lanes().to_string()).collect();
    let (asked, lanes, has) = (wave.lanes(), arch.default_wave().lanes(), has.join(" and "));
    let what = if by_setting { "`wave-size` in [package.metadata.amdinst]" } else { "`--wave-size`" };
    let message = format!("{arch} has waves of {has} lanes only, and {what} asks for {asked}");
    let both = Arch::BUILT.into_iter().filter(|arch| arch.generation().wave_sizes().len() > 1);
    let both: Vec<_> = both.map(Arch::name).collect();
    Err(Failure::msg(Exit::Usage, message)
        .note(format!("processors with several sizes: {}", both.join(", ")))
        .help(format!("leave it away, or give `--wave-size {lanes}`")))
}
