//! What is made one after the other and needed together, kept in a file without a name: memory may not hold
//! all of it.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::commands::mapped::Mapped;

/// A file that is gone when this is.
#[derive(Debug)]
pub(super) struct Spool(Mutex<(File, usize)>);

impl Spool {
    /// An empty one in a directory.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self(Mutex::new((tempfile::tempfile_in(directory)?, 0))))
    }

    /// Takes some bytes, and says where they stand.
    pub(super) fn add(&self, bytes: &[u8]) -> io::Result<Range<usize>> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *guard;
        let start = *end;
        file.write_all(bytes)?;
        *end += bytes.len();
        Ok(start..*end)
    }

    /// All that was taken.
    pub(super) fn contents(self) -> io::Result<Mapped> {
        let (file, _) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the file has no name by which another program could change it, and nothing is written to it
        // from here on.
        unsafe { Mapped::new(&file) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_it_took_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::new(directory.path()).unwrap();
        let parts = [&b"one"[..], b"", b"three"];
        let ranges = parts.map(|part| spool.add(part).unwrap());
        let contents = spool.contents().unwrap();
        assert_eq!(ranges.map(|range| contents.as_ref()[range].to_vec()), parts.map(<[u8]>::to_vec));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
