//! Memory of this process for the GPU: mapped pages with unmapped ones around them.

use std::ffi::c_void;
use std::ptr;

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
}

impl Mapping {
    /// Zeroed pages, of whole pages in size, with an unmapped one on either side: somewhere, or at `fixed`.
    /// `None` if the system refuses.
    pub(crate) fn new(size: u64, fixed: Option<u64>) -> Option<Self> {
        let size = size.checked_next_multiple_of(PAGE)?;
        if let Some(address) = fixed {
            let flags = libc::MAP_FIXED_NOREPLACE;
            let got = map(Some(address), size, libc::PROT_READ | libc::PROT_WRITE, flags)?;
            return Some(Self { reserved: (got, size), address: got, size });
        }
        let align = if size >= LARGE_PAGE { LARGE_PAGE } else { PAGE };
        let reserved = size.checked_add(align + 2 * PAGE)?;
        let start = map(None, reserved, libc::PROT_NONE, 0)?;
        let mapping =
            Self { reserved: (start, reserved), address: (start + PAGE).next_multiple_of(align), size };
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

    /// Addresses without memory, of whole pages.
    pub(crate) fn reserving(size: u64) -> Option<Self> {
        let size = size.checked_next_multiple_of(PAGE)?;
        let address = map(None, size, libc::PROT_NONE, 0)?;
        Some(Self { reserved: (address, size), address, size })
    }

    /// Pages that begin with these bytes.
    pub(crate) fn holding(bytes: &[u8]) -> Option<Self> {
        let mapping = Self::new((bytes.len() as u64).max(1), None)?;
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
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let (start, size) = self.reserved;
        // SAFETY: the reservation is this value's own. A failure leaves it mapped, which harms nobody.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(start as usize), size as usize) };
    }
}

fn map(address: Option<u64>, size: u64, protection: i32, flags: i32) -> Option<u64> {
    let hint: *mut c_void =
        address.map_or(ptr::null_mut(), |at| ptr::with_exposed_provenance_mut(at as usize));
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: anonymous pages where nothing is mapped: `MAP_FIXED_NOREPLACE` replaces nothing, and without it
    // the address is a hint.
    let got = unsafe { libc::mmap(hint, usize::try_from(size).ok()?, protection, flags, -1, 0) };
    if got == libc::MAP_FAILED {
        return None;
    }
    let got = got.expose_provenance() as u64;
    if address.is_some_and(|address| address != got) {
        // A kernel that does not know the flag takes the address for a hint.
        // SAFETY: pages just mapped.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(got as usize), size as usize) };
        return None;
    }
    Some(got)
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

    #[test]
    fn pages_are_zero_aligned_and_at_a_fixed_address_only_when_it_is_free() {
        let small = Mapping::new(5000, None).unwrap();
        assert_eq!((small.address() % PAGE, small.size()), (0, 8192));
        let large = Mapping::new(3 << 20, None).unwrap();
        assert_eq!(large.address() % LARGE_PAGE, 0);
        // SAFETY: the mapping's own bytes.
        let last =
            unsafe { *ptr::with_exposed_provenance::<u8>((large.address() + large.size() - 1) as usize) };
        assert_eq!(last, 0);
        assert!(Mapping::new(4096, Some(large.address())).is_none(), "taken");
        let address = large.address();
        drop(large);
        assert_eq!(Mapping::new(4096, Some(address)).map(|mapping| mapping.address()), Some(address));
    }
}
