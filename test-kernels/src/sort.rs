//! Small arrays sorted by `core`, whose merges without branches LLVM 22 compiles wrongly with its pass `slsr` (see the guide,
//! "Is it the compiler?"). The link step keeps that pass off.

use amdinst_device::{global_id_x, kernel};

/// Elements that a work-item sorts.
pub const RUN: usize = 32;

/// Sorts one run a work-item: `numbers` upwards, `pairs` downwards by the second of each.
///
/// # Safety
/// Each pointer is to [`RUN`] elements a work-item.
#[kernel]
pub unsafe fn sort(numbers: *mut u32, firsts: *mut u32, seconds: *mut i64) {
    let start = global_id_x() as usize * RUN;
    // SAFETY: the elements of this work-item.
    let mut run: [u32; RUN] = core::array::from_fn(|i| unsafe { *numbers.add(start + i) });
    run.sort_unstable();
    for (i, number) in run.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { *numbers.add(start + i) = number };
    }
    // SAFETY: as above.
    let mut pairs: [(u32, i64); RUN] =
        core::array::from_fn(|i| unsafe { (*firsts.add(start + i), *seconds.add(start + i)) });
    pairs.sort_unstable_by_key(|pair| core::cmp::Reverse(pair.1));
    for (i, (first, second)) in pairs.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe {
            *firsts.add(start + i) = first;
            *seconds.add(start + i) = second;
        }
    }
}

/// One step of a merge from behind, without a branch: `taken[2 * i]` is the last element of the upper half of `values` or the one before
/// it, `taken[2 * i + 1]` the same of the lower half; which half goes down is what `left[i] < right[i]` decides. Small enough that the
/// fault shows at opt-level s as well.
///
/// # Safety
/// `values` is to [`RUN`] elements, `left` and `right` to one a work-item, `taken` to two a work-item.
#[kernel]
pub unsafe fn merge_step(values: *const u32, left: *const u32, right: *const u32, taken: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: elements of `values`, and of this work-item.
    unsafe {
        let lower = *left.add(i) < *right.add(i);
        *taken.add(2 * i) = *values.add(RUN - 1).wrapping_sub(usize::from(!lower));
        *taken.add(2 * i + 1) = *values.add(RUN / 2 - 1).wrapping_sub(usize::from(lower));
    }
}
