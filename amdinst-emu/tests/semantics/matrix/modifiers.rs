//! Broadcasts, lane patterns, signs, constants, MODE, sets of sparse indices; and what no manual defines.

use amdgpu_isa::{Arch, Inst, Value};
use amdinst_emu::{FaultKind, WaveState};

use super::oracle::{self, Matrices};
use super::{Random, Shape, element_formats, get, instructions, operand, run};

fn find(arch: Arch, name: &str) -> (Inst, Shape) {
    instructions(arch).into_iter().find(|(_, shape)| shape.name == name).unwrap()
}

/// Random matrices of single-precision integers, and their registers.
fn singles(shape: &Shape, inst: &Inst, arch: Arch) -> (Matrices, WaveState) {
    let number = |random: &mut Random| u64::from((random.below(9) as f32 - 4.0).to_bits());
    let matrices = Matrices::new(shape, &mut Random(4), number, number, number);
    let mut state = WaveState::default();
    matrices.write(inst, shape, element_formats(arch, inst, shape), &mut state);
    (matrices, state)
}

fn single(code: u64) -> f32 {
    f32::from_bits(code as u32)
}

/// Every block of 2^CBSZ takes A from the one that ABID names (the calculator's rule).
#[test]
pub(crate) fn blocks_of_a_are_broadcast() {
    for (name, most) in
        [("v_mfma_f32_32x32x1f32", 1), ("v_mfma_f32_16x16x1f32", 2), ("v_mfma_f32_4x4x1f32", 4)]
    {
        let (mut inst, shape) = find(Arch::Gfx90a, name);
        let (matrices, state) = singles(&shape, &inst, Arch::Gfx90a);
        for (cbsz, abid) in (0..=most).flat_map(|cbsz| (0..1u8 << cbsz).map(move |abid| (cbsz, abid))) {
            (inst.mods.cbsz, inst.mods.abid) = (cbsz, abid);
            let after = run(Arch::Gfx90a, &inst, &state).unwrap();
            for block in 0..shape.blocks {
                let from = block / (1 << cbsz) * (1 << cbsz) + usize::from(abid);
                for (i, j) in (0..shape.size).flat_map(|i| (0..shape.size).map(move |j| (i, j))) {
                    let (a, b) = (matrices.a[from][i][0], matrices.b[block][0][j]);
                    let expected = single(a) * single(b) + single(matrices.c[block][i][j]);
                    let place = oracle::output(&shape, i, j, block);
                    let found = single(oracle::read_item(&inst, 0, place, 32, &after));
                    assert_eq!(found, expected, "{name} {cbsz} {abid}: ({block}, {i}, {j})");
                }
            }
        }
        (inst.mods.cbsz, inst.mods.abid) = (most + 1, 0);
        refused(Arch::Gfx90a, &inst, &state);
        (inst.mods.cbsz, inst.mods.abid) = (1, 2);
        refused(Arch::Gfx90a, &inst, &state);
    }
}

fn refused(arch: Arch, inst: &Inst, state: &WaveState) {
    let fault = run(arch, inst, state).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{fault}");
}

/// CDNA3 ISA manual, table 29: the lane that stands for a lane of B.
#[test]
pub(crate) fn lanes_of_b_are_rearranged() {
    let pattern: [fn(usize) -> usize; 8] = [
        |l| l,
        |l| l % 32,
        |l| l % 32 + 32,
        |l| (l + 16) % 64,
        |l| l % 16,
        |l| l % 16 + 16,
        |l| l % 16 + 32,
        |l| l % 16 + 48,
    ];
    for name in
        ["v_mfma_f32_32x32x1f32", "v_mfma_f32_16x16x1f32", "v_mfma_f32_4x4x1f32", "v_mfma_f32_16x16x4f32"]
    {
        let (inst, shape) = find(Arch::Gfx90a, name);
        let (_, state) = singles(&shape, &inst, Arch::Gfx90a);
        for (blgp, from) in pattern.iter().enumerate() {
            let mut swizzled = inst.clone();
            swizzled.mods.blgp = blgp as u8;
            let found = run(Arch::Gfx90a, &swizzled, &state).unwrap();
            let mut moved = state.clone();
            for lane in 0..64 {
                let bits = get(&state, operand(&inst, 2), 0, from(lane));
                super::put(&mut moved, operand(&inst, 2), 0, lane, bits);
            }
            let expected = run(Arch::Gfx90a, &inst, &moved).unwrap();
            for at in 0..usize::from(inst.operands[0].dwords) {
                for lane in 0..64 {
                    let d = operand(&inst, 0);
                    assert_eq!(get(&found, d, at, lane), get(&expected, d, at, lane), "{name} {blgp} {lane}");
                }
            }
        }
    }
}

/// Doubles from gfx942 on: BLGP's bits negate A, B and C.
#[test]
pub(crate) fn doubles_are_negated() {
    let (inst, shape) = find(Arch::Gfx942, "v_mfma_f64_4x4x4_4b_f64");
    let number = |random: &mut Random| (random.below(9) as f64 - 4.5).to_bits();
    let matrices = Matrices::new(&shape, &mut Random(5), number, number, number);
    let mut state = WaveState::default();
    matrices.write(&inst, &shape, element_formats(Arch::Gfx942, &inst, &shape), &mut state);
    for blgp in 0..8 {
        let mut inst = inst.clone();
        inst.mods.blgp = blgp;
        let after = run(Arch::Gfx942, &inst, &state).unwrap();
        let sign = |bit: u8| if blgp >> bit & 1 != 0 { -1.0 } else { 1.0 };
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let factors = matrices.factors(&shape, (1, i, j));
            let product: f64 = factors.iter().map(|(x, y)| f64::from_bits(*x) * f64::from_bits(*y)).sum();
            let c = f64::from_bits(matrices.c[1][i][j]);
            let expected = sign(0) * sign(1) * product + sign(2) * c;
            let place = oracle::output(&shape, i, j, 1);
            assert_eq!(f64::from_bits(oracle::read_item(&inst, 0, place, 64, &after)), expected, "{blgp}");
        }
    }
    let (mut old, _) = find(Arch::Gfx90a, "v_mfma_f64_4x4x4f64");
    old.mods.blgp = 1;
    refused(Arch::Gfx90a, &old, &WaveState::default());
}

/// C as an inline constant: 1.0 (code 242) and -1 (code 193).
#[test]
pub(crate) fn c_may_be_a_constant() {
    let ones = |name: &str, code: u8| {
        let (mut inst, _) = find(Arch::Gfx942, name);
        inst.operands[3].value = Value::Inline(code);
        let after = run(Arch::Gfx942, &inst, &WaveState::default()).unwrap();
        let wide = inst.operands[0].dwords > 8 && name.contains("f64");
        assert!(!wide);
        (get(&after, operand(&inst, 0), 0, 17), get(&after, operand(&inst, 0), 1, 17))
    };
    assert_eq!(ones("v_mfma_f32_16x16x16_f16", 242), (0x3f80_0000, 0x3f80_0000));
    assert_eq!(ones("v_mfma_i32_16x16x32_i8", 193), (u32::MAX, u32::MAX));
    assert_eq!(ones("v_mfma_f64_16x16x4_f64", 242), (0, 0x3ff0_0000));
}

/// Single-precision factors follow FP_DENORM; other formats, C and the result do not, from gfx942 on.
#[test]
pub(crate) fn subnormals_follow_mode_in_single_precision_only() {
    const FLUSH: u32 = WaveState::KERNEL_MODE & !0xf0;
    let result = |arch, name: &str, a: u32, b: u32, c: u32, mode: u32| {
        let (inst, shape) = find(arch, name);
        let zero = |_: &mut Random| 0;
        let mut matrices = Matrices::new(&shape, &mut Random(0), zero, zero, zero);
        matrices.a[0][0][0] = u64::from(a);
        matrices.b[0][0][0] = u64::from(b);
        matrices.c[0][0][0] = u64::from(c);
        let mut state = WaveState { mode, ..WaveState::default() };
        matrices.write(&inst, &shape, element_formats(arch, &inst, &shape), &mut state);
        let after = run(arch, &inst, &state).unwrap();
        oracle::read_item(&inst, 0, oracle::output(&shape, 0, 0, 0), 32, &after) as u32
    };
    let one = 1f32.to_bits();
    let keep = WaveState::KERNEL_MODE;
    assert_eq!(result(Arch::Gfx942, "v_mfma_f32_16x16x4_f32", 1, one, 0, keep), 1);
    assert_eq!(result(Arch::Gfx942, "v_mfma_f32_16x16x4_f32", 1, one, 0, FLUSH), 0);
    assert_eq!(result(Arch::Gfx942, "v_mfma_f32_16x16x4_f32", 0, one, 7, FLUSH), 7);
    assert_eq!(result(Arch::Gfx90a, "v_mfma_f32_16x16x4f32", 0, one, 7, FLUSH), 0);
    let half = (-24f32).exp2().to_bits();
    assert_eq!(result(Arch::Gfx942, "v_mfma_f32_16x16x16_f16", 1, 0x3c00, 0, FLUSH), half);
}

/// FP16_OVFL: results stay at the ends of their ranges.
#[test]
pub(crate) fn overflow_saturates_if_mode_says_so() {
    const OVFL: u32 = WaveState::KERNEL_MODE | 1 << 23;
    let (inst, shape) = find(Arch::Gfx942, "v_mfma_f32_16x16x4_f32");
    for (a, c, expected) in [
        (f32::MAX, 0.0, f32::MAX),
        (f32::MIN, 0.0, f32::MIN),
        (f32::INFINITY, 0.0, f32::INFINITY),
        (1.0, f32::NEG_INFINITY, f32::NEG_INFINITY),
    ] {
        let zero = |_: &mut Random| 0;
        let mut matrices = Matrices::new(&shape, &mut Random(0), zero, zero, zero);
        matrices.a[0][0][0] = u64::from(a.to_bits());
        matrices.b[0][0][0] = u64::from(2f32.to_bits());
        matrices.c[0][0][0] = u64::from(f32::to_bits(c));
        let mut state = WaveState { mode: OVFL, ..WaveState::default() };
        matrices.write(&inst, &shape, element_formats(Arch::Gfx942, &inst, &shape), &mut state);
        let after = run(Arch::Gfx942, &inst, &state).unwrap();
        let found = oracle::read_item(&inst, 0, oracle::output(&shape, 0, 0, 0), 32, &after);
        assert_eq!(single(found), expected);
    }
    let (inst, shape) = find(Arch::Gfx942, "v_mfma_i32_16x16x32_i8");
    for (mode, expected) in [(OVFL, i32::MAX), (WaveState::KERNEL_MODE, i32::MIN + 31)] {
        let matrices = Matrices::new(&shape, &mut Random(0), |_| 1, |_| 1, |_| i32::MAX as u64);
        let mut state = WaveState { mode, ..WaveState::default() };
        matrices.write(&inst, &shape, element_formats(Arch::Gfx942, &inst, &shape), &mut state);
        let after = run(Arch::Gfx942, &inst, &state).unwrap();
        let found = oracle::read_item(&inst, 0, oracle::output(&shape, 3, 5, 0), 32, &after);
        assert_eq!(found as u32 as i32, expected);
    }
}

/// CBSZ 0: ABID selects the set of indices; else the first is taken.
#[test]
pub(crate) fn sets_of_sparse_indices_are_selected() {
    for (arch, name, sets) in [
        (Arch::Gfx942, "v_smfmac_f32_16x16x32_f16", 4),
        (Arch::Gfx942, "v_smfmac_f32_32x32x32_fp8_fp8", 2),
        (Arch::Gfx950, "v_smfmac_f32_16x16x64_bf16", 2),
        (Arch::Gfx950, "v_smfmac_i32_16x16x128_i8", 1),
    ] {
        let (inst, shape) = find(arch, name);
        let formats = element_formats(arch, &inst, &shape);
        let one = |format: super::Format| move |random: &mut Random| format.code(random.below(4) as f64);
        let matrices = Matrices::new(&shape, &mut Random(6), one(formats[0]), one(formats[1]), |_| 0);
        let mut first = WaveState::default();
        matrices.write(&inst, &shape, formats, &mut first);
        let expected = run(arch, &inst, &first).unwrap();
        let width = 32 / sets;
        for set in 0..sets {
            let mut state = first.clone();
            for lane in 0..64 {
                let index = get(&first, operand(&inst, 3), 0, lane);
                super::put(&mut state, operand(&inst, 3), 0, lane, index << (set * width));
            }
            let mut chosen = inst.clone();
            chosen.mods.abid = set as u8;
            let found = run(arch, &chosen, &state).unwrap();
            for lane in 0..64 {
                let d = operand(&inst, 0);
                assert_eq!(get(&found, d, 1, lane), get(&expected, d, 1, lane), "{name} {set} {lane}");
            }
            chosen.mods.cbsz = 1;
            let ignored = run(arch, &chosen, &first).unwrap();
            assert_eq!(
                get(&ignored, operand(&inst, 0), 1, 9),
                get(&expected, operand(&inst, 0), 1, 9),
                "{name}"
            );
        }
    }
}
