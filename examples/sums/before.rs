//! The kernel of the guide's page "Fix a divergent kernel", before.

#![cfg_attr(target_arch = "amdgpu", no_std)]

use amdinst_device::{
    barrier, global_id_x, kernel, probe, shared, workgroup_id_x, workgroup_size_x, workitem_id_x,
};

shared! {
    static PARTIAL: [u32; 256];
}

/// `sums[g]` is the sum of the elements of workgroup `g`.
///
/// # Safety
/// `input` is to one element per work-item, `sums` to one per workgroup. A workgroup has a power of two of at most 256.
#[kernel]
pub unsafe fn sum(input: *const u32, sums: *mut u32) {
    let i = workitem_id_x();
    let partial: *mut u32 = PARTIAL.as_mut_ptr();
    // SAFETY: one element per work-item.
    unsafe { *partial.add(i as usize) = *input.add(global_id_x() as usize) };
    barrier();
    let mut step = 1;
    while step < workgroup_size_x() {
        #[probe("add")]
        if i & (2 * step - 1) == 0 {
            // SAFETY: both elements belong to this work-item in this step.
            unsafe { *partial.add(i as usize) += *partial.add((i + step) as usize) };
        }
        barrier();
        step *= 2;
    }
    #[probe("leader", expect)]
    if i == 0 {
        // SAFETY: one element per workgroup.
        unsafe { *sums.add(workgroup_id_x() as usize) = *partial };
    }
}
