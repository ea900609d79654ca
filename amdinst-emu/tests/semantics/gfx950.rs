//! What gfx90a, gfx942 and gfx950 added to the vector ALU, beside matrices and conversions.

use amdgpu_isa::{Arch, Encoding, Op};
use amdinst_emu::{Config, FaultKind, Fidelity, Machine, WaveState, fidelity};

use crate::coverage::Snippet;
use crate::random::Random;

fn run(arch: Arch, text: &str, state: &WaveState) -> WaveState {
    let snippet = Snippet::assemble(arch, text).unwrap_or_else(|error| panic!("{error}"));
    snippet.run(&mut Machine::new(arch, Config::default()), state).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A state whose first VGPRs hold random bits.
fn random_state(seed: u64, registers: usize) -> WaveState {
    let mut random = Random(seed);
    let mut state = WaveState { exec: 0xfff0_0000_1234_5678, ..WaveState::default() };
    for register in 0..registers {
        state.set_vgpr(register, std::array::from_fn(|_| random.next() as u32));
    }
    state
}

/// Compare v[to] of the active lanes with a function of the lane's v0 … v5, and see that others keep theirs.
fn compare(arch: Arch, text: &str, to: usize, expected: impl Fn([u32; 6]) -> u32) {
    let state = random_state(11, 8);
    let after = run(arch, text, &state);
    for lane in 0..64 {
        let sources = std::array::from_fn(|register| state.vgpr(register)[lane]);
        let active = state.exec >> lane & 1 == 1;
        let expected = if active { expected(sources) } else { state.vgpr(to)[lane] };
        assert_eq!(after.vgpr(to)[lane], expected, "{text}, lane {lane}");
    }
}

/// Bit i of the result is the table's bit that the sources' bits i number.
#[test]
pub(crate) fn bit_operations_by_table() {
    let by_bits = |table: u32, a: u32, b: u32, c: u32, width: u32| {
        (0..width).fold(0, |result, bit| {
            let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
            result | (table >> row & 1) << bit
        })
    };
    for table in 0..256u32 {
        compare(Arch::Gfx950, &format!("v_bitop3_b32 v6, v0, v1, v2 bitop3:{table:#x}"), 6, |v| {
            by_bits(table, v[0], v[1], v[2], 32)
        });
    }
    compare(Arch::Gfx950, "v_bitop3_b16 v5, v0, v1, v2 bitop3:0x6c", 5, |v| {
        v[5] & 0xffff_0000 | by_bits(0x6c, v[0], v[1], v[2], 16)
    });
    compare(Arch::Gfx950, "v_bitop3_b16 v5, v0, v1, v2 bitop3:0x27 op_sel:[1,0,1,1]", 5, |v| {
        v[5] & 0xffff | by_bits(0x27, v[0] >> 16, v[1], v[2] >> 16, 16) << 16
    });
}

#[test]
pub(crate) fn shifts_that_saturate() {
    let byte = |value: u32, shift: u32, low: i64, high: i64| {
        let shifted = (f64::from(value as i32) / f64::from(shift & 31).exp2()).floor() as i64;
        shifted.clamp(low, high) as u32 & 0xff
    };
    compare(Arch::Gfx950, "v_ashr_pk_i8_i32 v5, v0, v1, v2", 5, |v| {
        v[5] & 0xffff_0000 | byte(v[0], v[2], -128, 127) | byte(v[1], v[2], -128, 127) << 8
    });
    compare(Arch::Gfx950, "v_ashr_pk_u8_i32 v5, v0, v1, v2 op_sel:[0,0,0,1]", 5, |v| {
        v[5] & 0xffff | (byte(v[0], v[2], 0, 255) | byte(v[1], v[2], 0, 255) << 8) << 16
    });
}

#[test]
pub(crate) fn random_numbers_are_shifted() {
    compare(Arch::Gfx950, "v_prng_b32 v6, v0", 6, |v| {
        let doubled = u64::from(v[0]) * 2;
        doubled as u32 ^ if doubled > u64::from(u32::MAX) { 0b1100_0101 } else { 0 }
    });
}

#[test]
pub(crate) fn moves_and_sums_of_64_bits() {
    let state = random_state(12, 8);
    let after =
        run(Arch::Gfx942, "v_lshl_add_u64 v[6:7], v[0:1], 3, v[2:3]\nv_mov_b64 v[4:5], v[2:3]", &state);
    for lane in (0..64).filter(|lane| state.exec >> lane & 1 == 1) {
        let (a, c) = (state.vgpr_pair(0)[lane], state.vgpr_pair(2)[lane]);
        assert_eq!(after.vgpr_pair(6)[lane], a.wrapping_mul(8).wrapping_add(c));
        assert_eq!(after.vgpr_pair(4)[lane], c);
    }
    let mut fused = WaveState::default();
    fused.set_vgpr_pair(0, [1.5f64.to_bits(); 64]);
    fused.set_vgpr_pair(2, [(1.0 + f64::EPSILON).to_bits(); 64]);
    fused.set_vgpr_pair(4, [(-1.5f64).to_bits(); 64]);
    let after = run(Arch::Gfx90a, "v_fmac_f64 v[4:5], v[0:1], v[2:3]", &fused);
    assert_eq!(f64::from_bits(after.vgpr_pair(4)[9]), 1.5 * f64::EPSILON);
}

/// OP_SEL and OP_SEL_HI pick a dword of each pair for the low and the high result; NEG and NEG_HI their
/// signs.
#[test]
pub(crate) fn pairs_of_singles() {
    let mut state = WaveState::default();
    for (register, value) in [2.0f32, 3.0, 5.0, 7.0, 11.0, 13.0].into_iter().enumerate() {
        state.set_vgpr(register, [value.to_bits(); 64]);
    }
    let result = |text: &str| {
        let after = run(Arch::Gfx90a, text, &state);
        (f32::from_bits(after.vgpr(6)[1]), f32::from_bits(after.vgpr(7)[1]))
    };
    assert_eq!(result("v_pk_mul_f32 v[6:7], v[0:1], v[2:3]"), (10.0, 21.0));
    assert_eq!(result("v_pk_mul_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]"), (15.0, 14.0));
    assert_eq!(result("v_pk_add_f32 v[6:7], v[0:1], v[2:3] neg_lo:[1,0] neg_hi:[0,1]"), (3.0, -4.0));
    assert_eq!(result("v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5] op_sel_hi:[0,0,1]"), (21.0, 23.0));
    assert_eq!(result("v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]"), (3.0, 5.0));
    assert_eq!(result("v_pk_mul_f32 v[6:7], v[0:1], 2.0 op_sel_hi:[1,0]"), (4.0, 6.0));
    // MODE: towards zero, and subnormals flushed.
    let mut state = WaveState { mode: WaveState::KERNEL_MODE | 3, ..WaveState::default() };
    state.set_vgpr_pair(0, [u64::from(1f32.to_bits()) << 32 | u64::from(1f32.to_bits()); 64]);
    let tiny = (-30f32).exp2();
    state.set_vgpr_pair(2, [u64::from((-tiny).to_bits()) << 32 | u64::from(tiny.to_bits()); 64]);
    let after = run(Arch::Gfx90a, "v_pk_add_f32 v[6:7], v[0:1], v[2:3]", &state);
    assert_eq!((after.vgpr(6)[0], after.vgpr(7)[0]), (1f32.to_bits(), 1f32.to_bits() - 1));
    state.mode = WaveState::KERNEL_MODE & !0x30;
    state.set_vgpr_pair(0, [1; 64]);
    let after = run(Arch::Gfx90a, "v_pk_add_f32 v[6:7], v[0:1], v[0:1]", &state);
    assert_eq!(after.vgpr(6)[0], 0);
}

/// IEEE 754-2019 minimum and maximum: NaN wins, -0 is below +0.
#[test]
pub(crate) fn minimum_and_maximum_of_three() {
    let result = |text: &str, values: [f32; 3]| {
        let mut state = WaveState::default();
        for (register, value) in values.into_iter().enumerate() {
            state.set_vgpr(register, [value.to_bits(); 64]);
        }
        f32::from_bits(run(Arch::Gfx950, text, &state).vgpr(3)[7])
    };
    let (low, high) = ("v_minimum3_f32 v3, v0, v1, v2", "v_maximum3_f32 v3, v0, v1, v2");
    assert_eq!(result(low, [3.0, -1.0, 2.0]), -1.0);
    assert_eq!(result(high, [3.0, -1.0, 2.0]), 3.0);
    assert!(result(low, [3.0, f32::NAN, 2.0]).is_nan() && result(high, [3.0, 1.0, f32::NAN]).is_nan());
    assert!(result(low, [0.0, -0.0, 0.0]).is_sign_negative());
    assert!(result(high, [-0.0, 0.0, -0.0]).is_sign_positive());
    let half = |text: &str, values: [u32; 3]| {
        let mut state = WaveState::default();
        for (register, value) in values.into_iter().enumerate() {
            state.set_vgpr(register, [value; 64]);
        }
        run(Arch::Gfx950, text, &state).vgpr(3)[7]
    };
    // 1, 2 and 3 in the low halves, -1, -2 and -3 in the high ones.
    let values = [0xbc00_3c00, 0xc000_4000, 0xc200_4200];
    assert_eq!(half("v_pk_minimum3_f16 v3, v0, v1, v2", values), 0xc200_3c00);
    assert_eq!(half("v_pk_maximum3_f16 v3, v0, v1, v2", values), 0xbc00_4200);
    assert_eq!(half("v_pk_maximum3_f16 v3, v0, v1, v2", [0xbc00_7e00, 0, 0]) & 0x7fff, 0x7e00);
}

#[test]
pub(crate) fn dot_products() {
    let result = |arch: Arch, text: &str, values: [u32; 3]| {
        let mut state = WaveState::default();
        for (register, value) in values.into_iter().enumerate() {
            state.set_vgpr(register, [value; 64]);
        }
        f32::from_bits(run(arch, text, &state).vgpr(2)[7])
    };
    let ten = 10f32.to_bits();
    // Halves: (1, 2)·(3, 4) + 10; bfloat16 the same.
    let halves = [0x4000_3c00, 0x4400_4200, ten];
    let wide = [0x4000_3f80, 0x4080_4040, ten];
    for arch in [Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950] {
        assert_eq!(result(arch, "v_dot2_f32_f16 v2, v0, v1, v2", halves), 21.0, "{arch}");
    }
    // Accumulating, alone, with a sign, and with lanes 1, 2, 3, 0 of each four: lane 7 takes lane 4's.
    for arch in [Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950] {
        assert_eq!(result(arch, "v_dot2c_f32_f16 v2, v0, v1", halves), 21.0, "{arch}");
        assert_eq!(result(arch, "v_dot2c_f32_f16_e64 v2, v0, v1", halves), 21.0, "{arch}");
        let mut state = WaveState::default();
        state.set_vgpr(0, [0; 64].map(|_: u32| 0x4000_4000));
        state.set_vgpr(1, [0x4400_4200; 64]);
        state.set_vgpr(2, [ten; 64]);
        state.vgprs[0][4] = halves[0];
        let text = "v_dot2c_f32_f16_dpp v2, v0, v1 quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf";
        assert_eq!(f32::from_bits(run(arch, text, &state).vgpr(2)[7]), 21.0, "{arch}");
        assert_eq!(f32::from_bits(run(arch, text, &state).vgpr(2)[6]), 24.0, "{arch}");
    }
    assert_eq!(result(Arch::Gfx950, "v_dot2c_f32_bf16 v2, v0, v1", wide), 21.0);
    assert_eq!(result(Arch::Gfx950, "v_dot2c_f32_bf16_e64 v2, v0, v1", wide), 21.0);
    let text = "v_dot2c_f32_bf16_dpp v2, v0, v1 row_mirror row_mask:0xf bank_mask:0xf";
    assert_eq!(result(Arch::Gfx950, text, wide), 21.0);
    assert_eq!(result(Arch::Gfx950, "v_dot2_f32_bf16 v2, v0, v1, v2", wide), 21.0);
    assert_eq!(result(Arch::Gfx950, "v_dot2_f32_bf16 v2, v0, v1, v2 neg_lo:[1,0,0]", wide), 15.0);
    assert_eq!(result(Arch::Gfx906, "v_dot2_f32_f16 v2, v0, v1, v2 neg_hi:[0,1,0]", halves), 5.0);
    assert_eq!(result(Arch::Gfx906, "v_dot2_f32_f16 v2, v0, v1, v2 neg_lo:[0,0,1]", halves), 1.0);
    // The addend comes last (CDNA4 ISA manual, `V_DOT2_F32_BF16`): 1 - 1 + 2^-30. The accumulating form
    // begins with it.
    let far = [0xbf80_3f80, 0x3f80_3f80, 2f32.powi(-30).to_bits()];
    assert_eq!(result(Arch::Gfx950, "v_dot2_f32_bf16 v2, v0, v1, v2", far), 2f32.powi(-30));
    assert_eq!(result(Arch::Gfx950, "v_dot2c_f32_bf16 v2, v0, v1", far), 0.0);
    // Subnormal halves count as zero on gfx90a alone; old values do everywhere.
    let tiny = |exponent| f32::powi(2.0, exponent);
    for arch in [
        Arch::Gfx906,
        Arch::Gfx908,
        Arch::Gfx90a,
        Arch::Gfx942,
        Arch::Gfx950,
        Arch::Gfx1030,
        Arch::Gfx1100,
        Arch::Gfx1201,
    ] {
        let kept = |value: f32| if arch == Arch::Gfx90a { 0.0 } else { value };
        let text = "v_dot2_f32_f16 v2, v0, v1, v2";
        assert_eq!(result(arch, text, [0x0000_8001, 0x0000_0400, 0]), kept(-tiny(-38)), "{arch}");
        assert_eq!(result(arch, text, [0x0001_3c00, 0x3c00_0001, 1]), kept(tiny(-23)), "{arch}");
        assert_eq!(result(arch, text, [0x0000_0001, 0x0000_0000, 1]), 0.0, "{arch}");
        let claim = fidelity(arch, Encoding::Vop3p, Op::v_dot2_f32_f16).unwrap();
        assert_eq!(claim == Fidelity::Exact, arch == Arch::Gfx90a, "{arch}");
        assert_eq!(
            claim.remark().contains("kept, as measured"),
            arch != Arch::Gfx90a,
            "{arch}: {}",
            claim.remark()
        );
    }
    for (arch, kept) in [(Arch::Gfx90a, 0.0), (Arch::Gfx942, -tiny(-38)), (Arch::Gfx1030, -tiny(-38))] {
        assert_eq!(result(arch, "v_dot2c_f32_f16 v2, v0, v1", [0x0000_8001, 0x0000_0400, 0]), kept, "{arch}");
    }
}

/// Odd rows of the first operand and even rows of the second change places.
#[test]
pub(crate) fn rows_are_swapped() {
    for (text, distance) in [
        ("v_permlane16_swap_b32 v0, v1", 16),
        ("v_permlane32_swap_b32 v0, v1", 32),
        ("v_permlane16_swap_b32_e64 v0, v1", 16),
        ("v_permlane32_swap_b32_e64 v0, v1", 32),
    ] {
        let mut state = WaveState::default();
        state.set_vgpr(0, std::array::from_fn(|lane| lane as u32));
        state.set_vgpr(1, std::array::from_fn(|lane| 100 + lane as u32));
        let after = run(Arch::Gfx950, text, &state);
        for lane in 0..64usize {
            let odd = lane & distance != 0;
            let first = if odd { 100 + lane - distance } else { lane };
            let second = if odd { 100 + lane } else { lane + distance };
            assert_eq!(
                (after.vgpr(0)[lane], after.vgpr(1)[lane]),
                (first as u32, second as u32),
                "{text} {lane}"
            );
        }
        state.exec = 1;
        let snippet = Snippet::assemble(Arch::Gfx950, text).unwrap();
        let fault = snippet.run(&mut Machine::new(Arch::Gfx950, Config::default()), &state).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Unimplemented { .. }), "{fault}");
    }
}

#[test]
pub(crate) fn accumulation_registers_are_moved() {
    let mut state = WaveState { exec: 0b101, ..WaveState::default() };
    state.set_vgpr(0, [7; 64]);
    state.set_agpr(2, [8; 64]);
    let text = "v_accvgpr_write_b32 a0, v0\nv_accvgpr_read_b32 v1, a2\nv_accvgpr_mov_b32 a1, a2";
    for arch in [Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950] {
        let after = run(arch, text, &state);
        assert_eq!((after.agpr(0)[0], after.agpr(0)[1], after.agpr(1)[2]), (7, 0, 8), "{arch}");
        assert_eq!((after.vgpr(1)[2], after.vgpr(1)[3]), (8, 0), "{arch}");
    }
}

/// The tests in here, for [`crate::coverage`].
pub(crate) fn all() {
    bit_operations_by_table();
    shifts_that_saturate();
    random_numbers_are_shifted();
    moves_and_sums_of_64_bits();
    pairs_of_singles();
    minimum_and_maximum_of_three();
    dot_products();
    rows_are_swapped();
    accumulation_registers_are_moved();
}
