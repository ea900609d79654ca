//! One instruction with random modifiers on one wave, compared lane by lane.

use amdgpu_isa::{Access, Encoding, Generation, Inst, Mods, Opcode, Slot, Target, Value};
use amdinst_emu::{Machine, WaveState};

use super::{compare, dpp, sdwa};
use crate::coverage::Snippet;
use crate::model::{self, Answer, Args, Kind, Mode};
use crate::support::{self, Random};
use crate::targets::is_gcn;

/// Kinds of the result and the sources.
struct Kinds {
    dst: Kind,
    src: Vec<Kind>,
}

fn kinds(name: &str, inst: &Inst, target: Target) -> Kinds {
    if compare::is_comparison(name) {
        let mut src = compare::kinds(name).to_vec();
        if names_halves(target) && name.ends_with("class_f16") {
            src[1] = Kind::I16;
        }
        return Kinds { dst: Kind::I64, src };
    }
    if inst.encoding.is_vop3p() || name == "v_pk_fmac_f16" {
        // Whole registers; the model picks them apart.
        let of = |dwords: u8| if dwords > 1 { Kind::I64 } else { Kind::I32 };
        let sources = inst
            .operands
            .iter()
            .filter(|operand| matches!(operand.slot, Slot::Src0 | Slot::Src1 | Slot::Src2));
        return Kinds {
            dst: of(inst.operands[0].dwords),
            src: sources.map(|operand| of(operand.dwords)).collect(),
        };
    }
    let operation = model::operation(name).unwrap_or_else(|| panic!("{name}: no model"));
    let mut kinds = Kinds { dst: operation.dst, src: operation.src.to_vec() };
    if names_halves(target) {
        match name {
            "v_sat_pk_u8_i16" => kinds.dst = Kind::I16,
            "v_alignbit_b32" | "v_alignbyte_b32" => kinds.src[2] = Kind::I16,
            _ => {}
        }
    }
    kinds
}

/// Whether operands of 16 bits are halves of registers, of which the other one stays as it is (RDNA3 ISA,
/// section 7.2.2).
fn names_halves(target: Target) -> bool {
    !is_gcn(target)
}

/// A mask in scalar registers.
fn mask_at(state: &WaveState, value: Value, target: Target) -> u64 {
    let mask = match value {
        Value::VCC => state.vcc,
        Value::Scalar(first) if target.wave.mask_sgprs() == 1 => state.sgprs[usize::from(first)].into(),
        Value::Scalar(first) => state.sgpr_pair(usize::from(first)),
        other => panic!("{other:?}: no mask"),
    };
    mask & target.wave.all_lanes()
}

/// Inputs for packed operands: two halves, or a float, chosen for their edges.
fn packed_value(name: &str, kind: Kind, random: &mut Random) -> u128 {
    let halves = |random: &mut Random, kind: Kind| {
        support::value(random, kind) & 0xffff | (support::value(random, kind) & 0xffff) << 16
    };
    if kind == Kind::I64 {
        return support::value(random, Kind::F32) | support::value(random, Kind::F32) << 32;
    }
    if name.contains("f16") || name.contains("mix") {
        return if name.contains("mix") && random.flag() {
            support::value(random, Kind::F32)
        } else {
            halves(random, Kind::F16)
        };
    }
    if name.starts_with("v_pk") { halves(random, Kind::I16) } else { support::value(random, Kind::I32) }
}

/// Changes a modifier if the instruction can be encoded with it.
fn try_mods(inst: &mut Inst, target: Target, change: impl FnOnce(&mut Mods)) {
    let mut changed = inst.clone();
    change(&mut changed.mods);
    if changed.encode(target).is_ok() {
        *inst = changed;
    }
}

fn modify(inst: &mut Inst, target: Target, kinds: &Kinds, random: &mut Random) {
    let random_bits = random.next();
    let bits = |shift: u32, mask: u8| (random_bits >> shift) as u8 & mask;
    match inst.encoding {
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => {
            let mut chosen = sdwa::any(random);
            for source in 0..2 {
                let float = kinds.src.get(source).is_some_and(|kind| kind.is_float());
                chosen.sext[source] = !float && random.flag();
            }
            if inst.encoding == Encoding::VopcSdwa {
                (chosen.dst_sel, chosen.dst_unused) = Default::default();
            }
            for part in 0..3 {
                // What an instruction does not take, it is not given.
                let mut partial = chosen;
                if part > 0 {
                    partial.sext = [false; 2];
                }
                if part > 1 {
                    (partial.dst_sel, partial.dst_unused) = Default::default();
                }
                let before = inst.mods.sdwa;
                try_mods(inst, target, |mods| mods.sdwa = Some(partial));
                if inst.mods.sdwa != before {
                    break;
                }
            }
        }
        _ if inst.encoding.is_vop3p() => {
            let sources = kinds.src.len() as u32;
            let all = (1_u8 << sources) - 1;
            if random.flag() {
                try_mods(inst, target, |mods| mods.op_sel = bits(8, all));
                try_mods(inst, target, |mods| mods.op_sel_hi = bits(12, all));
            }
            if random.flag() {
                try_mods(inst, target, |mods| mods.neg = bits(16, all));
                try_mods(inst, target, |mods| mods.neg_hi = bits(20, all));
            }
        }
        _ => {}
    }
    if inst.encoding.is_dpp() {
        let chosen = dpp::any(random);
        try_mods(inst, target, |mods| mods.dpp = Some(chosen));
    } else if inst.encoding.is_dpp8() {
        let lanes = [random.next() as u8, random.next() as u8, random.next() as u8];
        try_mods(inst, target, |mods| mods.dpp8 = Some(lanes));
    }
    if names_halves(target) && random.flag() {
        try_mods(inst, target, |mods| mods.fi = true);
    }
    if !inst.encoding.is_vop3p() {
        for (source, kind) in kinds.src.iter().enumerate() {
            if !kind.is_float() {
                continue;
            }
            if bits(8, 15) >> source & 1 != 0 && random.flag() {
                try_mods(inst, target, |mods| mods.neg |= 1 << source);
            }
            if bits(12, 15) >> source & 1 != 0 && random.flag() {
                try_mods(inst, target, |mods| mods.abs |= 1 << source);
            }
        }
        if random.flag() {
            try_mods(inst, target, |mods| mods.omod = bits(16, 3));
        }
        if inst.encoding == Encoding::Vop3 && !names_halves(target) && random.flag() {
            for bit in 0..4 {
                if bits(20, 15) >> bit & 1 != 0 {
                    try_mods(inst, target, |mods| mods.op_sel |= 1 << bit);
                }
            }
        }
    }
    if random.below(3) == 0 {
        try_mods(inst, target, |mods| mods.clamp = true);
    }
}

/// Where the wave's state holds an operand's values.
fn read(state: &WaveState, value: Value, dwords: u8, kind: Kind) -> [u128; 64] {
    let mut lanes = [0; 64];
    match value {
        Value::Vgpr(first) => {
            for dword in 0..dwords {
                let register = state.vgpr(usize::from(first + dword));
                for (lane, value) in lanes.iter_mut().zip(register) {
                    *lane |= u128::from(value) << (32 * u32::from(dword));
                }
            }
        }
        Value::Scalar(first) if first < 102 => {
            let value = (0..dwords).fold(0, |value, dword| {
                value | u128::from(state.sgprs[usize::from(first + dword)]) << (32 * u32::from(dword))
            });
            lanes = [value; 64];
        }
        Value::Literal(bits) => lanes = [u128::from(bits); 64],
        Value::Inline(code) => lanes = [inline(code, kind); 64],
        other => panic!("{other:?}: unexpected operand"),
    }
    lanes
}

/// An inline constant's value in an operand of a kind (Vega ISA manual, "Scalar ALU operands"); 16-bit
/// integers get the low half of the single-precision number, as in LLVM's assembler.
fn inline(code: u8, kind: Kind) -> u128 {
    let whole = match code {
        128..=192 => Some(i64::from(code) - 128),
        193..=208 => Some(192 - i64::from(code)),
        _ => None,
    };
    if let Some(value) = whole {
        return u128::from(if kind.bits() > 32 { value as u64 } else { u64::from(value as u32) });
    }
    let number = [0.5_f32, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0][usize::from(code - 240)];
    match kind {
        Kind::F64 => u128::from(f64::from(number).to_bits()),
        // Powers of two: the exponents differ by 112, the fractions are zero.
        Kind::F16 => {
            u128::from((number.to_bits() >> 16 & 0x8000) | ((number.to_bits() >> 23 & 0xff) - 112) << 10)
        }
        _ => u128::from(number.to_bits()),
    }
}

/// Sometimes a scalar register or a constant instead of a vector register.
fn substitute(inst: &mut Inst, target: Target, kinds: &Kinds, random: &mut Random) {
    if random.flag() || inst.encoding.is_dpp() || inst.encoding.is_dpp8() {
        return;
    }
    let at = random.below(3) as usize;
    let slot = [Slot::Src0, Slot::Src1, Slot::Src2][at];
    let Some(kind) = kinds.src.get(at).copied() else { return };
    let packed = inst.encoding.is_vop3p() || inst.op.name().contains("v_pk");
    let mut changed = inst.clone();
    for operand in
        changed.operands.iter_mut().filter(|operand| operand.slot == slot && operand.access == Access::Read)
    {
        if !matches!(operand.value, Value::Vgpr(_)) || operand.dwords > 2 {
            return;
        }
        operand.value = match random.below(4) {
            0 | 1 => Value::Scalar(40),
            2 if !packed && (kind.is_float() || kind.bits() <= 32) => {
                Value::Inline(240 + random.below(8) as u8)
            }
            2 | 3 if !packed => Value::Inline(128 + random.below(81) as u8),
            _ => Value::Scalar(60),
        };
    }
    if changed.encode(target).is_ok() {
        *inst = changed;
    }
}

/// Run one trial.
pub(super) fn run(
    machine: &mut Machine,
    target: Target,
    opcode: Opcode,
    random: &mut Random,
) -> Result<(), String> {
    let arch = target.arch;
    let name = opcode.op().name();
    let mut inst = opcode.plain().map_err(|error| error.to_string())?;
    let kinds = kinds(name, &inst, target);
    for operand in &mut inst.operands {
        if let Value::Literal(literal) = &mut operand.value {
            let value = support::value(random, kinds.dst) as u32;
            *literal = if kinds.dst == Kind::F16 { value & 0xffff } else { value };
        }
    }
    modify(&mut inst, target, &kinds, random);
    substitute(&mut inst, target, &kinds, random);
    if names_halves(target) && random.flag() {
        // Which half of a register it is: a constant has none.
        let is_constant = |inst: &Inst| {
            inst.operands
                .iter()
                .any(|operand| operand.slot == Slot::Src0 && !matches!(operand.value, Value::Vgpr(_)))
        };
        let bits = random.next() as u8 & 15;
        for bit in (0..4).filter(|bit| bits >> bit & 1 != 0) {
            if bit != 0 || inst.encoding == Encoding::Vop3 || !is_constant(&inst) {
                try_mods(&mut inst, target, |mods| mods.op_sel |= 1 << bit);
            }
        }
    }

    let mut state = WaveState {
        exec: support::exec(random) & target.wave.all_lanes(),
        mode: support::mode(random),
        ..WaveState::default()
    };
    state.vcc = random.next();
    for sgpr in &mut state.sgprs {
        *sgpr = random.next() as u32;
    }
    let packed = inst.encoding.is_vop3p() || name == "v_pk_fmac_f16";
    let any = |kind: Kind, random: &mut Random| {
        if packed { packed_value(name, kind, random) } else { support::value(random, kind) }
    };
    let mut source = 0;
    for operand in &inst.operands {
        let is_source = matches!(operand.slot, Slot::Src0 | Slot::Src1 | Slot::Src2);
        let kind = if is_source { kinds.src.get(source).copied() } else { Some(kinds.dst) };
        source += usize::from(is_source);
        let Some(kind) = kind else { continue };
        match operand.value {
            Value::Vgpr(first) => {
                let lanes: [u128; 64] = std::array::from_fn(|_| any(kind, random));
                for dword in 0..operand.dwords {
                    let row = lanes.map(|value| (value >> (32 * u32::from(dword))) as u32);
                    state.set_vgpr(usize::from(first + dword), row);
                }
            }
            Value::Scalar(first) if is_source && first < 100 => {
                let value = any(kind, random);
                for dword in 0..operand.dwords {
                    state.sgprs[usize::from(first + dword)] = (value >> (32 * u32::from(dword))) as u32;
                }
            }
            _ => {}
        }
    }

    let words = inst.encode(target).map_err(|error| format!("{inst:?}: {error}"))?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let after = Snippet::from_bytes(target, &bytes)
        .run(machine, &state)
        .map_err(|fault| format!("{arch}: {fault}"))?;
    check(target, name, &inst, &kinds, &state, &after)
}

/// A source after its modifiers.
fn source_value(inst: &Inst, kinds: &Kinds, source: usize, bits: u128) -> u128 {
    let mods = &inst.mods;
    let Some(kind) = kinds.src.get(source).copied() else { return bits };
    if inst.encoding.is_vop3p() {
        return bits;
    }
    let mut bits = bits;
    if let (Some(chosen), true) = (&mods.sdwa, source < 2) {
        bits = u128::from(sdwa::select(chosen, source, bits as u32));
    }
    if mods.op_sel >> source & 1 != 0 && kind.bits() == 16 {
        bits >>= 16;
    }
    if !kind.is_float() {
        return bits;
    }
    let sign = 1_u128 << (kind.bits() - 1);
    if mods.abs >> source & 1 != 0 {
        bits &= !sign;
    }
    if mods.neg >> source & 1 != 0 {
        bits ^= sign;
    }
    bits
}

fn check(
    target: Target,
    name: &str,
    inst: &Inst,
    kinds: &Kinds,
    before: &WaveState,
    after: &WaveState,
) -> Result<(), String> {
    let mods = &inst.mods;
    let arch = target.arch;
    let mut sources = [[0_u128; 64]; 3];
    let mut mask_in = before.vcc & target.wave.all_lanes();
    let (mut dst, mut mask_out) = (None, None);
    for operand in &inst.operands {
        let slot = match operand.slot {
            Slot::Src0 => 0,
            Slot::Src1 => 1,
            Slot::Src2 => 2,
            Slot::Vdst if matches!(operand.value, Value::Vgpr(_)) => {
                dst = Some(operand);
                continue;
            }
            _ if operand.access == Access::Write => {
                mask_out = Some(operand.value);
                continue;
            }
            // The constant of `madmk`.
            Slot::Other => {
                sources[2] = read(before, operand.value, 1, Kind::I32);
                continue;
            }
            _ => continue,
        };
        match (operand.value, kinds.src.get(slot)) {
            (Value::VCC, _) => {}
            (value @ Value::Scalar(_), None) => mask_in = mask_at(before, value, target),
            (value, kind) => {
                sources[slot] = read(before, value, operand.dwords, kind.copied().unwrap_or(Kind::I32))
            }
        }
    }
    let old = dst.map_or([0; 64], |operand| read(before, operand.value, operand.dwords, kinds.dst));
    let new = dst.map_or([0; 64], |operand| read(after, operand.value, operand.dwords, kinds.dst));
    let clamp = mods.clamp;
    // VOP3P has no output modifier.
    let mode = Mode {
        register: before.mode,
        clamp,
        omod: if inst.encoding.is_vop3p() { 0 } else { mods.omod },
        is_fixed: arch.generation() == Generation::Gfx12,
    };
    let is_packed = inst.encoding.is_vop3p();
    let selection = model::packed::Selection {
        op_sel: if is_packed { mods.op_sel } else { 0 },
        op_sel_hi: if is_packed { mods.op_sel_hi } else { 7 },
        neg: if is_packed { mods.neg } else { 0 },
        neg_hi: if is_packed { mods.neg_hi } else { 0 },
    };
    let mut bits_out = 0_u64;
    for lane in 0..target.wave.lanes() as usize {
        let active = before.exec >> lane & 1 != 0;
        let readable = if mods.fi { u64::MAX } else { before.exec };
        let first = match (&mods.dpp, mods.dpp8) {
            (Some(chosen), _) => dpp::source(chosen, readable, lane, &sources[0]),
            (None, Some(selectors)) => Some(dpp::source8(selectors, readable, lane, &sources[0])),
            (None, None) => Some(sources[0][lane]),
        };
        let s = [first.unwrap_or(0), sources[1][lane], sources[2][lane]];
        let mut s = [0, 1, 2].map(|source| source_value(inst, kinds, source, s[source]));
        if name.starts_with("v_pk_fmac") {
            s[2] = old[lane];
        }
        // The old result is of the half that is written.
        let halved = kinds.dst.bits() == 16 && mods.op_sel & 8 != 0;
        let a = Args {
            s,
            old: if halved { old[lane] >> 16 } else { old[lane] },
            bit: mask_in >> lane & 1 != 0,
            mode,
            scales_as_rdna: names_halves(target),
        };
        let answer = if compare::is_comparison(name) {
            Answer { value: 0, bit: compare::run(name, &a) }
        } else if inst.encoding.is_vop3p() || name.starts_with("v_pk_") {
            model::packed::run(name, &a, &selection).unwrap_or_default()
        } else {
            (model::operation(name).unwrap_or_else(|| panic!("{name}: no model")).run)(&a)
        };
        let writes = active && first.is_some();
        bits_out |= u64::from(writes && answer.bit) << lane;
        let expected =
            if writes { merged(inst, name, (kinds.dst, target), old[lane], answer.value) } else { old[lane] };
        if dst.is_some() && new[lane] != expected {
            return Err(format!(
                "{arch} `{}` mode {:#x}, lane {lane} (active: {active}): sources {:x?}, old {:#x}, bit {}: {:#x}, should be {:#x}",
                inst.text(target),
                before.mode,
                [sources[0][lane], sources[1][lane], sources[2][lane]],
                old[lane],
                a.bit,
                new[lane],
                expected
            ));
        }
    }
    let mask = match mask_out {
        Some(value @ Value::Scalar(_)) => Some(mask_at(after, value, target)),
        _ => None,
    };
    if mask.is_some_and(|mask| mask != bits_out) {
        return Err(format!(
            "{arch} `{}` mode {:#x}, exec {:#x}: the mask is {:x?}, should be {bits_out:#x}; lane 0: {:x?}",
            inst.text(target),
            before.mode,
            before.exec,
            mask,
            [sources[0][0], sources[1][0], sources[2][0]]
        ));
    }
    let exec = if name.starts_with("v_cmpx") { bits_out } else { before.exec };
    if after.exec != exec {
        return Err(format!(
            "{arch} `{}`: exec is {:#x}, should be {exec:#x}",
            inst.text(target),
            after.exec
        ));
    }
    Ok(())
}

/// The register with a result in it.
fn merged(inst: &Inst, name: &str, (kind, target): (Kind, Target), old: u128, result: u128) -> u128 {
    if let Some(chosen) = &inst.mods.sdwa {
        return u128::from(sdwa::merge(chosen, old as u32, result as u32));
    }
    if kind.bits() != 16 {
        return result;
    }
    match inst.mods.op_sel & 8 != 0 {
        true => old & 0xffff | result << 16,
        false if names_halves(target) || model::keeps_other_half(name) => old & 0xffff_0000 | result,
        false => result,
    }
}
