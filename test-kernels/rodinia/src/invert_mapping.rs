//! kmeans, features of points turned from rows to columns.

use amdinst_device::{global_id_x, kernel, probe};

/// `output[point + points · feature] = input[point · features + feature]`.
///
/// # Safety
/// Both are to `points · features` elements.
#[kernel]
pub unsafe fn invert_mapping(input: *const f32, output: *mut f32, points: u32, features: u32) {
    let point = global_id_x();
    #[probe("point")]
    if point < points {
        for feature in 0..features {
            // SAFETY: inside both.
            unsafe {
                *output.add((point + points * feature) as usize) =
                    *input.add((point * features + feature) as usize);
            }
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(input: &[f32], points: usize, features: usize) -> Vec<f32> {
    (0..features)
        .flat_map(|feature| (0..points).map(move |point| input[point * features + feature]))
        .collect()
}
