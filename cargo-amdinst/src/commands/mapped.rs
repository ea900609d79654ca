//! Files that are mapped into memory, of which no more need stay there than is in use.
//!
//! A library has gigabytes, and a command goes through them once. Pages that it is done with can be read
//! again; until they are given back, they count as its memory, and where a job may have so much and no more,
//! they end it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};

/// A mapped file.
#[derive(Clone, Debug)]
pub(super) struct Mapped(Arc<Mmap>);

impl Mapped {
    /// Maps a file.
    ///
    /// # Safety
    /// As of [`Mmap::map`]: nobody may change the file meanwhile whose changes matter.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub(super) unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the caller's.
        Ok(Self(Arc::new(unsafe { Mmap::map(file) }?)))
    }

    /// Gives back the memory that its pages take. They are read again when they are needed.
    pub(super) fn give_back(&self) {
        // SAFETY: nobody writes to the mapping, so all that its pages hold is in the file. Where this fails,
        // more memory is taken.
        let _ = unsafe { self.0.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Bytes after which the memory is given back of what they were copied from.
const STRETCH: usize = 16 << 20;

/// A file that is written from mapped ones.
pub(super) struct Copied<'a, F> {
    file: &'a mut File,
    /// Gives back what memory these take.
    give_back: F,
    /// Bytes written since the last time.
    since: usize,
}

impl<'a, F: FnMut()> Copied<'a, F> {
    pub(super) fn new(file: &'a mut File, give_back: F) -> Self {
        Self { file, give_back, since: 0 }
    }
}

impl<F: FnMut()> Write for Copied<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.file.write(&bytes[..bytes.len().min(STRETCH)])?;
        self.since += number;
        if self.since >= STRETCH {
            self.since = 0;
            (self.give_back)();
        }
        Ok(number)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<F> Seek for Copied<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the mapping at this address that are in memory, as the system tells.
    fn resident(start: *const u8) -> u64 {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !line.starts_with(&format!("{:x}-", start.addr())));
        let line = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    #[test]
    fn what_is_given_back_takes_no_memory_and_is_read_again() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|number| (number / 5) as u8).collect();
        let mut from = tempfile::tempfile().unwrap();
        from.write_all(&bytes).unwrap();
        // SAFETY: the file has no name.
        let mapped = unsafe { Mapped::new(&from) }.unwrap();
        assert!(mapped.as_ref() == bytes);
        let start = mapped.as_ref().as_ptr();
        assert!(resident(start) >= bytes.len() as u64);
        mapped.give_back();
        assert_eq!(resident(start), 0);
        assert!(mapped.as_ref() == bytes);
    }

    #[test]
    fn a_file_is_written_whole_and_memory_given_back_on_the_way() {
        use std::io::Read as _;

        let bytes: Vec<u8> = (0..2 * STRETCH + 5).map(|number| (number >> 4) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        let mut times = 0;
        let mut copied = Copied::new(&mut file, || times += 1);
        copied.write_all(&bytes).unwrap();
        copied.seek(SeekFrom::Current(3)).unwrap();
        copied.write_all(&[1]).unwrap();
        copied.flush().unwrap();
        assert_eq!(times, 2);
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        assert!(written == [&bytes[..], &[0, 0, 0, 1]].concat());
    }
}
