//! The directory in which the test programs of one command tell how far they came.
//!
//! It is removed when the command ends. One that is killed leaves it in the target directory, without its
//! lock, and the next one removes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::build::Built;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::together::{DirectoryLock, is_left_behind};

/// What the names begin with; no package's does.
const PREFIX: &str = ".testing-";

/// One that is there as long as this is.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: TempDir,
    #[expect(dead_code, reason = "a lock")]
    lock: File,
}

impl Scratch {
    /// A new one in the directory of all packages' artifacts.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new(artifacts: &Path) -> io::Result<Self> {
        fs::create_dir_all(artifacts)?;
        // Nobody takes it for left behind between its making and its lock.
        let _lock = DirectoryLock::take(artifacts);
        for entry in fs::read_dir(artifacts)?.flatten() {
            let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
            if ours && is_left_behind(&entry.path()) {
                // Whoever else may be removing it succeeds.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(artifacts)?;
        let lock = File::open(directory.path())?;
        // Without locks nobody removes it either.
        let _ = lock.try_lock();
        Ok(Self { directory, lock })
    }

    /// A new one among the artifacts of what was built; none if that is nothing.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn of(built: &Built) -> CommandResult<Option<Self>> {
        let Some(first) = built.packages.first() else { return Ok(None) };
        let artifacts = first.package.target_directory.join("amdinst");
        let failed = || format!("cannot write {}", artifacts.display());
        Self::new(&artifacts).or_exit_with(Exit::OutputFailed, failed).map(Some)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_command_left_is_removed_and_what_a_running_one_has_is_not() {
        let target = tempfile::tempdir().unwrap();
        let artifacts = target.path().join("amdinst");
        let running = Scratch::new(&artifacts).unwrap();
        let make = |name: &str| {
            let path = artifacts.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("status"), "started").unwrap();
            path
        };
        let (left, package) = (make(".testing-Ab3dE6"), make("testing-kernels"));
        let next = Scratch::new(&artifacts).unwrap();
        assert!(!left.exists() && package.exists() && running.path().exists() && next.path().exists());
        drop((running, next));
        assert_eq!(fs::read_dir(&artifacts).unwrap().count(), 1);
    }
}
