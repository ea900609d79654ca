//! The directory in which the test programs of one command tell how far they came.
//!
//! It is removed when the command ends. One that is killed leaves it in the target directory, and a later one removes it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// What the names begin with; no package's does.
const PREFIX: &str = ".testing-";
/// No command runs that long.
const STALE: Duration = Duration::from_hours(48);

/// A new one in the directory of all packages' artifacts.
///
/// # Errors
/// It cannot be made.
pub(super) fn directory(artifacts: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(artifacts)?;
    for entry in fs::read_dir(artifacts)?.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if ours && age.is_some_and(|age| age > STALE) {
            // Whoever else may be removing it succeeds.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    tempfile::Builder::new().prefix(PREFIX).tempdir_in(artifacts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_long_ago_is_removed() {
        let target = tempfile::tempdir().unwrap();
        let artifacts = target.path().join("amdinst");
        let now = directory(&artifacts).unwrap();
        let make = |name: &str| {
            let path = artifacts.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("status"), "started").unwrap();
            let long_ago = SystemTime::now() - 2 * STALE;
            fs::File::open(&path).unwrap().set_modified(long_ago).unwrap();
            path
        };
        let (left, package) = (make(".testing-Ab3dE6"), make("testing-kernels"));
        let next = directory(&artifacts).unwrap();
        assert!(!left.exists() && package.exists() && now.path().exists() && next.path().exists());
        drop((now, next));
        assert_eq!(fs::read_dir(&artifacts).unwrap().count(), 1);
    }
}
