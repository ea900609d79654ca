//! What masks are made of.

use amdgpu_isa::{Families, Inst, MaskOp, Op, Value, WaveSize};

/// What a mask, or a half of one, is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Made {
    Constants,
    Conditions,
    /// Of numbers that scalar arithmetic computed.
    Numbers,
    Other,
}

impl Made {
    /// What an instruction makes that has no rule.
    pub(super) fn by(inst: &Inst, wave: WaveSize) -> Self {
        match inst.op {
            _ if compares(inst, wave) => Self::Conditions,
            op if calculates(op) => Self::Numbers,
            _ => Self::Other,
        }
    }
}

fn compares(inst: &Inst, wave: WaveSize) -> bool {
    let shifts_constant = || {
        let constant = |value| matches!(value, Value::Inline(_) | Value::Literal(_));
        inst.operands.get(1).is_some_and(|operand| constant(operand.value))
    };
    match (inst.op, inst.op.mask_op(wave), wave) {
        (_, Some(MaskOp::LanesFrom), _) => true,
        (_, Some(MaskOp::ShiftUp), _)
        | (Op::s_lshr_b64 | Op::s_ashr_i64, _, WaveSize::Wave64)
        | (Op::s_lshr_b32 | Op::s_ashr_i32, _, WaveSize::Wave32) => shifts_constant(),
        (op, ..) => op.is_of(Families::COMPARE),
    }
}

/// Operations on numbers, which nobody does to a copy of EXEC to put it back later.
fn calculates(op: Op) -> bool {
    matches!(
        op,
        Op::s_add_u32
            | Op::s_addc_u32
            | Op::s_sub_u32
            | Op::s_subb_u32
            | Op::s_add_i32
            | Op::s_sub_i32
            | Op::s_mul_i32
            | Op::s_mul_hi_u32
            | Op::s_mul_hi_i32
    )
}
