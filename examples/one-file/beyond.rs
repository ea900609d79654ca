//! A kernel that writes beyond its buffer, and its test.

use amdinst_device::{global_id_x, kernel};
use harness::{Device, Launch as _, TestResult};

/// # Safety
/// `x` is to as many elements as there are work-items.
#[kernel]
unsafe fn shift(x: *mut u32) {
    let i = global_id_x() as usize + 1;
    // SAFETY: it is not.
    unsafe { *x.add(i) = 1 };
}

#[harness::test]
fn elements_are_shifted(device: &Device) -> TestResult {
    let mut x = device.buffer(&[0_u32; 64]);
    shift.launch(device, 1, 64, (&mut x,))?;
    Ok(())
}
