//! Inline constants of 16-bit and mixed operands. The manuals only say that there are such constants; what
//! each half of a register would hold is taken from LLVM (`AMDGPU::getInlineEncodingV216`), whose compiler
//! relies on it.

use amdgpu_isa::Arch;
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;

/// What an instruction leaves in v3, with these in v0 and v1.
fn result(text: &str, [first, second]: [u32; 2]) -> u32 {
    let mut state = WaveState { exec: 1, ..WaveState::default() };
    state.set_vgpr(0, [first; 64]);
    state.set_vgpr(1, [second; 64]);
    let snippet = Snippet::assemble(Arch::Gfx90a, text).unwrap_or_else(|error| panic!("{error}"));
    let after = snippet.run(&mut Machine::new(Arch::Gfx90a, Config::default()), &state);
    after.unwrap_or_else(|fault| panic!("{fault}")).vgpr(3)[0]
}

/// Pairs of integers get the single-precision number's bits, or the integer with its sign extended over both
/// halves.
#[test]
pub(crate) fn of_pairs_of_integers() {
    assert_eq!(result("v_pk_max_i16 v3, v0, 2.0", [0x8000_8000, 0]), 0x4000_0000);
    assert_eq!(result("v_pk_max_i16 v3, v0, 2.0 op_sel:[0,1] op_sel_hi:[1,0]", [0x8000_8000, 0]), 0x4000);
    assert_eq!(result("v_pk_sub_i16 v3, 2.0, v0 clamp", [0x8000_0001, 0]), 0x7fff_ffff);
    assert_eq!(result("v_pk_add_u16 v3, v0, 1.0", [0, 0]), 0x3f80_0000);
    assert_eq!(result("v_pk_add_u16 v3, v0, -16", [0, 0]), 0xffff_fff0);
    assert_eq!(result("v_pk_add_u16 v3, v0, 9", [0, 0]), 9);
}

/// Pairs of halves get the half-precision number below and zeros above.
#[test]
pub(crate) fn of_pairs_of_halves() {
    assert_eq!(result("v_pk_add_f16 v3, v0, 2.0", [0x3c00_3c00, 0]), 0x3c00_4200);
    assert_eq!(result("v_pk_add_f16 v3, v0, 2.0 op_sel_hi:[1,0]", [0x3c00_3c00, 0]), 0x4200_4200);
}

/// Mixed instructions read a single where OP_SEL_HI does not ask for a half, whatever their result is.
#[test]
pub(crate) fn of_mixed_precision() {
    let sources = [1.5_f32.to_bits(), 0.5_f32.to_bits()];
    assert_eq!(result("v_fma_mix_f32 v3, v0, 2.0, v1", sources), 3.5_f32.to_bits());
    assert_eq!(result("v_fma_mixlo_f16 v3, v0, 2.0, v1", sources) & 0xffff, 0x4300);
}

/// The first product of a dot product takes the halves of OP_SEL, the second those of OP_SEL_HI.
#[test]
pub(crate) fn of_dot_products() {
    let sources = [5 << 16 | 3, 7];
    assert_eq!(result("v_dot2_u32_u16 v3, v0, 16, v1", sources), 3 * 16 + 7);
    assert_eq!(result("v_dot2_u32_u16 v3, v0, 16, v1 op_sel:[0,1,0] op_sel_hi:[1,0,1]", sources), 5 * 16 + 7);
    assert_eq!(result("v_dot2_i32_i16 v3, v0, v0, v1 op_sel:[0,1,0] op_sel_hi:[1,0,1]", sources), 2 * 15 + 7);
}

/// Of a literal, an operand of 16 bits takes the low half, whatever stands above it.
#[test]
pub(crate) fn of_halves_wider_than_they_are() {
    let sources = [0x4000_4200, 0xbc00_3c00];
    for text in [
        "v_madmk_f16 v3, v0, LITERAL, v1",
        "v_madak_f16 v3, v0, v1, LITERAL",
        "v_add_f16 v3, LITERAL, v0",
        "v_mul_f16 v3, LITERAL, v0",
        "v_ldexp_f16 v3, LITERAL, v0",
        "v_cvt_f32_f16 v3, LITERAL",
        "v_rcp_f16 v3, LITERAL",
        "v_add_u16 v3, LITERAL, v0",
        "v_mul_lo_u16 v3, LITERAL, v0",
        "v_max_i16 v3, LITERAL, v0",
        "v_lshrrev_b16 v3, LITERAL, v0",
        "v_cvt_f16_i16 v3, LITERAL",
        "v_cmp_gt_f16 vcc, LITERAL, v0\nv_cndmask_b32 v3, v0, v1, vcc",
        "v_cmp_lt_i16 vcc, LITERAL, v0\nv_cndmask_b32 v3, v0, v1, vcc",
        "v_cmp_class_f16 vcc, LITERAL, v0\nv_cndmask_b32 v3, v0, v1, vcc",
    ] {
        for low in [0x1234_u32, 0x8291, 0x4248, 0x3c00, 0xfff0, 0x0003] {
            let expected = result(&text.replace("LITERAL", &format!("lit({low:#x})")), sources);
            for high in [0xbf80_0000, 0xffff_0000, 0x0001_0000] {
                let text = text.replace("LITERAL", &format!("lit({:#x})", high | low));
                assert_eq!(result(&text, sources), expected, "{text}");
            }
        }
    }
}

/// Every test of this file.
pub(crate) fn all() {
    of_halves_wider_than_they_are();
    of_pairs_of_integers();
    of_pairs_of_halves();
    of_mixed_precision();
    of_dot_products();
}
