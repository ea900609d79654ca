//! GFX11, in both sizes of waves: bytes to text and back, with the tables under `tests/gfx11/`.

use std::collections::BTreeSet;

use crate::rdna;
use crate::rdna::bytes;
use amdgpu_isa::{
    Arch, Condition, Flow, Generation, Op, Reg, RegSet, Special, Target, Value, Waits, WaveSize, decode,
    opcodes, parse,
};

#[test]
fn text_is_llvms_and_leads_back() {
    rdna::text_is_llvms_and_leads_back("gfx11");
}

#[test]
fn a_cut_off_instruction_is_an_error() {
    rdna::a_cut_off_instruction_is_an_error("gfx11");
}

#[test]
fn plain_forms_are_instructions_and_have_effects() {
    for arch in Arch::KNOWN.into_iter().filter(|arch| arch.generation() != Generation::Gfx9) {
        for wave in [WaveSize::Wave32, WaveSize::Wave64] {
            let target = Target { arch, wave };
            let mut mnemonics = BTreeSet::new();
            for opcode in opcodes(target) {
                let name = opcode.mnemonic();
                let inst = opcode.plain().unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
                let words = inst.encode(target).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
                let decoded =
                    decode(target, &bytes(&words)).unwrap_or_else(|error| panic!("{arch} {name}: {error}"));
                assert_eq!(decoded, inst, "{arch} {name}");
                let effects = inst.effects(target);
                for operand in &inst.operands {
                    if let (Value::Vgpr(first), true) = (operand.value, operand.dwords > 0) {
                        let known = effects.reads.contains(Reg::vgpr(first))
                            || effects.changes().contains(Reg::vgpr(first));
                        assert!(known, "{arch} {name}: v{first}");
                    }
                }
                mnemonics.insert(name);
            }
            assert!(mnemonics.len() > 1000, "{arch}: only {}", mnemonics.len());
        }
    }
}

const GFX1100: Target = Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 };
const WAVE64: Target = Target { arch: Arch::Gfx1100, wave: WaveSize::Wave64 };

fn set(registers: &[Reg]) -> RegSet {
    registers.iter().copied().collect()
}

/// A comparison that writes EXEC writes nothing else, and as much as a wave has lanes.
#[test]
fn comparisons_write_exec_alone() {
    let words = [0x7d92_0280];
    let inst = decode(GFX1100, &bytes(&words)).unwrap();
    assert_eq!(inst.text(GFX1100), "v_cmpx_lt_u32_e32 0, v1");
    assert_eq!(inst.effects(GFX1100).writes, set(&[Reg::EXEC_LO]));
    assert_eq!(inst.effects(WAVE64).writes, set(&[Reg::EXEC_LO, Reg::EXEC_HI]));
}

/// Code 124 is NULL and 125 is M0; SCC is neither.
#[test]
fn null_and_m0_are_apart() {
    let null = parse(GFX1100, "s_mov_b32 null, s0").unwrap();
    assert_eq!(null.encode(GFX1100).unwrap().as_slice(), [0xbefc_0000]);
    assert_eq!(null.operands[0].value, Value::Special(Special::Null));
    assert!(null.effects(GFX1100).writes.is_empty());
    let m0 = parse(GFX1100, "s_mov_b32 m0, s0").unwrap();
    assert_eq!(m0.encode(GFX1100).unwrap().as_slice(), [0xbefd_0000]);
    assert_eq!(m0.effects(GFX1100).writes, set(&[Reg::M0]));
    assert!(!m0.effects(GFX1100).writes.contains(Reg::SCC));
}

/// Clang writes a negative constant of 16 bits with all 32 of its dword, as LLVM's listing shows.
#[test]
fn constants_of_halves_keep_their_dword() {
    let words = [0x6e0c_0d15, 0xffff_8291];
    let inst = decode(GFX1100, &bytes(&words)).unwrap();
    let text = "v_fmamk_f16 v6.l, v21.l, 0xffff8291, v6.l";
    assert_eq!(inst.text(GFX1100), text);
    assert_eq!(inst.encode(GFX1100).unwrap().as_slice(), words);
    assert_eq!(parse(GFX1100, text).unwrap(), inst);
}

#[test]
fn lane_masks_are_as_wide_as_a_wave() {
    let add = "v_add_co_ci_u32_e64 v0, s4, v1, v2, s6";
    let narrow = parse(GFX1100, add).unwrap();
    assert_eq!(narrow.text(GFX1100), add);
    assert_eq!(narrow.effects(GFX1100).writes, set(&[Reg::scalar(4)]));
    let words = narrow.encode(GFX1100).unwrap();
    let wide = decode(WAVE64, &bytes(&words)).unwrap();
    assert_eq!(wide.text(WAVE64), "v_add_co_ci_u32_e64 v0, s[4:5], v1, v2, s[6:7]");
    assert_eq!(wide.effects(WAVE64).writes, set(&[Reg::scalar(4), Reg::scalar(5)]));
}

#[test]
fn pairs_have_both_operations() {
    let text = "v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4";
    let pair = parse(GFX1100, text).unwrap();
    assert_eq!((pair.op, pair.mods.dual), (Op::v_add_f32, Some(Op::v_mov_b32)));
    let effects = pair.effects(GFX1100);
    assert!(effects.partial.contains(Reg::vgpr(0)) && effects.partial.contains(Reg::vgpr(3)));
    assert!([1, 2, 4].iter().all(|&register| effects.reads.contains(Reg::vgpr(register))));
    let words = pair.encode(GFX1100).unwrap();
    assert!(decode(WAVE64, &bytes(&words)).is_err(), "waves of 64 lanes have no pairs");
    // Both destinations odd, sources of one bank.
    assert!(parse(GFX1100, "v_dual_add_f32 v1, v1, v2 :: v_dual_mov_b32 v3, v4").is_err());
    assert!(parse(GFX1100, "v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v5").is_err());
}

#[test]
fn waits_and_branches_are_what_their_text_says() {
    let waits = parse(GFX1100, "s_waitcnt vmcnt(62) lgkmcnt(0)").unwrap();
    let expected = Waits { vector: Some(62), scalar: Some(0), lds: Some(0), exports: None };
    assert_eq!(Waits::of(&waits, Arch::Gfx1100.generation()), Some(expected));
    let [(op, immediate)] = expected.instructions(Arch::Gfx1100.generation())[..] else {
        panic!("one instruction")
    };
    assert_eq!((op, waits.operands[0].value), (Op::s_waitcnt, Value::Imm(immediate.into())));
    let branch = parse(GFX1100, "s_cbranch_execz 4").unwrap();
    assert_eq!(branch.flow(), Flow::CondBranch { offset: 16, condition: Condition::Execz });
    let store = parse(GFX1100, "global_store_b32 v[0:1], v2, off").unwrap().effects(GFX1100);
    assert!(store.vs_cnt && !store.vm_cnt);
    let load = parse(GFX1100, "global_load_b32 v2, v[0:1], off").unwrap().effects(GFX1100);
    assert!(load.vm_cnt && !load.vs_cnt);
}

/// Where each register of an address is named, the words behind the last say nothing, and are kept.
#[test]
fn images_have_addresses_as_long_as_their_dimension_says() {
    let text = "image_sample_c_d_o  v[0:3], [v4, v8, v12, v16, v[20:23]], s[8:15], s[4:7] dmask:0xf dim:SQ_RSRC_IMG_2D";
    let image = parse(GFX1100, text).unwrap();
    assert_eq!(image.text(GFX1100), text);
    let reads = image.effects(GFX1100).reads;
    assert!([4, 8, 12, 16, 20, 23].iter().all(|&register| reads.contains(Reg::vgpr(register))));
    assert!(!reads.contains(Reg::vgpr(24)) && image.effects(GFX1100).vm_cnt);
    // A line has one coordinate: nothing to name apart.
    assert!(parse(GFX1100, "image_load v0, [v1, v2], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_1D").is_err());
    let words = [0xf000_0105, 0x0002_0001, 0x0403_0002];
    let idle = decode(GFX1100, &bytes(&words)).unwrap();
    assert_eq!(idle.text(GFX1100), "image_load v0, [v1, v2], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D");
    assert_eq!(idle.encode(GFX1100).unwrap().as_slice(), words);
}
