//! Waves that tell each other something by atomics. Their loads and stores are the same instructions as plain ones: that they are
//! no data races shows in the source alone.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use amdinst_device::{
    atomic_u32, barrier, global_id_x, kernel, shared, wave_size, workgroup_id_x, workitem_id_x,
};

shared! {
    static SEEN: [u32; 2];
}

shared! {
    static MESSAGE: [u32; 65];
}

/// Each half of a workgroup says in LDS that it is here, looks whether the other is, and stores both words: its own and the
/// other's, which may be there yet or not.
///
/// # Safety
/// `output` is to one element a work-item; workgroups have 128.
#[kernel]
pub unsafe fn see_each_other(output: *mut u32) {
    let (i, half) = (workitem_id_x(), workitem_id_x() / 64);
    let seen: *mut u32 = SEEN.as_mut_ptr().cast();
    // SAFETY: two words, one a half; and as the caller vouches.
    unsafe {
        if i < 2 {
            atomic_u32(seen.add(i as usize)).store(0, Relaxed);
        }
        barrier();
        atomic_u32(seen.add(half as usize)).store(1 + half, Relaxed);
        let own = atomic_u32(seen.add(half as usize)).load(Relaxed);
        let other = atomic_u32(seen.add(1 - half as usize)).load(Relaxed);
        *output.add(global_id_x() as usize) = 16 * own + other;
    }
}

/// The first wave writes a word a lane, then sets a flag; the second waits for the flag and reads them.
///
/// # Safety
/// `output` is to one element for each lane of a wave and each workgroup; these have two waves.
#[kernel]
pub unsafe fn pass_a_message(output: *mut u32) {
    let (i, lanes) = (workitem_id_x(), wave_size());
    let message: *mut u32 = MESSAGE.as_mut_ptr().cast();
    // SAFETY: a word for each lane, of which there are 64 at most, and a flag; and as the caller vouches.
    unsafe {
        let flag = atomic_u32(message.add(64));
        if i == 0 {
            flag.store(0, Relaxed);
        }
        barrier();
        if i < lanes {
            *message.add(i as usize) = 3 * i + workgroup_id_x();
            flag.store(1, Release);
        } else {
            while flag.load(Acquire) == 0 {}
            let lane = i - lanes;
            *output.add((workgroup_id_x() * lanes + lane) as usize) = *message.add(lane as usize);
        }
    }
}

/// All work-items leave their number in one word, of which one stays.
///
/// # Safety
/// `last` is to one element.
#[kernel]
pub unsafe fn leave_a_number(last: *mut u32) {
    // SAFETY: as the caller vouches.
    unsafe { atomic_u32(last).store(global_id_x(), Relaxed) };
}

/// A flag with an atomic on one side only: the first half of a workgroup stores by an atomic a word that the second one
/// reads plainly.
///
/// # Safety
/// `output` is to one element a work-item; workgroups have 128. Nothing orders the accesses to the first: tests find that.
#[kernel]
pub unsafe fn half_atomic(output: *mut u32) {
    let i = workitem_id_x();
    let seen: *mut u32 = SEEN.as_mut_ptr().cast();
    // SAFETY: as the caller vouches, wrongly.
    unsafe {
        if i < 64 {
            atomic_u32(seen).store(7, Relaxed);
        } else {
            *output.add(global_id_x() as usize) = seen.read_volatile();
        }
    }
}
