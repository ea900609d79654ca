//! From decoded instructions to steps.

use std::iter::Peekable;
use std::ops::Range;
use std::sync::OnceLock;

use amdgpu_isa::{
    Access, Element, Encoding, Feature, FeatureState, Inst, NumberKind, Numbers, Op, Operand, Slot, Special,
    Target, Value, scalar,
};
use amdgpu_object::{CodeObject, Kernel};

use super::properties::Properties;
use super::{memory_ops, scalar_memory};
use crate::exec;
use crate::program::{
    Code, Elsewhere, Extra, Flags, NO_SLOT, NO_STEP, Permutation, Program, Step, Versions, permutes,
};
use crate::rules::{NULL_RESULT, Rules};
use crate::wave::{EXEC, NO_SCALAR, Registers, Src, register_row};

/// Decode and lower the code of a code object; `text` is all from its first section with code to the end of
/// the last. The code of `others` comes behind it.
pub(crate) fn program(
    target: Target,
    object: &CodeObject,
    mut text: Vec<u8>,
    bias: u64,
    others: &[Program],
) -> Program {
    let start = object.code_span().start;
    let mut elsewhere = Vec::new();
    let mut starts_elsewhere = Vec::new();
    for other in others {
        let (offset, code) = (text.len(), other.own_text());
        let first = other.device_address(other.text_address);
        elsewhere.push(Elsewhere { device: first..first + code.len() as u64, offset });
        text.extend_from_slice(code);
        // Its instructions are known, and what lies between its sections.
        let steps = other.steps.iter().map(|step| u64::from(step.offset));
        let steps = steps.filter(|at| *at < code.len() as u64);
        starts_elsewhere.extend(steps.map(|at| offset as u64 + at));
    }
    let mut program = Program {
        text_address: start,
        bias,
        kernels: object.kernels.clone(),
        variables: object.variables.clone(),
        // Code that runs with ECC on or off meets it on: so the accelerators are set up. Code for a generic
        // processor that has none runs with ECC off only.
        sramecc: object.target.arch.has(Feature::SramEcc) && object.target.sramecc != FeatureState::Off,
        elsewhere,
        ..blank_program(target, text)
    };
    // Code begins anew at each symbol: padding or data before one must not swallow its first instruction.
    let mut starts: Vec<u64> = object.kernels.iter().map(|kernel| kernel.code.start).collect();
    starts.extend(object.functions.iter().map(|function| function.code.start));
    starts.sort_unstable();
    let sections = object.code().map(|section| section.memory());
    let sections = sections.map(|section| (section.start - start) as usize..(section.end - start) as usize);
    let starts = starts.into_iter().map(|address| address.wrapping_sub(start)).chain(starts_elsewhere);
    let others = program.sections_elsewhere();
    decode_all(&mut program, sections.chain(others), starts);
    program
}

/// Decode and lower the code of one kernel, which is at `text_address` of a code object of which nothing else
/// is known.
pub(crate) fn resident(
    target: Target,
    kernel: Kernel,
    text: Vec<u8>,
    text_address: u64,
    bias: u64,
    elsewhere: Vec<Elsewhere>,
) -> Program {
    let entry = kernel.code.start.wrapping_sub(text_address);
    let kernels = vec![kernel];
    let mut program = Program { text_address, bias, kernels, elsewhere, ..blank_program(target, text) };
    let own = 0..program.own_text().len();
    let others = program.sections_elsewhere();
    decode_all(&mut program, std::iter::once(own).chain(others), std::iter::once(entry));
    program
}

/// Decode and lower bare instructions, which no code object holds: at address 0, without kernels.
pub(crate) fn bare(target: Target, text: Vec<u8>) -> Program {
    let mut program = blank_program(target, text);
    let all = 0..program.text.len();
    decode_all(&mut program, std::iter::once(all), std::iter::empty());
    program
}

/// A program whose text has not been decoded: at address 0, without kernels.
fn blank_program(target: Target, text: Vec<u8>) -> Program {
    Program {
        target,
        steps: Vec::new(),
        step_at: vec![NO_STEP; text.len() / 4],
        text_address: 0,
        bias: 0,
        kernels: Vec::new(),
        variables: Vec::new(),
        sramecc: target.arch.has(Feature::SramEcc),
        exec_writers: Vec::new(),
        reads_clock: false,
        code: Code::default(),
        registers: Registers::default(),
        text,
        calls_by_pointer: false,
        elsewhere: Vec::new(),
        sources: None,
        atomicity: OnceLock::new(),
    }
}

/// Make the steps of the sections of a program's text; `starts` are the offsets at which code begins anew.
/// Both are in order.
fn decode_all(
    program: &mut Program,
    sections: impl Iterator<Item = Range<usize>>,
    starts: impl Iterator<Item = u64>,
) {
    let mut starts = starts.peekable();
    // At most: an instruction a dword, and an end a section. Memory that is never written costs nothing;
    // moving steps does.
    program.steps.reserve(program.text.len() / 4 + 1);
    for section in sections {
        decode_section(program, section, &mut starts);
    }
    link(program);
}

fn decode_section(
    program: &mut Program,
    section: Range<usize>,
    starts: &mut Peekable<impl Iterator<Item = u64>>,
) {
    let rules = Rules::of(program.target.arch.generation());
    let forms = Forms { target: program.target, rules, sramecc: program.sramecc };
    let mut offset = section.start;
    while offset + 4 <= section.end {
        while starts.next_if(|start| *start <= offset as u64).is_some() {}
        let step = match amdgpu_isa::decode(program.target, &program.text[offset..section.end]) {
            Ok(inst) => {
                let runs_over =
                    starts.peek().is_some_and(|start| offset as u64 + u64::from(inst.size) > *start);
                if runs_over {
                    bad(offset, 4, "the instruction runs into the next function".to_owned())
                } else {
                    lower(inst, offset, forms)
                }
            }
            Err(error) => bad(offset, 4, error.to_string()),
        };
        program.registers = program.registers.max(step.registers);
        program.step_at[offset / 4] = program.steps.len() as u32;
        offset += usize::from(step.size).max(4);
        program.steps.push(step);
    }
    // Falling off the end meets a step that says so.
    program.steps.push(bad(section.end, 4, "the end of the text section".to_owned()));
}

/// Resolve branches to steps and number the steps that write EXEC.
fn link(program: &mut Program) {
    for index in 0..program.steps.len() {
        let step = &program.steps[index];
        if exec::is_direct_branch(step.op) {
            let target = i64::from(step.offset) + 4 + 4 * step.imm;
            let found = usize::try_from(target / 4).ok().filter(|_| target >= 0 && target % 4 == 0);
            // Other code objects are elsewhere, however near in the text.
            let from = program.elsewhere_of(step.offset as usize);
            let found = found.filter(|dword| program.elsewhere_of(4 * dword) == from);
            let found = found.and_then(|dword| program.step_at.get(dword)).filter(|step| **step != NO_STEP);
            // The target is kept in the negative, for the message, where there is no step.
            program.steps[index].imm = found.map_or(-1 - target.abs(), |step| i64::from(*step));
        }
        program.reads_clock |= program.steps[index].flags.reads_clock;
        if program.steps[index].flags.writes_exec {
            program.steps[index].slot = program.exec_writers.len() as u32;
            program.exec_writers.push(index as u32);
        }
    }
}

fn bad(offset: usize, size: u8, message: String) -> Step {
    let inst = Inst {
        op: Op::s_nop,
        encoding: Encoding::Sopp,
        size: 4,
        operands: amdgpu_isa::Operands::new(),
        mods: amdgpu_isa::Mods::default(),
    };
    let extra = extra(inst, Numbers::RAW, false, message);
    Step { run: exec::undecodable, size, extra: Some(extra), ..blank(Op::s_nop, offset) }
}

fn extra(inst: Inst, numbers: Numbers, keep_half: bool, message: String) -> Box<Extra> {
    let permutation = permutes(&inst.mods).then(|| Box::new(Permutation::of(&inst.mods)));
    Box::new(Extra {
        inst,
        numbers,
        keep_half,
        high_halves: 0,
        memory: None,
        scalar: None,
        pair: None,
        permutation,
        message,
    })
}

fn blank(op: Op, offset: usize) -> Step {
    Step {
        run: exec::undecodable,
        op,
        flags: Flags::default(),
        lanes: Versions::NOTHING,
        size: 4,
        dst: 0,
        sdst: NO_SCALAR,
        dst_dwords: 0,
        src_dwords: [0; 4],
        src: [Src::None; 4],
        imm: 0,
        offset: offset as u32,
        registers: Registers::default(),
        slot: NO_SLOT,
        extra: None,
    }
}

fn is_vector(encoding: Encoding) -> bool {
    use Encoding::{Smem, Sop1, Sop2, Sopc, Sopk, Sopp};
    !matches!(encoding, Sop1 | Sop2 | Sopc | Sopk | Sopp | Smem)
}

/// What of a program says how instructions are carried out.
#[derive(Clone, Copy)]
struct Forms {
    target: Target,
    rules: &'static Rules,
    /// Registers are protected by ECC.
    sramecc: bool,
}

/// The step of an instruction of two operations: each by itself, to be run on one state.
fn lower_pair(inst: Inst, offset: usize, forms: Forms) -> Step {
    let [first, second] = exec::operations(&inst).map(|inst| lower(inst, offset, forms));
    let mut step = blank(inst.op, offset);
    step.size = inst.size;
    step.registers = first.registers.max(second.registers);
    step.flags.vector = true;
    step.run = exec::pair;
    let mut extra = extra(inst, Numbers::RAW, false, String::new());
    extra.pair = Some(Box::new([first, second]));
    step.extra = Some(extra);
    step
}

fn lower(inst: Inst, offset: usize, forms: Forms) -> Step {
    if inst.mods.dual.is_some() {
        return lower_pair(inst, offset, forms);
    }
    let op = inst.op;
    let properties = Properties::of(op);
    let numbers = inst.numbers(forms.target);
    let Numbers { result: dst_kind, sources: src_kind } = numbers;
    // A wide constant stands for each element of a matrix, and for each part of a pair.
    let in_parts = match op.matrix_product() {
        Some(product) => product.a != Element::F64,
        None => inst.encoding.is_vop3p(),
    };
    let mut step = blank(op, offset);
    step.size = inst.size;
    let (mut sources, mut high_halves) = (0, 0);
    for operand in &inst.operands {
        step.registers = step.registers.max(Registers::of(operand));
        if operand.access != Access::Read {
            note_write(&mut step, operand);
        }
        let is_result_only = operand.access == Access::Write;
        // What is both result and source is read through the result (SOPK has no other source).
        let in_scalars = matches!(inst.encoding, Encoding::Sop1 | Encoding::Sop2);
        let accumulates = operand.access == Access::ReadWrite
            && (operand.slot == Slot::Vdst || operand.slot == Slot::Sdst && in_scalars);
        if !is_result_only && !accumulates && sources < 4 {
            let kind = src_kind[sources];
            match operand.value {
                Value::Imm(value) if !is_vector(inst.encoding) => step.imm = value.into(),
                value => {
                    high_halves |= half_of(operand.slot, &inst.mods) << sources;
                    step.src[sources] = match value {
                        Value::Inline(code) => {
                            Src::Const(inline(code, kind, operand.dwords >= 2 && !in_parts))
                        }
                        Value::Literal(bits) => {
                            Src::Const(literal(bits, kind, operand.slot, properties.is_signed))
                        }
                        value => source(value),
                    };
                    step.src_dwords[sources] = operand.dwords;
                    sources += 1;
                }
            }
        }
    }
    let vector = is_vector(inst.encoding);
    step.flags.vector = vector;
    step.flags.writes_exec |= properties.writes_exec || exec::is_fork(op);
    step.flags.control = exec::is_control(op);
    step.flags.reads_clock = exec::is_clock(op, step.imm, forms.rules);
    step.run = exec::handler(&inst);
    if let Some(comparison) = exec::comparison(op) {
        step.imm = comparison;
    }
    if let Some(lanes) = exec::lane_work(op) {
        step.lanes = lanes;
    }
    let mods = &inst.mods;
    let packed = inst.encoding.is_vop3p();
    let arithmetic = vector && (dst_kind.is_float() || src_kind.iter().any(|kind| kind.is_float()));
    step.flags.float = arithmetic && !properties.takes_bits;
    let has = |kind| dst_kind == kind || src_kind.contains(&kind);
    step.flags.singles = step.flags.float && has(NumberKind::F32);
    step.flags.halves_or_doubles = step.flags.float && (has(NumberKind::F16) || has(NumberKind::F64));
    let mut keep_half = false;
    // Modifiers of an instruction without operands (`v_nop` with SDWA's mark) change nothing.
    if vector && !packed && !inst.operands.is_empty() {
        let sdwa = mods.sdwa.is_some();
        step.flags.before =
            mods.abs | mods.neg != 0 || mods.op_sel != 0 || sdwa || permutes(mods) || mods.clamp;
        let keeps = forms.rules.keeps_halves || mods.op_sel & 8 != 0 || properties.keeps_other_half;
        keep_half = dst_kind.is_half() && !sdwa && keeps;
        step.flags.after = mods.omod != 0 || (mods.clamp && dst_kind.is_float()) || sdwa || keep_half;
        if properties.compares {
            step.flags.after = false;
        }
    }
    // Packed and mixed arithmetic applies its other modifiers itself.
    step.flags.before |= vector && packed && permutes(mods);
    let memory = memory_ops::access(forms.target.arch, &inst, forms.sramecc);
    let scalar = scalar_memory::access(&inst);
    let needs_extra = vector || memory.is_some() || inst.encoding == Encoding::Smem || sources > 3;
    if inst.operands.iter().any(|operand| is_privileged(operand, forms.rules)) {
        let reason = "a register of the trap handler".to_owned();
        step.run = exec::privileged;
        step.extra = Some(extra(inst, Numbers::RAW, false, reason));
    } else if inst.operands.iter().any(|operand| exec::is_of_graphics(operand.value)) {
        let reason = "an operand of the graphics pipeline".to_owned();
        step.extra = Some(extra(inst, Numbers::RAW, false, reason));
    } else if needs_extra || op == Op::s_setreg_imm32_b32 {
        let mut extra = extra(inst, numbers, keep_half, String::new());
        extra.high_halves = high_halves;
        extra.memory = memory;
        extra.scalar = scalar;
        step.extra = Some(extra);
    }
    step
}

/// 1 if OP_SEL names the high half of the source in a slot. (`v_fmamk_f16` has its constant between them.)
fn half_of(slot: Slot, mods: &amdgpu_isa::Mods) -> u8 {
    match slot {
        Slot::Src0 => mods.op_sel & 1,
        Slot::Src1 => mods.op_sel >> 1 & 1,
        Slot::Src2 => mods.op_sel >> 2 & 1,
        _ => 0,
    }
}

/// Take an operand that is written into the step's results.
fn note_write(step: &mut Step, operand: &Operand) {
    if let Some(row) = register_row(operand.value) {
        if step.dst_dwords == 0 {
            step.dst = row;
            step.dst_dwords = operand.dwords;
        }
    } else if let Value::Scalar(register) = operand.value {
        step.sdst = register;
        if step.dst_dwords == 0 {
            step.dst_dwords = operand.dwords;
        }
        let last = u16::from(register) + u16::from(operand.dwords.max(1)) - 1;
        step.flags.writes_exec |= last >= u16::from(EXEC) && register <= EXEC + 1;
    } else if operand.value == Value::Special(Special::Null) {
        step.sdst = NULL_RESULT;
    }
}

/// TTMP0 to TTMP15, which only trap handlers may write; what is in them when a kernel reads them depends on
/// those, but for what a launch puts there.
fn is_privileged(operand: &Operand, rules: &Rules) -> bool {
    let Value::Scalar(first) = operand.value else { return false };
    let end = u16::from(first) + u16::from(operand.dwords.max(1));
    let given = &rules.launch_registers;
    let is_given = first >= given.start && end <= given.end.into() && operand.access == Access::Read;
    first < scalar::TTMP + scalar::TTMPS && end > scalar::TTMP.into() && !is_given
}

/// An operand to be read that is no constant.
fn source(value: Value) -> Src {
    match value {
        Value::Vgpr(_) | Value::Agpr(_) => register_row(value).map_or(Src::None, Src::Row),
        Value::Scalar(register) => Src::Scalar(register),
        Value::Special(special) => Src::Special(special),
        Value::Imm(value) => Src::Const(i64::from(value) as u64),
        Value::Off | Value::Vgprs(_) | Value::Inline(_) | Value::Literal(_) => Src::None,
    }
}

/// The value of a literal in the format that its instruction reads.
fn literal(bits: u32, kind: NumberKind, slot: Slot, is_signed: bool) -> u64 {
    match kind {
        NumberKind::F64 => u64::from(bits) << 32,
        NumberKind::Bits64 if is_signed => i64::from(bits as i32) as u64,
        // The constant of `v_fmamk_f16` and the like: what stands above its 16 bits means nothing.
        NumberKind::F16 if slot == Slot::Other => u64::from(bits & 0xffff),
        _ => bits.into(),
    }
}

/// The value of an inline constant (Vega ISA manual, "Scalar operands", codes 128 to 248). Only operands that
/// are halves get a number as a half, with zeros above it; 16-bit integers get the bits of the
/// single-precision number, as LLVM's compiler and assembler have it (the manual does not say).
fn inline(code: u8, kind: NumberKind, wide: bool) -> u64 {
    match code {
        128..=192 => u64::from(code) - 128,
        193..=208 => {
            let value = 192 - i64::from(code);
            if wide { value as u64 } else { u64::from(value as u32) }
        }
        240..=248 => {
            const HALF: [u16; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
            const SINGLE: [u32; 9] = [
                0x3f00_0000,
                0xbf00_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x4000_0000,
                0xc000_0000,
                0x4080_0000,
                0xc080_0000,
                0x3e22_f983,
            ];
            const DOUBLE: [u64; 9] = [
                0x3fe0_0000_0000_0000,
                0xbfe0_0000_0000_0000,
                0x3ff0_0000_0000_0000,
                0xbff0_0000_0000_0000,
                0x4000_0000_0000_0000,
                0xc000_0000_0000_0000,
                0x4010_0000_0000_0000,
                0xc010_0000_0000_0000,
                0x3fc4_5f30_6dc9_c882,
            ];
            let index = usize::from(code - 240);
            match kind {
                NumberKind::F16 => u64::from(HALF[index]),
                NumberKind::Bf16 => u64::from(SINGLE[index] >> 16),
                _ if wide => DOUBLE[index],
                _ => u64::from(SINGLE[index]),
            }
        }
        _ => 0,
    }
}
