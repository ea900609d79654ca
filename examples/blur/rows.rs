//! The kernel of the guide's page "Port a CPU loop": a workgroup a row, whose work-items share the sums of their columns.

#![cfg_attr(target_arch = "amdgpu", no_std)]

#[cfg(not(target_arch = "amdgpu"))]
pub mod cpu;

use amdinst_device::{PerItem, barrier, kernel, shared, workgroup_id_x, workitem_id_x};

shared! {
    static COLUMNS: [u32; 1024];
}

/// Each pixel becomes the mean of the 3 by 3 pixels around it, as far as they lie in the image. A workgroup is as wide as the image.
#[kernel]
pub fn blur(width: u32, image: &[u32], mut blurred: PerItem<u32>) {
    let (x, y) = (workitem_id_x(), workgroup_id_x());
    let height = image.len() as u32 / width;
    let rows = y.saturating_sub(1)..height.min(y + 2);
    let columns: *mut u32 = COLUMNS.as_mut_ptr();
    let mut of_column = 0;
    for row in rows.clone() {
        of_column += image[(row * width + x) as usize];
    }
    // SAFETY: each work-item has an element.
    unsafe { *columns.add(x as usize) = of_column };
    barrier();
    // Beyond the edge there is none: the one at the edge is read and counts nothing.
    let (left, right) = (x.saturating_sub(1), (width - 1).min(x + 1));
    let (has_left, has_right) = (u32::from(left < x), u32::from(right > x));
    // SAFETY: the elements of work-items of this workgroup, written before the barrier.
    let (left, right) = unsafe { (*columns.add(left as usize), *columns.add(right as usize)) };
    let sum = has_left * left + of_column + has_right * right;
    let count = (has_left + 1 + has_right) * rows.len() as u32;
    if let Some(pixel) = blurred.get() {
        *pixel = sum / count;
    }
}
