//! Work-items that wait for each other.

#[cfg(not(target_arch = "amdgpu"))]
use crate::__private::device_only;

/// Waits until every wave of the workgroup is here. What a work-item wrote before, in LDS or in global
/// memory, every work-item of the workgroup reads after.
///
/// Every wave of the workgroup must reach it, the same number of times: a wave that has ended no longer
/// counts, but one that goes another way hangs the workgroup.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn barrier() {
    #[cfg(target_arch = "amdgpu")]
    {
        unsafe extern "C" {
            // The link step defines it: the hardware barrier between fences of workgroup scope. Rust's own
            // fences are of system scope, which would write back and invalidate caches each time.
            #[link_name = "__amdinst_workgroup_barrier"]
            safe fn workgroup_barrier();
        }
        workgroup_barrier();
    }
    #[cfg(not(target_arch = "amdgpu"))]
    device_only()
}

/// Keeps the compiler from moving memory accesses across, for the lanes of one wave. It is no instruction: a
/// wave's lanes run in step.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn wave_barrier() {
    #[cfg(target_arch = "amdgpu")]
    {
        use core::sync::atomic::{Ordering, compiler_fence};
        compiler_fence(Ordering::Release);
        core::arch::amdgpu::wave_barrier();
        compiler_fence(Ordering::Acquire);
    }
    #[cfg(not(target_arch = "amdgpu"))]
    device_only()
}
