//! backprop, forward: products of inputs and weights, summed up by halves over the rows of a tile in LDS.

use amdinst_device::{barrier, kernel, probe, shared, workgroup_id_y, workitem_id_x, workitem_id_y};

/// Hidden units, and rows and columns of a tile.
pub const HIDDEN: usize = 16;
/// Weights of one input unit: one for each hidden unit, and the bias.
pub const ROW: usize = HIDDEN + 1;

shared! {
    static INPUT_NODE: [f32; HIDDEN];
}

shared! {
    static WEIGHTS: [f32; HIDDEN * HIDDEN];
}

/// Workgroup `by` takes 16 input units. `weights` become the products' partial sums, `partial[16 · by + j]` is the sum of
/// hidden unit `j` over those inputs.
///
/// # Safety
/// Launched with workgroups of 16 by 16, one in x and `n / 16` in y; `input` is to `n + 1` elements of which the first is not
/// read, `weights` to `17 · (n + 1)`, `partial` to `n`.
#[kernel]
pub unsafe fn layer_forward(input: *const f32, weights: *mut f32, partial: *mut f32) {
    let (tx, ty) = (workitem_id_x() as usize, workitem_id_y() as usize);
    let by = workgroup_id_y() as usize;
    let unit = HIDDEN * by + ty + 1;
    let index = ROW * unit + tx + 1;
    let node: *mut f32 = INPUT_NODE.as_mut_ptr();
    let tile: *mut f32 = WEIGHTS.as_mut_ptr();
    // SAFETY: work-item (0, ty) writes node `ty`; each has its own element of the tile and of the weights. What others
    // wrote is read behind a barrier.
    unsafe {
        let mine = tile.add(ty * HIDDEN + tx);
        #[probe("input")]
        if tx == 0 {
            *node.add(ty) = *input.add(unit);
        }
        barrier();
        *mine = *weights.add(index);
        barrier();
        *mine *= *node.add(ty);
        barrier();
        for step in 1..5 {
            let power = 1 << step;
            #[probe("halve")]
            if ty % power == 0 {
                *mine += *tile.add((ty + power / 2) * HIDDEN + tx);
            }
            barrier();
        }
        *weights.add(index) = *mine;
        barrier();
        #[probe("sums")]
        if tx == 0 {
            *partial.add(HIDDEN * by + ty) = *tile.add(ty);
        }
    }
}

/// The kernel's result, computed on the host: the new weights and the partial sums.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(input: &[f32], weights: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let mut weights = weights.to_vec();
    let mut partial = Vec::new();
    for by in 0..(input.len() - 1) / HIDDEN {
        let at = |ty: usize, tx: usize| ROW * (HIDDEN * by + ty + 1) + tx + 1;
        for ty in 0..HIDDEN {
            (0..HIDDEN).for_each(|tx| weights[at(ty, tx)] *= input[HIDDEN * by + ty + 1]);
        }
        for power in [2, 4, 8, 16] {
            for ty in (0..HIDDEN).step_by(power) {
                (0..HIDDEN).for_each(|tx| weights[at(ty, tx)] += weights[at(ty + power / 2, tx)]);
            }
        }
        partial.extend((0..HIDDEN).map(|tx| weights[at(0, tx)]));
    }
    (weights, partial)
}
