//! `f64` arithmetic: cube roots by Newton's method, until a lane's iterate no longer moves.

use amdinst_device::{global_id_x, kernel, probe};

/// Iterations after which a lane gives up.
pub const MOST: u32 = 64;

/// One step towards the cube root of `a`.
#[inline]
fn step(a: f64, x: f64) -> f64 {
    (2.0 * x + a / (x * x)) / 3.0
}

/// `roots[i]` is the cube root of `values[i]` (positive), `iterations[i]` how many steps it took.
///
/// # Safety
/// Each pointer is to one element a work-item.
#[kernel]
pub unsafe fn newton(values: *const f64, roots: *mut f64, iterations: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let a = unsafe { *values.add(i) };
    let (mut x, mut count) = (a, 0);
    #[probe("converge")]
    loop {
        let next = step(a, x);
        count += 1;
        let moved = next - x;
        x = next;
        if moved * moved <= x * x * 1e-24 || count == MOST {
            break;
        }
    }
    // SAFETY: as above.
    unsafe {
        *roots.add(i) = x;
        *iterations.add(i) = count;
    }
}

/// The kernel's result, computed on the host, for one value.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(a: f64) -> (f64, u32) {
    let (mut x, mut count) = (a, 0);
    loop {
        let next = step(a, x);
        count += 1;
        let moved = next - x;
        x = next;
        if moved * moved <= x * x * 1e-24 || count == MOST {
            return (x, count);
        }
    }
}
