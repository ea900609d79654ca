//! The vector addition of the talk that this project began with (`_Z12vectoraddPfPKfS1_ii`): one workgroup, guarded by
//! its length.

use amdinst_device::{kernel, probe, workitem_id_x};

/// `a[i] = b[i] + c[i]` for the `n` first work-items of a workgroup.
///
/// # Safety
/// Each pointer is to at least `n` elements.
#[kernel]
pub unsafe fn vector_add(a: *mut f32, b: *const f32, c: *const f32, n: i32) {
    let i = workitem_id_x() as i32;
    #[probe("tail")]
    if i < n {
        let i = i as usize;
        // SAFETY: `i` is below `n`, and the caller vouches for `n` elements.
        unsafe { *a.add(i) = *b.add(i) + *c.add(i) };
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(b: &[f32], c: &[f32]) -> Vec<f32> {
    b.iter().zip(c).map(|(b, c)| b + c).collect()
}
