//! One small matrix times many vectors, which each workgroup first brings into LDS: the more LDS a workgroup takes, the
//! fewer fit on a compute unit ("CDNA2 Memory Hierarchy", AMD, "Example: batched matrix-vector multiply").
//!
//! A package of its own: without optimisation kernels share functions, and kernels that share functions share the place
//! of their counters, which for kernels that take all LDS is not LDS.

#![cfg_attr(target_arch = "amdgpu", no_std)]

use amdinst_device::{barrier, kernel, shared, workgroup_id_x, workitem_id_x};

/// Rows and columns of the matrix.
pub const SIZE: usize = 4;

shared! {
    // 64 KiB each: all that a compute unit has.
    static WIDE: [[f32; SIZE]; 128 * 32];
    static DEEP: [[f32; SIZE]; 256 * 16];
    static SMALL: [[f32; SIZE]; 128];
    static MIDDLE: [[f32; SIZE]; 256];
}

/// Each work-item multiplies `BATCH` vectors that follow each other: an element of the matrix at a time, all vectors by it.
///
/// # Safety
/// `input` and `output` are to the vectors of all work-items, `tile` to LDS for those of the workgroup.
#[inline(always)]
unsafe fn product<const WORKGROUP: usize, const BATCH: usize>(
    tile: *mut [f32; SIZE],
    matrix: &[[f32; SIZE]; SIZE],
    input: *const [f32; SIZE],
    output: *mut [f32; SIZE],
) {
    let item = workitem_id_x() as usize;
    let first = (workgroup_id_x() as usize * WORKGROUP + item) * BATCH;
    for at in 0..BATCH {
        // SAFETY: the work-item's own vectors, here and below.
        unsafe {
            *tile.add(item * BATCH + at) = *input.add(first + at);
            *output.add(first + at) = [0.0; SIZE];
        }
    }
    barrier();
    for element in 0..SIZE * SIZE {
        let (row, column) = (element / SIZE, element % SIZE);
        let factor = matrix[row][column];
        for at in 0..BATCH {
            // SAFETY: as above.
            unsafe { (*output.add(first + at))[row] += factor * (*tile.add(item * BATCH + at))[column] };
        }
    }
}

/// Workgroups of 128, 32 vectors a work-item: 64 KiB of LDS.
///
/// # Safety
/// `matrix` is to 16 elements in rows, `input` and `output` to [`SIZE`] elements a vector of every work-item.
#[kernel]
pub unsafe fn matvec_128_32(matrix: *const f32, input: *const f32, output: *mut f32) {
    // SAFETY: the caller's.
    unsafe { product::<128, 32>(WIDE.get().cast(), &*matrix.cast(), input.cast(), output.cast()) }
}

/// Workgroups of 256, 16 vectors a work-item: 64 KiB of LDS.
///
/// # Safety
/// `matrix` is to 16 elements in rows, `input` and `output` to [`SIZE`] elements a vector of every work-item.
#[kernel]
pub unsafe fn matvec_256_16(matrix: *const f32, input: *const f32, output: *mut f32) {
    // SAFETY: the caller's.
    unsafe { product::<256, 16>(DEEP.get().cast(), &*matrix.cast(), input.cast(), output.cast()) }
}

/// Workgroups of 128, one vector a work-item: 2 KiB of LDS.
///
/// # Safety
/// `matrix` is to 16 elements in rows, `input` and `output` to [`SIZE`] elements a vector of every work-item.
#[kernel]
pub unsafe fn matvec_128_1(matrix: *const f32, input: *const f32, output: *mut f32) {
    // SAFETY: the caller's.
    unsafe { product::<128, 1>(SMALL.get().cast(), &*matrix.cast(), input.cast(), output.cast()) }
}

/// Workgroups of 256, one vector a work-item: 4 KiB of LDS.
///
/// # Safety
/// `matrix` is to 16 elements in rows, `input` and `output` to [`SIZE`] elements a vector of every work-item.
#[kernel]
pub unsafe fn matvec_256_1(matrix: *const f32, input: *const f32, output: *mut f32) {
    // SAFETY: the caller's.
    unsafe { product::<256, 1>(MIDDLE.get().cast(), &*matrix.cast(), input.cast(), output.cast()) }
}

/// The same on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(matrix: &[f32], input: &[f32]) -> Vec<f32> {
    let dot = |row: &[f32], vector: &[f32]| row.iter().zip(vector).fold(0.0, |sum, (a, x)| sum + a * x);
    input.chunks(SIZE).flat_map(|vector| matrix.chunks(SIZE).map(move |row| dot(row, vector))).collect()
}
