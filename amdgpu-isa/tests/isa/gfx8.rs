//! GFX8, beside what `tests/opcodes.tsv` has of it: where it differs from GFX9, whose tables it shares.

use amdgpu_isa::{Arch, Op, Reg, Value, Waits, decode, decode_for_listing, parse};

const GFX803: Arch = Arch::Gfx803;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The dwords of a text, which reads back as it was.
fn words(arch: Arch, text: &str) -> Vec<u32> {
    let inst = parse(arch, text).unwrap_or_else(|error| panic!("{arch} {text}: {error}"));
    assert_eq!(inst.text(arch), text, "{arch}");
    inst.encode(arch).unwrap().to_vec()
}

/// One operation has two names: what GFX8 calls `v_add_u32` is GFX9's `v_add_co_u32`.
#[test]
fn additions_have_carries() {
    let sum = parse(GFX803, "v_add_u32_e32 v1, vcc, v2, v3").unwrap();
    assert_eq!(sum.op, Op::v_add_co_u32);
    assert!(sum.effects(GFX803).writes.contains(Reg::VCC_LO));
    let later = parse(Arch::Gfx900, "v_add_co_u32_e32 v1, vcc, v2, v3").unwrap();
    assert_eq!(sum.encode(GFX803).unwrap(), later.encode(Arch::Gfx900).unwrap());
    assert!(parse(GFX803, "v_add_u32_e32 v1, v2, v3").is_err());
    let half = parse(GFX803, "v_mad_f16 v1, v2, v3, v4").unwrap();
    assert_eq!(half.op, Op::v_mad_legacy_f16);
}

/// Offsets of scalar memory are 20 bits without a sign; GFX9's are 21 with one.
#[test]
fn scalar_offsets_have_no_sign() {
    assert_eq!(words(GFX803, "s_load_dword s5, s[2:3], 0xfffff"), [0xc002_0141, 0x000f_ffff]);
    assert!(parse(GFX803, "s_load_dword s5, s[2:3], 0x100000").is_err());
    // The bits above mean nothing, and are kept.
    let odd = [0xc002_0141, 0xfff0_0010];
    let inst = decode(GFX803, &bytes(&odd)).unwrap();
    assert_eq!(inst.text(GFX803), "s_load_dword s5, s[2:3], 0x10");
    assert_eq!(inst.encode(GFX803).unwrap().as_slice(), odd);
}

/// FLAT has no offset. A listing shows what stands there, as LLVM's does.
#[test]
fn flat_has_no_offset() {
    assert_eq!(words(GFX803, "flat_load_dword v1, v[3:4]"), [0xdc50_0000, 0x0100_0003]);
    let offset = bytes(&[0xdc50_0004, 0x0100_0003]);
    assert!(decode(GFX803, &offset).is_err());
    let listed = decode_for_listing(GFX803, &offset).unwrap();
    assert_eq!(listed.text(GFX803), "flat_load_dword v1, v[3:4] offset:4");
    assert!(parse(GFX803, "global_load_dword v1, v[3:4], off").is_err());
}

/// SDWA has no scalar sources, and comparisons write VCC alone.
#[test]
fn sdwa_is_of_vector_registers() {
    let text = "v_cmp_eq_u32 vcc, v0, v1 clamp src0_sel:BYTE_1 src1_sel:DWORD";
    assert_eq!(words(GFX803, text), [0x7d94_02f9, 0x0601_2000]);
    assert!(parse(GFX803, "v_cmp_eq_u32_sdwa s[0:1], v0, v1 src0_sel:DWORD src1_sel:DWORD").is_err());
    let move_half = "v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0";
    assert_eq!(words(GFX803, move_half), [0x7e02_02f9, 0x0004_1502]);
    assert!(parse(GFX803, &move_half.replace("v2", "s2")).is_err());
}

/// The trap handler's addresses have names; XNACK_MASK is where accesses can be replayed.
#[test]
fn special_registers_are_those_of_the_processor() {
    assert_eq!(words(GFX803, "s_mov_b64 s[0:1], tma"), [0xbe80_016e]);
    assert_eq!(words(GFX803, "s_mov_b32 s0, ttmp11"), [0xbe80_007b]);
    assert_eq!(words(Arch::Gfx801, "s_mov_b32 s0, xnack_mask_lo"), [0xbe80_0068]);
    let mask = bytes(&[0xbe80_0068]);
    assert!(decode(GFX803, &mask).is_err() && decode(Arch::Gfx801, &mask).is_ok());
    assert!(decode(GFX803, &bytes(&[0xbe80_00eb])).is_err(), "no aperture is a source");
}

/// Each half of memory takes a register, but on gfx810.
#[test]
fn halves_of_memory_are_unpacked() {
    let width = |arch: Arch, text: &str| parse(arch, text).map(|inst| inst.operands[0].dwords);
    for (text, packed) in [
        ("buffer_load_format_d16_xyz v[0:2], off, s[0:3], 0", false),
        ("buffer_load_format_d16_xyz v[0:1], off, s[0:3], 0", true),
        ("tbuffer_store_format_d16_xyzw v[0:3], off, s[0:3], 0", false),
        ("tbuffer_store_format_d16_xyzw v[0:1], off, s[0:3], 0", true),
        ("image_load v[0:1], v[0:1], s[0:7] dmask:0x3 d16", false),
        ("image_load v0, v[0:1], s[0:7] dmask:0x3 d16", true),
    ] {
        let expected = text.split_once(' ').unwrap().1;
        let registers = match expected.strip_prefix("v[0:") {
            Some(last) => last[..1].parse::<u8>().unwrap() + 1,
            None => 1,
        };
        assert_eq!(width(GFX803, text).is_ok_and(|width| width == registers), !packed, "{text}");
        assert_eq!(width(Arch::Gfx810, text).is_ok_and(|width| width == registers), packed, "{text}");
    }
}

/// LDS is as large as M0 says; what moves values between lanes has no such limit.
#[test]
fn lds_needs_m0() {
    let reads = |arch: Arch, text: &str| parse(arch, text).unwrap().effects(arch).reads.contains(Reg::M0);
    assert!(reads(GFX803, "ds_read_b32 v0, v1") && !reads(Arch::Gfx900, "ds_read_b32 v0, v1"));
    assert!(reads(GFX803, "flat_load_dword v0, v[2:3]"));
    assert!(!reads(GFX803, "ds_bpermute_b32 v0, v1, v2"));
}

/// What GFX9 takes for other patterns of lanes is a number.
#[test]
fn swizzles_have_no_modes() {
    assert_eq!(words(GFX803, "ds_swizzle_b32 v0, v0 offset:55922"), [0xd87a_da72, 0]);
    let later = decode(Arch::Gfx900, &bytes(&[0xd87a_da72, 0])).unwrap();
    assert_eq!(later.text(Arch::Gfx900), "ds_swizzle_b32 v0, v0 offset:swizzle(ROTATE,0,19)");
}

/// Four bits count operations of vector memory, of which GFX9 counts six.
#[test]
fn waits_have_four_bits() {
    let generation = GFX803.generation();
    let inst = parse(GFX803, "s_waitcnt vmcnt(14) lgkmcnt(3)").unwrap();
    let waits = Waits { vector: Some(14), scalar: Some(3), lds: Some(3), exports: None };
    assert_eq!(Waits::of(&inst, generation), Some(waits));
    assert_eq!(waits.instructions(generation)[..], [(Op::s_waitcnt, 0x037e)]);
    assert_eq!(inst.operands[0].value, Value::Imm(0x037e));
}
