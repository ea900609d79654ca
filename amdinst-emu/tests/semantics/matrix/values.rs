//! Whole matrices of small integers, whose sums are exact in any order: every element of the result of every
//! instruction.

use amdgpu_isa::Inst;
use amdinst_emu::WaveState;

use super::oracle::{self, Matrices};
use super::{ARCHS, Random, Shape, element_formats, instructions, put, run, with_formats};
use crate::formats::Format;

/// Integers that every format has.
fn small(format: Format) -> impl FnMut(&mut Random) -> u64 {
    let codes: Vec<u64> = match format {
        Format::I8 => (0..256).collect(),
        _ => (-3i32..=3).map(|value| format.code(f64::from(value))).collect(),
    };
    move |random| codes[random.below(codes.len() as u64) as usize]
}

/// A code of C.
fn integer(shape: &Shape) -> impl FnMut(&mut Random) -> u64 {
    let a = shape.a;
    move |random| {
        let value = random.below(101) as i32 - 50;
        match a {
            "i8" => random.next() & 0xffff_ffff,
            "f64" => f64::from(value).to_bits(),
            _ => u64::from((value as f32).to_bits()),
        }
    }
}

/// Compare the result of random matrices with the triple loop.
fn check(arch: amdgpu_isa::Arch, inst: &Inst, shape: &Shape, random: &mut Random) {
    let formats = element_formats(arch, inst, shape);
    let matrices = Matrices::new(shape, random, small(formats[0]), small(formats[1]), integer(shape));
    let mut state = WaveState { exec: random.next() & random.next(), ..WaveState::default() };
    matrices.write(inst, shape, formats, &mut state);
    for scale in inst.operands.iter().skip(4) {
        for lane in 0..64 {
            // One, in every byte.
            put(&mut state, scale.value, 0, lane, 0x7f7f_7f7f);
        }
    }
    let after = run(arch, inst, &state).unwrap_or_else(|fault| panic!("{arch}: {fault}"));
    for block in 0..shape.blocks {
        for i in 0..shape.size {
            for j in 0..shape.size {
                let factors = matrices.factors(shape, (block, i, j));
                let c = matrices.c[block][i][j];
                let bits = if shape.a == "f64" { 64 } else { 32 };
                let expected = match shape.a {
                    "i8" => {
                        let c = f64::from(c as u32 as i32);
                        u64::from(oracle::exact(&factors, formats, c) as i64 as u32)
                    }
                    "f64" => oracle::exact(&factors, formats, f64::from_bits(c)).to_bits(),
                    _ => {
                        let c = f64::from(f32::from_bits(c as u32));
                        u64::from((oracle::exact(&factors, formats, c) as f32).to_bits())
                    }
                };
                let found = oracle::read_item(inst, 0, oracle::output(shape, i, j, block), bits, &after);
                assert_eq!(found, expected, "{arch}: {} {:?}: ({block}, {i}, {j})", shape.name, inst.mods);
            }
        }
    }
}

/// Every opcode of the tables is executed; none is left out.
#[test]
pub(crate) fn every_matrix_instruction_multiplies() {
    let mut random = Random(1);
    for arch in ARCHS {
        let all = instructions(arch);
        for (inst, shape) in &all {
            check(arch, inst, shape, &mut random);
        }
        println!("{arch}: {} of {} matrix instructions", all.len(), all.len());
        let expected = match arch {
            amdgpu_isa::Arch::Gfx908 => 20,
            amdgpu_isa::Arch::Gfx90a => 27,
            amdgpu_isa::Arch::Gfx942 => 46,
            // With `v_mfma_scale_*`, without `v_mfma_ld_scale_b32`.
            _ => 68,
        };
        assert_eq!(all.len(), expected, "{arch}");
    }
}

/// FP8, BF8, FP6, BF6 and FP4, in all pairs.
#[test]
pub(crate) fn every_pair_of_small_formats_multiplies() {
    let mut random = Random(2);
    let arch = amdgpu_isa::Arch::Gfx950;
    for (inst, shape) in instructions(arch).iter().filter(|(_, shape)| shape.a == "f8f6f4") {
        for (cbsz, blgp) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
            check(arch, &with_formats(arch, inst, cbsz, blgp), shape, &mut random);
        }
    }
}

/// Liveness relies on how many registers each operand spans: as many as the matrices need.
#[test]
pub(crate) fn effects_name_all_registers() {
    for arch in ARCHS {
        for (inst, shape) in instructions(arch) {
            let lanes = |elements: usize, bits: usize| elements * shape.size * shape.blocks / 64 * bits / 32;
            let formats = element_formats(arch, &inst, &shape);
            let result = lanes(shape.size, if shape.a == "f64" { 64 } else { 32 });
            let a = lanes(shape.stored(), formats[0].bits()).max(1);
            let b = lanes(shape.depth, formats[1].bits()).max(1);
            let widths: Vec<usize> =
                inst.operands.iter().map(|operand| usize::from(operand.dwords)).take(4).collect();
            let third = if shape.is_sparse() { 1 } else { result };
            assert_eq!(widths, [result, a, b, third], "{arch}: {}", shape.name);
            let effects = inst.effects(arch);
            let vectors = |set: &amdgpu_isa::RegSet| {
                set.iter().filter(|reg| reg.as_vgpr().is_some() || reg.as_agpr().is_some()).count()
            };
            // Scales are registers, too.
            let scales = inst.operands.len().saturating_sub(4);
            // A sparse instruction reads what it adds to.
            let reads = a + b + third + scales + if shape.is_sparse() { result } else { 0 };
            assert_eq!(vectors(&effects.reads), reads, "{arch}: {}", shape.name);
            assert_eq!(vectors(&effects.changes()), result, "{arch}: {}", shape.name);
        }
    }
}
