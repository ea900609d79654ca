//! The host's side of `kernels/lanes.hip`.

use crate::foreign::bytes::random32;
use crate::foreign::case::{Case, input, output, value};

pub(super) fn cases() -> Vec<Case> {
    vec![compaction(), sum_by_dpp(), permutations(), waterfall()]
}

/// Lanes of a wave.
const WAVE: usize = 64;

fn compaction() -> Case {
    let x = random32(4 * WAVE, 1);
    let (mut expected, mut counts) = (Vec::new(), Vec::new());
    for wave in x.chunks(WAVE) {
        let kept: Vec<u32> = wave.iter().copied().filter(|x| x % 3 != 0).collect();
        counts.push(kept.len() as u32);
        expected.extend(kept);
        expected.resize(counts.len() * WAVE, 0);
    }
    Case::new("compaction", 2, 128, vec![input(&x), output(&expected), output(&counts)])
}

fn sum_by_dpp() -> Case {
    let x = random32(4 * WAVE, 2);
    let sum = |wave: &[u32]| [wave.iter().fold(0u32, |sum, x| sum.wrapping_add(*x)); WAVE];
    let expected: Vec<u32> = x.chunks(WAVE).flat_map(sum).collect();
    Case::new("sum_by_dpp", 2, 128, vec![input(&x), output(&expected)])
}

fn permutations() -> Case {
    let distance = 13;
    let x = random32(2 * WAVE, 3);
    let mut expected = Vec::new();
    for wave in x.chunks(WAVE) {
        // Swizzle 0x401f: bit mode, exclusive or of the lane's number with 16.
        let swapped: Vec<u32> = (0..WAVE).map(|lane| wave[lane] ^ wave[lane ^ 16]).collect();
        for lane in 0..WAVE {
            // 5 * 13 = 1 modulo 64: lane l receives what lane 13 l has pushed.
            expected.extend([swapped[(lane + distance) % WAVE], swapped[lane * 13 % WAVE]]);
        }
    }
    Case::new("permutations", 1, 128, vec![input(&x), output(&expected), value(distance as u32)])
}

fn waterfall() -> Case {
    let x: Vec<u32> = random32(2 * WAVE, 4).iter().map(|x| x % 9).collect();
    let mut expected = Vec::new();
    for wave in x.chunks(WAVE) {
        let mut order = Vec::new();
        for x in wave {
            if !order.contains(x) {
                order.push(*x);
            }
        }
        let rounds = |x: &u32| order.iter().position(|other| other == x).map_or(0, |place| place + 1) as u32;
        expected.extend(wave.iter().map(|x| x * 100 + rounds(x)));
    }
    Case::new("waterfall", 1, 128, vec![input(&x), output(&expected)])
}
