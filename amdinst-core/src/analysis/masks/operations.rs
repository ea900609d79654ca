//! Operations that matter to masks.

use amdgpu_isa::scalar::EXEC;
use amdgpu_isa::{Access, Families, MaskOp, Op, Value, WaveSize};

use crate::analysis::program::Program;

/// Whether the data flow tells the result of an operation from its operands. That of all others is a new
/// value.
pub(super) fn is_followed(op: Op, wave: WaveSize) -> bool {
    has_mask_rule(op, wave)
        || matches!(
            op,
            Op::s_mov_b32
                | Op::s_lshl_b32
                | Op::s_lshr_b32
                | Op::s_and_b32
                | Op::s_or_b32
                | Op::s_cselect_b32
                | Op::v_writelane_b32
                | Op::v_readlane_b32
        )
}

/// Whether the data flow tells the result of an operation on masks from its operands.
pub(super) fn has_mask_rule(op: Op, wave: WaveSize) -> bool {
    matches!(
        op.mask_op(wave),
        Some(
            MaskOp::Move
                | MaskOp::Not
                | MaskOp::Select
                | MaskOp::Combine(_)
                | MaskOp::Saveexec(_)
                | MaskOp::Wrexec(_)
        )
    )
}

/// Whether the data flow may see more of an operation than that it writes something new.
pub(super) fn has_rule(op: Op, wave: WaveSize) -> bool {
    let by_number = matches!(op, Op::s_movreld_b32 | Op::s_movreld_b64);
    by_number || is_followed(op, wave) || may_copy_whole(op)
}

/// Operations that may copy all lanes of a register.
pub(super) fn may_copy_whole(op: Op) -> bool {
    matches!(
        op,
        Op::v_mov_b32
            | Op::v_accvgpr_read_b32
            | Op::v_accvgpr_write_b32
            | Op::v_accvgpr_mov_b32
            | Op::buffer_store_dword
            | Op::buffer_load_dword
            | Op::scratch_store_dword
            | Op::scratch_load_dword
    )
}

/// Whether an instruction copies EXEC and then changes it.
pub(super) fn saves_exec(op: Op) -> bool {
    op.is_of(Families::SAVES_EXEC)
}

/// Whether an instruction writes EXEC, by an operand or implicitly.
pub fn writes_exec(program: &Program, index: usize) -> bool {
    let located = &program.insts[index];
    if !located.touches_exec {
        return false;
    }
    let inst = program.inst(index);
    let by_name = || {
        let op = inst.op;
        op.is_of(Families::COMPARE_EXEC)
            || op.is_of(Families::SAVES_EXEC)
            || op.is_of(Families::COPIES_NEW_EXEC)
    };
    // Waves of 32 lanes have no upper half.
    let last = EXEC + program.wave_size().mask_sgprs() - 1;
    let by_operand = inst.operands.iter().any(|operand| match operand.value {
        Value::Scalar(first) if operand.access != Access::Read => {
            first <= last && u16::from(first) + u16::from(operand.dwords) > EXEC.into()
        }
        _ => false,
    });
    by_operand || by_name()
}
