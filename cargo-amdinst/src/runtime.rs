//! Where the runtime is: the shared library beside this program that tests load, and that stands in for the
//! driver's library under `cargo amdinst exec`.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use amdinst_core::report::run::fnv1a;
use amdinst_format::interface::{self, INSTALLED_FILE, VARIABLE};
use amdinst_llvm::cache;

use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// The runtime's file.
///
/// # Errors
/// It is not beside this program.
pub fn file() -> CommandResult<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return std::fs::canonicalize(&path)
            .or_exit_with(Exit::BadInput, || format!("{VARIABLE}={}", path.to_string_lossy()));
    }
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let program = program.or_exit_with(Exit::BadInput, || "this program's own path")?;
    beside(program.parent().unwrap_or(Path::new("/")))
}

/// The runtime's file, if this program is in `directory`. A test program of this package is among its
/// dependencies.
fn beside(directory: &Path) -> CommandResult<PathBuf> {
    let above = directory.parent().filter(|_| directory.ends_with("deps"));
    let places = [Some(directory), above].into_iter().flatten().flat_map(interface::places);
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        let message =
            format!("the runtime `{INSTALLED_FILE}` is not beside this program, in {}", directory.display());
        Failure::msg(Exit::ToolchainMissing, message).help(format!(
            "install both again (`cargo install cargo-amdinst`), or set {VARIABLE} to its path"
        ))
    })
}

/// A directory in which the runtime stands under the name of the driver's library.
///
/// # Errors
/// There is no runtime, or no directory that can be written to.
pub fn driver_directory() -> CommandResult<PathBuf> {
    let library = file()?;
    let directory = cache::directory()
        .or_exit(Exit::OutputFailed)?
        .join(format!("driver-{:016x}", fnv1a(library.as_os_str().as_encoded_bytes())));
    link(&library, &directory)
        .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", directory.display()))
}

/// Make `directory` hold a link to the library, under the runtime's name. Several processes may do so at
/// once.
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

    #[test]
    fn it_is_beside_the_program() {
        let directory = tempfile::tempdir().unwrap();
        let error = beside(directory.path()).unwrap_err().to_string();
        assert!(error.contains("`amdinst-runtime` is not beside this program"), "{error}");
        for file in ["libamdinst_runtime.so", "amdinst-runtime", "deps/libamdinst_runtime.so"] {
            let path = directory.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            assert_eq!(beside(directory.path()).unwrap(), path);
            assert_eq!(beside(&directory.path().join("deps")).unwrap(), path);
        }
    }
}
