//! backprop, backward: weights moved along their gradient, with momentum.

use amdinst_device::{barrier, kernel, mul_add, probe, workgroup_id_y, workitem_id_x, workitem_id_y};

use crate::layer_forward::{HIDDEN, ROW};

/// How far a weight follows its gradient, in double precision as in the original.
pub const RATE: f64 = 0.3;
/// How far it follows its last move.
pub const MOMENTUM: f64 = 0.3;

/// Each weight and its last move `old` are moved; workgroup 0 also moves the bias row.
///
/// # Safety
/// Launched as [`layer_forward`](crate::layer_forward::layer_forward); `delta` is to 17 elements, `units` to `n + 1`,
/// `weights` and `old` to `17 · (n + 1)`.
#[kernel]
pub unsafe fn adjust_weights(delta: *const f32, units: *const f32, weights: *mut f32, old: *mut f32) {
    let (tx, ty) = (workitem_id_x() as usize, workitem_id_y() as usize);
    let by = workgroup_id_y() as usize;
    let unit = HIDDEN * by + ty + 1;
    let index = ROW * unit + tx + 1;
    // SAFETY: each work-item has a weight of its own; the bias row belongs to the first row of workgroup 0.
    unsafe {
        // Written twice, as in the original: the store to the weight may change what it is read from.
        let change = || moved(*delta.add(tx + 1), *units.add(unit), *old.add(index));
        *weights.add(index) = (f64::from(*weights.add(index)) + change()) as f32;
        *old.add(index) = change() as f32;
        barrier();
        #[probe("bias")]
        if ty == 0 && by == 0 {
            let change = || moved(*delta.add(tx + 1), 1.0, *old.add(tx + 1));
            *weights.add(tx + 1) = (f64::from(*weights.add(tx + 1)) + change()) as f32;
            *old.add(tx + 1) = change() as f32;
        }
    }
}

/// How far a weight moves.
#[inline(always)]
fn moved(delta: f32, unit: f32, old: f32) -> f64 {
    mul_add(RATE * f64::from(delta), f64::from(unit), MOMENTUM * f64::from(old))
}

/// The kernel's result, computed on the host: weights and moves.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(delta: &[f32], units: &[f32], weights: &[f32], old: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let (mut weights, mut old) = (weights.to_vec(), old.to_vec());
    for (unit, &value) in units.iter().enumerate() {
        for (hidden, &delta) in delta.iter().enumerate().skip(1) {
            let index = ROW * unit + hidden;
            let value = if unit == 0 { 1.0 } else { value };
            let change = moved(delta, value, old[index]);
            weights[index] = (f64::from(weights[index]) + change) as f32;
            old[index] = change as f32;
        }
    }
    (weights, old)
}
