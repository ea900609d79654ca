//! A branch of the source that is none in the code: both sides cost less than a jump, so the compiler selects.

use amdinst_device::{global_id_x, kernel, probe};

/// `output[i]` is `input[i]` where it is positive, and a hundredth of it elsewhere.
///
/// # Safety
/// Both pointers are to one element a work-item.
#[kernel]
pub unsafe fn relu(input: *const f32, output: *mut f32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let value = unsafe { *input.add(i) };
    let result = #[probe("leak")]
    if value > 0.0 { value } else { 0.01 * value };
    // SAFETY: as above.
    unsafe { *output.add(i) = result };
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(input: &[f32]) -> Vec<f32> {
    input.iter().map(|&value| if value > 0.0 { value } else { 0.01 * value }).collect()
}
