//! Reading what the user names: regular files, and pipes, once and within bounds. Directories and devices are
//! no input.

use std::io;
use std::path::Path;

use amdgpu_object::Bytes;
use amdinst_launch::files::{open, to_the_end};

use super::mapped::Mapped;
use super::shrunk;
use crate::exit::{CommandResult, Exit, Failure};

/// The bytes of a file. Libraries with kernels have gigabytes, of which a command needs a part.
#[derive(Clone, Debug)]
pub struct File {
    bytes: Bytes,
    /// What holds them, if that is no memory of ours.
    mapped: Option<Mapped>,
}

impl File {
    /// Maps a regular file into memory; reads a pipe to its end.
    ///
    /// # Errors
    /// When it cannot be read, is a directory or a device, or gives more than there is memory for.
    pub fn open(path: &Path) -> CommandResult<Self> {
        let file = open(path)?;
        let failed = || format!("cannot read {}", path.display());
        let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_regular {
            return Ok(to_the_end(path, file)?.into());
        }
        // SAFETY: nobody writes to the mapping here. Should another program change the file meanwhile, then
        // what is read changes as it would between two reads; only bytes are read from it, for which each
        // value is valid. What is no longer there ends the process (`shrunk`).
        let mapped = unsafe { Mapped::new(&file) }.map_err(|error| {
            let no_room = error.kind() == io::ErrorKind::OutOfMemory;
            let exit = if no_room { Exit::OutOfMemory } else { Exit::BadInput };
            Failure::new(exit, anyhow::Error::new(error).context(failed()))
        })?;
        if shrunk::watch(mapped.as_ref(), path) {
            return Ok(Self { bytes: Bytes::new(mapped.clone()), mapped: Some(mapped) });
        }
        Ok(to_the_end(path, file)?.into())
    }

    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents, to be kept longer than this.
    pub fn shared(&self) -> &Bytes {
        &self.bytes
    }

    /// Gives back the memory that a mapped file takes, until its bytes are read again.
    pub fn give_back(&self) {
        self.mapped.iter().for_each(Mapped::give_back);
    }
}

impl From<Vec<u8>> for File {
    /// A file with these bytes.
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), mapped: None }
    }
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
            let failure = File::open(path).unwrap_err();
            assert_eq!(failure.exit, Exit::BadInput);
            assert!(failure.to_string().ends_with(what), "{failure}");
        }
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
        assert_eq!(File::open(&pipe).unwrap().bytes(), b"bytes");
        writer.join().unwrap();
    }
}
