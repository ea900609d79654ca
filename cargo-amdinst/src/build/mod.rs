//! Building kernels: cargo with the kernel toolchain, then the instrumenter, then the manifest.
//!
//! [`package`], `selection` and [`settings`] say what to build and how, `foreign` and `program` say it of
//! packages for other tools, [`flags`] and [`profile`] say what the compiler is told, [`cargo`] runs it and
//! [`compiled`] spares it work, [`instrument`] makes the files under `target/amdinst/<package>`.

pub mod cargo;
pub mod compiled;
pub mod files;
pub mod flags;
mod foreign;
mod generation;
pub mod instrument;
mod misplaced;
mod origin;
pub mod package;
pub mod profile;
mod program;
mod selection;
pub mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use amdgpu_isa::Arch;
use amdinst_core::manifest::{Manifest, SCHEMA};
use serde_json::json;

pub use self::generation::InUse;
use self::instrument::Forms;
use self::package::KernelPackage;
use crate::cli::{Format, PackageArgs};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;
use crate::setup;
use crate::together::{self, DirectoryLock};
use amdinst_llvm::store::stamp;
use amdinst_llvm::toolchain::Toolchain;

/// What a build made.
#[derive(Clone, Debug)]
pub struct Built {
    /// One entry a package, in the order of the workspace.
    pub packages: Vec<BuiltPackage>,
}

/// The results of one package's build.
#[derive(Clone, Debug)]
pub struct BuiltPackage {
    /// How it was built.
    pub package: KernelPackage,
    /// Its `manifest.json`.
    pub manifest_path: PathBuf,
    /// Its contents.
    pub manifest: Manifest,
    /// Its files stay as long as this is there.
    pub in_use: Arc<InUse>,
    /// Functions that LLVM has no code for, of all processors. They have been told; one that is called says
    /// why, and traps.
    pub refused: usize,
}

impl Built {
    /// Fails if there are functions without code.
    ///
    /// # Errors
    /// There are.
    pub fn all_compiled(&self) -> CommandResult<()> {
        let refused: usize = self.packages.iter().map(|package| package.refused).sum();
        if refused == 0 {
            return Ok(());
        }
        let functions = if refused == 1 { "one function has" } else { "these functions have" };
        Err(Failure::msg(Exit::BuildFailed, format!("{functions} no code; the others are built")))
    }
}

/// Builds and instruments the packages that `args` names. Sets up the toolchain first if there is none.
///
/// # Errors
/// No toolchain, no package, errors of the compiler or the link step, files that cannot be written. Results
/// of earlier builds stay as they were.
pub fn build(context: &mut Context, args: &PackageArgs, forms: &Forms) -> CommandResult<Built> {
    KernelBuild::new(context, args, forms)?.compile(context)?.finish(context)
}

/// A build: its packages, and what builds them.
#[derive(Debug)]
pub struct KernelBuild<'a> {
    args: &'a PackageArgs,
    forms: &'a Forms,
    packages: Vec<KernelPackage>,
    toolchain: Toolchain,
    executable: PathBuf,
}

/// A build whose packages are compiled.
#[derive(Debug)]
pub struct CompiledKernels<'a> {
    build: KernelBuild<'a>,
    /// Of each package, one a processor.
    compiled: Vec<Vec<Compiled>>,
}

/// A code object, compiled.
#[derive(Debug)]
struct Compiled {
    cpu: String,
    started: SystemTime,
    built: cargo::CargoBuilt,
}

impl<'a> KernelBuild<'a> {
    /// The build of the packages that `args` names. Sets up the toolchain if there is none.
    ///
    /// # Errors
    /// No toolchain, no package, wrong settings.
    pub fn new(context: &mut Context, args: &'a PackageArgs, forms: &'a Forms) -> CommandResult<Self> {
        let packages = package::find(context, args)?;
        tell_not_instrumented(context, &packages, forms)?;
        let toolchain = setup::ready(context, args.toolchain.toolchain.as_deref(), setup::Consent::Ask)?;
        Ok(Self { args, forms, packages, toolchain, executable: executable()? })
    }

    /// Has cargo compile the packages. Builds for different processors may do so at the same time.
    ///
    /// # Errors
    /// Errors of the compiler or the link step.
    pub fn compile(self, context: &Context) -> CommandResult<CompiledKernels<'a>> {
        let directory =
            std::env::current_dir().or_exit_with(Exit::BuildFailed, || "the current directory")?;
        let user_flags = flags::of_user(&self.toolchain, &directory);
        let one = |package: &KernelPackage, cpu: &String| -> CommandResult<Compiled> {
            let flags = user_flags.with(&package.flags(cpu));
            let (started, format) = (SystemTime::now(), self.args.message_format);
            let (toolchain, executable) = (&self.toolchain, &self.executable);
            let built = cargo::build(context, package, cpu, toolchain, executable, &flags, format)?;
            Ok(Compiled { cpu: cpu.clone(), started, built })
        };
        let all = |package: &KernelPackage| package.cpus.iter().map(|cpu| one(package, cpu)).collect();
        let compiled = self.packages.iter().map(all).collect::<CommandResult<_>>()?;
        Ok(CompiledKernels { build: self, compiled })
    }
}

impl CompiledKernels<'_> {
    /// Instruments compiled kernels, and writes the files of each package and its manifest.
    ///
    /// # Errors
    /// Code objects that cannot be read, files that cannot be written. Results of earlier builds stay as they
    /// were.
    pub fn finish(self, context: &Context) -> CommandResult<Built> {
        let Self { mut build, compiled } = self;
        let packages = std::mem::take(&mut build.packages).into_iter().zip(compiled);
        let finished = packages.map(|(package, compiled)| build.finish(context, package, compiled));
        Ok(Built { packages: finished.collect::<CommandResult<_>>()? })
    }
}

/// Says which of the kernels are built and not instrumented, for their processors' code is not.
///
/// # Errors
/// A kernel or a branch is chosen, and none of the kernels is instrumented.
fn tell_not_instrumented(context: &Context, packages: &[KernelPackage], forms: &Forms) -> CommandResult<()> {
    if forms.homes.is_empty() {
        return Ok(());
    }
    let cpus: BTreeSet<Arch> = packages
        .iter()
        .flat_map(|package| package.cpus.iter().filter_map(|cpu| Arch::from_name(cpu)))
        .collect();
    let (instrumented, others): (Vec<_>, Vec<_>) =
        cpus.into_iter().partition(|cpu| cpu.to_instrument().is_ok());
    if others.is_empty() {
        return Ok(());
    }
    let others: Vec<_> = others.into_iter().map(Arch::name).collect();
    let message = format!("kernels for {} are not instrumented yet", others.join(", "));
    let kernel = forms.options.kernels.iter().flatten().map(|kernel| format!("kernel `{kernel}`")).next();
    let chosen = kernel.or_else(|| forms.options.only.first().map(ToString::to_string));
    if let Some(chosen) = chosen.filter(|_| instrumented.is_empty()) {
        return Err(Failure::msg(Exit::Unsupported, format!("{chosen} is chosen, and {message}")));
    }
    context.shell.warn_once(format_args!(
        "{message}: they are built and launched without counters, and a test that asks for counts is ignored"
    ));
    Ok(())
}

/// The code object of the one package that `args` asks for, as compiled. Cargo builds it if it is not up to
/// date; instrumented forms and the manifest stay as they are.
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
    let flags = flags::of_user(&toolchain, &directory).with(&package.flags(cpu));
    let built =
        cargo::build(context, package, cpu, &toolchain, &executable, &flags, Format::Human)?.code_object;
    // The copy that `build` made has a name that people know.
    let manifest = fs::read(package.output_directory().join(generation::MANIFEST)).ok();
    let manifest = manifest.and_then(|bytes| Manifest::from_json(&bytes).ok()).unwrap_or_default();
    let stamp = stamp(&built);
    let copy = manifest.code_objects.iter().find(|artifact| {
        let is_of_this =
            |(name, value): &(String, String)| name == instrument::CODE_OBJECT && *value == stamp;
        artifact.cpu == *cpu && artifact.profile == package.profile && artifact.inputs.iter().any(is_of_this)
    });
    let read = |path: &Path| fs::read(path).ok();
    let copies = copy.into_iter().flat_map(|artifact| {
        let paths = [instrument::for_people(artifact), PathBuf::from(&artifact.original)];
        paths.map(|path| package.output_directory().join(path))
    });
    let bytes = read(&built);
    let mut copies = copies.filter(|copy| bytes.is_some() && read(copy) == bytes);
    Ok(copies.next().unwrap_or(built))
}

impl KernelBuild<'_> {
    /// Instruments the code objects of a package, and writes its files.
    fn finish(
        &self,
        context: &Context,
        package: KernelPackage,
        compiled: Vec<Compiled>,
    ) -> CommandResult<BuiltPackage> {
        let Self { args, forms, toolchain, executable, .. } = self;
        let artifacts = package.output_directory();
        let manifest_path = artifacts.join(generation::MANIFEST);
        let failed = |path: &Path| format!("cannot write {}", path.display());
        fs::create_dir_all(&artifacts).or_exit_with(Exit::OutputFailed, || failed(&artifacts))?;
        // Given up after the lock, which it takes then.
        let in_use;
        // One after the other: what another build makes is not taken for left behind, nor is its manifest
        // overwritten by an older one. The directory of all packages is locked, for each file that is written
        // locks its own.
        let _lock = DirectoryLock::take(together::directory_of(&artifacts));
        let previous: Manifest = fs::read(&manifest_path)
            .ok()
            .and_then(|bytes| Manifest::from_json(&bytes).ok())
            .unwrap_or_default();
        let mut manifest =
            Manifest { schema: SCHEMA, package: package.name.clone(), code_objects: Vec::new() };
        let refused = compiled.iter().map(|one| one.built.refused).sum();
        for Compiled { cpu, started, built } in compiled {
            let entry = previous
                .code_objects
                .iter()
                .find(|artifact| artifact.cpu == cpu && artifact.profile == package.profile);
            let mut finished = instrument::finish(context, &package, &cpu, &built.code_object, forms, entry)?;
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
                output::print(&format_args!("{message}\n"))?;
            }
            manifest.code_objects.push(finished.artifact);
        }
        let mut bytes = serde_json::to_vec_pretty(&manifest).or_exit(Exit::BuildFailed)?;
        bytes.push(b'\n');
        in_use = Arc::new(InUse::of(&manifest, &artifacts));
        if package.level.is_some() {
            // Whoever runs the tests by themselves means the profile's.
            return Ok(BuiltPackage { package, manifest_path, manifest, in_use, refused });
        }
        files::write(&manifest_path, &bytes).or_exit_with(Exit::OutputFailed, || failed(&manifest_path))?;
        for artifact in &manifest.code_objects {
            let (from, to) =
                (artifacts.join(&artifact.original), artifacts.join(instrument::for_people(artifact)));
            let copied = fs::read(from).and_then(|bytes| files::write(&to, &bytes));
            copied.or_exit_with(Exit::OutputFailed, || failed(&to))?;
        }
        generation::remove_others(&artifacts);
        Ok(BuiltPackage { package, manifest_path, manifest, in_use, refused })
    }
}

/// The path of the running program, which rustc starts as its linker.
///
/// # Errors
/// The system does not say where it is.
pub fn executable() -> CommandResult<PathBuf> {
    std::env::current_exe().or_exit_with(Exit::BuildFailed, || "cannot find this program's own file")
}
