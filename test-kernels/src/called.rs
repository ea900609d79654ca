//! Kernels whose mistakes stand in functions that they call, inlined or not.

use amdinst_device::{barrier, global_id_x, kernel, shared, workitem_id_x};

/// Takes an element by way of two functions that compilers inline.
///
/// # Safety
/// `table` is to four elements, `output` to one a work-item.
#[kernel]
pub unsafe fn index_by_inlined(table: *const u32, output: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches.
    unsafe { *output.add(i) = element_behind(core::slice::from_raw_parts(table, 4), i) };
}

fn element_behind(table: &[u32], i: usize) -> u32 {
    element(table, i + 1)
}

fn element(table: &[u32], i: usize) -> u32 {
    table[i]
}

/// Takes an element by way of two functions that may not be inlined.
///
/// # Safety
/// As for [`index_by_inlined`].
#[kernel]
pub unsafe fn index_by_called(table: *const u32, output: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches.
    unsafe { *output.add(i) = element_twice(core::slice::from_raw_parts(table, 4), i) };
}

#[inline(never)]
fn element_twice(table: &[u32], i: usize) -> u32 {
    // The first of them comes back, and is no part of what the second one does.
    element_called(table, 0) + element_called(table, i + 1)
}

#[inline(never)]
fn element_called(table: &[u32], i: usize) -> u32 {
    table[i]
}

/// Adds what may be too much.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn add(output: *mut u32, offset: u32) {
    let i = global_id_x();
    // SAFETY: one element a work-item.
    unsafe { *output.add(i as usize) = i + offset };
}

/// Asserts on its work-items, and that they are in the first workgroup.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn assert_few(output: *mut u32, most: u32) {
    let i = global_id_x();
    assert!(i < most, "too many work-items");
    assert_eq!(i, workitem_id_x(), "of another workgroup");
    // SAFETY: one element a work-item.
    unsafe { *output.add(i as usize) = i };
}

/// Panics for a number, and takes another one for granted.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn panic_at(output: *mut u32, at: u32) {
    let i = global_id_x();
    if i == at {
        panic!("no such item: {i}");
    }
    // SAFETY: one element a work-item.
    unsafe { *output.add(i as usize) = half(i).unwrap() };
}

fn half(i: u32) -> Option<u32> {
    i.is_multiple_of(2).then_some(i / 2)
}

shared! {
    static WORDS: [u32; 128];
}

/// Stores and loads by way of a function each, without a barrier in between.
///
/// # Safety
/// `output` is to one element a work-item; a workgroup has 128.
#[kernel]
pub unsafe fn race_of_called(output: *mut u32) {
    let i = workitem_id_x() as usize;
    put(i, i as u32);
    // SAFETY: one element a work-item.
    unsafe { *output.add(i) = get(127 - i) };
}

fn put(i: usize, value: u32) {
    // SAFETY: callers stay below 128.
    unsafe { WORDS.as_mut_ptr().add(i).write_volatile(value) };
}

fn get(i: usize) -> u32 {
    // SAFETY: callers stay below 128.
    unsafe { WORDS.as_mut_ptr().add(i).read_volatile() }
}

/// Waits in a function that only the first 64 work-items call.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn barrier_of_called(output: *mut u32) {
    let i = workitem_id_x();
    if i < 64 {
        wait();
    }
    // SAFETY: one element a work-item.
    unsafe { *output.add(i as usize) = i };
}

fn wait() {
    barrier();
}

/// Never ends, in a function.
///
/// # Safety
/// `output` is to one element a work-item.
#[kernel]
pub unsafe fn endless_in_called(output: *mut u32) {
    spin(output, workitem_id_x());
}

fn spin(output: *mut u32, i: u32) {
    let mut rest = i | 1;
    while rest != 0 {
        rest = rest.wrapping_sub(2);
        // SAFETY: the kernel's caller vouches for one element a work-item.
        unsafe { output.add(i as usize).write_volatile(rest) };
    }
}
