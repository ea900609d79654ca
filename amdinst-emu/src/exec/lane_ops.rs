//! Instructions across lanes, and between lanes and scalars.

use amdgpu_isa::{Op, Value};

use crate::check::{Outcome, Trap};
use crate::program::{Context, Handler, Step};
use crate::wave::{GprIndex, LANES, Src, Wave, odd_operand, register_row};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_readfirstlane_b32 => read_first_lane,
        Op::v_readlane_b32 => read_lane,
        Op::v_writelane_b32 => write_lane,
        Op::v_swap_b32 => swap,
        Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32 => swap_rows,
        _ => return None,
    })
}

/// A source's value in one lane.
fn lane_of(w: &Wave, source: Src, lane: usize) -> u32 {
    match source {
        Src::Row(row) => w.lane(row, lane),
        other => w.scalar32(other),
    }
}

fn read_first_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let value = lane_of(w, indexed_source(w, step)?, w.first_lane());
    w.set_s32(step.sdst, value);
    Ok(())
}

fn read_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let asked = w.scalar32(step.src[1]);
    if w.lacks_lane(asked) {
        w.note_missing_lane(w.current, asked, None);
    }
    let lane = asked as usize & (w.lanes() - 1);
    let value = lane_of(w, indexed_source(w, step)?, lane);
    w.set_s32(step.sdst, value);
    Ok(())
}

fn write_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let lane = w.scalar32(step.src[1]) as usize & (w.lanes() - 1);
    let value = w.scalar32(step.src[0]);
    let dst = w.indexed(step.dst, GprIndex::DST)?;
    w.set_lane(dst, lane, value);
    Ok(())
}

/// Source 0, by VGPR indexing where it is on.
fn indexed_source(w: &Wave, step: &Step) -> Outcome<Src> {
    match step.src[0] {
        Src::Row(row) => w.indexed(row, GprIndex::SRC0).map(Src::Row),
        other => Ok(other),
    }
}

/// Instructions that VGPR indexing is not defined for (Vega ISA manual, "VGPR Indexing Details").
fn without_indexing(w: &Wave, step: &Step) -> Outcome {
    if w.gpr_index.enable != 0 { Err(Trap::unimplemented(step.op, "with VGPR indexing")) } else { Ok(()) }
}

fn swap(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    without_indexing(w, step)?;
    let rows = step.extra.as_ref().map(|extra| {
        let mut rows = extra.inst.operands.iter().filter_map(|operand: &_| register_row(value_of(operand)));
        (rows.next(), rows.next())
    });
    let Some((Some(a), Some(b))) = rows else { return Err(odd_operand(step.op)) };
    let exec = w.exec;
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let (first, second) = (w.lane::<u32>(a, lane), w.lane::<u32>(b, lane));
        w.set_lane(a, lane, second);
        w.set_lane(b, lane, first);
    }
    Ok(())
}

/// Rows of 16 or 32 lanes change places between two registers: the odd ones of the first with the even ones
/// of the second (CDNA4 ISA manual, `V_PERMLANE16_SWAP_B32`). No manual says what happens between an active
/// and an inactive lane.
fn swap_rows(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let distance = if step.op == Op::v_permlane16_swap_b32 { 16 } else { 32 };
    let rows = step.extra.as_ref().map(|extra| {
        let mut rows = extra.inst.operands.iter().filter_map(|operand: &_| register_row(value_of(operand)));
        (rows.next(), rows.next())
    });
    let Some((Some(first), Some(second))) = rows else { return Err(odd_operand(step.op)) };
    let even = (0..LANES).filter(|lane| lane & distance == 0);
    if even.clone().any(|lane| w.active(lane) != w.active(lane + distance)) {
        return Err(Trap::unimplemented(step.op, "between active and inactive lanes"));
    }
    for lane in even {
        if w.active(lane) {
            let (low, high) = (w.lane::<u32>(second, lane), w.lane::<u32>(first, lane + distance));
            w.set_lane(second, lane, high);
            w.set_lane(first, lane + distance, low);
        }
    }
    Ok(())
}

fn value_of(operand: &amdgpu_isa::Operand) -> Value {
    operand.value
}
