//! Kernels of two dimensions and with arrays in LDS, without `unsafe`.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use amdinst_device::{
    Lds, Lds2d, PerItem, PerItem2d, Slice2d, global_id_x, kernel, local_id, probe, share, workgroup_id_x,
    workgroup_id_y, workitem_id_x, workitem_id_y,
};

/// Rows and columns of a tile, which is what a workgroup of as many work-items computes.
pub const SIDE: usize = 16;

/// Each element becomes the mean of its four neighbors, which are zero beyond the edges.
#[kernel]
pub fn stencil(
    from: Slice2d<f32>,
    mut to: PerItem2d<f32>,
    #[shared] tile: Lds2d<f32, { SIDE + 2 }, { SIDE + 2 }>,
) {
    let (left, top) = (workgroup_id_x() * SIDE as u32, workgroup_id_y() * SIDE as u32);
    // With a frame of one element: there are fewer work-items than elements.
    let tile = tile.fill(|x, y| {
        let (x, y) = ((left + x as u32).wrapping_sub(1), (top + y as u32).wrapping_sub(1));
        from.get(x, y).copied().unwrap_or(0.0)
    });
    let tile = tile.into_shared();
    let (x, y) = (workitem_id_x() as usize + 1, workitem_id_y() as usize + 1);
    #[probe("inside")]
    if let Some(to) = to.get() {
        *to = 0.25 * (tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x]);
    }
}

/// `to` is the transpose of `from`.
#[kernel]
pub fn transpose(
    from: Slice2d<u32>,
    mut to: PerItem2d<u32>,
    // One column more than there are, so that the elements of a column lie in different banks.
    #[shared] tile: Lds2d<u32, { SIDE + 1 }, SIDE>,
) {
    // The tile of `from` that becomes this workgroup's of `to`.
    let (left, top) = (workgroup_id_y() * SIDE as u32, workgroup_id_x() * SIDE as u32);
    let tile = tile.fill(|x, y| from.get(left + x as u32, top + y as u32).copied().unwrap_or(0));
    let tile = tile.into_shared();
    if let Some(to) = to.get() {
        *to = tile[workitem_id_x() as usize][workitem_id_y() as usize];
    }
}

/// `c = a · b`, tile by tile.
#[kernel]
pub fn matmul(
    a: Slice2d<f32>,
    b: Slice2d<f32>,
    mut c: PerItem2d<f32>,
    #[shared] of_a: Lds2d<f32, SIDE, SIDE>,
    #[shared] of_b: Lds2d<f32, SIDE, SIDE>,
) {
    let (left, top) = (workgroup_id_x() * SIDE as u32, workgroup_id_y() * SIDE as u32);
    let (column, row) = (workitem_id_x() as usize, workitem_id_y() as usize);
    let (mut of_a, mut of_b) = (of_a.fill(|_, _| 0.0), of_b.fill(|_, _| 0.0));
    let mut sum = 0.0;
    for tile in 0..a.width().div_ceil(SIDE as u32) {
        let first = tile * SIDE as u32;
        of_a.fill(|x, y| a.get(first + x as u32, top + y as u32).copied().unwrap_or(0.0));
        of_b.fill(|x, y| b.get(left + x as u32, first + y as u32).copied().unwrap_or(0.0));
        sum += share((&mut of_a, &mut of_b), |(of_a, of_b)| {
            (0..SIDE).map(|k| of_a[row][k] * of_b[k][column]).sum::<f32>()
        });
    }
    if let Some(c) = c.get() {
        *c = sum;
    }
}

/// Counts the bytes of each value, first in LDS.
#[kernel]
pub fn histogram(bytes: &[u8], counts: &[AtomicU32], #[shared] bins: Lds<AtomicU32, 256>) {
    let mut bins = bins.fill(|_| AtomicU32::new(0));
    bins.share(|bins| {
        #[probe("tail")]
        if let Some(&byte) = bytes.get(global_id_x() as usize) {
            bins[usize::from(byte)].fetch_add(1, Relaxed);
        }
    });
    bins.for_each(|value, count| {
        counts[value].fetch_add(*count.get_mut(), Relaxed);
    });
}

/// Work-items of a workgroup of [`scan`].
pub const SCANNED: usize = 256;

/// Each element becomes the sum of those up to it in its workgroup of [`SCANNED`].
#[kernel]
pub fn scan(mut values: PerItem<u32>, #[shared] sums: Lds<u32, SCANNED>) {
    let i = local_id() as usize;
    let value = values.get();
    let mut sum = value.as_deref().copied().unwrap_or(0);
    let mut sums = sums.fill(|_| sum);
    let mut step = 1;
    while step < SCANNED {
        sum += sums.share(|sums| if i >= step { sums[i - step] } else { 0 });
        if let Some(mine) = sums.get() {
            *mine = sum;
        }
        step *= 2;
    }
    if let Some(value) = value {
        *value = sum;
    }
}

/// Turns the elements of each workgroup around; a generic kernel has an array of each size.
#[kernel(N = [64, 128])]
pub fn turn<const N: usize>(mut values: PerItem<u16>, #[shared] tile: Lds<u16, N>) {
    let value = values.get();
    let tile = tile.fill(|_| value.as_deref().copied().unwrap_or(0)).into_shared();
    if let Some(value) = value {
        *value = tile[N - 1 - local_id() as usize];
    }
}

/// What none may do: every second work-item leaves the others alone.
#[kernel]
pub fn part(mut values: PerItem<u32>, #[shared] tile: Lds<u32, 64>) {
    let Some(value) = values.get() else { return };
    let mut tile = tile.fill(|_| *value);
    if local_id().is_multiple_of(2) {
        *value = tile.share(|tile| tile[63 - local_id() as usize]);
    }
}

/// The kernels' results, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub mod reference {
    use super::SIDE;

    /// Of `stencil`.
    pub fn stencil(width: usize, from: &[f32]) -> Vec<f32> {
        let at = |x: usize, y: usize| match (x.checked_sub(1), y.checked_sub(1)) {
            (Some(x), Some(y)) if x < width => from.get(y * width + x).copied().unwrap_or(0.0),
            _ => 0.0,
        };
        let mean = |i: usize| {
            let (x, y) = (i % width + 1, i / width + 1);
            0.25 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1))
        };
        (0..from.len()).map(mean).collect()
    }

    /// Of `matmul`, with the sums of the tiles rounded as they are there.
    pub fn matmul(inner: usize, width: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
        let element = |i: usize| {
            let product =
                |k: usize| if k < inner { a[i / width * inner + k] * b[k * width + i % width] } else { 0.0 };
            (0..inner.div_ceil(SIDE))
                .map(|tile| (0..SIDE).map(|k| product(tile * SIDE + k)).sum::<f32>())
                .sum()
        };
        (0..a.len() / inner * width).map(element).collect()
    }
}
