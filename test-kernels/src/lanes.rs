//! What a work-item learns of its wave, whose lanes are 32 or 64: all of them at work, and some.

use amdinst_device::{
    active_lanes, ballot, global_id_x, kernel, lane_id, read_first_lane, read_lane, shuffle, wave_size,
};

/// Words that a work-item gives.
pub const WORDS: usize = 17;
/// The lane that [`read_lane`] is asked for, modulo the size of a wave.
const FOURTH: u32 = 67;
/// A lane that the compiler knows; short waves do not have it.
const KNOWN: u32 = 40;

/// Gives each work-item's lane and all that the lane functions tell it: words 0 to 9 with all lanes of the launch, the rest while
/// multiples of three stand aside, which keep their words.
///
/// # Safety
/// `values` and `asked` are to one element a work-item, `output` to [`WORDS`].
#[kernel]
pub unsafe fn tell_lanes(values: *const u32, asked: *const u32, output: *mut u32) {
    let i = global_id_x() as usize;
    // SAFETY: as the caller vouches.
    let (value, asked) = unsafe { (*values.add(i), *asked.add(i)) };
    let put = |word: usize, value: u32| {
        // SAFETY: below `WORDS`; and as the caller vouches.
        unsafe { *output.add(WORDS * i + word) = value };
    };
    let put_mask = |word: usize, mask: u64| {
        put(word, mask as u32);
        put(word + 1, (mask >> 32) as u32);
    };
    put(0, lane_id());
    put(1, wave_size());
    put_mask(2, ballot(value & 1 == 1).bits());
    put_mask(4, active_lanes().bits());
    put(6, read_first_lane(value));
    put(7, read_lane(value, FOURTH));
    put(8, shuffle(value, asked));
    put(9, shuffle(value, KNOWN));
    if !value.is_multiple_of(3) {
        put_mask(10, active_lanes().bits());
        put_mask(12, ballot(value & 1 == 1).bits());
        put(14, read_first_lane(value));
        put(15, shuffle(value, asked));
        put(16, shuffle(value, KNOWN));
    }
}

/// What [`tell_lanes`] gives for workgroups of `block` work-items, in waves of `size`. Each wave has four lanes or more.
#[cfg(not(target_arch = "amdgpu"))]
pub fn reference(values: &[u32], asked: &[u32], block: usize, size: usize) -> Vec<u32> {
    let groups = values.chunks(block).zip(asked.chunks(block));
    let waves = groups.flat_map(|(values, asked)| values.chunks(size).zip(asked.chunks(size)));
    waves.flat_map(|(values, asked)| wave(values, asked, size)).collect()
}

/// The words of one wave's work-items.
#[cfg(not(target_arch = "amdgpu"))]
fn wave(values: &[u32], asked: &[u32], size: usize) -> Vec<u32> {
    let mask = |takes: &dyn Fn(u32) -> bool| {
        let lanes = (0..).zip(values).filter(|(_, value)| takes(**value));
        let mask = lanes.fold(0_u64, |mask, (lane, _)| mask | 1 << lane);
        [mask as u32, (mask >> 32) as u32]
    };
    let stays = |value: u32| !value.is_multiple_of(3);
    let odd = |value: u32| value & 1 == 1;
    let mut all = Vec::new();
    for (lane, (&value, &asked)) in values.iter().zip(asked).enumerate() {
        let source = |lane: u32| values.get(lane as usize % size).copied();
        let mut words = vec![lane as u32, size as u32];
        words.extend(mask(&odd));
        words.extend(mask(&|_| true));
        words.extend([values[0], values[FOURTH as usize % size]]);
        words.extend([asked, KNOWN].map(|lane| source(lane).unwrap_or(0)));
        if stays(value) {
            words.extend(mask(&stays));
            words.extend(mask(&|value| stays(value) && odd(value)));
            words.extend(values.iter().find(|value| stays(**value)));
            words.extend([asked, KNOWN].map(|lane| source(lane).filter(|value| stays(*value)).unwrap_or(0)));
        }
        words.resize(WORDS, 0);
        all.extend(words);
    }
    all
}
