//! kmeans, the nearest centre of each point.

use amdinst_device::{
    global_size_x, kernel, mul_add, probe, workgroup_id_x, workgroup_id_y, workgroup_size_x, workitem_id_x,
};

/// `membership[point]` is the number of the nearest of `clusters` centres. `features` are stored as
/// [`invert_mapping`](crate::invert_mapping::invert_mapping) leaves them, `centres` by rows.
///
/// # Safety
/// `features` is to `points · count` elements, `centres` to `clusters · count`, `membership` to `points`. Launched as a
/// grid of two dimensions of workgroups with one.
#[kernel]
pub unsafe fn kmeans_point(
    features: *const f32,
    count: u32,
    points: u32,
    clusters: u32,
    membership: *mut u32,
    centres: *const f32,
) {
    let row = global_size_x() / workgroup_size_x();
    let workgroup = row * workgroup_id_y() + workgroup_id_x();
    let point = workgroup * workgroup_size_x() + workitem_id_x();
    #[probe("point")]
    if point < points {
        let (mut nearest, mut least) = (0, f32::MAX);
        for cluster in 0..clusters {
            let mut sum = 0.0;
            for feature in 0..count {
                // SAFETY: inside both.
                let difference = unsafe {
                    *features.add((point + feature * points) as usize)
                        - *centres.add((cluster * count + feature) as usize)
                };
                sum = mul_add(difference, difference, sum);
            }
            #[probe("nearer")]
            if sum < least {
                least = sum;
                nearest = cluster;
            }
        }
        // SAFETY: one element a point.
        unsafe { *membership.add(point as usize) = nearest };
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(features: &[f32], count: usize, points: usize, centres: &[f32]) -> Vec<u32> {
    let nearest = |point: usize| {
        let (mut nearest, mut least) = (0, f32::MAX);
        for (cluster, centre) in centres.chunks(count).enumerate() {
            let mut sum = 0.0;
            for (feature, value) in centre.iter().enumerate() {
                let difference = features[point + feature * points] - value;
                sum = difference.mul_add(difference, sum);
            }
            if sum < least {
                (nearest, least) = (cluster as u32, sum);
            }
        }
        nearest
    };
    (0..points).map(nearest).collect()
}
