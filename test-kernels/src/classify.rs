//! A `match` with several arms.

use amdinst_device::{global_id_x, kernel, probe};

/// Runs one operation of a small machine on each element: 0 doubles, 1 looks the value up in `table`, 2 counts its bits
/// down to zero, 3 stores the index of the element; any other gives `0xffff_ffff`.
///
/// # Safety
/// `operations`, `operands` and `results` are to one element a work-item, `table` to 256.
#[kernel]
pub unsafe fn classify(operations: *const u32, operands: *const u32, table: *const u32, results: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let (operation, operand, result) = unsafe { (*operations.add(i), *operands.add(i), results.add(i)) };
    #[probe("operation")]
    match operation {
        // SAFETY: `result` is this work-item's element, here and below.
        0 => unsafe { *result = operand.wrapping_mul(2) },
        // SAFETY: 8 bits, 256 entries.
        1 => unsafe { *result = *table.add((operand & 255) as usize) },
        2 => {
            let (mut rest, mut steps) = (operand, 0);
            while rest != 0 {
                rest &= rest - 1;
                steps += 1;
            }
            // SAFETY: as above.
            unsafe { *result = steps };
        }
        // SAFETY: as above.
        3 => unsafe { *result = i as u32 },
        // SAFETY: as above.
        _ => unsafe { *result = u32::MAX },
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(operations: &[u32], operands: &[u32], table: &[u32; 256]) -> Vec<u32> {
    let one = |(i, (&operation, &operand)): (usize, (&u32, &u32))| match operation {
        0 => operand.wrapping_mul(2),
        1 => table[(operand & 255) as usize],
        2 => operand.count_ones(),
        3 => i as u32,
        _ => u32::MAX,
    };
    operations.iter().zip(operands).enumerate().map(one).collect()
}
