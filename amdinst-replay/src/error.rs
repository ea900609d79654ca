//! Why an archive cannot be read.

use std::path::PathBuf;

use crate::folder::FolderError;

/// Why there is no [`Archive`](crate::Archive).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file of it cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A folder of neither kind.
    #[error(
        "{}: no archive: it has no events.bin (HIP Record & Replay), no pid-* folder with one, and no dispatch.json (kerncap)",
        path.display()
    )]
    Unknown {
        /// The folder.
        path: PathBuf,
    },
    /// A file that does not begin as one of HIP Record & Replay does.
    #[error("{}: its first bytes are {found:02x?}, those of an event log are {expected:02x?}", path.display())]
    Magic {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: Vec<u8>,
        /// The first bytes of an event log.
        expected: [u8; 4],
    },
    /// A version of the format that is not read.
    #[error("{}: format version {found}, and this version of the tool reads version {read}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u16,
        /// The version that is read.
        read: u16,
    },
    /// A JSON file that is none, or lacks something.
    #[error("{}: {problem}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The problem, and where it is.
        problem: String,
    },
}

impl ArchiveError {
    /// What to do about it, if anything helps.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Unknown { .. } => Some(
                "record one with HIP_HRR_CAPTURE_OUTPUT=DIR (ROCm's HIP Record & Replay), or with `kerncap extract`"
                    .to_owned(),
            ),
            Self::Version { read, .. } => Some(format!("record the program again with a ROCm that writes version {read}")),
            _ => None,
        }
    }
}
