//! Files that are whole or not there.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::together;

/// Writes `bytes` to `path` in one step, unless they are there already.
///
/// # Errors
/// The system's error.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    fs::create_dir_all(together::directory_of(path))?;
    together::write(path, |file| file.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdinst_llvm::store::stamp;

    #[test]
    fn unchanged_bytes_are_not_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b");
        write(&path, b"one").unwrap();
        let first = stamp(&path);
        write(&path, b"one").unwrap();
        assert_eq!(stamp(&path), first);
        write(&path, b"three").unwrap();
        assert_ne!(stamp(&path), first);
        assert_eq!(fs::read_dir(directory.path().join("a")).unwrap().count(), 1);
    }
}
