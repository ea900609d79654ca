//! Permutations of lanes in VALU, and registers addressed relative to M0: GFX10 and later (RDNA3 ISA, section
//! 7.8, and the pseudocode of the instructions).

use amdgpu_isa::{Mods, Op};

use super::valu;
use crate::check::{Outcome, Trap};
use crate::program::{Context, Handler, Step, permutes};
use crate::wave::{LANES, M0, Src, Wave, odd_operand, register_row};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_permlane16_b32 | Op::v_permlanex16_b32 => within_rows,
        Op::v_permlane16_var_b32 | Op::v_permlanex16_var_b32 => within_rows_by_lane,
        Op::v_permlane64_b32 => between_halves,
        Op::v_swap_b16 => swap_halves,
        Op::v_swaprel_b32 => swap_relative,
        _ if is_relative(op) => move_relative,
        _ => return None,
    })
}

/// Whether an instruction addresses vector registers relative to M0.
pub(crate) fn is_relative(op: Op) -> bool {
    matches!(
        op,
        Op::v_movreld_b32 | Op::v_movrels_b32 | Op::v_movrelsd_b32 | Op::v_movrelsd_2_b32 | Op::v_swaprel_b32
    )
}

fn mods(step: &Step) -> Outcome<&Mods> {
    step.extra.as_ref().map(|extra| &extra.inst.mods).ok_or_else(|| odd_operand(step.op))
}

/// Lanes of a row of 16.
const ROW: usize = 16;

/// `v_permlane16_b32` and `v_permlanex16_b32`: which lane a lane takes the value of is said in scalars, four
/// bits for each lane of a row.
fn within_rows(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &*context.wave;
    let select = u64::from(w.scalar32(step.src[1])) | u64::from(w.scalar32(step.src[2])) << 32;
    take(context, step, std::array::from_fn(|lane| (select >> (4 * (lane % ROW)) & 15) as u8))
}

/// `v_permlane16_var_b32` and `v_permlanex16_var_b32`: it is said in each lane by itself.
fn within_rows_by_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    let Src::Row(select) = step.src[1] else { return Err(odd_operand(step.op)) };
    let select = context.wave.rows[usize::from(select)];
    take(context, step, std::array::from_fn(|lane| (select[lane] & 15) as u8))
}

/// A lane takes the value of the selected lane of its row, or of the row beside it. Of a lane that is
/// switched off, by FI its value, by BOUND_CTRL zero, else nothing.
fn take(context: &mut Context<'_>, step: &Step, select: [u8; LANES]) -> Outcome {
    // In the bits of OP_SEL.
    let (inactive_too, zero) = mods(step).map(|mods| (mods.op_sel & 1 != 0, mods.op_sel & 2 != 0))?;
    let w = &mut *context.wave;
    let Src::Row(from) = step.src[0] else { return Err(odd_operand(step.op)) };
    let beside = match step.op {
        Op::v_permlanex16_b32 | Op::v_permlanex16_var_b32 => ROW,
        _ => 0,
    };
    let old = w.rows[usize::from(from)];
    for (lane, selected) in select.into_iter().enumerate().take(w.lanes()) {
        let other = (lane & !(ROW - 1) ^ beside) | usize::from(selected);
        let value = match w.active(other) || inactive_too {
            true => old[other],
            false if zero => 0,
            false => continue,
        };
        if w.active(lane) {
            w.set_lane(step.dst, lane, value);
        }
    }
    Ok(())
}

/// `v_permlane64_b32`: both halves of a wave of 64 lanes change places, whatever EXEC says of the lanes that
/// are read. Nothing in waves of 32.
fn between_halves(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let Src::Row(from) = step.src[0] else { return Err(odd_operand(step.op)) };
    let half = LANES / 2;
    if w.lanes() == half {
        return Ok(());
    }
    let old = w.rows[usize::from(from)];
    for lane in (0..w.lanes()).filter(|&lane| w.exec >> lane & 1 != 0).collect::<Vec<_>>() {
        w.set_lane(step.dst, lane, old[lane ^ half]);
    }
    Ok(())
}

/// The registers that an instruction names, in the order of its text.
fn registers(step: &Step) -> Outcome<(u16, u16)> {
    let mut rows = step
        .extra
        .iter()
        .flat_map(|extra| &extra.inst.operands)
        .filter_map(|operand| register_row(operand.value));
    rows.next().zip(rows.next()).ok_or_else(|| odd_operand(step.op))
}

/// `v_swap_b16`: halves of two registers, by OP_SEL.
fn swap_halves(context: &mut Context<'_>, step: &Step) -> Outcome {
    let (to, from) = registers(step)?;
    let op_sel = mods(step)?.op_sel;
    let shift = |bit: u8| if op_sel & bit != 0 { 16 } else { 0 };
    let (to_shift, from_shift) = (shift(8), shift(1));
    let put = |old: u32, shift: u32, half: u32| old & !(0xffff << shift) | half << shift;
    let w = &mut *context.wave;
    for lane in 0..w.lanes() {
        if w.active(lane) {
            let first = w.lane::<u32>(to, lane) >> to_shift & 0xffff;
            let second = w.lane::<u32>(from, lane) >> from_shift & 0xffff;
            // One after the other: both may be halves of one register.
            w.set_lane(to, lane, put(w.lane(to, lane), to_shift, second));
            w.set_lane(from, lane, put(w.lane(from, lane), from_shift, first));
        }
    }
    Ok(())
}

/// The two indices in M0.
fn indices(w: &Wave) -> (u32, u32) {
    let m0 = w.s[usize::from(M0)];
    (m0 & 0x3ff, m0 >> 16 & 0x3ff)
}

/// `v_swaprel_b32`.
fn swap_relative(context: &mut Context<'_>, step: &Step) -> Outcome {
    let (to, from) = registers(step)?;
    let w = &mut *context.wave;
    let (source, destination) = indices(w);
    let (to, from) = (w.checked_row(to, destination, 1)?, w.checked_row(from, source, 1)?);
    for lane in 0..w.lanes() {
        if w.active(lane) {
            let (first, second) = (w.lane::<u32>(to, lane), w.lane::<u32>(from, lane));
            w.set_lane(to, lane, second);
            w.set_lane(from, lane, first);
        }
    }
    Ok(())
}

/// `v_movrel*`.
fn move_relative(context: &mut Context<'_>, step: &Step) -> Outcome {
    let mods = mods(step)?;
    if permutes(mods) || mods.abs | mods.neg != 0 {
        return Err(Trap::unimplemented(step.op, "with permuted lanes or modifiers of its source"));
    }
    let w = &mut *context.wave;
    let m0 = w.s[usize::from(M0)];
    let (source, destination) = match step.op {
        Op::v_movreld_b32 => (0, m0),
        Op::v_movrels_b32 => (m0, 0),
        Op::v_movrelsd_b32 => (m0, m0),
        _ => indices(w),
    };
    let from = match step.src[0] {
        Src::Row(row) => w.checked_row(row, source, 1)?,
        other => w.spread(0, other, 1),
    };
    let to = w.checked_row(step.dst, destination, 1)?;
    for lane in 0..w.lanes() {
        if w.active(lane) {
            let value = w.lane::<u32>(from, lane);
            let value = match &mods.sdwa {
                Some(sdwa) => {
                    let part = valu::select(value, sdwa.src_sel[0], sdwa.sext[0]);
                    valu::merge_sdwa(sdwa, w.lane(to, lane), part)
                }
                None => value,
            };
            w.set_lane(to, lane, value);
        }
    }
    Ok(())
}
