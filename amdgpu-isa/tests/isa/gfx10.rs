//! GFX10, in both sizes of waves: bytes to text and back, with the tables under `tests/gfx10/`.

use crate::rdna;
use crate::rdna::bytes;
use amdgpu_isa::{Arch, Op, Reg, RegSet, Special, Target, Value, Waits, WaveSize, decode, parse};

const GFX1030: Target = Target { arch: Arch::Gfx1030, wave: WaveSize::Wave32 };
const WAVE64: Target = Target { arch: Arch::Gfx1030, wave: WaveSize::Wave64 };

fn set(registers: &[Reg]) -> RegSet {
    registers.iter().copied().collect()
}

#[test]
fn text_is_llvms_and_leads_back() {
    rdna::text_is_llvms_and_leads_back("gfx10");
}

#[test]
fn a_cut_off_instruction_is_an_error() {
    rdna::a_cut_off_instruction_is_an_error("gfx10");
}

/// Code 125 is NULL and 124 is M0: the other way round than on GFX11.
#[test]
fn null_and_m0_are_apart() {
    let null = parse(GFX1030, "s_mov_b32 null, s0").unwrap();
    assert_eq!(null.encode(GFX1030).unwrap().as_slice(), [0xbefd_0300]);
    assert_eq!(null.operands[0].value, Value::Special(Special::Null));
    assert!(null.effects(GFX1030).writes.is_empty());
    let m0 = parse(GFX1030, "s_mov_b32 m0, s0").unwrap();
    assert_eq!(m0.encode(GFX1030).unwrap().as_slice(), [0xbefc_0300]);
    assert_eq!(m0.effects(GFX1030).writes, set(&[Reg::M0]));
}

/// The mask of classes is no float: a sign of it is refused, as LLVM does.
#[test]
fn the_classes_that_are_compared_have_no_sign() {
    for first in [0xd488_0139, 0xd48f_0139, 0xd4a8_0139_u32] {
        assert!(decode(GFX1030, &bytes(&[first, 0x0002_4804])).is_ok(), "{first:#x}");
        for changed in [[first | 0x200, 0x0002_4804], [first, 0x4002_4804]] {
            assert!(decode(GFX1030, &bytes(&changed)).is_err(), "{changed:x?}");
        }
    }
}

/// A comparison that writes EXEC writes nothing else, also with SDWA.
#[test]
fn comparisons_write_exec_alone() {
    for text in ["v_cmpx_lt_u32_e32 0, v1", "v_cmpx_lt_u32_sdwa v0, v1 src0_sel:BYTE_1 src1_sel:DWORD"] {
        let inst = parse(GFX1030, text).unwrap();
        assert_eq!(inst.text(GFX1030), text);
        assert_eq!(inst.effects(GFX1030).writes, set(&[Reg::EXEC_LO]));
        assert_eq!(inst.effects(WAVE64).writes, set(&[Reg::EXEC_LO, Reg::EXEC_HI]));
    }
}

#[test]
fn waits_are_what_their_text_says() {
    let generation = Arch::Gfx1030.generation();
    let waits = parse(GFX1030, "s_waitcnt vmcnt(62) lgkmcnt(62)").unwrap();
    let expected = Waits { vector: Some(62), scalar: Some(62), lds: Some(62), exports: None };
    assert_eq!(Waits::of(&waits, generation), Some(expected));
    let [(op, immediate)] = expected.instructions(generation)[..] else { panic!("one instruction") };
    assert_eq!((op, waits.operands[0].value), (Op::s_waitcnt, Value::Imm(immediate.into())));
    let store = parse(GFX1030, "global_store_dword v[0:1], v2, off").unwrap().effects(GFX1030);
    assert!(store.vs_cnt && !store.vm_cnt);
}

/// Up to thirteen registers, each of which is read; what no address needs of the last dword is kept.
#[test]
fn images_name_each_register() {
    let text = "image_sample_c_d_o  v[0:3], [v4, v8, v12, v16, v20, v24, v28, v32], s[8:15], s[4:7] dmask:0xf \
                dim:SQ_RSRC_IMG_2D";
    let image = parse(GFX1030, text).unwrap();
    assert_eq!((image.text(GFX1030).as_str(), image.size), (text, 16));
    let reads = image.effects(GFX1030).reads;
    assert!((1..=8).all(|number| reads.contains(Reg::vgpr(4 * number))));
    assert!(!reads.contains(Reg::vgpr(5)) && !reads.contains(Reg::vgpr(36)));
    let mut words = image.encode(GFX1030).unwrap();
    assert_eq!(words.len(), 4);
    words[3] |= 0xff00_0000;
    let idle = decode(GFX1030, &bytes(&words)).unwrap();
    assert_eq!(idle.text(GFX1030), text);
    assert_eq!(idle.encode(GFX1030).unwrap(), words);
    // One dword of registers more than the address needs.
    words[0] |= 0b110;
    words.push(0);
    assert!(decode(GFX1030, &bytes(&words)).is_err());
}

/// What some processors of the generation have and others have not.
#[test]
fn processors_have_what_llvm_says() {
    let has = |arch: Arch, op: Op| amdgpu_isa::Opcode::of_op(arch, op).next().is_some();
    let of = |op: Op| {
        let archs = Arch::KNOWN.into_iter().filter(|arch| arch.generation() == Arch::Gfx1030.generation());
        archs.filter(|arch| has(*arch, op)).map(Arch::name).collect::<Vec<_>>()
    };
    let rdna_2 =
        ["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx10-3-generic"];
    let rdna_1 = ["gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx10-1-generic"];
    assert_eq!(of(Op::v_dot4_i32_i8), [&["gfx1011", "gfx1012"][..], &rdna_2].concat());
    assert_eq!(of(Op::image_bvh64_intersect_ray), [&["gfx1013"][..], &rdna_2].concat());
    assert_eq!(of(Op::global_atomic_csub), rdna_2);
    assert_eq!(of(Op::s_get_waveid_in_workgroup), rdna_1);
    assert_eq!(of(Op::v_mac_f32), rdna_1);
    // No address at all is a form of scratch that came with RDNA 2.
    let alone = "scratch_load_dword v0, off, off";
    assert!(parse(GFX1030, alone).is_ok() && parse(Arch::Gfx1010, alone).is_err());
}
