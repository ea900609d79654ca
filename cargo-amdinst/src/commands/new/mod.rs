//! `cargo amdinst new`: Make a package with a kernel, a probe and a test that passes.
//!
//! `cargo new` does what is cargo's business (names, workspaces, version control); the files of `template/`
//! are ours.

mod gpu;
mod source;

pub(super) use self::gpu::ProcessorChoice;
pub(super) use self::source::Source;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use self::source::CRATES;
use crate::cli::NewArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

const LIBRARY: &str = include_str!("template/lib.rs");
/// Calls the package's library `PACKAGE`.
const TESTS: &str = include_str!("template/kernels.rs");
/// Where `cargo new` leaves room for dependencies.
const DEPENDENCIES: &str = "[dependencies]\n";

/// What makes test programs small: most of what is linked for each edit would be debug information of
/// packages that nobody steps through.
const PROFILE: &str = "\n# Tests are linked in less time without debug information of other packages.\n\
                       [profile.dev.package.\"*\"]\ndebug = false\n";

/// Runs the command.
///
/// # Errors
/// A directory that is there already, an unknown GPU, a name that cargo does not take, files that cannot be
/// written.
pub fn run(context: &mut Context, args: &NewArgs) -> CommandResult {
    let asked = Source::asked(&args.source)?;
    let gpu = ProcessorChoice::new(&args.target_cpu, Path::new("/"))?;
    let directory = &args.directory;
    if directory.symlink_metadata().is_ok() {
        let message = format!("{} is there already; nothing was changed", directory.display());
        return Err(Failure::msg(Exit::OutputFailed, message).help("choose another directory"));
    }
    cargo_new(context, args)?;

    let path = directory.join("Cargo.toml");
    let told = || path.display().to_string();
    let text = fs::read_to_string(&path).or_exit_with(Exit::OutputFailed, told)?;
    let name = package_name(&text)
        .ok_or_else(|| Failure::msg(Exit::OutputFailed, format!("{}: no package name", told())))?;
    let root = root(&path)?;
    let own = fs::canonicalize(&root).ok() == fs::canonicalize(&path).ok();
    let source = asked.unwrap_or_else(|| Source::best(directory, (!own).then_some(&*root)));
    let mut text = manifest(&text, &source, &gpu, directory)
        .ok_or_else(|| Failure::msg(Exit::OutputFailed, format!("{}: no [dependencies]", told())))?;
    // A member's profiles are not read.
    if own {
        text.push_str(PROFILE);
    }
    output::write_file(&path, text.as_bytes())?;
    output::write_file(&directory.join("src/lib.rs"), LIBRARY.as_bytes())?;
    let tests = directory.join("tests");
    fs::create_dir_all(&tests)
        .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", tests.display()))?;
    output::write_file(
        &tests.join("kernels.rs"),
        TESTS.replace("PACKAGE", &name.replace('-', "_")).as_bytes(),
    )?;

    context.shell.status("Created", format_args!("package `{name}`: a kernel and its test"));
    context.shell.status("Kernels", format_args!("for {}", gpu.told()));
    context.shell.status("Taking", format_args!("amdinst-device and harness from {source}"));
    if let Some(url) = source.repository() {
        context.shell.warn("other machines do not have this path, which Cargo.toml names");
        context.shell.help(format_args!("`--git {url}` or `--registry` names what they have"));
    }
    context.shell.status("Next", format_args!("cd {} && cargo amdinst test", directory.display()));
    Ok(Exit::Success)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs `cargo new`. What it says of a failure becomes ours.
fn cargo_new(context: &Context, args: &NewArgs) -> CommandResult<()> {
    if let Some(name) =
        package(args).filter(|name| CRATES.iter().any(|one| one.name == *name || one.package == *name))
    {
        let message = format!("a package cannot be called `{name}` and depend on `{name}`");
        return Err(Failure::msg(Exit::Usage, message).help("choose another name with `--name`"));
    }
    let mut command = cargo();
    command.args(["new", "--quiet", "--lib", "--color", "never"]);
    if let Some(name) = &args.name {
        command.args(["--name", name]);
    }
    command.arg("--").arg(&args.directory).stdin(Stdio::null());
    context.shell.command(&command);
    let output = command.output().or_exit_with(Exit::BuildFailed, || "cargo cannot be started")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    if !output.status.success() {
        let reason = text.strip_prefix("error: ").unwrap_or(text);
        return Err(Failure::msg(Exit::Usage, format!("`cargo new` failed: {reason}")));
    }
    if !text.is_empty() {
        context.shell.warn(text.strip_prefix("warning: ").unwrap_or(text));
    }
    Ok(())
}

/// The `Cargo.toml` of the workspace's root, which may be `manifest` itself.
fn root(manifest: &Path) -> CommandResult<PathBuf> {
    let mut command = cargo();
    command
        .args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"])
        .arg(manifest);
    let output = command.output().or_exit_with(Exit::BuildFailed, || "cargo cannot be started")?;
    let root = String::from_utf8_lossy(&output.stdout);
    // Where it fails, so will all that follows.
    Ok(PathBuf::from(root.trim()))
}

/// The name that the package will have.
fn package(args: &NewArgs) -> Option<&str> {
    args.name.as_deref().or_else(|| args.directory.file_name()?.to_str())
}

/// The lines of the dependencies of a package in `directory`: that of kernels, and that of tests.
pub(super) fn dependencies(source: &Source, directory: &Path) -> [String; 2] {
    CRATES.map(|what| source.dependency(what, directory))
}

/// What `cargo new` wrote, with the dependencies, a test target for kernels and their GPU. `None` if there is
/// no room for them.
fn manifest(text: &str, source: &Source, gpu: &ProcessorChoice, directory: &Path) -> Option<String> {
    let [device, harness] = dependencies(source, directory);
    let (before, after) = text.split_once(DEPENDENCIES)?;
    Some(format!(
        "{before}{DEPENDENCIES}{}\n\n[dev-dependencies]\n{}\n\n\
         # Its `main` is `harness::main!()`. More files of tests: modules of tests/kernels.rs, or targets like this one.\n\
         [[test]]\nname = \"kernels\"\nharness = false\n\n{}{after}",
        device,
        harness,
        gpu.settings(),
    ))
}

/// `package.name` of a `Cargo.toml`.
fn package_name(text: &str) -> Option<String> {
    let manifest: toml::Table = toml::from_str(text).ok()?;
    Some(manifest.get("package")?.get("name")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_wrote_stays() {
        let text = "[package]\nname = \"a\"\nversion.workspace = true\n\n[dependencies]\n\n[lints]\nworkspace = true\n";
        let gpu = ProcessorChoice::new(&["gfx1100".to_owned()], Path::new("/")).unwrap();
        let text = manifest(text, &Source::Registry("1".to_owned()), &gpu, Path::new("/a")).unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["package"]["version"]["workspace"].as_bool(), Some(true));
        assert_eq!(table["lints"]["workspace"].as_bool(), Some(true));
        assert_eq!(table["dependencies"].as_table().unwrap().len(), 1);
        assert_eq!(table["dev-dependencies"].as_table().unwrap().len(), 1);
        assert_eq!(table["test"][0]["harness"].as_bool(), Some(false));
        assert_eq!(table["package"]["metadata"]["amdinst"]["target-cpus"][0].as_str(), Some("gfx1100"));
    }
}
