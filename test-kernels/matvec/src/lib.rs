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

/// Vectors that a work-item has under way at a time.
const AT_ONCE: usize = 2;

/// Each work-item multiplies `BATCH` vectors that follow each other: all of them by one element of the matrix after the other.
/// Sums are kept in the output.
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
    // SAFETY: as above; nobody else has them while they are summed up.
    let (sums, vectors) = unsafe {
        let sums = core::slice::from_raw_parts_mut(output.add(first), BATCH);
        (sums, core::slice::from_raw_parts(tile.add(item * BATCH), BATCH))
    };
    for at in 0..SIZE * SIZE {
        let (row, column) = (at / SIZE, at % SIZE);
        let element = matrix[row][column];
        let (batches, few) = sums.as_chunks_mut::<AT_ONCE>();
        let (of_batches, of_few) = vectors.as_chunks::<AT_ONCE>();
        for (sums, vectors) in batches.iter_mut().zip(of_batches) {
            for (sum, vector) in sums.iter_mut().zip(vectors) {
                sum[row] += element * vector[column];
            }
        }
        for (sum, vector) in few.iter_mut().zip(of_few) {
            sum[row] += element * vector[column];
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

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(matrix: &[f32], input: &[f32]) -> Vec<f32> {
    let dot = |row: &[f32], vector: &[f32]| row.iter().zip(vector).fold(0.0, |sum, (a, x)| sum + a * x);
    input.chunks(SIZE).flat_map(|vector| matrix.chunks(SIZE).map(move |row| dot(row, vector))).collect()
}
