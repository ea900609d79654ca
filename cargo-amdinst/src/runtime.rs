//! Where the runtime is: the shared library beside this program that tests load, and that stands in for the
//! GPU's driver under `cargo amdinst exec`.

use std::path::{Path, PathBuf};

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

/// The folder in which the files of emulated GPUs stand.
///
/// # Errors
/// There is no directory that can be written to.
pub fn gpu_files() -> CommandResult<PathBuf> {
    let folder = cache::directory().or_exit(Exit::OutputFailed)?.join("gpus");
    std::fs::create_dir_all(&folder)
        .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

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
