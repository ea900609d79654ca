//! A five-point stencil over a 2-D field, launched in workgroups that are no whole waves.

use amdinst_device::{global_id_x, global_id_y, kernel, probe};

/// Inner points of `output` are the mean of the point and its four neighbors in `input`; points of the rim are copied.
///
/// # Safety
/// Both are to `width · height` elements.
#[kernel]
pub unsafe fn stencil(width: u32, height: u32, input: *const f32, output: *mut f32) {
    let (x, y) = (global_id_x(), global_id_y());
    #[probe("inside")]
    if x < width && y < height {
        let at = (y * width + x) as usize;
        #[probe("rim")]
        if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
            // SAFETY: inside the field.
            unsafe { *output.add(at) = *input.add(at) };
        } else {
            let row = width as usize;
            // SAFETY: not on the rim, so the neighbors are inside too.
            unsafe {
                let sum = *input.add(at)
                    + *input.add(at - 1)
                    + *input.add(at + 1)
                    + *input.add(at - row)
                    + *input.add(at + row);
                *output.add(at) = sum * 0.2;
            }
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(width: usize, height: usize, input: &[f32]) -> Vec<f32> {
    let one = |at: usize| {
        let (x, y) = (at % width, at / width);
        if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
            input[at]
        } else {
            (input[at] + input[at - 1] + input[at + 1] + input[at - width] + input[at + width]) * 0.2
        }
    };
    (0..width * height).map(one).collect()
}
