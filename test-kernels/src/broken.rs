//! Kernels with the mistakes that the emulator is there to find.

use core::sync::atomic::Ordering::Relaxed;

use amdinst_device::{atomic_u32, barrier, global_id_x, kernel, shared, workitem_id_x};

/// Copies one element a work-item without asking how many there are.
///
/// # Safety
/// Both pointers are to one element a work-item. Tests launch more.
#[kernel]
pub unsafe fn copy_unguarded(input: *const f32, output: *mut f32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches, wrongly.
    unsafe { *output.add(i) = *input.add(i) };
}

/// Writes the number of each work-item, in workgroups of at most 64. Tests launch larger ones.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel(workgroup = 64)]
pub unsafe fn in_small_workgroups(output: *mut u32) {
    let i = global_id_x();
    // SAFETY: one element a work-item.
    unsafe { *output.add(i as usize) = i };
}

/// Counts down to zero, and wraps around when it starts at an odd number.
///
/// # Safety
/// `start` and `steps` are to one element a work-item.
#[kernel]
pub unsafe fn countdown(start: *const u32, steps: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let mut rest = unsafe { *start.add(i) };
    while rest != 0 {
        rest = rest.wrapping_sub(2);
        // SAFETY: as above.
        unsafe { *steps.add(i) += 1 };
    }
}

shared! {
    static WORDS: [u32; 64];
}

/// Writes words of LDS at `stride` bytes each.
///
/// # Safety
/// `stride` is 4. Tests pass others.
#[kernel]
pub unsafe fn scatter(stride: u32, output: *mut u32) {
    let i = workitem_id_x();
    let words: *mut u8 = WORDS.as_mut_ptr().cast();
    // SAFETY: as the caller vouches, wrongly.
    unsafe {
        let word: *mut u32 = words.add((i * stride) as usize).cast();
        atomic_u32(word).swap(i, Relaxed);
        *output.add(i as usize) = word.read_volatile();
    }
}

/// Takes an element of a slice of four, which Rust checks.
///
/// # Safety
/// `indices` and `output` are to one element a work-item, `table` to four.
#[kernel]
pub unsafe fn checked_index(table: *const u32, indices: *const u32, output: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches.
    unsafe {
        let table = core::slice::from_raw_parts(table, 4);
        *output.add(i) = table[*indices.add(i) as usize];
    }
}

/// Reads the word of each work-item behind an address that is no buffer of the launch.
///
/// # Safety
/// `address` is that of one word a work-item, as is `output`. Tests pass others.
#[kernel]
pub unsafe fn follow(address: u64, output: *mut u32) {
    let i = global_id_x() as usize;
    let words = address as *const u32;
    // SAFETY: as the caller vouches, wrongly.
    unsafe { *output.add(i) = words.add(i).read_volatile() };
}

/// Exchanges the word of each work-item, by an atomic, behind an address that is no buffer of the launch.
///
/// # Safety
/// As for [`follow`], and `address` is a multiple of 4.
#[kernel]
pub unsafe fn exchange(address: u64, output: *mut u32) {
    let i = global_id_x() as usize;
    let words = address as *mut u32;
    // SAFETY: as the caller vouches, wrongly.
    unsafe { *output.add(i) = atomic_u32(words.add(i)).swap(1, Relaxed) };
}

/// Writes to the stack at an index that Rust does not see.
///
/// # Safety
/// `index` is below 8. Tests pass others.
#[kernel]
pub unsafe fn stack_index(index: u32, output: *mut u32) {
    let i = global_id_x() as usize;
    let mut values = [0_u32; 8];
    let first: *mut u32 = values.as_mut_ptr();
    // SAFETY: as the caller vouches, wrongly.
    unsafe {
        first.add(index as usize + (i & 1)).write_volatile(7);
        *output.add(i) = first.add(i & 7).read_volatile();
    }
}

/// Only the first 64 work-items of a workgroup wait at the barrier.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn barrier_in_a_branch(output: *mut u32) {
    let i = global_id_x() as usize;
    if workitem_id_x() < 64 {
        barrier();
        // SAFETY: one element a work-item.
        unsafe { *output.add(i) = 1 };
    }
}

shared! {
    static TURNED: [u32; 128];
}

/// Turns the numbers of a workgroup's work-items around, without a barrier between the stores and the loads.
///
/// # Safety
/// `output` is to one element a work-item, and a workgroup has 128 of them.
#[kernel]
pub unsafe fn turn_around(output: *mut u32) {
    let i = workitem_id_x() as usize;
    let turned = TURNED.as_mut_ptr();
    // SAFETY: `i` is below 128; the missing barrier is the mistake.
    unsafe {
        turned.add(i).write_volatile(global_id_x());
        let turned = turned.add(127 - i).read_volatile();
        *output.add(global_id_x() as usize) = turned;
    }
}

/// Moves the elements of an array down by one, in place.
///
/// # Safety
/// `data` is to one element a work-item, and one more. The mistake is in the kernel: a work-item may store before the one
/// below it has loaded.
#[kernel]
pub unsafe fn move_down(data: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches.
    unsafe { *data.add(i) = *data.add(i + 1) };
}

/// Two work-items share an element, and each writes its own number there.
///
/// # Safety
/// `output` is to one element for each two work-items. The mistake is in the kernel.
#[kernel]
pub unsafe fn two_to_one(output: *mut u32) {
    let i = global_id_x();
    // SAFETY: as the caller vouches.
    unsafe { *output.add(i as usize / 2) = i };
}

shared! {
    static PLACES: [u32; 65];
}

/// Adds up the places of two neighbors. Nobody writes the place behind the last work-item's.
///
/// # Safety
/// `output` is to one element a work-item, and there are 64 of them.
#[kernel]
pub unsafe fn sum_of_neighbors(output: *mut u32) {
    let i = workitem_id_x() as usize;
    let places = PLACES.as_mut_ptr();
    // SAFETY: `i` is below 64; what is not written is the mistake.
    unsafe {
        places.add(i).write_volatile(i as u32);
        barrier();
        let sum = places.add(i).read_volatile().wrapping_add(places.add(i + 1).read_volatile());
        *output.add(i) = sum;
    }
}

/// Sums neighbors as [`sum_of_neighbors`] does. But the last work-item ignores the place that nobody writes, after it
/// has read it.
///
/// # Safety
/// As [`sum_of_neighbors`].
#[kernel]
pub unsafe fn sum_of_written_neighbors(output: *mut u32) {
    let i = workitem_id_x() as usize;
    let places = PLACES.as_mut_ptr();
    // SAFETY: `i` is below 64.
    unsafe {
        places.add(i).write_volatile(i as u32);
        barrier();
        let next = places.add(i + 1).read_volatile();
        *output.add(i) = places.add(i).read_volatile() + if i < 63 { next } else { 0 };
    }
}

/// Stores at a place that nobody has written.
///
/// # Safety
/// `output` is to 64 elements. The mistake is in the kernel.
#[kernel]
pub unsafe fn store_at_unwritten(output: *mut u32) {
    // SAFETY: what is not written is the mistake.
    unsafe {
        let place = PLACES.as_mut_ptr().add(workitem_id_x() as usize).read_volatile();
        output.add(place as usize).write_volatile(place);
    }
}
