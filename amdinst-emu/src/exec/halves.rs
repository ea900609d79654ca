//! gfx950's bit operations by truth table, and shifts that saturate: results of 16 bits go to one half and
//! leave the other.

use amdgpu_isa::Op;

use super::valu;
use crate::check::{Outcome, Trap};
use crate::program::{Context, Handler, Step};
use crate::wave::{LANES, odd_operand};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_bitop3_b32 | Op::v_bitop3_b16 => bitop3,
        Op::v_ashr_pk_i8_i32 | Op::v_ashr_pk_u8_i32 => shift_and_pack,
        _ => return None,
    })
}

/// Bit i of the result is bit 4·a + 2·b + c of the table, a, b and c being bit i of the sources.
fn by_table(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |result, row| {
        let same = |value: u32, bit: u32| if row >> bit & 1 != 0 { value } else { !value };
        result | same(a, 2) & same(b, 1) & same(c, 0)
    })
}

/// The fields of modifiers hold the table: OMOD, ABS, NEG from its highest bit down.
fn bitop3(context: &mut Context<'_>, step: &Step) -> Outcome {
    let mods = step.extra.as_ref().map(|extra| extra.inst.mods).ok_or_else(|| odd_operand(step.op))?;
    let table = mods.omod << 6 | mods.abs << 3 | mods.neg;
    let is_half = step.op == Op::v_bitop3_b16;
    each_lane(context, step, is_half, |[a, b, c]| by_table(table, a, b, c))
}

/// Two shifted integers as bytes, saturated.
fn shift_and_pack(context: &mut Context<'_>, step: &Step) -> Outcome {
    let (low, high) = if step.op == Op::v_ashr_pk_i8_i32 { (-128, 127) } else { (0, 255) };
    each_lane(context, step, false, |[a, b, shift]| {
        let byte = |value: u32| (value as i32 >> (shift & 31)).clamp(low, high) as u32 & 0xff;
        byte(a) | byte(b) << 8
    })
}

/// A function of three sources. `halves`: of their halves that OP_SEL selects.
fn each_lane(context: &mut Context<'_>, step: &Step, halves: bool, f: impl Fn([u32; 3]) -> u32) -> Outcome {
    let mods = step.extra.as_ref().map(|extra| extra.inst.mods).ok_or_else(|| odd_operand(step.op))?;
    let w = &mut *context.wave;
    if w.gpr_index.enable != 0 {
        return Err(Trap::unimplemented(step.op, "with relative addressing of VGPRs"));
    }
    valu::resolve(w, step);
    let rows = w.src;
    let whole = step.op == Op::v_bitop3_b32;
    let high = mods.op_sel & 8 != 0;
    let exec = w.exec;
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let sources = [0, 1, 2].map(|slot: usize| {
            let value = w.lane::<u32>(rows[slot], lane);
            if halves && mods.op_sel >> slot & 1 != 0 { value >> 16 } else { value }
        });
        let result = f(sources);
        let old = w.lane::<u32>(step.dst, lane);
        let result = match (whole, high) {
            (true, _) => result,
            (false, false) => old & 0xffff_0000 | result & 0xffff,
            (false, true) => old & 0xffff | result << 16,
        };
        w.set_lane(step.dst, lane, result);
    }
    Ok(())
}
