//! Memory of the program that a call names by its address: read and written as the system does it, so that
//! an address without memory is an error and no crash.

use std::ffi::c_void;
use std::ptr;

use crate::errno::{Errno, Outcome};
use crate::host_memory::PAGE;

/// Reads as many bytes as there is room for.
pub(crate) fn read(address: u64, into: &mut [u8]) -> Outcome {
    let here = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let there = place(address, into.len());
    // SAFETY: this process; `into` may be written, and the system checks the other range.
    let done = unsafe { libc::process_vm_readv(libc::getpid(), &raw const here, 1, &raw const there, 1, 0) };
    whole(done, into.len())
}

/// Writes bytes.
pub(crate) fn write(address: u64, from: &[u8]) -> Outcome {
    let here = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let there = place(address, from.len());
    // SAFETY: this process; `from` is only read, and the program has asked for the other range to be written.
    let done = unsafe { libc::process_vm_writev(libc::getpid(), &raw const here, 1, &raw const there, 1, 0) };
    whole(done, from.len())
}

fn place(address: u64, bytes: usize) -> libc::iovec {
    let base: *mut c_void = ptr::with_exposed_provenance_mut(address as usize);
    libc::iovec { iov_base: base, iov_len: bytes }
}

fn whole(done: isize, wanted: usize) -> Outcome {
    if usize::try_from(done) == Ok(wanted) { Ok(()) } else { Err(Errno::Fault) }
}

/// The numbers of an array in the program's memory.
pub(crate) fn words(address: u64, count: u32) -> Result<Vec<u32>, Errno> {
    /// More than anything that a runtime passes.
    const MOST: u32 = 4096;
    if count > MOST {
        return Err(Errno::Invalid);
    }
    let mut bytes = vec![0; 4 * count as usize];
    read(address, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_ne_bytes(*word)).collect())
}

/// Whether there is memory at each of these addresses, whatever may be done to it.
pub(crate) fn is_mapped(address: u64, bytes: u64) -> bool {
    let start = address - address % PAGE;
    let Some(size) = address.checked_add(bytes).map(|end| end - start) else { return false };
    let place: *mut c_void = ptr::with_exposed_provenance_mut(start as usize);
    // SAFETY: it changes nothing; the system checks the range.
    bytes > 0 && unsafe { libc::msync(place, size as usize, libc::MS_ASYNC) } == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let words_here = [1u32, 2, 3];
        let address = words_here.as_ptr().expose_provenance() as u64;
        assert_eq!(words(address, 3), Ok(vec![1, 2, 3]));
        assert!(is_mapped(address, 12));
        for (address, count) in [(0, 1), (u64::MAX, 1), (address, 5000), (0x10, 2)] {
            assert!(words(address, count).is_err(), "{address:#x}");
        }
        assert!(!is_mapped(0, 8) && !is_mapped(u64::MAX - 3, 8) && !is_mapped(address, 0));
        assert_eq!(write(8, &[1]), Err(Errno::Fault));
    }
}
