//! A softmax that overflows, and its test.

use amdinst_device::{barrier, kernel, math, shared, workitem_id_x};
use harness::{Device, Launch as _, TestResult};

const ITEMS: usize = 64;

shared! {
    static POWERS: [f32; ITEMS];
}

/// # Safety
/// `x` and `y` are to [`ITEMS`] elements each.
#[kernel]
unsafe fn softmax(x: *const f32, y: *mut f32) {
    let item = workitem_id_x() as usize;
    let powers: *mut f32 = POWERS.as_mut_ptr().cast();
    // SAFETY: there is an element for each work-item, and a barrier between writes and reads.
    unsafe {
        let power = math::fast::exp(*x.add(item));
        powers.add(item).write(power);
        barrier();
        let mut sum = 0.0;
        for other in 0..ITEMS {
            sum += powers.add(other).read();
        }
        *y.add(item) = power / sum;
    }
}

#[harness::test]
fn shares_are_one_in_sum(device: &Device) -> TestResult {
    let x: [f32; ITEMS] = std::array::from_fn(|i| i as f32 * 1.5);
    let mut y = device.buffer(&[0.0; ITEMS]);
    softmax.launch(device, 1, 64, (&device.buffer(&x), &mut y))?;

    let powers = x.map(|each| f64::from(each - x[ITEMS - 1]).exp());
    y.assert_close(powers.map(|power| (power / powers.iter().sum::<f64>()) as f32), 64);
    Ok(())
}
