//! Every scalar ALU instruction of every processor with random operands, against models written from the
//! manuals: results, SCC, EXEC, and that nothing else changes.

mod model;

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Access, Arch, Encoding, Feature, Inst, Slot, Target, Value, opcodes};
use amdinst_emu::{Config, Fidelity, Machine, WaveState, fidelity};

use crate::coverage::Snippet;
use crate::support::{Random, trials, value};
use model::{Effect, State};

/// Tested elsewhere (`tables/lanes.txt`, `tables/rdna.txt`), without an effect on registers, or left out by
/// name.
fn is_elsewhere(name: &str, encoding: Encoding) -> bool {
    const ALONE: [&str; 31] = [
        "s_getpc_b64",
        "s_setpc_b64",
        "s_swappc_b64",
        "s_rfe_b64",
        "s_rfe_restore_b64",
        "s_call_b64",
        "s_cbranch_g_fork",
        "s_cbranch_i_fork",
        "s_cbranch_join",
        "s_version",
        "s_movrelsd_2_b32",
        "s_sendmsg_rtn_b32",
        "s_sendmsg_rtn_b64",
        "s_waitcnt_vscnt",
        "s_waitcnt_vmcnt",
        "s_waitcnt_expcnt",
        "s_waitcnt_lgkmcnt",
        "s_movrels_b32",
        "s_movrels_b64",
        "s_movreld_b32",
        "s_movreld_b64",
        "s_getreg_b32",
        "s_setreg_b32",
        "s_setreg_imm32_b32",
        "s_setvskip",
        "s_set_gpr_idx_idx",
        "s_set_gpr_idx_on",
        // GFX12's (`tables/rdna.txt`, `tests/gfx12.rs`).
        "s_barrier_signal",
        "s_barrier_signal_isfirst",
        "s_get_barrier_state",
        "s_sleep_var",
    ];
    is_float(name) || ALONE.contains(&name) || encoding == Encoding::Sopp
}

/// Arithmetic of floats in the scalar ALU (`gfx12.rs`).
fn is_float(name: &str) -> bool {
    ["_f32", "_f16"].iter().any(|format| name.contains(format))
}

pub(crate) fn is_scalar(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk)
}

#[test]
pub(crate) fn scalar_instructions_do_what_their_models_do() {
    each_does_what_its_model_does(&crate::targets::PROCESSORS.map(Target::from));
}

#[test]
pub(crate) fn scalar_instructions_of_rdna_do_what_their_models_do() {
    each_does_what_its_model_does(&crate::targets::RDNA);
}

/// SCC after minima and maxima: `S0 < S1`, and `S0 > S1`, or `S0 >= S1` in the manuals of CDNA 3 and 4, RDNA
/// 3.5 and 4.
#[test]
pub(crate) fn maxima_of_equals_tell_which_was_chosen() {
    use Arch::*;
    for target in crate::targets::TARGETS {
        let arch = target.arch;
        let first = matches!(arch, Gfx942 | Gfx950 | Gfx1150 | Gfx1201);
        let mut machine = Machine::new(arch, Config::default());
        for (op, of_equals) in
            [("max_i32", first), ("max_u32", first), ("min_i32", false), ("min_u32", false)]
        {
            let snippet = Snippet::assemble(target, &format!("s_{op} s0, s1, s2")).unwrap();
            for value in [0, 5, 0x8000_0000, 0xffff_ffff] {
                let mut state = WaveState { scc: !of_equals, ..WaveState::default() };
                state.sgprs[1..3].fill(value);
                let after = snippet.run(&mut machine, &state).unwrap();
                assert_eq!((after.sgprs[0], after.scc), (value, of_equals), "{arch} s_{op} of {value:#x}");
            }
        }
    }
}

fn each_does_what_its_model_does(targets: &[Target]) {
    let mut covered = BTreeMap::new();
    let mut uncovered = BTreeSet::new();
    let mut failures = BTreeMap::new();
    for &target in targets {
        let arch = target.arch;
        let mut machine = Machine::new(arch, Config::default());
        for opcode in opcodes(target).filter(|opcode| is_scalar(opcode.encoding())) {
            let name = opcode.op().name();
            let is_unsupported = matches!(fidelity::of(opcode), Fidelity::Unsupported { .. });
            if is_unsupported || is_elsewhere(name, opcode.encoding()) {
                continue;
            }
            let mut random = Random::new(&format!("{arch} {name}"));
            for _ in 0..trials(100) {
                let mut inst = opcode.plain().unwrap();
                choose_operands(&mut inst, target, &mut random);
                match trial(&mut machine, target, &inst, &mut random) {
                    Some(Ok(())) => *covered.entry(name).or_insert(0_usize) += 1,
                    Some(Err(message)) => {
                        failures.entry(name).or_insert(message);
                    }
                    None => {
                        uncovered.insert(name);
                    }
                }
            }
        }
    }
    let cases: usize = covered.values().sum();
    println!("{} scalar operations on {} targets: {cases} cases compared", covered.len(), targets.len());
    let report: String = failures.values().map(|message| format!("{message}\n")).collect();
    assert!(failures.is_empty(), "{} operations differ:\n{report}", failures.len());
    assert!(uncovered.is_empty(), "without a model: {uncovered:?}");
}

/// Constants, EXEC, VCC and M0 now and then, and any SIMM16.
fn choose_operands(inst: &mut Inst, target: Target, random: &mut Random) {
    for at in 0..inst.operands.len() {
        let mut changed = inst.clone();
        let operand = &mut changed.operands[at];
        let wide = operand.dwords == 2;
        operand.value = match (operand.value, random.below(8)) {
            (Value::Imm(_), _) => Value::Imm(random.next() as u16 as i16 as i32),
            (Value::Scalar(_), 0) => Value::EXEC,
            (Value::Scalar(_), 1) => Value::VCC,
            (Value::Scalar(_), 2) if !wide => Value::M0,
            (Value::Scalar(_), 3) if operand.access == Access::Read => {
                Value::Literal(value(random, crate::model::Kind::I32) as u32)
            }
            (Value::Scalar(_), 4) if operand.access == Access::Read => {
                Value::Inline(128 + random.below(81) as u8)
            }
            (other, _) => other,
        };
        if changed.encode(target).is_ok() {
            *inst = changed;
        } else if let Value::Imm(_) = changed.operands[at].value {
            // An unsigned field.
            let mut changed = inst.clone();
            changed.operands[at].value = Value::Imm(random.next() as u16 as i32);
            if changed.encode(target).is_ok() {
                *inst = changed;
            }
        }
    }
}

fn trial(
    machine: &mut Machine,
    target: Target,
    inst: &Inst,
    random: &mut Random,
) -> Option<Result<(), String>> {
    use crate::model::Kind;
    let name = inst.op.name();
    let mut state = WaveState { scc: random.flag(), m0: random.next() as u32, ..WaveState::default() };
    state.exec = crate::support::exec(random) & target.wave.all_lanes();
    state.vcc = value(random, Kind::I64) as u64;
    for sgpr in &mut state.sgprs {
        *sgpr = value(random, Kind::I32) as u32;
    }
    let mut sources = [0_u64; 2];
    let mut immediate = 0;
    let mut destination = None;
    for operand in &inst.operands {
        let read = |dwords: u8| -> u64 {
            match operand.value {
                Value::VCC if dwords == 2 => state.vcc,
                Value::VCC => state.vcc & 0xffff_ffff,
                Value::EXEC if dwords == 2 => state.exec,
                Value::EXEC => state.exec & 0xffff_ffff,
                Value::M0 => state.m0.into(),
                Value::Scalar(first) if dwords == 2 => state.sgpr_pair(usize::from(first)),
                Value::Scalar(first) => state.sgprs[usize::from(first)].into(),
                Value::Literal(bits) if dwords == 2 && name.ends_with("_i64") => bits as i32 as i64 as u64,
                Value::Literal(bits) => bits.into(),
                Value::Inline(code @ 128..=192) => u64::from(code) - 128,
                Value::Inline(code) => {
                    (192 - i64::from(code)) as u64 & if dwords == 2 { u64::MAX } else { 0xffff_ffff }
                }
                other => panic!("{other:?}"),
            }
        };
        match operand.slot {
            Slot::Ssrc0 => sources[0] = read(operand.dwords),
            Slot::Ssrc1 => sources[1] = read(operand.dwords),
            Slot::Simm16 => {
                if let Value::Imm(value) = operand.value {
                    immediate = value as u16;
                }
            }
            _ => {}
        }
        if operand.slot == Slot::Sdst {
            destination = Some((operand.value, operand.dwords, read(operand.dwords)));
        }
    }
    let old = destination.map_or(0, |(_, _, old)| old);
    let exec = state.exec;
    // Of a wave of 64 lanes, instructions for 32 see and change the lower half.
    let is_half = (name.contains("saveexec") || name.contains("wrexec")) && name.ends_with("_b32");
    let seen = if is_half { exec & 0xffff_ffff } else { exec };
    let first_of_equals = target.arch.has(Feature::FirstOfEqualMaxima);
    let input = State { s: sources, old, scc: state.scc, exec: seen, immediate, first_of_equals };
    let mut effect = model::run(name, &input)?;
    if is_half {
        effect.exec = effect.exec.map(|new| exec & !0xffff_ffff | new);
    }
    Some(compare(
        machine,
        target,
        inst,
        &state,
        destination.map(|(value, dwords, _)| (value, dwords)),
        &input,
        effect,
    ))
}

fn compare(
    machine: &mut Machine,
    target: Target,
    inst: &Inst,
    state: &WaveState,
    destination: Option<(Value, u8)>,
    input: &State,
    effect: Effect,
) -> Result<(), String> {
    let mut expected = state.clone();
    if let Some(exec) = effect.exec {
        expected.exec = exec;
    }
    if let Some(scc) = effect.scc {
        expected.scc = scc;
    }
    if let (Some(result), Some((register, dwords))) = (effect.result, destination) {
        let low = |old: u64| if dwords == 2 { result } else { old & !0xffff_ffff | result & 0xffff_ffff };
        match register {
            Value::VCC => expected.vcc = low(expected.vcc),
            Value::EXEC => expected.exec = low(expected.exec),
            Value::M0 => expected.m0 = result as u32,
            Value::Scalar(first) if dwords == 2 => expected.set_sgpr_pair(usize::from(first), result),
            Value::Scalar(first) => expected.sgprs[usize::from(first)] = result as u32,
            other => panic!("{other:?}"),
        }
    }
    let arch = target.arch;
    expected.exec &= target.wave.all_lanes();
    let text = inst.text(target);
    let words = inst.encode(target).map_err(|error| format!("{text}: {error}"))?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let after = Snippet::from_bytes(target, &bytes)
        .run(machine, state)
        .map_err(|fault| format!("{arch}: {fault}"))?;
    let same = WaveState { vgprs: after.vgprs.clone(), agprs: after.agprs.clone(), ..expected.clone() };
    if after == same {
        return Ok(());
    }
    let register = destination.map(|(register, dwords)| match register {
        Value::Scalar(first) if first < 100 && dwords == 2 => {
            (after.sgpr_pair(first.into()), expected.sgpr_pair(first.into()))
        }
        Value::Scalar(first) if first < 100 => {
            (after.sgprs[usize::from(first)].into(), expected.sgprs[usize::from(first)].into())
        }
        _ => (0, 0),
    });
    Err(format!(
        "{arch} `{text}` of {input:x?}: result {register:x?} (is, should be), scc {} should be {}, exec {:#x} should be {:#x}, vcc {:#x} should be {:#x}",
        after.scc, expected.scc, after.exec, expected.exec, after.vcc, expected.vcc
    ))
}
