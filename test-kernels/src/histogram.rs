//! Atomic additions to shared counters.

use core::sync::atomic::Ordering::Relaxed;

use amdinst_device::{atomic_u32, global_id_x, kernel, probe};

/// Buckets, one for each value of a byte's upper half.
pub const BUCKETS: usize = 16;

/// Counts the first `n` bytes of `data` by their upper four bits; bytes equal to `ignored` are left out.
///
/// # Safety
/// `data` is to `n` bytes, `buckets` to [`BUCKETS`] counters.
#[kernel]
pub unsafe fn histogram(n: u32, ignored: u8, data: *const u8, buckets: *mut u32) {
    let i = global_id_x();
    #[probe("tail")]
    if i < n {
        // SAFETY: `i` is below `n`.
        let byte = unsafe { *data.add(i as usize) };
        #[probe("counted")]
        if byte != ignored {
            // SAFETY: four bits name one of the buckets, and everybody's accesses are atomic.
            unsafe { atomic_u32(buckets.add((byte >> 4) as usize)) }.fetch_add(1, Relaxed);
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(ignored: u8, data: &[u8]) -> [u32; BUCKETS] {
    let mut buckets = [0; BUCKETS];
    for byte in data.iter().filter(|&&byte| byte != ignored) {
        buckets[usize::from(byte >> 4)] += 1;
    }
    buckets
}
