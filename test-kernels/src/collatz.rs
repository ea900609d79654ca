//! A loop whose trip count depends on the data, so that a wave goes on until its slowest lane is done.

use amdinst_device::{global_id_x, kernel, probe};

/// `steps[i]` is the number of Collatz steps from `start[i]` to 1.
///
/// # Safety
/// Both pointers are to as many elements as there are work-items; no start is 0.
#[kernel]
pub unsafe fn collatz(start: *const u32, steps: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let mut value = unsafe { *start.add(i) };
    let mut count = 0;
    #[probe("until one")]
    while value > 1 {
        value = if value % 2 == 0 { value / 2 } else { value.wrapping_mul(3).wrapping_add(1) };
        count += 1;
    }
    // SAFETY: as above.
    unsafe { *steps.add(i) = count };
}

/// The kernel's result, computed on the host, for one start.
#[cfg(not(target_arch = "amdgpu"))]
pub const fn reference(start: u32) -> u32 {
    let (mut value, mut count) = (start, 0);
    while value > 1 {
        value = if value % 2 == 0 { value / 2 } else { value.wrapping_mul(3).wrapping_add(1) };
        count += 1;
    }
    count
}
