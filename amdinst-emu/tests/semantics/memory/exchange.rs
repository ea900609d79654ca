//! Exchanges between lanes: swizzle, permute, backward permute.

use amdgpu_isa::{Arch, Target, WaveSize};
use amdinst_emu::WaveState;

use super::{Bench, Random, active, exists};
use crate::coverage::Snippet;
use crate::targets::{TARGETS, is_gcn, is_gfx12};

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
    for round in 0..1600u64 {
        let target = TARGETS[round as usize % TARGETS.len()];
        let modes = [(0, 0x7fff), (0x8000, 0x3fff), (0xc000, 0x1fff), (0xe000, 0x1fff)];
        let (mode, mask) = modes[round as usize / TARGETS.len() % 4];
        let offset = mode | random.next() as u32 & mask;
        let mut state = WaveState { exec: random.exec(target), ..WaveState::default() };
        state.set_vgpr(0, random.register());
        state.set_vgpr(1, random.register());
        // The opcode's number, 61 on GFX9, is 53 on RDNA.
        let opcode = if is_gcn(target) { 61 << 17 } else { 53 << 18 };
        let words = [0xd800_0000 | opcode | offset, 1 << 24];
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let mut bench = Bench::new(target, &[0]);
        let after = Snippet::from_bytes(target, &bytes).run(&mut bench.machine, &state).expect("a swizzle");
        let result = swizzle(offset, &state.vgpr(0), state.exec);
        let mut expected = state.clone();
        for lane in active(state.exec) {
            expected.vgprs[1][lane] = result[lane];
        }
        assert_eq!(after, expected, "{target:?} offset {offset:#x}");
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
        let arch = Arch::Gfx942;
        let mut bench = Bench::new(arch, &[0]);
        let after = Snippet::from_bytes(arch, &bytes).run(&mut bench.machine, &state).expect("a swizzle");
        assert_eq!(after.vgpr(1)[..8], first, "{offset:#x}");
    }
}

/// Lanes exchange with all of the wave (Vega ISA manual, "DS_PERMUTE_B32"), or with the other 31 of their
/// half of it (RDNA2 ISA, section 10.4.4; RDNA3 ISA, section 12.5.2), and on RDNA 4 again with all of it
/// (RDNA4 ISA, section 12.5.2).
fn place(target: Target, lane: usize, byte: u32) -> usize {
    let named = (byte / 4) as usize;
    match target.wave {
        WaveSize::Wave64 if is_gcn(target) || is_gfx12(target) => named % 64,
        _ => lane / 32 * 32 + named % 32,
    }
}

#[test]
pub(crate) fn permutes() {
    let mut random = Random(11);
    for round in 0..320 {
        let target = TARGETS[round % TARGETS.len()];
        let mut state = WaveState { exec: random.exec(target), ..WaveState::default() };
        for register in 0..3 {
            state.set_vgpr(register, random.register());
        }
        let offset = random.below(1 << 16) as u32;
        let lane_of = |lane: usize| place(target, lane, state.vgpr(0)[lane].wrapping_add(offset));

        let after =
            Bench::new(target, &[0]).good(&format!("ds_permute_b32 v2, v0, v1 offset:{offset}"), &state);
        let mut pushed = [0; 64];
        for lane in active(state.exec) {
            pushed[lane_of(lane)] = state.vgpr(1)[lane];
        }
        let mut expected = state.clone();
        for lane in active(state.exec) {
            expected.vgprs[2][lane] = pushed[lane];
        }
        assert_eq!(after, expected, "{target:?} ds_permute_b32");

        for (name, from_inactive) in [("ds_bpermute_b32", false), ("ds_bpermute_fi_b32", true)] {
            let text = format!("{name} v2, v0, v1 offset:{offset}");
            if from_inactive && !exists(target, &text) {
                continue;
            }
            let after = Bench::new(target, &[0]).good(&text, &state);
            let mut expected = state.clone();
            for lane in active(state.exec) {
                let from = lane_of(lane);
                let is_read = from_inactive || state.exec >> from & 1 == 1;
                expected.vgprs[2][lane] = if is_read { state.vgpr(1)[from] } else { 0 };
            }
            assert_eq!(after, expected, "{target:?} {name}");
        }
    }
    assert!(TARGETS.iter().any(|target| exists(*target, "ds_bpermute_fi_b32 v2, v0, v1")));
}
