//! A matrix transposed tile by tile through LDS.

use amdinst_device::{
    barrier, kernel, probe, shared, workgroup_id_x, workgroup_id_y, workitem_id_x, workitem_id_y,
};

/// Rows and columns of a tile, which is what one workgroup of `TILE` by `TILE` work-items moves.
pub const TILE: usize = 16;

shared! {
    // One column more than there are, so that the elements of a column lie in different banks.
    static STAGE: [[f32; TILE + 1]; TILE];
}

/// `output` (`width` rows of `height`) is the transpose of `input` (`height` rows of `width`).
///
/// # Safety
/// Both are to `width · height` elements; the grid covers the matrix in tiles.
#[kernel]
pub unsafe fn transpose(width: u32, height: u32, input: *const f32, output: *mut f32) {
    let stage: *mut f32 = STAGE.get().cast();
    let (column, row) = (workitem_id_x(), workitem_id_y());
    let (tile_x, tile_y) = (workgroup_id_x() * TILE as u32, workgroup_id_y() * TILE as u32);

    let (x, y) = (tile_x + column, tile_y + row);
    #[probe("load")]
    if x < width && y < height {
        // SAFETY: inside the matrix, and inside the stage.
        unsafe {
            *stage.add(row as usize * (TILE + 1) + column as usize) = *input.add((y * width + x) as usize);
        }
    }
    barrier();
    let (x, y) = (tile_y + column, tile_x + row);
    #[probe("store")]
    if x < height && y < width {
        // SAFETY: as above, with rows and columns exchanged.
        unsafe {
            *output.add((y * height + x) as usize) = *stage.add(column as usize * (TILE + 1) + row as usize);
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(width: usize, height: usize, input: &[f32]) -> Vec<f32> {
    (0..width).flat_map(|x| (0..height).map(move |y| input[y * width + x])).collect()
}
