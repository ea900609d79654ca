//! GFX12, in both sizes of waves: bytes to text and back, with the tables under `tests/gfx12/`.

use crate::rdna;
use crate::rdna::bytes;
use amdgpu_isa::{Arch, Encoding, Op, Reg, RegSet, Target, WaveSize, decode, decode_for_listing, parse};

const GFX1201: Target = Target { arch: Arch::Gfx1201, wave: WaveSize::Wave32 };
const WAVE64: Target = Target { arch: Arch::Gfx1201, wave: WaveSize::Wave64 };

fn set(registers: &[Reg]) -> RegSet {
    registers.iter().copied().collect()
}

#[test]
fn text_is_llvms_and_leads_back() {
    rdna::text_is_llvms_and_leads_back("gfx12");
}

#[test]
fn a_cut_off_instruction_is_an_error() {
    rdna::a_cut_off_instruction_is_an_error("gfx12");
}

/// The fields of memory instructions that GFX12 moved, at their ends.
#[test]
fn offsets_have_24_bits() {
    let ends = [
        ("s_load_b32 s1, s[2:3], -0x800000", true),
        ("s_load_b32 s1, s[2:3], 0x7fffff", true),
        ("s_load_b32 s1, s[2:3], 0x800000", false),
        ("s_buffer_load_b32 s1, s[4:7], -0x1", false),
        ("global_load_b32 v1, v[2:3], off offset:-8388608", true),
        ("global_load_b32 v1, v[2:3], off offset:8388608", false),
        ("scratch_store_b32 off, v1, off offset:8388607", true),
        ("buffer_load_b32 v1, off, s[4:7], null offset:8388607", true),
        ("buffer_load_b32 v1, off, s[4:7], null offset:8388608", false),
    ];
    for (text, is_legal) in ends {
        match parse(GFX1201, text) {
            Ok(inst) if is_legal => {
                let words = inst.encode(GFX1201).unwrap();
                assert_eq!(decode(GFX1201, &bytes(&words)).unwrap().text(GFX1201), text);
            }
            Err(_) if !is_legal => {}
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// A scope and a hint are modifiers of loads, stores and atomics, each with names of its own.
#[test]
fn hints_have_the_names_of_what_they_are_of() {
    let texts = [
        "global_load_b32 v1, v[2:3], off th:TH_LOAD_HT scope:SCOPE_DEV",
        "global_store_b32 v[2:3], v1, off th:TH_STORE_NT_WB",
        "global_atomic_add_u32 v0, v[2:3], v1, off th:TH_ATOMIC_RETURN scope:SCOPE_SYS",
        "global_atomic_add_u32 v[2:3], v1, off th:TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV",
        "s_load_b64 s[0:1], s[2:3], 0x0 th:TH_LOAD_NT scope:SCOPE_SE",
        "buffer_load_b32 v1, off, s[4:7], null th:TH_LOAD_BYPASS scope:SCOPE_SYS",
    ];
    for text in texts {
        let inst = parse(GFX1201, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(inst.text(GFX1201), text);
    }
    // One that returns is no cascade.
    let returns = parse(GFX1201, texts[2]).unwrap();
    let mut words = returns.encode(GFX1201).unwrap();
    words[1] |= 0b100 << 20;
    assert!(decode(GFX1201, &bytes(&words)).is_err());
}

/// A barrier is signalled by number or by M0; what LLVM's assembler takes for a number is none.
#[test]
fn barriers_have_numbers() {
    let signal = parse(GFX1201, "s_barrier_signal -1").unwrap();
    assert_eq!(signal.encode(GFX1201).unwrap().as_slice(), [0xbe80_4ec1]);
    let by_m0 = parse(GFX1201, "s_barrier_signal_isfirst m0").unwrap();
    let effects = by_m0.effects(GFX1201);
    assert!(effects.reads.contains(Reg::M0) && effects.writes.contains(Reg::SCC));
    for word in [0xbe80_4e14_u32, 0xbe80_4e7c, 0xbe80_4eeb] {
        assert!(decode(GFX1201, &word.to_le_bytes()).is_err(), "{word:#x}");
        assert!(decode_for_listing(GFX1201, &word.to_le_bytes()).is_err(), "{word:#x}");
    }
}

/// Matrices hold nothing twice: a half of what they take on GFX11, and in waves of 64 lanes a half of that.
#[test]
fn matrices_go_by_the_wave() {
    let narrow = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]";
    let wide = "v_wmma_f32_16x16x16_f16 v[0:3], v[8:9], v[12:13], v[0:3]";
    assert_eq!(parse(GFX1201, narrow).unwrap().text(GFX1201), narrow);
    assert_eq!(parse(WAVE64, wide).unwrap().text(WAVE64), wide);
    let reads = |target, text| parse(target, text).unwrap().effects(target).reads;
    assert!(reads(GFX1201, narrow).contains(Reg::vgpr(11)) && !reads(WAVE64, wide).contains(Reg::vgpr(10)));
    let sparse = "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20 index_key:1";
    assert_eq!(parse(GFX1201, sparse).unwrap().text(GFX1201), sparse);
}

/// Images name the registers of their address, always: an operand each, the last of which takes what is left.
#[test]
fn images_name_each_register() {
    let text = "image_sample_d v[0:3], [v4, v8, v12, v[16:18]], s[8:15], s[4:7] dmask:0xf dim:SQ_RSRC_IMG_2D";
    let image = parse(GFX1201, text).unwrap();
    assert_eq!((image.text(GFX1201).as_str(), image.encoding), (text, Encoding::Vsample));
    let reads = image.effects(GFX1201).reads;
    assert!([4, 8, 12, 16, 17, 18].into_iter().all(|number| reads.contains(Reg::vgpr(number))));
    assert!(!reads.contains(Reg::vgpr(5)) && !reads.contains(Reg::vgpr(19)));
}

/// A comparison that writes EXEC writes nothing else.
#[test]
fn comparisons_write_exec_alone() {
    let inst = parse(GFX1201, "v_cmpx_lt_u32_e32 0, v1").unwrap();
    assert_eq!(inst.effects(GFX1201).writes, set(&[Reg::EXEC_LO]));
    assert_eq!(inst.effects(WAVE64).writes, set(&[Reg::EXEC_LO, Reg::EXEC_HI]));
}

/// Both operations of a pair may read one register in the same place, but not two of one bank (RDNA 4 ISA,
/// section 7.8).
#[test]
fn pairs_share_a_register() {
    for (text, is_legal) in [
        ("v_dual_sub_f32 v3, v3, v75 :: v_dual_sub_f32 v4, v4, v75", true),
        ("v_dual_fmac_f32 v3, v75, v3 :: v_dual_fmac_f32 v4, v75, v4", true),
        ("v_dual_sub_f32 v3, v3, v75 :: v_dual_sub_f32 v4, v4, v79", false),
        // Results are one even and one odd.
        ("v_dual_fmac_f32 v3, v75, v1 :: v_dual_fmac_f32 v5, v74, v0", false),
    ] {
        match parse(GFX1201, text) {
            Ok(pair) if is_legal => assert_eq!(pair.text(GFX1201), text),
            Err(_) if !is_legal => {}
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// LLVM names halves of registers if it is asked for that (`+real-true16`), and else has no text for the
/// upper ones but by OP_SEL, which it does not always show. They are named where its other text does not say
/// which half it is, and are read everywhere.
#[test]
fn halves_are_named_where_there_is_no_other_text() {
    let texts = [
        // All are lower halves: nothing to tell.
        ("v_add_f16_e32 v1.l, v2.l, v3.l", "v_add_f16_e32 v1, v2, v3"),
        ("v_cvt_f32_f16_e32 v1, v3.l", "v_cvt_f32_f16_e32 v1, v3"),
        ("v_and_b16 v1.l, v2.l, v3.l", "v_and_b16 v1, v2, v3"),
        // By OP_SEL.
        ("v_fma_f16 v1.h, v2.h, v3.l, v4.l", "v_fma_f16 v1, v2, v3, v4 op_sel:[1,0,0,1]"),
        ("v_pack_b32_f16 v1, v2.h, v3.l", "v_pack_b32_f16 v1, v2, v3 op_sel:[1,0,0]"),
        ("v_add_nc_u16 v1.h, v2.h, v3.l", "v_add_nc_u16 v1, v2, v3 op_sel:[1,0,1]"),
        // By name alone.
        ("v_mov_b16_e32 v1.l, v3.l", "v_mov_b16_e32 v1.l, v3.l"),
        ("v_mov_b16_e64 v255.h, s3", "v_mov_b16_e64 v255.h, s3 op_sel:[0,1]"),
        ("v_swap_b16 v1.l, v3.h", "v_swap_b16 v1.l, v3.h"),
        ("v_add_f16_e32 v1.l, v2.l, v3.h", "v_add_f16_e32 v1.l, v2.l, v3.h"),
        ("v_add_f16_e64 v1.l, v2.l, v3.h", "v_add_f16_e64 v1.l, v2.l, v3.h op_sel:[0,1,0]"),
        ("v_and_b16 v1.h, v2.h, v3.l", "v_and_b16 v1.h, v2.h, v3.l op_sel:[1,0,1]"),
        ("v_cndmask_b16 v1.h, v2.h, v3.l, s0", "v_cndmask_b16 v1.h, v2.h, v3.l, s0"),
        ("v_cmp_lt_f16_e32 vcc_lo, v1.h, v2.l", "v_cmp_lt_f16_e32 vcc_lo, v1.h, v2.l"),
        ("v_cmp_lt_f16_e64 s0, v1.h, v2.l", "v_cmp_lt_f16_e64 s0, v1.h, v2.l op_sel:[1,0,0]"),
    ];
    for (named, printed) in texts {
        let inst = parse(GFX1201, named).unwrap_or_else(|error| panic!("{named}: {error}"));
        let words = inst.encode(GFX1201).unwrap();
        assert_eq!(decode(GFX1201, &bytes(&words)).unwrap().text(GFX1201), printed);
        let again = parse(GFX1201, printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(again.encode(GFX1201).unwrap(), words, "{printed}");
    }
    // A register's number has seven bits in the short forms.
    assert!(parse(GFX1201, "v_add_f16_e32 v128, v2, v3").is_err());
}

/// The other half of a result's register stays, whatever the form.
#[test]
fn results_of_16_bits_leave_the_other_half() {
    for text in ["v_mov_b16_e32 v1.h, v2.l", "v_add_f16_e32 v1, v2, v2", "v_and_b16 v1, v2, v2"] {
        let effects = parse(GFX1201, text).unwrap().effects(GFX1201);
        assert!(effects.reads.contains(Reg::vgpr(1)), "{text}");
        assert!(effects.partial.contains(Reg::vgpr(1)) && !effects.writes.contains(Reg::vgpr(1)), "{text}");
    }
    let swap = parse(GFX1201, "v_swap_b16 v1.l, v3.h").unwrap().effects(GFX1201);
    assert!([1, 3].iter().all(|&register| swap.reads.contains(Reg::vgpr(register))));
    assert!([1, 3].iter().all(|&register| swap.changes().contains(Reg::vgpr(register))));
}

/// What went with GFX11, and what came.
#[test]
fn opcodes_are_those_of_the_generation() {
    let has = |arch: Arch, op: Op| amdgpu_isa::Opcode::of_op(arch, op).next().is_some();
    let both = [
        (Op::s_barrier, true, false),
        (Op::s_barrier_signal, false, true),
        (Op::s_waitcnt_vscnt, true, false),
        (Op::s_wait_loadcnt, false, true),
        (Op::s_mul_u64, false, true),
        (Op::v_minimum_f32, false, true),
        (Op::v_swmmac_f32_16x16x32_f16, false, true),
        (Op::ds_gws_init, true, false),
        (Op::buffer_gl0_inv, true, false),
        (Op::global_wb, false, true),
    ];
    for (op, before, now) in both {
        assert_eq!((has(Arch::Gfx1100, op), has(Arch::Gfx1201, op)), (before, now), "{op}");
    }
    // Both processors have the same.
    assert_eq!(amdgpu_isa::opcodes(Arch::Gfx1200).count(), amdgpu_isa::opcodes(Arch::Gfx1201).count());
}
