//! Work-items that hand values to each other by way of LDS, some of them looking on: what is between two branches on one
//! condition belongs to neither.

use amdinst_device::{barrier, kernel, probe, shared, workitem_id_x};

/// Most work-items of a workgroup.
pub const MAX_WORKGROUP: usize = 256;

shared! {
    static OFFERED: [u32; MAX_WORKGROUP];
}

/// `rounds` times, each of the first `count` elements becomes three times itself and the element opposite, wrapping.
///
/// # Safety
/// `values` is to `count` elements. Launched as one workgroup of at least `count` and at most [`MAX_WORKGROUP`] work-items.
#[kernel]
pub unsafe fn opposite(values: *mut u32, count: u32, rounds: u32) {
    let local = workitem_id_x();
    let offered: *mut u32 = OFFERED.as_mut_ptr();
    for _ in 0..rounds {
        // SAFETY: below `count`; written by this work-item alone, and read by others between barriers.
        unsafe {
            #[probe("offer")]
            if local < count {
                *offered.add(local as usize) = *values.add(local as usize);
            }
            barrier();
            #[probe("take")]
            if local < count {
                let mine = values.add(local as usize);
                *mine = (*mine).wrapping_mul(3).wrapping_add(*offered.add((count - 1 - local) as usize));
            }
            barrier();
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(values: &mut [u32], rounds: u32) {
    for _ in 0..rounds {
        let offered = values.to_vec();
        for (mine, theirs) in values.iter_mut().zip(offered.iter().rev()) {
            *mine = mine.wrapping_mul(3).wrapping_add(*theirs);
        }
    }
}
