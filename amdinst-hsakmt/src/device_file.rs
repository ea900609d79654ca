//! A file of the driver that is open in the program: `/dev/kfd`, or a GPU's render node.
//!
//! It is memory that has a file descriptor: what the program maps of it, the system maps. So the program and
//! the emulated GPU see the same pages, each where it has them. Offsets are given once and never again; pages
//! that are given back lose their memory.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};

/// Which file a descriptor is of: its device and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// A file of the driver.
#[derive(Debug)]
pub(crate) struct DeviceFile {
    file: File,
    identity: Identity,
    /// Bytes that have been given out.
    used: Mutex<u64>,
}

impl DeviceFile {
    /// A file without memory.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: a name that ends with zero.
        let descriptor = unsafe { libc::memfd_create(c"amdinst-gpu".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor just made, which nothing else knows of.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let metadata = file.metadata()?;
        let identity = Identity { device: metadata.dev(), inode: metadata.ino() };
        Ok(Self { file, identity, used: Mutex::new(0) })
    }

    /// Which file it is.
    pub(crate) const fn identity(&self) -> Identity {
        self.identity
    }

    /// Another descriptor of it, for the program, which is closed when the program becomes another one if
    /// that is asked for.
    pub(crate) fn open(&self, close_on_exec: bool) -> io::Result<i32> {
        let command = if close_on_exec { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
        // SAFETY: no pointers.
        let descriptor = unsafe { libc::fcntl(self.file.as_raw_fd(), command, 3) };
        if descriptor < 0 { Err(io::Error::last_os_error()) } else { Ok(descriptor) }
    }

    /// The descriptor that memory is mapped by.
    pub(crate) fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Zeroed memory of whole pages, so many bytes: its offset in the file. `None` if there is none.
    pub(crate) fn extend(&self, bytes: u64) -> Option<u64> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = *used;
        let end = offset.checked_add(bytes)?;
        i64::try_from(end).ok()?;
        self.file.set_len(end).ok()?;
        *used = end;
        Some(offset)
    }

    /// Give memory back. Nothing is there any more but zeros.
    pub(crate) fn punch(&self, offset: u64, bytes: u64) {
        let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) else { return };
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: no pointers. A failure leaves the memory in use, which harms nobody.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, bytes) };
    }
}
