//! What a write of EXEC is, from the masks before and after it.

use amdgpu_isa::scalar::{EXEC, EXEC_HI};
use amdgpu_isa::{Access, Families, Inst, Logic, MaskOp, Op, Value, WaveSize};

use super::flow::{Event, Flowing};
use super::{Narrowing, OtherWrite};
use crate::analysis::dominators::Structure;
use crate::analysis::program::Function;
use crate::analysis::values::Expr;

/// `Ok` for a site.
pub(super) fn classify(inst: &Inst, event: &Event, flowing: &Flowing<'_>) -> Result<(), OtherWrite> {
    let values = &flowing.values;
    let wave = flowing.wave_size();
    let whole_wave = |vn| matches!(values.expr(vn), Expr::Const64(u64::MAX));
    if inst.op.is_of(Families::COMPARE_EXEC) {
        return Ok(());
    }
    if whole_wave(event.new) || values.expr(event.new) == Expr::Not(event.old) {
        return Err(OtherWrite::WholeWave);
    }
    if matches!(values.expr(event.new), Expr::Const64(_)) {
        return Err(OtherWrite::Constant);
    }
    let what = inst.op.mask_op(wave);
    match what {
        Some(MaskOp::Saveexec(Logic::And | Logic::NotAnd) | MaskOp::Wrexec(Logic::NotAnd)) => {
            return Ok(());
        }
        Some(MaskOp::Saveexec(Logic::AndNot | Logic::Xor | Logic::Or) | MaskOp::Wrexec(Logic::AndNot)) => {
            return Err(OtherWrite::Else);
        }
        Some(MaskOp::Saveexec(Logic::NotOr)) => return Err(OtherWrite::Join),
        _ => {}
    }
    let writes_exec = inst.operands.first().is_some_and(|operand| {
        operand.value == Value::EXEC && operand.dwords == wave.mask_sgprs() && operand.access != Access::Read
    });
    if !writes_exec {
        return Err(half_write(inst, event, flowing));
    }
    let reads_exec = inst.operands[1..].iter().any(|operand| operand.value == Value::EXEC);
    match what {
        Some(MaskOp::Combine(Logic::And)) if reads_exec => return Ok(()),
        Some(MaskOp::Combine(Logic::AndNot)) if inst.operands[1].value == Value::EXEC => return Ok(()),
        Some(MaskOp::Combine(Logic::Or)) if reads_exec => return Err(OtherWrite::Join),
        Some(MaskOp::Combine(Logic::Xor)) if reads_exec => return Err(OtherWrite::Else),
        _ => {}
    }
    let in_whole_wave_mode = whole_wave(event.old) || matches!(values.expr(event.old), Expr::Not(_));
    if event.new == event.old {
        Err(OtherWrite::Restore)
    } else if !in_whole_wave_mode && values.is_subset(event.new, event.old) {
        Ok(())
    } else if flowing.is_saved(event.new) {
        Err(OtherWrite::Restore)
    } else if event.old_is_full && flowing.is_condition(event.new) {
        // Predicated code, as people write it: a mask that was computed, not saved, is set where all lanes
        // are on.
        Ok(())
    } else if whole_wave(event.old) && flowing.is_computed(event.new) {
        // Of all lanes any mask is a part, even a sum. (Where a wave was started with fewer, it need not be.)
        Ok(())
    } else if values.is_subset(event.old, event.new) {
        Err(OtherWrite::Join)
    } else {
        Err(OtherWrite::Unclassified)
    }
}

/// What a write of one half of EXEC is.
fn half_write(inst: &Inst, event: &Event, flowing: &Flowing<'_>) -> OtherWrite {
    let values = &flowing.values;
    let half = match inst.operands.first().map(|operand| operand.value) {
        Some(Value::Scalar(register @ (EXEC | EXEC_HI))) if inst.op == Op::s_mov_b32 => register - EXEC,
        _ => return OtherWrite::Unclassified,
    };
    let Expr::Pair(low, high) = values.expr(event.new) else { return OtherWrite::Unclassified };
    match values.expr([low, high][usize::from(half)]) {
        Expr::Const32(u32::MAX) => OtherWrite::WholeWave,
        Expr::Const32(_) => OtherWrite::Constant,
        Expr::Half(mask, which) if which == half && flowing.is_saved(mask) => OtherWrite::Restore,
        _ => OtherWrite::Unclassified,
    }
}

/// A narrowing is a loop exit if it is the last write of EXEC in its block, and the branch that follows
/// leaves the innermost loop.
pub(super) fn branch_kind(
    function: &Function,
    structure: &Structure,
    number: usize,
    is_last: bool,
) -> Narrowing {
    let block = &function.blocks[number];
    let leaves = |&next: &usize| structure.leaves_loop(number, next);
    if is_last && block.successors.len() > 1 && block.successors.iter().any(leaves) {
        Narrowing::LoopExit
    } else {
        Narrowing::If
    }
}

/// The pair into which an instruction saves EXEC before changing it.
pub(super) fn saves_old(inst: &Inst, wave: WaveSize) -> Option<u8> {
    let saves = matches!(inst.op.mask_op(wave), Some(MaskOp::Saveexec(Logic::And | Logic::NotAnd)));
    match inst.operands.first().map(|operand| operand.value) {
        Some(Value::Scalar(first)) if saves => Some(first),
        _ => None,
    }
}
