//! Memory of this process for the GPU: mapped pages with unmapped ones around them.

use std::ptr;
use std::sync::Arc;

use crate::device_file::DeviceFile;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;
/// From this size on, allocations begin at a multiple of it, as the driver's do.
const LARGE_PAGE: u64 = 2 << 20;

/// Pages of this process; unmapped when it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// The reservation, with what lies around the pages.
    reserved: (u64, u64),
    address: u64,
    size: u64,
    /// The file that they are of, and where in it.
    file: Option<(Arc<DeviceFile>, u64)>,
}

impl Mapping {
    /// Zeroed pages, of whole pages in size, with an unmapped one on either side. `None` if the system
    /// refuses.
    pub(crate) fn new(size: u64) -> Option<Self> {
        let size = size.checked_next_multiple_of(PAGE)?;
        let align = if size >= LARGE_PAGE { LARGE_PAGE } else { PAGE };
        let reserved = size.checked_add(align + 2 * PAGE)?;
        let start = map(reserved, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)?;
        let address = (start + PAGE).next_multiple_of(align);
        let mapping = Self { reserved: (start, reserved), address, size, file: None };
        // SAFETY: pages of the reservation just made, which nothing else knows of.
        let opened = unsafe {
            libc::mprotect(
                ptr::with_exposed_provenance_mut(mapping.address as usize),
                size as usize,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        (opened == 0).then_some(mapping)
    }

    /// Zeroed pages of a file of the driver, which the program may map from the file's offset on.
    pub(crate) fn of_file(file: &Arc<DeviceFile>, size: u64) -> Option<Self> {
        let size = size.checked_next_multiple_of(PAGE).filter(|size| *size > 0)?;
        let offset = file.extend(size)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at = i64::try_from(offset).ok()?;
        let address = map(size, protection, libc::MAP_SHARED, file.descriptor(), at)?;
        Some(Self { reserved: (address, size), address, size, file: Some((file.clone(), offset)) })
    }

    /// Pages that begin with these bytes.
    pub(crate) fn holding(bytes: &[u8]) -> Option<Self> {
        let mapping = Self::new((bytes.len() as u64).max(1))?;
        let to = ptr::with_exposed_provenance_mut::<u8>(mapping.address as usize);
        // SAFETY: pages just mapped, as many as the bytes need, which nothing else knows of yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Some(mapping)
    }

    /// The first byte.
    pub(crate) const fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Where in the file of the driver it is; zero if it is of none.
    pub(crate) fn offset(&self) -> u64 {
        self.file.as_ref().map_or(0, |(_, offset)| *offset)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let (start, size) = self.reserved;
        // SAFETY: the reservation is this value's own. A failure leaves it mapped, which harms nobody.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(start as usize), size as usize) };
        if let Some((file, offset)) = &self.file {
            file.punch(*offset, self.size);
        }
    }
}

fn map(size: u64, protection: i32, flags: i32, file: i32, offset: i64) -> Option<u64> {
    let size = usize::try_from(size).ok()?;
    // SAFETY: pages where nothing is mapped, for the address is left to the system.
    let got =
        unsafe { libc::mmap(ptr::null_mut(), size, protection, flags | libc::MAP_NORESERVE, file, offset) };
    (got != libc::MAP_FAILED).then(|| got.expose_provenance() as u64)
}

/// The host's physical memory, in bytes.
pub(crate) fn physical_bytes() -> u64 {
    // SAFETY: no pointers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SAFETY of the reads and writes below: words of the mappings.
    fn word(address: u64) -> *mut u64 {
        ptr::with_exposed_provenance_mut(address as usize)
    }

    #[test]
    fn pages_are_zero_and_aligned() {
        let small = Mapping::new(5000).unwrap();
        assert_eq!((small.address() % PAGE, small.size()), (0, 8192));
        let large = Mapping::new(3 << 20).unwrap();
        assert_eq!(large.address() % LARGE_PAGE, 0);
        // SAFETY: see `word`.
        assert_eq!(unsafe { *word(large.address() + large.size() - 8) }, 0);
    }

    #[test]
    fn pages_of_a_file_are_the_files_and_lose_their_memory_in_the_end() {
        let file = Arc::new(DeviceFile::new().unwrap());
        let first = Mapping::of_file(&file, 100).unwrap();
        let second = Mapping::of_file(&file, 8192).unwrap();
        assert_eq!((first.offset(), second.offset(), second.size()), (0, 4096, 8192));
        let flags = libc::MAP_SHARED;
        let seen = map(4096, libc::PROT_READ, flags, file.descriptor(), second.offset() as i64).unwrap();
        // SAFETY: see `word`.
        unsafe {
            word(second.address()).write_volatile(7);
            assert_eq!(word(seen).read_volatile(), 7);
            drop(second);
            assert_eq!(word(seen).read_volatile(), 0);
            libc::munmap(word(seen).cast(), 4096);
        }
    }
}
