//! Reading what the user names: regular files, and pipes, once and within bounds. Directories and devices are
//! no input.

use std::fs::{File, FileType};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use amdinst_emu::Room;

use crate::refused::{Refused, RefusedKind};

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system's reason.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It has no end.
    #[error("cannot read {}: it is {kind}", path.display())]
    NoFile {
        /// The name.
        path: PathBuf,
        /// Its kind, with an article.
        kind: &'static str,
    },
    /// More than this machine should hold.
    #[error("cannot read {}: it has more than {most} bytes, a quarter of the memory that is available", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that are read of a file.
        most: u64,
    },
}

impl FileError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        matches!(self, Self::NoFile { .. }).then_some("give a file")
    }
}

impl From<FileError> for Refused {
    fn from(error: FileError) -> Self {
        let refused = match &error {
            FileError::Io { source, .. } => Self::new(RefusedKind::Unreadable, format!("{error}: {source}")),
            FileError::NoFile { .. } => Self::new(RefusedKind::Unreadable, &error),
            FileError::TooLarge { .. } => Self::new(RefusedKind::NoRoom, &error),
        };
        Self { help: error.help().map(str::to_owned), ..refused }
    }
}

/// All bytes of a regular file or a pipe.
///
/// # Errors
/// It cannot be read, is a directory or a device, or gives more than there is memory for.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    to_the_end(path, open(path)?)
}

/// A file of a kind that has an end.
///
/// # Errors
/// It cannot be opened, or is a directory or a device.
pub fn open(path: &Path) -> Result<File, FileError> {
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let kind = file.metadata().map_err(failed)?.file_type();
    let kind = if kind.is_dir() {
        "a directory"
    } else if is_device(kind) {
        "a device"
    } else {
        return Ok(file);
    };
    Err(FileError::NoFile { path: path.to_owned(), kind })
}

fn is_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    kind.is_char_device() || kind.is_block_device()
}

/// The rest of an open file; `path` is its name.
///
/// # Errors
/// It cannot be read, or gives more than there is memory for.
pub fn to_the_end(path: &Path, file: File) -> Result<Vec<u8>, FileError> {
    // A vector that grows is there twice for a moment.
    let most = Room::here().bytes() / 4;
    let check = |length: u64| match length <= most {
        true => Ok(()),
        false => Err(FileError::TooLarge { path: path.to_owned(), most }),
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    check(length)?;
    let mut bytes = Vec::with_capacity(length as usize);
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    check(bytes.len() as u64)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_devices_are_no_input() {
        let directory = tempfile::tempdir().unwrap();
        for (path, what) in
            [(directory.path(), "it is a directory"), (Path::new("/dev/zero"), "it is a device")]
        {
            let refused = Refused::from(read(path).unwrap_err());
            assert_eq!(refused.kind, RefusedKind::Unreadable);
            assert!(refused.message.ends_with(what), "{refused}");
            assert_eq!(refused.help.as_deref(), Some("give a file"));
        }
        let refused = Refused::from(read(&directory.path().join("none")).unwrap_err());
        assert!(refused.message.ends_with("No such file or directory (os error 2)"), "{refused}");
    }

    #[test]
    fn a_pipe_is_opened_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, b"bytes").unwrap()
        });
        // A second opening would wait for another writer.
        assert_eq!(read(&pipe).unwrap(), b"bytes");
        writer.join().unwrap();
    }
}
