//! A sum over a workgroup, halving the active work-items at each step, in LDS.

use amdinst_device::{
    barrier, global_id_x, kernel, probe, shared, workgroup_id_x, workgroup_size_x, workitem_id_x,
};

/// Most work-items of a workgroup.
pub const MAX_WORKGROUP: usize = 256;

shared! {
    static PARTIAL: [u32; MAX_WORKGROUP];
}

/// `sums[g]` is the sum of the elements of workgroup `g`, wrapping.
///
/// # Safety
/// `input` is to one element a work-item, `sums` to one a workgroup; workgroups have a power of two of at most
/// [`MAX_WORKGROUP`] work-items.
#[kernel]
pub unsafe fn reduce(input: *const u32, sums: *mut u32) {
    let local = workitem_id_x();
    let partial: *mut u32 = PARTIAL.as_mut_ptr();
    // SAFETY: one element a work-item, in `input` and in LDS.
    unsafe { *partial.add(local as usize) = *input.add(global_id_x() as usize) };
    barrier();
    let mut half = workgroup_size_x() / 2;
    while half > 0 {
        #[probe("half")]
        if local < half {
            // SAFETY: both are below the workgroup's size; nobody else writes the first or the second in this step.
            unsafe {
                let mine = partial.add(local as usize);
                *mine = (*mine).wrapping_add(*partial.add((local + half) as usize));
            }
        }
        barrier();
        half /= 2;
    }
    #[probe("first", expect)]
    if local == 0 {
        // SAFETY: one element a workgroup.
        unsafe { *sums.add(workgroup_id_x() as usize) = *partial };
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(input: &[u32], workgroup: usize) -> Vec<u32> {
    input
        .chunks(workgroup)
        .map(|chunk| chunk.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)))
        .collect()
}
