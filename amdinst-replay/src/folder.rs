//! The files of an archive. An archive is a stranger's: names out of its folder, links, devices and sizes
//! that nothing stands behind are refused, and nothing is ever written.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use amdinst_emu::Room;

/// What part of the available memory a file may take, at most: one by this.
const SHARE: u64 = 4;

/// Why a file of an archive is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The system's reason.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A name that leads out of the folder.
    #[error("`{name}` leads out of {}: it is not read", root.display())]
    Outside {
        /// The folder.
        root: PathBuf,
        /// The name.
        name: String,
    },
    /// A link, a device or a pipe.
    #[error("{} is {kind}: files of an archive are regular ones", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// Its kind, with an article.
        kind: &'static str,
    },
    /// A size that does not fit its use.
    #[error("{} has {size} bytes, and {expected} are asked for", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes that it has.
        size: u64,
        /// Bytes that it should have.
        expected: u64,
    },
    /// More than this machine should hold.
    #[error("{} has {size} bytes, and {most} are read at most, a quarter of the memory that is available", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that it has.
        size: u64,
        /// Bytes that are read.
        most: u64,
    },
    /// Contents that are not those of its name.
    #[error("{}: its contents are not those that its name is the hash of: it is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

/// A folder whose files are read, and no others.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// A folder, as the user names it.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The file of a name in it, for messages.
    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Opens a regular file that lies in it, no part of whose path is a link. Also returns its size.
    ///
    /// # Errors
    /// It is none, or cannot be opened.
    pub fn open(&self, name: &str) -> Result<(File, u64), FolderError> {
        let outside = || FolderError::Outside { root: self.root.clone(), name: name.to_owned() };
        let mut path = self.root.clone();
        let mut is_file = false;
        for component in Path::new(name).components() {
            let Component::Normal(part) = component else { return Err(outside()) };
            path.push(part);
            let failed = |source| FolderError::Io { path: path.clone(), source };
            let kind = fs::symlink_metadata(&path).map_err(failed)?.file_type();
            is_file = kind.is_file();
            let kind = if kind.is_symlink() {
                "a link"
            } else if kind.is_dir() || is_file {
                continue;
            } else {
                "a device or a pipe"
            };
            return Err(FolderError::Kind { path, kind });
        }
        if !is_file {
            return Err(FolderError::Kind { path, kind: "a folder" });
        }
        let failed = |source| FolderError::Io { path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Ok((file, size))
    }

    /// Whether there is such a file.
    pub fn has(&self, name: &str) -> bool {
        self.open(name).is_ok()
    }

    /// All bytes of a file.
    ///
    /// # Errors
    /// It cannot be opened or read, or has more than there is memory for.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, FolderError> {
        let (file, size) = self.open(name)?;
        let path = self.file(name);
        let most = Room::here().bytes() / SHARE;
        if size > most {
            return Err(FolderError::TooLarge { path, size, most });
        }
        self.contents(file, name, size)
    }

    /// All bytes of a file that is to have so many.
    ///
    /// # Errors
    /// As [`Self::read`], and another size.
    pub fn read_exactly(&self, name: &str, expected: u64) -> Result<Vec<u8>, FolderError> {
        let (_, size) = self.open(name)?;
        if size != expected {
            return Err(FolderError::Size { path: self.file(name), size, expected });
        }
        self.read(name)
    }

    /// The first bytes of a file, `most` at most.
    ///
    /// # Errors
    /// It cannot be opened or read.
    pub fn head(&self, name: &str, most: u64) -> Result<Vec<u8>, FolderError> {
        let (file, size) = self.open(name)?;
        self.contents(file, name, size.min(most))
    }

    fn contents(&self, file: File, name: &str, size: u64) -> Result<Vec<u8>, FolderError> {
        let mut bytes = Vec::new();
        let read = file.take(size).read_to_end(&mut bytes);
        read.map_err(|source| FolderError::Io { path: self.file(name), source })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_regular_files_of_the_folder_alone() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("archive");
        fs::create_dir_all(root.join("blobs")).unwrap();
        fs::write(place.path().join("secret"), "1").unwrap();
        fs::write(root.join("blobs/a"), "abc").unwrap();
        std::os::unix::fs::symlink("../../secret", root.join("blobs/link")).unwrap();
        std::os::unix::fs::symlink("..", root.join("up")).unwrap();
        let folder = Folder::new(&root);
        assert_eq!(folder.read("blobs/a").unwrap(), b"abc");
        assert_eq!(folder.head("blobs/a", 2).unwrap(), b"ab");
        assert!(matches!(
            folder.read_exactly("blobs/a", 4),
            Err(FolderError::Size { size: 3, expected: 4, .. })
        ));
        for name in ["../secret", "/etc/hostname", "blobs/../../secret"] {
            assert!(matches!(folder.read(name), Err(FolderError::Outside { .. })), "{name}");
        }
        for (name, what) in
            [("blobs/link", "a link"), ("up/secret", "a link"), ("blobs", "a folder"), ("", "a folder")]
        {
            assert!(
                matches!(folder.read(name), Err(FolderError::Kind { kind, .. }) if kind == what),
                "{name}"
            );
        }
        assert!(matches!(folder.read("blobs/b"), Err(FolderError::Io { .. })));
    }
}
