//! 64-bit integers: multiplication, division and remainder, signed and unsigned, which the hardware has no instructions
//! for.

use amdinst_device::{global_id_x, kernel, probe};

/// `gcds[i]` is the greatest common divisor of `a[i]` and `b[i]`, `means[i]` the mean of `x[i]` and `y[i]` rounded towards
/// negative infinity, times their Euclidean remainder; 0 where `y[i]` is 0.
///
/// # Safety
/// Each pointer is to one element a work-item.
#[kernel]
pub unsafe fn integers(
    a: *const u64,
    b: *const u64,
    x: *const i64,
    y: *const i64,
    gcds: *mut u64,
    means: *mut i64,
) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let (mut p, mut q) = unsafe { (*a.add(i), *b.add(i)) };
    #[probe("euclid")]
    while q != 0 {
        let rest = p % q;
        p = q;
        q = rest;
    }
    // SAFETY: as above.
    let (x, y) = unsafe {
        *gcds.add(i) = p;
        (*x.add(i), *y.add(i))
    };
    // SAFETY: as above.
    unsafe { *means.add(i) = mean_times_remainder(x, y) };
}

/// The signed half of the kernel.
#[inline]
fn mean_times_remainder(x: i64, y: i64) -> i64 {
    if y == 0 {
        return 0;
    }
    let mean = x.wrapping_add(y).div_euclid(2);
    mean.wrapping_mul(x.wrapping_rem_euclid(y))
}

/// Euclid's steps on the host: the divisor and how often the loop's body ran.
#[cfg(not(target_arch = "amdgpu"))]
pub const fn reference_gcd(mut p: u64, mut q: u64) -> (u64, u32) {
    let mut steps = 0;
    while q != 0 {
        (p, q) = (q, p % q);
        steps += 1;
    }
    (p, steps)
}

/// The signed half on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference_mean(x: i64, y: i64) -> i64 {
    mean_times_remainder(x, y)
}
