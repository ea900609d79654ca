//! gaussian, one row taken from those below it.

use amdinst_device::{global_id_x, global_id_y, kernel, probe};

/// Row `t`, times each row's multiplier, is taken from the rows below it, and element `t` of `right` likewise.
///
/// # Safety
/// Both matrices are to `n · n` elements, `right` to `n`; `t < n`.
#[kernel]
pub unsafe fn fan2(n: u32, t: u32, multipliers: *const f32, matrix: *mut f32, right: *mut f32) {
    let (x, y) = (global_id_x(), global_id_y());
    #[probe("rows")]
    if x < n - 1 - t {
        #[probe("columns")]
        if y < n - t {
            let row = (n * (x + 1 + t)) as usize;
            // SAFETY: a row below `t`, a column from `t` on.
            unsafe {
                let multiplier = *multipliers.add(row + t as usize);
                let at = matrix.add(row + (y + t) as usize);
                *at -= multiplier * *matrix.add((n * t + y + t) as usize);
                #[probe("right")]
                if y == 0 {
                    let at = right.add((x + 1 + t) as usize);
                    *at -= multiplier * *right.add(t as usize);
                }
            }
        }
    }
}

/// The same on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(n: usize, t: usize, multipliers: &[f32], matrix: &mut [f32], right: &mut [f32]) {
    for row in t + 1..n {
        for column in t..n {
            matrix[row * n + column] -= multipliers[row * n + t] * matrix[t * n + column];
        }
        right[row] -= multipliers[row * n + t] * right[t];
    }
}
