//! Exchanges between lanes: swizzle, permute, backward permute.

use amdinst_emu::WaveState;

use super::{Bench, PROCESSORS, Random, active};
use crate::coverage::Snippet;

/// The manual's pseudocode for `ds_swizzle_b32` (Vega ISA manual, "DS_SWIZZLE_B32 Details"), line by line.
fn swizzle(offset: u32, thread_in: &[u32; 64], valid: u64) -> [u32; 64] {
    let mut from = [0u32; 64];
    for i in 0..64u32 {
        let mut j;
        if offset >= 0xe000 {
            let mask = offset & 0x1f;
            j = (0..5).map(|bit| (i >> bit & 1) << (4 - bit)).sum::<u32>();
            j >>= mask.count_ones();
            j |= i & mask;
            j |= i & 0x20;
        } else if offset >= 0xc000 {
            let mask = offset & 0x1f;
            let mut rotate = (offset >> 5 & 0x1f) as i32;
            if offset & 0x400 != 0 {
                rotate = -rotate;
            }
            // Within 32 threads: "{2, 3, ..., 1f, 20, 1}".
            let turned = (i as i32 + rotate).rem_euclid(32) as u32;
            j = i & mask | turned & !mask;
            j = j & 0x1f | i & 0x20;
        } else if offset & 0x8000 != 0 {
            j = i / 4 * 4 + (offset >> (2 * (i % 4)) & 3);
        } else {
            let (xor_mask, or_mask, and_mask) = (offset >> 10 & 0x1f, offset >> 5 & 0x1f, offset & 0x1f);
            j = ((i & 0x1f & and_mask) | or_mask) ^ xor_mask;
            j |= i & 0x20;
        }
        from[i as usize] = j;
    }
    from.map(|j| if valid >> j & 1 == 1 { thread_in[j as usize] } else { 0 })
}

#[test]
pub(crate) fn swizzles() {
    let mut random = Random(10);
    for round in 0..1500u64 {
        let arch = PROCESSORS[round as usize % PROCESSORS.len()];
        let modes = [(0, 0x7fff), (0x8000, 0x3fff), (0xc000, 0x1fff), (0xe000, 0x1fff)];
        let (mode, mask) = modes[round as usize / PROCESSORS.len() % 4];
        let offset = mode | random.next() as u32 & mask;
        let mut state = WaveState { exec: random.exec(), ..WaveState::default() };
        state.set_vgpr(0, random.register());
        state.set_vgpr(1, random.register());
        let words = [0xd800_0000 | 61 << 17 | offset, 1 << 24];
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let mut bench = Bench::new(arch, &[0]);
        let after = Snippet::from_bytes(arch, &bytes).run(&mut bench.machine, &state).expect("a swizzle");
        let result = swizzle(offset, &state.vgpr(0), state.exec);
        let mut expected = state.clone();
        for lane in active(state.exec) {
            expected.vgprs[1][lane] = result[lane];
        }
        assert_eq!(after, expected, "{arch} offset {offset:#x}");
    }
}

/// The manual's own examples: thread n has n + 1.
#[test]
pub(crate) fn examples_of_swizzles() {
    let fft = [0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d];
    let rotated = [1, 4, 3, 6, 5, 8, 7, 0xa];
    for (offset, first) in [(0xe000, fft), (0xc021, rotated)] {
        let mut state = WaveState::default();
        state.set_vgpr(0, std::array::from_fn(|lane| lane as u32 + 1));
        let words: [u32; 2] = [0xd800_0000 | 61 << 17 | offset, 1 << 24];
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let arch = PROCESSORS[4];
        let mut bench = Bench::new(arch, &[0]);
        let after = Snippet::from_bytes(arch, &bytes).run(&mut bench.machine, &state).expect("a swizzle");
        assert_eq!(after.vgpr(1)[..8], first, "{offset:#x}");
    }
}

#[test]
pub(crate) fn permutes() {
    let mut random = Random(11);
    for round in 0..300 {
        let arch = PROCESSORS[round % PROCESSORS.len()];
        let mut state = WaveState { exec: random.exec(), ..WaveState::default() };
        for register in 0..3 {
            state.set_vgpr(register, random.register());
        }
        let offset = random.below(1 << 16) as u32;
        let lane_of = |lane: usize| (state.vgpr(0)[lane].wrapping_add(offset) / 4 % 64) as usize;

        let after =
            Bench::new(arch, &[0]).good(&format!("ds_permute_b32 v2, v0, v1 offset:{offset}"), &state);
        let mut pushed = [0; 64];
        for lane in active(state.exec) {
            pushed[lane_of(lane)] = state.vgpr(1)[lane];
        }
        let mut expected = state.clone();
        for lane in active(state.exec) {
            expected.vgprs[2][lane] = pushed[lane];
        }
        assert_eq!(after, expected, "{arch} ds_permute_b32");

        let after =
            Bench::new(arch, &[0]).good(&format!("ds_bpermute_b32 v2, v0, v1 offset:{offset}"), &state);
        let mut expected = state.clone();
        for lane in active(state.exec) {
            let from = lane_of(lane);
            expected.vgprs[2][lane] = if state.exec >> from & 1 == 1 { state.vgpr(1)[from] } else { 0 };
        }
        assert_eq!(after, expected, "{arch} ds_bpermute_b32");
    }
}
