//! An `if` inside the `if` of another, with work on every side.

use amdinst_device::{global_id_x, kernel, probe};

/// What an even number below the limit becomes: a few steps of a linear congruential generator.
#[inline]
const fn scramble(mut value: u32, rounds: u32) -> u32 {
    let mut round = 0;
    while round < rounds {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        round += 1;
    }
    value
}

/// `output[i]` is: for an even `input[i]` below `limit`, the scrambled value; for another even one, the entry of `table`
/// that its low 4 bits name; for an odd one, its square.
///
/// # Safety
/// `input` and `output` are to as many elements as there are work-items, `table` to 16.
#[kernel]
pub unsafe fn nested(limit: u32, rounds: u32, table: *const u32, input: *const u32, output: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let (value, out) = unsafe { (*input.add(i), output.add(i)) };
    #[probe("even")]
    if value % 2 == 0 {
        #[probe("below")]
        if value < limit {
            // SAFETY: as above.
            unsafe { *out = scramble(value, rounds) };
        } else {
            // SAFETY: 4 bits, 16 entries.
            unsafe { *out = *table.add((value & 15) as usize) };
        }
    } else {
        // SAFETY: as above.
        unsafe { *out = value.wrapping_mul(value) };
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(limit: u32, rounds: u32, table: &[u32; 16], input: &[u32]) -> Vec<u32> {
    let one = |&value: &u32| match (value % 2 == 0, value < limit) {
        (true, true) => scramble(value, rounds),
        (true, false) => table[(value & 15) as usize],
        (false, _) => value.wrapping_mul(value),
    };
    input.iter().map(one).collect()
}
