//! nn, distances of records to a place.

use amdinst_device::{global_id_x, kernel, mul_add, probe, sqrt};

/// `distances[i]` is how far record `i`, latitude and longitude, is from a place.
///
/// # Safety
/// `records` is to `2 · count` elements, `distances` to `count`.
#[kernel]
pub unsafe fn euclid(records: *const f32, distances: *mut f32, count: u32, latitude: f32, longitude: f32) {
    let i = global_id_x();
    #[probe("record")]
    if i < count {
        // SAFETY: inside both.
        unsafe {
            let north = latitude - *records.add(2 * i as usize);
            let east = longitude - *records.add(2 * i as usize + 1);
            *distances.add(i as usize) = sqrt(mul_add(north, north, east * east));
        }
    }
}

/// The kernel's result, computed on the host.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(records: &[f32], latitude: f32, longitude: f32) -> Vec<f32> {
    let one = |record: &[f32]| {
        let (north, east) = (latitude - record[0], longitude - record[1]);
        north.mul_add(north, east * east).sqrt()
    };
    records.chunks(2).map(one).collect()
}
