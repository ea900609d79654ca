//! A function that is not inlined and that two kernels call: its probe belongs to both.

use amdinst_device::{global_id_x, kernel, probe};

/// The sum of the digits of `n`, written to `base`.
#[probe]
#[inline(never)]
fn digit_sum(mut n: u32, base: u32) -> u32 {
    let mut sum = 0;
    #[probe("digits")]
    while n != 0 {
        sum += n % base;
        n /= base;
    }
    sum
}

/// `sums[i]` is the sum of the digits of `first + i`, written to `base`.
///
/// # Safety
/// `sums` is to one element a work-item, and `base` is not 0.
#[kernel]
pub unsafe fn digit_sums(first: u32, base: u32, sums: *mut u32) {
    let i = global_id_x();
    // SAFETY: one element a work-item.
    unsafe { *sums.add(i as usize) = digit_sum(first + i, base) };
}

/// `divisible[i]` is 1 if the sum of the digits of `first + i`, written to `base`, divides it, else 0.
///
/// # Safety
/// `divisible` is to one element a work-item, `first` and `base` are not 0.
#[kernel]
pub unsafe fn harshad_numbers(first: u32, base: u32, divisible: *mut u32) {
    let i = global_id_x();
    let n = first + i;
    let is_divisible = n.checked_rem(digit_sum(n, base)) == Some(0);
    // SAFETY: one element a work-item.
    unsafe { *divisible.add(i as usize) = u32::from(is_divisible) };
}

/// The sum of the digits on the host, and how many there are.
#[cfg(not(target_arch = "amdgpu"))]
pub const fn reference(mut n: u32, base: u32) -> (u32, u32) {
    let (mut sum, mut digits) = (0, 0);
    while n != 0 {
        sum += n % base;
        n /= base;
        digits += 1;
    }
    (sum, digits)
}
