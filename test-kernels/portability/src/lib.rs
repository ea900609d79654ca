//! Kernels that are right on some GPUs and wrong on others, at some levels of optimization, or in some orders of waves: each makes one mistake
//! that people make. `cargo amdinst test --gpus` finds the line, and `--schedules` does.

#![cfg_attr(target_arch = "amdgpu", no_std)]
#![cfg_attr(
    target_arch = "amdgpu",
    feature(abi_unadjusted, f16, float_algebraic, link_llvm_intrinsics, repr_simd, simd_ffi)
)]
#![cfg_attr(target_arch = "amdgpu", allow(internal_features, improper_ctypes))]

use amdinst_device::wave::shuffle_xor;
use core::sync::atomic::Ordering::Relaxed;

use amdinst_device::{atomic_u32, ballot, barrier, global_id_x, kernel, lane_id, shared, workitem_id_x};

/// Work-items of each launch: one wave on some GPUs, two on others.
pub const ITEMS: usize = 64;

/// Elements between two work-items in [`spread_and_reverse`].
const STRIDE: usize = 320;

shared! {
    static TILE: [f32; ITEMS];
    static LARGE_TILE: [f32; ITEMS * STRIDE];
}

/// Instructions that Rust has no name for.
#[cfg(target_arch = "amdgpu")]
mod instructions {
    /// Two numbers of half precision.
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(crate) struct Halves(pub(crate) [f16; 2]);

    unsafe extern "unadjusted" {
        /// `a[0] * b[0] + a[1] * b[1] + sum`, `v_dot2_f32_f16`.
        #[link_name = "llvm.amdgcn.fdot2"]
        pub(crate) fn dot(a: Halves, b: Halves, sum: f32, clamp: bool) -> f32;
    }
}

/// Counts positive elements. A ballot has a bit for each lane of a wave, not of a workgroup.
///
/// # Safety
/// `x` is to [`ITEMS`] elements, `count` to one.
#[kernel]
pub unsafe fn count_positive(x: *const f32, count: *mut u32) {
    let item = workitem_id_x();
    // SAFETY: the caller vouches for the element.
    let positive = ballot(unsafe { *x.add(item as usize) } > 0.0);
    if item == 0 {
        // SAFETY: the first work-item alone writes.
        unsafe { *count = positive.count() };
    }
}

/// Sums all elements in every work-item. Waves of 32 lanes have no partner that is 32 lanes away.
///
/// # Safety
/// `x` and `sums` are to [`ITEMS`] elements each.
#[kernel]
pub unsafe fn butterfly(x: *const f32, sums: *mut f32) {
    let item = workitem_id_x() as usize;
    // SAFETY: the caller vouches for the element.
    let mut sum = unsafe { *x.add(item) };
    let mut distance = 32;
    while distance > 0 {
        sum += shuffle_xor(sum, distance);
        distance /= 2;
    }
    // SAFETY: each work-item writes its own element.
    unsafe { *sums.add(item) = sum };
}

/// Doubles each element. A lane's number is a work-item's only if the workgroup is one wave.
///
/// # Safety
/// `x` and `doubled` are to [`ITEMS`] elements each.
#[kernel]
pub unsafe fn double_by_lane(x: *const f32, doubled: *mut f32) {
    let lane = lane_id() as usize;
    // SAFETY: lanes are below the number of work-items, and each work-item writes its own element.
    unsafe { *doubled.add(workitem_id_x() as usize) = *x.add(lane) * 2.0 };
}

/// `1.1 * x + 0.7`, which compilers may round once or twice.
///
/// # Safety
/// `x` and `y` are to [`ITEMS`] elements each.
#[kernel]
pub unsafe fn scale_and_shift(x: *const f32, y: *mut f32) {
    let item = workitem_id_x() as usize;
    // SAFETY: the caller vouches for the element.
    let value = unsafe { *x.add(item) };
    #[cfg(target_arch = "amdgpu")]
    let value = value.algebraic_mul(1.1).algebraic_add(0.7);
    // SAFETY: each work-item writes its own element.
    unsafe { *y.add(item) = value };
}

/// Adds the two halves of each element. Some GPUs take subnormal halves for zero in dot products.
///
/// # Safety
/// `pairs` and `sums` are to [`ITEMS`] elements each.
#[kernel]
pub unsafe fn add_halves(pairs: *const [u16; 2], sums: *mut f32) {
    let item = workitem_id_x() as usize;
    // SAFETY: the caller vouches for the element.
    let [low, high] = unsafe { *pairs.add(item) };
    #[cfg(target_arch = "amdgpu")]
    let sum = {
        let pair = instructions::Halves([f16::from_bits(low), f16::from_bits(high)]);
        // SAFETY: kernels are built for GPUs with this instruction.
        unsafe { instructions::dot(pair, instructions::Halves([1.0, 1.0]), 0.0, false) }
    };
    #[cfg(not(target_arch = "amdgpu"))]
    let sum = f32::from(low) + f32::from(high);
    // SAFETY: each work-item writes its own element.
    unsafe { *sums.add(item) = sum };
}

/// Reverses the elements in LDS. Each has 1,280 bytes for itself, and all together more than most GPUs have.
///
/// # Safety
/// `x` and `reversed` are to [`ITEMS`] elements each.
#[kernel]
pub unsafe fn spread_and_reverse(x: *const f32, reversed: *mut f32) {
    let item = workitem_id_x() as usize;
    let tile: *mut f32 = LARGE_TILE.as_mut_ptr().cast();
    // SAFETY: the tile has a place for each work-item, and the caller vouches for the elements.
    unsafe {
        tile.add(item * STRIDE).write(*x.add(item));
        barrier();
        *reversed.add(item) = tile.add((ITEMS - 1 - item) * STRIDE).read();
    }
}

/// Sums all elements in LDS, without a barrier: work-items of one wave need none.
///
/// # Safety
/// `x` is to [`ITEMS`] elements, `sum` to one.
#[kernel]
pub unsafe fn sum_without_barrier(x: *const f32, sum: *mut f32) {
    let item = workitem_id_x() as usize;
    let tile: *mut f32 = TILE.as_mut_ptr().cast();
    // SAFETY: the tile has an element for each work-item. Nothing orders the waves, which is the mistake.
    unsafe {
        tile.add(item).write_volatile(*x.add(item));
        let mut half = ITEMS / 2;
        while half > 0 {
            if item < half {
                let other = tile.add(item + half).read_volatile();
                tile.add(item).write_volatile(tile.add(item).read_volatile() + other);
            }
            half /= 2;
        }
        if item == 0 {
            *sum = tile.read_volatile();
        }
    }
}

/// Keeps the positive elements. They stand in the order in which waves come to the counter, whatever that is.
///
/// # Safety
/// `x` is to `n` elements, `kept` to as many, `count` to one.
#[kernel]
pub unsafe fn keep_positive(n: u32, x: *const f32, kept: *mut f32, count: *mut u32) {
    let item = global_id_x();
    if item < n {
        // SAFETY: the caller vouches for the element.
        let value = unsafe { *x.add(item as usize) };
        if value > 0.0 {
            // SAFETY: the caller vouches for the counter; a place is given to one work-item alone.
            unsafe {
                let place = atomic_u32(count).fetch_add(1, Relaxed);
                *kept.add(place as usize) = value;
            }
        }
    }
}
