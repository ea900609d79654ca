//! A kernel as Rust itself has them, without `amdinst-device`: there is nothing here for the host.

#![cfg(target_arch = "amdgpu")]
#![no_std]
#![feature(abi_gpu_kernel, stdarch_amdgpu)]

use core::arch::amdgpu::workitem_id_x;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// `values[i] += i` for the first `n` work-items of a workgroup. The crate `gpu-kernel` ends the symbol of its kernel
/// `ramp` like this.
///
/// # Safety
/// `values` is to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ramp_gpu_kernel(values: *mut u32, n: u32) {
    let i = workitem_id_x();
    if i < n {
        // SAFETY: `i` is below `n`, and the caller vouches for `n` elements.
        unsafe { *values.add(i as usize) += i };
    }
}
