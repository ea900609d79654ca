//! Sets of registers, constants, and the counters that are waited for.

use std::ops::Range;

use amdgpu_isa::{Arch, Generation, Inst, Op, Reg, RegSet, ScalarSet, Value, Waits, parse, scalar};

#[test]
fn sets_hold_what_was_put_in() {
    let regs =
        [Reg::scalar(0), Reg::EXEC_HI, Reg::vgpr(0), Reg::vgpr(255), Reg::agpr(255), Reg::SCC, Reg::MODE];
    let set: RegSet = regs.into_iter().collect();
    assert_eq!(set.iter().collect::<Vec<_>>(), regs);
    assert_eq!(set.len(), regs.len());
    assert_eq!(RegSet::all().iter().count(), RegSet::all().len());
    let mut rest = RegSet::all();
    rest.subtract(&set);
    assert!(!rest.intersects(&set));
    rest.union_with(&set);
    assert_eq!(rest, RegSet::all());
}

#[test]
fn runs_are_their_registers() {
    let scalars = |range: Range<u8>| range.map(Reg::scalar).collect::<RegSet>();
    let vgprs = |range: Range<u8>| range.map(Reg::vgpr).collect::<RegSet>();
    for (first, count, expected) in [
        (Reg::scalar(0), 1, scalars(0..1)),
        (Reg::scalar(126), 2, scalars(126..128)),
        (Reg::vgpr(60), 8, vgprs(60..68)),
        (Reg::vgpr(3), 200, vgprs(3..203)),
    ] {
        let mut run = RegSet::EMPTY;
        run.insert_run(first, count);
        assert_eq!(run, expected);
    }
    let mut all = RegSet::EMPTY;
    all.insert_run(Reg::scalar(0), u16::MAX);
    assert_eq!(all, RegSet::all());
    let vectors: RegSet = [Reg::vgpr(0), Reg::agpr(255)].into_iter().collect();
    let others: RegSet = [Reg::scalar(0), Reg::EXEC_HI, Reg::SCC, Reg::MODE].into_iter().collect();
    assert!(vectors.has_vectors() && !vectors.has_scalars() && others.has_scalars() && !others.has_vectors());
    assert!(vectors.share_vectors(&RegSet::all()) && !vectors.share_scalars(&RegSet::all()));
    assert!(others.share_scalars(&RegSet::all()) && !others.share_vectors(&RegSet::all()));
}

#[test]
fn scalar_sets_hold_scalars_alone() {
    let mut all = RegSet::EMPTY;
    for (first, count) in [(Reg::scalar(100), 2), (Reg::SCC, 2), (Reg::EXEC_HI, 5)] {
        all.insert_run(first, count);
    }
    let set = ScalarSet::of(&all);
    let members = [Reg::scalar(100), Reg::scalar(101), Reg::SCC, Reg::EXEC_HI];
    // No register has the number behind M0's, which stands for SCC.
    for reg in RegSet::all().iter().filter(|reg| *reg != Reg::scalar(scalar::M0 + 1)) {
        assert_eq!(set.contains(reg), members.contains(&reg), "{reg}");
    }
    assert_eq!(format!("{set:?}"), "{s100, s101, exec_hi, scc}");
    assert!(set.without(set).is_empty() && set.union(ScalarSet::ALL) == ScalarSet::ALL);
    let pairs = ScalarSet::register(5).union(ScalarSet::register(106)).union(ScalarSet::SCC).with_pairs();
    assert_eq!(format!("{pairs:?}"), "{s4, s5, vcc_lo, vcc_hi, scc}");
    assert_eq!(ScalarSet::register(124).with_pairs(), ScalarSet::register(124), "M0 has no other half");
}

#[test]
fn registers_have_their_usual_names() {
    let names = [Reg::scalar(5), Reg::VCC_LO, Reg::EXEC_HI, Reg::M0, Reg::vgpr(7), Reg::agpr(9), Reg::SCC];
    assert_eq!(names.map(|reg| reg.to_string()), ["s5", "vcc_lo", "exec_hi", "m0", "v7", "a9", "scc"]);
}

#[test]
fn inline_constants_have_the_manuals_values() {
    assert_eq!(Value::int(-16).as_u32(), Some(-16_i32 as u32));
    assert_eq!(Value::int(64).as_u64(), Some(64));
    assert_eq!(Value::int(-1).as_u64(), Some(u64::MAX));
    assert_eq!(Value::int(65), Value::Literal(65));
    assert_eq!(Value::Inline(242).as_u32(), Some(0x3f80_0000));
    assert_eq!(Value::Inline(242).as_u64(), Some(0x3ff0_0000_0000_0000));
    assert_eq!(Value::Inline(242).as_u16(), Some(0x3c00));
    assert_eq!(Value::Inline(248).as_u32(), Some(0x3e22_f983));
    assert_eq!(Value::Inline(248).as_u64(), Some(0x3fc4_5f30_6dc9_c882));
    assert_eq!(Value::Literal(0x3ff0_0000).as_f64_bits(), Some(1.0_f64.to_bits()));
    assert_eq!(Value::VCC.as_u32(), None);
}

#[test]
fn waits_are_what_their_text_says() {
    let cases = [
        ("s_waitcnt vmcnt(0)", Waits::VECTOR),
        ("s_waitcnt lgkmcnt(0)", Waits { lds: Some(0), ..Waits::SCALAR }),
        ("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", Waits::ALL),
        ("s_waitcnt vmcnt(62) expcnt(6)", Waits { vector: Some(62), exports: Some(6), ..Waits::default() }),
    ];
    for (text, waits) in cases {
        let inst = parse(Arch::Gfx90a, text).unwrap();
        assert_eq!(Waits::of(&inst, Generation::Gfx9), Some(waits), "{text}");
        let written = waits.instructions(Generation::Gfx9);
        assert_eq!(written[..], [(inst.op, immediate(&inst))], "{text}");
    }
    assert_eq!(Waits::default().instructions(Generation::Gfx9)[..], [(Op::s_waitcnt, 0xcf7f)]);
    let both = Waits { scalar: Some(3), lds: Some(1), ..Waits::default() };
    let shared = both.instructions(Generation::Gfx11);
    assert_eq!(shared[..], [(Op::s_waitcnt, 0xfc17)], "a shared counter is waited for until either is done");
}

fn immediate(inst: &Inst) -> u16 {
    match inst.operands.iter().map(|operand| operand.value).collect::<Vec<_>>()[..] {
        [Value::Imm(raw)] => raw as u16,
        _ => panic!("{inst:?}"),
    }
}

/// RDNA 4 ISA, S_WAIT_LOADCNT and its like; the counts are LLVM's.
#[test]
fn gfx12_waits_for_one_counter_or_for_two() {
    let none = Waits::default();
    let cases = [
        ("s_wait_loadcnt 0x0", Waits::VECTOR),
        ("s_wait_kmcnt 0x0", Waits::SCALAR),
        ("s_wait_dscnt 0x0", Waits::LDS),
        ("s_wait_dscnt 0x3e", Waits { lds: Some(62), ..none }),
        ("s_wait_expcnt 0x2", Waits { exports: Some(2), ..none }),
        ("s_wait_loadcnt_dscnt 0x500", Waits { vector: Some(5), ..Waits::LDS }),
    ];
    for (text, waits) in cases {
        let inst = parse(Arch::Gfx1201, text).unwrap();
        assert_eq!(Waits::of(&inst, Generation::Gfx12), Some(waits), "{text}");
        let written = waits.instructions(Generation::Gfx12);
        assert_eq!(written[..], [(inst.op, immediate(&inst))], "{text}");
    }
    for text in ["s_wait_storecnt 0x0", "s_wait_samplecnt 0x0", "s_wait_bvhcnt 0x0", "s_wait_loadcnt 0x3f"] {
        let inst = parse(Arch::Gfx1201, text).unwrap();
        assert_eq!(Waits::of(&inst, Generation::Gfx12), Some(none), "{text}");
    }
    let stores = parse(Arch::Gfx1201, "s_wait_storecnt_dscnt 0x0").unwrap();
    assert_eq!(Waits::of(&stores, Generation::Gfx12), Some(Waits::LDS));
    let text: Vec<_> = Waits::ALL.instructions(Generation::Gfx12).into_iter().collect();
    let all = [(Op::s_wait_loadcnt_dscnt, 0), (Op::s_wait_kmcnt, 0), (Op::s_wait_expcnt, 0)];
    assert_eq!(text, all);
    assert!(none.instructions(Generation::Gfx12).is_empty());
}
