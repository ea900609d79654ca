//! gaussian, multipliers of a column.

use amdinst_device::{global_id_x, kernel, probe};

/// `multipliers[(i + t + 1) · n + t]` is what row `t` is multiplied with before it is taken from row `i + t + 1`.
///
/// # Safety
/// Both matrices are to `n · n` elements; `t < n`.
#[kernel]
pub unsafe fn fan1(n: u32, t: u32, matrix: *const f32, multipliers: *mut f32) {
    let i = global_id_x();
    #[probe("below")]
    if i < n - 1 - t {
        let at = ((i + t + 1) * n + t) as usize;
        // SAFETY: a row below `t`.
        unsafe { *multipliers.add(at) = *matrix.add(at) / *matrix.add((t * n + t) as usize) };
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(n: usize, t: usize, matrix: &[f32], multipliers: &mut [f32]) {
    for row in t + 1..n {
        multipliers[row * n + t] = matrix[row * n + t] / matrix[t * n + t];
    }
}
