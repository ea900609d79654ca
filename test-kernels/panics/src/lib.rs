//! Kernels that panic for values which only the launch knows.

#![cfg_attr(target_arch = "amdgpu", no_std)]

use amdinst_device::{PerItem, barrier, global_id_x, kernel, println, workitem_id_x};

/// Takes the element that each index names.
#[kernel]
pub fn gather(table: &[u32], indices: &[u32], mut output: PerItem<u32>) {
    if let Some(output) = output.get() {
        let index = indices[global_id_x() as usize] as usize;
        *output = table[index];
    }
}

/// Checks that a work-item's value is its square.
#[kernel]
pub fn assert_squares(squares: &[u32]) {
    let i = global_id_x();
    let square = squares[i as usize];
    assert_eq!(square, i * i, "the square of {i}");
}

/// Panics in one work-item of each workgroup, behind a barrier for which the others wait as well, with a line printed before.
#[kernel]
pub fn refuse(at: u32, size: f32) {
    let i = workitem_id_x();
    barrier();
    if i == at {
        println!("{i} is next");
        refuse_size(size);
    }
}

#[inline(never)]
fn refuse_size(size: f32) {
    if size > 1.0 {
        panic!("a size of {size:.1}, where {} is the most", 1);
    }
}
