//! An archive, whoever recorded it.

use std::path::PathBuf;

use crate::error::ArchiveError;
use crate::folder::Folder;
use crate::process::Process;
use crate::{hrr, kerncap};

/// Who recorded an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ROCm's HIP Record & Replay.
    Hrr,
    /// kerncap.
    Kerncap,
}

impl Kind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hrr => "HIP Record & Replay",
            Self::Kerncap => "kerncap",
        }
    }
}

/// An archive.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Who recorded it.
    pub kind: Kind,
    /// The recorded processes, by their numbers.
    pub processes: Vec<Process>,
}

impl Archive {
    /// Reads an archive's events. Contents stay where they are.
    ///
    /// # Errors
    /// The folder is none of either kind, or cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ArchiveError> {
        let folder = Folder::new(path);
        if hrr::is_process(&folder) {
            return Ok(Self { kind: Kind::Hrr, processes: vec![hrr::read(None, folder)?] });
        }
        if kerncap::is_archive(&folder) {
            return Ok(Self { kind: Kind::Kerncap, processes: vec![kerncap::read(folder)?] });
        }
        let processes = hrr::processes(&folder)?;
        if processes.is_empty() {
            return Err(ArchiveError::Unknown { path: folder.path().to_owned() });
        }
        let read = |(name, folder)| hrr::read(Some(name), folder);
        Ok(Self { kind: Kind::Hrr, processes: processes.into_iter().map(read).collect::<Result<_, _>>()? })
    }
}
