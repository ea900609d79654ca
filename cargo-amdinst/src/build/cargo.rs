//! Running cargo, and reading what it says.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amdgpu_isa::WaveSize;
use amdinst_llvm::definitions::device_libraries;
use amdinst_llvm::toolchain::{TARGET, Toolchain};
use amdinst_llvm::{LinkOptions, refused_of, warnings_of};
use cargo_metadata::diagnostic::Diagnostic;
use cargo_metadata::{Artifact, CompilerMessage, Message};

use super::compiled::{Entry, Unchanging};
use super::flags::{self, Flags};
use super::misplaced::Misplaced;
use super::package::KernelPackage;
use super::profile;
use crate::cli::{Format, RenamedSource};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::incremental;
use crate::output;

/// The command that builds `package` for `cpu`.
pub fn command(
    package: &KernelPackage,
    cpu: &str,
    toolchain: &Toolchain,
    executable: &Path,
    flags: &Flags,
) -> Command {
    let mut command = toolchain.cargo();
    incremental::wrap(&mut command, executable);
    command.arg("rustc").arg("--manifest-path").arg(&package.library_manifest_path);
    command.args(["--lib", "--crate-type", "cdylib", "--profile", &package.profile]);
    // With `memcmp` and its kin, which comparing slices calls and no C library is there to have.
    let std = if package.alloc { "-Zbuild-std=core,alloc" } else { "-Zbuild-std=core" };
    command.args([std, "-Zbuild-std-features=compiler-builtins-mem", "--target", TARGET]);
    if package.device_libraries {
        // A build script that finds none gives up, though what it looks for may not be needed.
        command.env(device_libraries::VARIABLE, device_libraries::directory());
    }
    command.arg("--target-dir").arg(package.build_directory(cpu));
    command.args(package.feature_options()).args(&package.lock_options);
    for value in profile::overrides(&package.workspace_root, &package.profile, package.level) {
        command.arg("--config").arg(value);
    }
    match flags {
        Flags::Environment(encoded) => {
            command.env("CARGO_ENCODED_RUSTFLAGS", encoded).env_remove("RUSTFLAGS");
        }
        Flags::Config(value) => {
            command.arg("--config").arg(value);
        }
    }
    let options = LinkOptions {
        tools: toolchain.llvm.clone(),
        wave_size: package.other_wave(cpu),
        code_object_version: package.code_object_version_for(cpu),
        heap: package.heap,
    };
    command.arg("--").args(flags::for_kernel_crate(executable, &options));
    if let Some(RenamedSource { from, to }) = &package.renamed {
        command.arg(format!("--remap-path-prefix={}={}", from.display(), to.display()));
    }
    command
}

/// What cargo has built.
#[derive(Clone, Debug)]
pub struct CargoBuilt {
    /// The code object.
    pub code_object: PathBuf,
    /// The features of its package that were active, sorted.
    pub features: Vec<String>,
    /// Its functions that LLVM has no code for, which have been told.
    pub refused: usize,
}

/// Builds `package` for `cpu`, and keeps what other target directories can begin with.
///
/// # Errors
/// Cargo cannot be started, or fails; its own diagnostics have been shown by then.
pub fn build(
    context: &Context,
    package: &KernelPackage,
    cpu: &str,
    toolchain: &Toolchain,
    executable: &Path,
    flags: &Flags,
    format: Format,
) -> CommandResult<CargoBuilt> {
    let entry = Entry::of_kernels(package, cpu, toolchain, flags);
    if entry.as_ref().is_some_and(Entry::begin) {
        let panics = if package.panic_messages { ", with the text of panics" } else { "" };
        context
            .shell
            .status("Preparing", format_args!("`core` for {cpu}{panics}: once, later builds have it"));
    }
    let mut crates = BTreeSet::new();
    let command = command(package, cpu, toolchain, executable, flags);
    let mut built = run(context, package, cpu, command, format, &mut crates)?;
    // Cargo shows nothing of a linker that succeeds, and starts none where all is up to date.
    for warning in warnings_of(&built.code_object) {
        context.shell.warn_once(warning);
    }
    let refused = refused_of(&built.code_object);
    built.refused = refused.len();
    for refused in refused {
        context.shell.error(refused);
    }
    if let Some(entry) = entry {
        entry.keep(|| crates);
    }
    Ok(built)
}

/// Runs `command`, passes its messages on, and gives what it made. Adds to `crates` what it says of crates
/// that do not change.
///
/// # Errors
/// Cargo cannot be started, or fails; its own diagnostics have been shown by then.
fn run(
    context: &Context,
    package: &KernelPackage,
    cpu: &str,
    mut command: Command,
    format: Format,
    crates: &mut BTreeSet<Unchanging>,
) -> CommandResult<CargoBuilt> {
    let color = context.shell.color_for_children();
    command.env("CARGO_TERM_COLOR", color);
    let messages = match (format, color) {
        (Format::Human, "always") => "json-diagnostic-rendered-ansi",
        _ => "json",
    };
    // Before `--`, behind which the compiler's own flags stand.
    let mut with_format = Command::new(command.get_program());
    let mut arguments = command.get_args();
    with_format.args(arguments.next()).arg(format!("--message-format={messages}")).args(arguments);
    if !context.shell.shows_builds() {
        with_format.env("CARGO_TERM_QUIET", "true");
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => with_format.env(name, value),
            None => with_format.env_remove(name),
        };
    }
    context.shell.command(&with_format);

    let mut child = with_format
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .or_exit_with(Exit::BuildFailed, || {
            format!("cannot start {}", command.get_program().to_string_lossy())
        })?;
    let name = format!("{} for {cpu}", package.name);
    let mut heard = Heard::default();
    let mut misplaced = Misplaced::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.or_exit_with(Exit::BuildFailed, || "cannot read cargo's messages")?;
            if format == Format::Json {
                // Whoever reads them decides what of them to show.
                output::print(&format_args!("{line}\n"))?;
            }
            match serde_json::from_str::<Message>(&line) {
                Ok(Message::CompilerArtifact(artifact)) => {
                    crates.extend(Unchanging::of(&artifact.package_id.repr, &artifact.target.name));
                    heard.artifact(&artifact, package);
                }
                Ok(Message::CompilerMessage(message)) => {
                    heard.message(&message, package);
                    let diagnostic = &message.message;
                    if diagnostic.message.starts_with("linking with ") {
                        // At once: cargo is about to say that it could not compile the crate.
                        let reason = diagnostic.children.last().map_or("", |note| note.message.trim());
                        context.shell.error(format_args!("cannot link {name}: {reason}"));
                    } else if format == Format::Human
                        && !is_about_wave_size(&diagnostic.message)
                        && !misplaced.holds(diagnostic)
                        && let Some(rendered) = &diagnostic.rendered
                    {
                        context.shell.rendered_once(rendered);
                    }
                }
                _ => {}
            }
        }
    }
    for rendered in misplaced.left() {
        context.shell.rendered_once(&rendered);
    }
    let status = child.wait().or_exit_with(Exit::BuildFailed, || "waiting for cargo")?;
    if !status.success() {
        let failure =
            Failure::msg(Exit::BuildFailed, format!("cannot build {name}: cargo ended with {status}"));
        return Err(heard.helping(failure));
    }
    heard.built.ok_or_else(|| {
        Failure::msg(Exit::BuildFailed, format!("cargo built {name}, but names no code object"))
    })
}

/// What cargo's messages come to.
#[derive(Default)]
struct Heard {
    built: Option<CargoBuilt>,
    /// The crate that the compiler found no `std` for, and whether it is the package itself.
    without_std: Option<(String, bool)>,
    without_alloc: bool,
    /// The method of floats that is missed.
    without_method: Option<String>,
}

impl Heard {
    fn artifact(&mut self, artifact: &Artifact, package: &KernelPackage) {
        let is_ours = artifact.target.is_cdylib()
            && artifact.manifest_path.as_std_path() == package.library_manifest_path;
        let elf = artifact.filenames.iter().find(|path| path.extension() == Some("elf"));
        if let (true, Some(path)) = (is_ours, elf) {
            let mut features = artifact.features.clone();
            features.sort();
            let code_object = path.clone().into_std_path_buf();
            self.built = Some(CargoBuilt { code_object, features, refused: 0 });
        }
    }

    fn message(&mut self, message: &CompilerMessage, package: &KernelPackage) {
        let diagnostic = &message.message;
        let code = diagnostic.code.as_ref().map(|code| code.code.as_str());
        if code == Some("E0463") && diagnostic.message.contains("`std`") {
            let directory = package.manifest_path.parent();
            let own = directory.is_some_and(|own| message.target.src_path.starts_with(own));
            self.without_std.get_or_insert((message.target.name.clone(), own));
        }
        self.without_alloc |= is_about_alloc(code, &diagnostic.message);
        if self.without_method.is_none() {
            self.without_method = method_of_std(code, diagnostic);
        }
    }

    /// A failed build with what to do about the errors that kernels meet first.
    fn helping(&self, failure: Failure) -> Failure {
        match (&self.without_std, &self.without_method) {
            (Some((crate_name, own)), _) => failure.help(needs_std(crate_name, *own)),
            (None, _) if self.without_alloc => failure.help(NEEDS_ALLOC),
            (None, Some(method)) => failure.help(needs_function(method)),
            (None, None) => failure,
        }
    }
}

/// Whether a warning is about our own flag for the size of waves, which every crate is compiled with: the
/// compiler passes features to LLVM that it has no name for, and says so.
fn is_about_wave_size(message: &str) -> bool {
    const OF_FLAG: &str = "unstable feature specified for `-Ctarget-feature`: `";
    let feature = message.split_once(OF_FLAG).and_then(|(_, rest)| rest.strip_suffix('`'));
    [WaveSize::Wave32, WaveSize::Wave64].iter().any(|wave| feature == Some(wave.llvm_feature()))
}

/// Whether an error is about `alloc`, or about what `std` has from there and a crate without it has to name.
fn is_about_alloc(code: Option<&str>, message: &str) -> bool {
    const MACROS: [&str; 2] = ["vec", "format"];
    const TYPES: [&str; 5] = ["Vec", "Box", "String", "Rc", "Arc"];
    let names = |before: &str, names: &[&str]| {
        let rest = message.strip_prefix(before).and_then(|rest| rest.split_once('`'));
        rest.is_some_and(|(name, _)| names.contains(&name))
    };
    (code == Some("E0463") && message.contains("`alloc`"))
        || names("cannot find macro `", &MACROS)
        || names("cannot find type `", &TYPES)
        || names("failed to resolve: use of undeclared type `", &TYPES)
}

/// The method of floats that an error misses, if the standard library alone has it. The trait that the
/// compiler then wants imported has all such methods, each to name a function in an error.
fn method_of_std(code: Option<&str>, error: &Diagnostic) -> Option<String> {
    let named = |note: &Diagnostic| {
        let (_, rest) = note.message.split_once("`FunctionsNotMethods` which provides `")?;
        rest.split_once('`').map(|(method, _)| method.to_owned())
    };
    error.children.iter().find_map(named).filter(|_| code == Some("E0599"))
}

/// What to do about a float's method that GPUs do not have.
fn needs_function(method: &str) -> String {
    let instead = match method {
        "powf" => "math::pow(x, y)",
        "fract" => "x - math::trunc(x)",
        "powi" => "math::powi(x, n)",
        "atan2" => "math::atan2(y, x)",
        "hypot" => "math::hypot(x, y)",
        "mul_add" => "math::mul_add(x, factor, summand)",
        _ => &format!("math::{method}(x)"),
    };
    format!(
        "there is no `std` for GPUs, whose method `{method}` is: write `{instead}`, with `use amdinst_device::math;`"
    )
}

/// What to do about a crate that needs `alloc`.
const NEEDS_ALLOC: &str = "for `alloc` in kernels, give `amdinst-device` the feature `alloc` in Cargo.toml, or set `alloc = true` in \
                           [package.metadata.amdinst]; then `extern crate alloc;` and, for instance, `use alloc::{vec, vec::Vec};`";

/// What to do about a crate that needs the standard library, which is the first mistake of a crate that was
/// the host's alone.
fn needs_std(crate_name: &str, own: bool) -> String {
    let no_std = "#![cfg_attr(target_arch = \"amdgpu\", no_std)]";
    if own {
        return format!("there is no `std` for GPUs: begin `{crate_name}` with `{no_std}`");
    }
    format!(
        "there is no `std` for GPUs, which `{crate_name}` needs: turn that off by its features, or make what depends on it one \
         of the host's: [target.'cfg(not(target_arch = \"amdgpu\"))'.dependencies]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_of_the_host_is_told_what_to_do() {
        assert!(needs_std("my_kernels", true).contains("begin `my_kernels` with"));
        assert!(needs_std("serde", false).contains("which `serde` needs"));
    }

    #[test]
    fn methods_of_floats_are_functions() {
        let error = |note: &str| {
            let part = |message: &str, children: serde_json::Value| serde_json::json!({ "message": message, "level": "error", "spans": [], "children": children });
            let error = part(
                "no method named `sin` found for type `f32`",
                serde_json::json!([part(note, serde_json::json!([]))]),
            );
            serde_json::from_value::<Diagnostic>(error).unwrap()
        };
        let ours = error("trait `FunctionsNotMethods` which provides `sin` is implemented but not in scope");
        assert_eq!(method_of_std(Some("E0599"), &ours).as_deref(), Some("sin"));
        assert_eq!(method_of_std(Some("E0277"), &ours), None);
        let others = error("trait `Float` which provides `sin` is implemented but not in scope");
        assert_eq!(method_of_std(Some("E0599"), &others), None);
    }

    #[test]
    fn functions_are_those_that_the_trait_names() {
        let methods = include_str!("../../../amdinst-device/src/math/methods.rs");
        let entry = |line: &'static str| line.strip_suffix("\";")?.trim().split_once(" = \"");
        let entries: Vec<_> = methods.lines().filter_map(entry).collect();
        assert!(entries.len() > 20, "{entries:?}");
        for (signature, instead) in entries {
            let method = signature.split('(').next().unwrap();
            assert!(needs_function(method).contains(&format!("{instead}, with")), "{method}: {instead}");
        }
    }

    #[test]
    fn what_is_in_alloc_is_told_from_other_names() {
        let without = "cannot find macro `vec` in this scope";
        assert!(
            is_about_alloc(None, without) && is_about_alloc(None, "cannot find macro `format` in this scope")
        );
        assert!(is_about_alloc(Some("E0433"), "cannot find type `Box` in this scope"));
        assert!(is_about_alloc(Some("E0433"), "failed to resolve: use of undeclared type `Vec`"));
        assert!(is_about_alloc(Some("E0463"), "can't find crate for `alloc`"));
        assert!(!is_about_alloc(None, "cannot find macro `vector` in this scope"));
        assert!(!is_about_alloc(Some("E0412"), "cannot find type `Vector` in this scope"));
        assert!(!is_about_alloc(Some("E0463"), "can't find crate for `std`"));
    }

    #[test]
    fn warnings_about_our_own_flag_are_told_from_others() {
        let about = |feature: &str| format!("unstable feature specified for `-Ctarget-feature`: `{feature}`");
        assert!(is_about_wave_size(&about("wavefrontsize64")));
        assert!(is_about_wave_size(&format!("unknown and {}", about("wavefrontsize32"))));
        assert!(
            !is_about_wave_size(&about("xnack")) && !is_about_wave_size("unused variable: `wavefrontsize64`")
        );
    }
}
