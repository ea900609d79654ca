//! What mnemonics are, and what they say of themselves.

use amdgpu_isa::{
    Arch, Encoding, Families, Generation, HardwareRegister, MaskOp, Mods, Op, Target, Value, WaveSize,
    assemble, decode, parse,
};

#[test]
fn mnemonics_are_of_the_families_that_their_names_say() {
    let of = |families| Op::ALL.iter().filter(move |op| op.is_of(families)).map(|op| op.name());
    assert_eq!(
        of(Families::COPIES_NEW_EXEC).collect::<Vec<_>>(),
        ["s_andn1_wrexec_b32", "s_andn1_wrexec_b64", "s_andn2_wrexec_b32", "s_andn2_wrexec_b64"]
    );
    assert!(of(Families::COMPARE_EXEC).all(|name| name.starts_with("v_cmpx_")));
    assert!(of(Families::SAVES_EXEC).count() == 20);
    assert!(Op::ds_swizzle_b32.is_of(Families::MOVES_LANES) && Op::ds_swizzle_b32.is_of(Families::LATE));
    assert!(Op::v_fma_mixlo_f16.is_of(Families::KEEPS_HALF) && !Op::v_fmac_f16.is_of(Families::KEEPS_HALF));
    assert!(of(Families::GLOBAL_SYNC).count() == 6);
    assert_eq!(Op::v_add_f32.families(), Families::default());
}

#[test]
fn each_operation_is_that_of_its_opcode() {
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let known = Op::ALL.iter().filter_map(|&op| Some((op, op.mask_op(wave)?)));
        assert!(known.clone().count() > 25);
        for (op, does) in known {
            assert_eq!(does.op(wave), Some(op));
        }
    }
}

#[test]
fn every_opcode_that_copies_exec_is_one() {
    for &op in Op::ALL {
        let does = op.mask_op(WaveSize::Wave64).or(op.mask_op(WaveSize::Wave32));
        assert_eq!(matches!(does, Some(MaskOp::Saveexec(_))), op.is_of(Families::SAVES_EXEC), "{op}");
        assert_eq!(matches!(does, Some(MaskOp::Wrexec(_))), op.is_of(Families::COPIES_NEW_EXEC), "{op}");
    }
}

#[test]
fn names_are_sorted_and_found_again() {
    assert!(Op::ALL.iter().map(|op| op.name()).is_sorted());
    for &op in Op::ALL {
        assert_eq!(Op::from_name(op.name()), Some(op));
    }
    assert_eq!(Op::from_name("v_add_f32_e32"), None);
}

#[test]
fn offsets_end_where_encodings_do() {
    for arch in [Arch::Gfx90a, Arch::Gfx1010, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1201] {
        let end = arch.generation().offset_end() as i32;
        let values = [Value::Vgpr(0), Value::Vgpr(1), Value::Scalar(4)];
        let fits = |offset| {
            let mods = Mods { offset, ..Mods::default() };
            assemble(arch, Op::global_store_dword, Encoding::Global, &values, mods).is_ok()
        };
        assert_eq!([end - 1, end, -end, -end - 1].map(fits), [true, false, true, false], "{arch}");
    }
}

#[test]
fn flat_scratch_is_written_by_its_name() {
    let [low, high] = Generation::Gfx10.flat_scratch_registers().expect("registers");
    for (text, register) in [
        ("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s3", low),
        ("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3", high),
    ] {
        let inst = parse(Arch::Gfx1030, text).expect(text);
        assert_eq!(HardwareRegister::written(&inst), Some(register), "{text}");
        assert_eq!(inst.operands[0].value, Value::Imm(register.whole()), "{text}");
    }
    let part = parse(Arch::Gfx1010, "s_setreg_imm32_b32 hwreg(HW_REG_FLAT_SCR_LO, 4, 2), 1").expect("a part");
    assert_eq!(HardwareRegister::written(&part), Some(low));
    let other = parse(Arch::Gfx1010, "s_getreg_b32 s3, hwreg(HW_REG_FLAT_SCR_LO)").expect("a read");
    assert_eq!(HardwareRegister::written(&other), None);
}

#[test]
fn one_message_gives_vector_registers_back() {
    let gfx11 = Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 };
    let gives_back = |target: Target, text: &str| {
        parse(target, text).expect(text).deallocates_vgprs(target.arch.generation())
    };
    assert!(gives_back(gfx11, "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)"));
    assert!(!gives_back(gfx11, "s_sendmsg sendmsg(MSG_INTERRUPT)") && !gives_back(gfx11, "s_nop 3"));
    // On GFX9 another message has the number.
    let done = decode(Arch::Gfx90a, &0xbf90_0003_u32.to_le_bytes()).expect("`s_sendmsg`");
    assert!(!done.deallocates_vgprs(Generation::Gfx9));
}

#[test]
fn returning_float_atomics_have_few_forms_with_accumulation_registers() {
    let decodes = |low: u32| {
        let bytes = [low.to_le_bytes(), 0x66d4_60bc_u32.to_le_bytes()].concat();
        decode(Arch::Gfx942, &bytes).is_ok()
    };
    // global_atomic_min_f64 a[102:103], v188, a[96:97], s[84:85] offset:-2755 sc0 nt, then with sc1, then
    // without sc0.
    assert!(decodes(0xdd43_953d));
    assert!(!decodes(0xdf43_953d));
    assert!(decodes(0xdf42_953d));
    // global_atomic_pk_add_f16 without sc0 and with it.
    assert!(decodes(0xdd38_953d));
    assert!(!decodes(0xdd39_953d));
}
