//! gfx950's scaled matrices: every 32 elements along the depth of a row of A, or of a column of B, share a
//! scale.

use amdgpu_isa::{Arch, Inst, Value};
use amdinst_emu::WaveState;

use super::oracle::{self, Matrices};
use super::{Shape, element_formats, instructions, operand, put, run, with_formats};
use crate::random::Random;

const ARCH: Arch = Arch::Gfx950;

fn scaled() -> Vec<(Inst, Shape)> {
    let all = instructions(ARCH).into_iter().filter(|(inst, _)| inst.operands.len() == 6);
    let all: Vec<_> = all.collect();
    assert_eq!(all.len(), 2);
    all
}

/// Exponents of the scales of A (0) or B (1): row or column `i`, block `q`, as the operand's bytes `byte`
/// have them.
fn exponents(scales: &[[u32; 64]; 2], source: usize, byte: u32, size: usize, i: usize, q: usize) -> i32 {
    (scales[source][i + size * q] >> (8 * byte) & 255) as i32 - 127
}

/// All bytes of the scales' registers, and formats in turn.
#[test]
pub(crate) fn blocks_of_32_are_scaled() {
    let mut random = Random(8);
    for (plain, shape) in scaled() {
        for turn in 0..16u32 {
            let (byte_a, byte_b) = (turn & 3, turn >> 2);
            let mut inst = with_formats(ARCH, &plain, (turn % 5) as u8, (turn / 3 % 5) as u8);
            inst.mods.op_sel = (byte_a & 1 | (byte_b & 1) << 1) as u8;
            inst.mods.op_sel_hi = (byte_a >> 1 | (byte_b >> 1) << 1) as u8;
            let formats = element_formats(ARCH, &inst, &shape);
            let codes = |format: crate::formats::Format| {
                move |random: &mut Random| format.code(f64::from(random.below(7) as i32 - 3))
            };
            let c = |random: &mut Random| u64::from((random.below(9) as f32).to_bits());
            let matrices = Matrices::new(&shape, &mut random, codes(formats[0]), codes(formats[1]), c);
            let mut state = WaveState::default();
            matrices.write(&inst, &shape, formats, &mut state);
            // Powers of two from 1/4 to 4.
            let scales: [[u32; 64]; 2] = std::array::from_fn(|_| {
                std::array::from_fn(|_| {
                    (0..4).fold(0, |bits, byte| bits | (125 + random.below(5) as u32) << (8 * byte))
                })
            });
            for (source, lanes) in scales.iter().enumerate() {
                for (lane, bits) in lanes.iter().enumerate() {
                    put(&mut state, operand(&inst, 4 + source), 0, lane, *bits);
                }
            }
            let after = run(ARCH, &inst, &state).unwrap_or_else(|fault| panic!("{fault}"));
            for (i, j) in (0..shape.size).flat_map(|i| (0..shape.size).map(move |j| (i, j))) {
                let factors = matrices.factors(&shape, (0, i, j));
                let blocks = factors.chunks(32).enumerate().map(|(q, factors)| {
                    let power = exponents(&scales, 0, byte_a, shape.size, i, q)
                        + exponents(&scales, 1, byte_b, shape.size, j, q);
                    oracle::exact(factors, formats, 0.0) * f64::from(power).exp2()
                });
                let c = f64::from(f32::from_bits(matrices.c[0][i][j] as u32));
                let expected = (c + blocks.sum::<f64>()) as f32;
                let place = oracle::output(&shape, i, j, 0);
                let found = f32::from_bits(oracle::read_item(&inst, 0, place, 32, &after) as u32);
                assert_eq!(found, expected, "{} {:?}: ({i}, {j})", shape.name, inst.mods);
            }
        }
    }
}

/// The code 255 is NaN.
#[test]
pub(crate) fn a_scale_may_be_nan() {
    for (inst, shape) in scaled() {
        let mut state = WaveState::default();
        let Value::Vgpr(_) = operand(&inst, 4) else { panic!("{:?}", inst.operands) };
        for lane in 0..64 {
            // Whichever byte is chosen.
            put(&mut state, operand(&inst, 4), 0, lane, if lane == 3 { 0xffff_ffff } else { 0x7f7f_7f7f });
            put(&mut state, operand(&inst, 5), 0, lane, 0x7f7f_7f7f);
        }
        let after = run(ARCH, &inst, &state).unwrap_or_else(|fault| panic!("{fault}"));
        for i in 0..shape.size {
            let place = oracle::output(&shape, i, 1, 0);
            let found = f32::from_bits(oracle::read_item(&inst, 0, place, 32, &after) as u32);
            assert_eq!(found.is_nan(), i == 3, "{}: row {i}", shape.name);
        }
    }
}
