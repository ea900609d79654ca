//! Where the library is that stands in for the driver's.
//!
//! Cargo installs programs and no libraries. So it is looked for beside this program, where cargo leaves it in a target
//! directory and where a package may put it; if it is not there, it is built from the sources that this program was built
//! from, once, into the user's cache.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use amdinst_core::report::run::fnv1a;

use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// A variable that names the library's file, before all else.
const VARIABLE: &str = "AMDINST_HSAKMT";

/// A directory in which the library stands under the name that the runtime looks for.
pub(super) fn directory(context: &Context) -> CommandResult<PathBuf> {
    let library = find(context)?;
    // Beside the library if that may be written to, else in the cache.
    let beside = library.with_file_name("amdinst-runtime");
    link(&library, &beside).or_else(|_| {
        let cache = cache()?.join(format!("runtime-{:016x}", fnv1a(library.as_os_str().as_encoded_bytes())));
        link(&library, &cache).or_exit_with(Exit::OutputFailed, || cache.display().to_string())
    })
}

fn find(context: &Context) -> CommandResult<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return std::fs::canonicalize(&path)
            .or_exit_with(Exit::BadInput, || format!("{VARIABLE}={}", path.to_string_lossy()));
    }
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let program = program.or_exit_with(Exit::BadInput, || "this program's own path")?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    let places =
        ["deps", "", "../lib/cargo-amdinst", ".."].map(|place| beside.join(place).join(amdinst_hsakmt::FILE));
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    build(context)
}

/// Build it from its sources, unless that has been done.
fn build(context: &Context) -> CommandResult<PathBuf> {
    let target = cache()?.join(concat!("hsakmt-", env!("CARGO_PKG_VERSION")));
    let library = target.join("release").join(amdinst_hsakmt::FILE);
    if library.is_file() {
        return Ok(library);
    }
    let manifest = Path::new(amdinst_hsakmt::SOURCE).join("Cargo.toml");
    if !manifest.is_file() {
        return Err(Failure::msg(
            Exit::ToolchainMissing,
            format!("{} is not beside this program, and its sources are gone", amdinst_hsakmt::FILE),
        )
        .help(format!(
            "build it (`cargo build --release -p amdinst-hsakmt`) and set {VARIABLE} to its path"
        )));
    }
    context.shell.status("Building", format_args!("{} (once)", amdinst_hsakmt::FILE));
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--lib", "--manifest-path"]).arg(&manifest);
    command.arg("--target-dir").arg(&target);
    context.shell.command(&command);
    let ended = command.status().or_exit_with(Exit::BuildFailed, || "cargo cannot be started")?;
    if ended.success() && library.is_file() {
        return Ok(library);
    }
    Err(Failure::msg(Exit::BuildFailed, format!("{} could not be built", amdinst_hsakmt::FILE)))
}

/// The user's directory for what can be made again.
fn cache() -> CommandResult<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let root = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    root.map(|root| root.join("cargo-amdinst")).ok_or_else(|| {
        Failure::msg(Exit::OutputFailed, "neither XDG_CACHE_HOME nor HOME is an absolute path")
    })
}

/// Make `directory` hold a link to the library, under the runtime's name. Several processes may do so at once.
fn link(library: &Path, directory: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(directory)?;
    let name = directory.join(amdinst_hsakmt::NAME);
    if std::fs::read_link(&name).is_ok_and(|target| target == library) {
        return Ok(directory.to_owned());
    }
    let fresh = directory.join(format!("{}.{}", amdinst_hsakmt::NAME, std::process::id()));
    symlink(library, &fresh)?;
    std::fs::rename(&fresh, &name).inspect_err(|_| drop(std::fs::remove_file(&fresh)))?;
    Ok(directory.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_has_the_runtimes_name_and_follows_the_library() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("runtime");
        for name in ["one.so", "two.so", "two.so"] {
            let library = directory.path().join(name);
            std::fs::write(&library, name).unwrap();
            assert_eq!(link(&library, &place).unwrap(), place);
            assert_eq!(std::fs::read(place.join("libhsakmt.so.1")).unwrap(), name.as_bytes());
        }
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1, "nothing is left behind");
    }
}
