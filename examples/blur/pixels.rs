//! The kernel of the guide's page "Port a CPU loop": a work-item a pixel, which does what the loop's body does.

#![cfg_attr(target_arch = "amdgpu", no_std)]

#[cfg(not(target_arch = "amdgpu"))]
pub mod cpu;

use amdinst_device::{PerItem, global_id_x, kernel};

/// Each pixel becomes the mean of the 3 by 3 pixels around it, as far as they lie in the image.
#[kernel]
pub fn blur(width: u32, image: &[u32], mut blurred: PerItem<u32>) {
    let Some(pixel) = blurred.get() else { return };
    let height = image.len() as u32 / width;
    let (x, y) = (global_id_x() % width, global_id_x() / width);
    let (mut sum, mut count) = (0, 0);
    for row in y.saturating_sub(1)..height.min(y + 2) {
        for column in x.saturating_sub(1)..width.min(x + 2) {
            sum += image[(row * width + column) as usize];
            count += 1;
        }
    }
    *pixel = sum / count;
}
