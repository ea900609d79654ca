//! Instructions of two operations: VOPD (RDNA3 ISA, section 7.6). Both read before either writes.

use amdgpu_isa::{Encoding, Inst, Mods, Op, Operand, Slot};

use crate::check::Outcome;
use crate::program::{Context, Step};
use crate::wave::odd_operand;

/// Each operation of such an instruction as one by itself.
pub(crate) fn operations(inst: &Inst) -> [Inst; 2] {
    let is_second = |operand: &Operand| operand.slot == Slot::VdstY;
    let border = inst.operands.iter().position(is_second).unwrap_or(inst.operands.len());
    let (first, second) = inst.operands.split_at(border);
    let alone = |op: Op, operands: &[Operand]| Inst {
        op,
        encoding: Encoding::Vop2,
        size: inst.size,
        operands: operands.iter().map(|operand| Operand { slot: slot(operand.slot), ..*operand }).collect(),
        mods: Mods { dual: None, ..inst.mods },
    };
    [alone(inst.op, first), alone(inst.mods.dual.unwrap_or(inst.op), second)]
}

/// Where an operand of the second operation would stand in an instruction of its own.
fn slot(slot: Slot) -> Slot {
    match slot {
        Slot::VdstY => Slot::Vdst,
        Slot::Src0Y => Slot::Src0,
        Slot::Src1Y => Slot::Src1,
        other => other,
    }
}

/// Runs both. The second one finds the first one's register as it was; neither writes anything else.
pub(crate) fn pair(context: &mut Context<'_>, step: &Step) -> Outcome {
    let pair = step.extra.as_ref().and_then(|extra| extra.pair.as_deref());
    let [first, second] = pair.ok_or_else(|| odd_operand(step.op))?;
    let row = usize::from(first.dst);
    let before = context.wave.rows[row];
    (first.run)(context, first)?;
    let result = std::mem::replace(&mut context.wave.rows[row], before);
    (second.run)(context, second)?;
    context.wave.rows[row] = result;
    Ok(())
}
