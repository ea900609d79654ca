//! Places that work-items share: atomic floats, LDS whose size the launch decides, statics; and clocks.

use core::sync::atomic::{AtomicU32, Ordering};

use amdinst_device::{
    AtomicF32, AtomicF64, PerGroup, PerItem, barrier, clock, global_id_x, kernel, local_id, realtime, shared,
    workgroup_size_x,
};

/// Sum, least and greatest of some floats.
#[kernel]
pub fn statistics(values: &[f32], of_floats: &[AtomicF32], of_doubles: &[AtomicF64]) {
    if let Some(&value) = values.get(global_id_x() as usize) {
        of_floats[0].fetch_add(value);
        of_floats[1].fetch_min(value);
        of_floats[2].fetch_max(value);
        of_doubles[0].fetch_add(f64::from(value));
        of_doubles[1].fetch_min(f64::from(value));
        of_doubles[2].fetch_max(f64::from(value));
    }
}

/// The order in which additions come gives each work-item another value of before; loads and stores are atomic as well.
#[kernel]
pub fn tickets(counter: &[AtomicF32], mut output: PerItem<f32>) {
    let before = counter[0].fetch_add(1.0);
    if let Some(output) = output.get() {
        *output = before;
    }
    counter[1].store(7.0);
}

shared! {
    static PARTS: [f32];
    static COUNT: u32;
}

/// The sum of a workgroup's floats, in LDS that the launch has room for.
#[kernel]
pub fn sum_of_group(values: &[f32], mut output: PerGroup<f32>) {
    let i = local_id() as usize;
    let parts = PARTS.as_mut_ptr();
    if i == 0 {
        // SAFETY: one work-item of the workgroup writes it.
        unsafe { COUNT.get().write(workgroup_size_x()) };
    }
    // SAFETY: the launch gives room for an element each.
    unsafe { parts.add(i).write(values[global_id_x() as usize]) };
    barrier();
    // SAFETY: it is written before the barrier.
    let count = unsafe { COUNT.get().read() } as usize;
    if let Some(output) = output.get() {
        // SAFETY: all are written before the barrier.
        *output = (0..count).map(|i| unsafe { parts.add(i).read() }).sum();
    }
}

/// What work-items of all kernels count in.
pub static SEEN: AtomicU32 = AtomicU32::new(5);

/// Each work-item is counted.
#[kernel]
pub fn be_seen() {
    SEEN.fetch_add(1, Ordering::Relaxed);
}

/// Whether time goes on.
#[kernel]
pub fn time(rounds: u32, mut output: PerItem<u32, 3>) {
    let (before, real) = (clock(), realtime());
    let mut state = global_id_x();
    for _ in 0..rounds {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    let (behind, really) = (clock(), realtime());
    output.chunk().copy_from_slice(&[u32::from(behind > before), u32::from(really >= real), state]);
}
