//! One sum in three ways: by the library, by hand in LDS, and by a loop that compares and swaps.

use core::sync::atomic::{AtomicU32, Ordering};

use amdinst_device::{
    AtomicF32, barrier, global_id_x, kernel, lane_id, local_id, shared, wave, workgroup_size_x,
};

/// Each wave adds up its values, and one lane adds that to the sum.
#[kernel]
pub fn by_library(values: &[f32], sum: &[AtomicF32]) {
    let value = values.get(global_id_x() as usize).copied().unwrap_or(0.0);
    let of_wave = wave::reduce(value, |a, b| a + b);
    if lane_id() == 0 {
        sum[0].fetch_add(of_wave);
    }
}

shared! {
    static PARTS: [f32; 256];
}

/// Each workgroup of at most 256 work-items, a power of two, adds up its values by halves, and one work-item adds that to the sum.
#[kernel]
pub fn by_hand(values: &[f32], sum: &[AtomicF32]) {
    let (i, parts) = (local_id(), PARTS.as_mut_ptr());
    let part = |place: u32| {
        // SAFETY: a workgroup has no more work-items than the array elements.
        unsafe { parts.add(place as usize) }
    };
    let value = values.get(global_id_x() as usize).copied().unwrap_or(0.0);
    // SAFETY: each work-item has a place of its own.
    unsafe { part(i).write(value) };
    let mut half = workgroup_size_x() / 2;
    while half > 0 {
        barrier();
        if i < half {
            // SAFETY: the upper half is written before the barrier, and nobody writes it behind.
            unsafe { *part(i) += *part(i + half) };
        }
        half /= 2;
    }
    if i == 0 {
        // SAFETY: it is this work-item's own.
        sum[0].fetch_add(unsafe { *part(0) });
    }
}

/// Each work-item tries until nobody came between.
#[kernel]
pub fn by_loop(values: &[f32], sum: &[AtomicU32]) {
    let value = values.get(global_id_x() as usize).copied().unwrap_or(0.0);
    let mut before = sum[0].load(Ordering::Relaxed);
    loop {
        let next = (f32::from_bits(before) + value).to_bits();
        match sum[0].compare_exchange_weak(before, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break,
            Err(found) => before = found,
        }
    }
}
