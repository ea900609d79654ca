//! GPU kernels. On the host they are handles that tests launch.

#![cfg_attr(target_arch = "amdgpu", no_std)]

use amdinst_device::{global_id_x, kernel, probe};

/// `y[i] += a * x[i]` for each `i` below `n`: one work-item an element.
///
/// # Safety
/// `x` and `y` are to `n` elements each.
#[kernel]
pub unsafe fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = global_id_x();
    #[probe("tail")]
    if i < n {
        let i = i as usize;
        // SAFETY: `i` is below `n`, and the caller vouches for `n` elements.
        unsafe { *y.add(i) += a * *x.add(i) };
    }
}
