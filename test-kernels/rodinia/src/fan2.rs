//! gaussian, one row taken from those below it.

use amdinst_device::{global_id_x, global_id_y, kernel, mul_add, probe};

/// Row `t`, times each row's multiplier, is taken from the rows below it, and element `t` of `right` likewise.
///
/// # Safety
/// Both matrices are to `n · n` elements, `right` to `n`; `t < n`.
#[kernel]
pub unsafe fn fan2(n: u32, t: u32, multipliers: *const f32, matrix: *mut f32, right: *mut f32) {
    let (x, y) = (global_id_x(), global_id_y());
    #[probe("rows")]
    if x >= n - 1 - t {
        return;
    }
    #[probe("columns")]
    if y >= n - t {
        return;
    }
    let row = (n * (x + 1 + t)) as usize;
    // SAFETY: a row below `t`, a column from `t` on.
    unsafe {
        let at = matrix.add(row + (y + t) as usize);
        *at = mul_add(-*multipliers.add(row + t as usize), *matrix.add((n * t + y + t) as usize), *at);
        #[probe("right")]
        if y == 0 {
            let at = right.add((x + 1 + t) as usize);
            *at = mul_add(-*multipliers.add(row + (y + t) as usize), *right.add(t as usize), *at);
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(n: usize, t: usize, multipliers: &[f32], matrix: &mut [f32], right: &mut [f32]) {
    for row in t + 1..n {
        for column in t..n {
            let factor = matrix[t * n + column];
            let element = &mut matrix[row * n + column];
            *element = (-multipliers[row * n + t]).mul_add(factor, *element);
        }
        right[row] = (-multipliers[row * n + t]).mul_add(right[t], right[row]);
    }
}
