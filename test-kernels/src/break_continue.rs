//! A loop that skips elements and ends early.

use amdinst_device::{global_id_x, kernel, probe};

/// `sums[i]` is the sum of row `i` of `rows` (`width` elements each), up to its first zero, without negative ones.
///
/// # Safety
/// `rows` is to `width` elements a work-item, `sums` to one.
#[kernel]
pub unsafe fn break_continue(width: u32, rows: *const i32, sums: *mut i32) {
    let i = global_id_x() as usize;
    // SAFETY: row `i` begins here.
    let row = unsafe { rows.add(i * width as usize) };
    let mut sum = 0_i32;
    let mut column = 0;
    #[probe("columns")]
    while column < width {
        // SAFETY: `column` is below `width`.
        let value = unsafe { *row.add(column as usize) };
        column += 1;
        #[probe("end of row")]
        if value == 0 {
            break;
        }
        #[probe("skip")]
        if value < 0 {
            continue;
        }
        sum = sum.wrapping_add(value);
    }
    // SAFETY: one element a work-item.
    unsafe { *sums.add(i) = sum };
}

/// The kernel's result, computed on the host, for one row.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(row: &[i32]) -> i32 {
    row.iter().take_while(|&&value| value != 0).filter(|&&value| value > 0).sum()
}
