//! Two ways out before the work.

use amdinst_device::{global_id_x, kernel, probe};

/// Adds `weight` to each of the first `n` elements of `values` whose entry in `active` is not 0.
///
/// # Safety
/// `active` and `values` are to `n` elements.
#[kernel]
pub unsafe fn early_return(n: u32, weight: f32, active: *const u32, values: *mut f32) {
    let i = global_id_x();
    #[probe("outside")]
    if i >= n {
        return;
    }
    let i = i as usize;
    // SAFETY: `i` is below `n`.
    let is_active = unsafe { *active.add(i) } != 0;
    #[probe("inactive")]
    if !is_active {
        return;
    }
    // SAFETY: as above.
    unsafe { *values.add(i) += weight };
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(weight: f32, active: &[u32], values: &[f32]) -> Vec<f32> {
    let one = |(&active, &value): (&u32, &f32)| if active != 0 { value + weight } else { value };
    active.iter().zip(values).map(one).collect()
}
