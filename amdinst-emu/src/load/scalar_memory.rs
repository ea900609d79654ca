//! Scalar memory instructions: where an access goes, and what it does there.

use amdgpu_isa::{Encoding, Families, Inst, Slot, Value};

use super::memory_ops;
use crate::program::{ScalarAccess, ScalarKind};

/// The access of a scalar memory instruction; `None` for others, for clocks, and for those that only name
/// caches.
pub(crate) fn access(inst: &Inst) -> Option<ScalarAccess> {
    if inst.encoding != Encoding::Smem {
        return None;
    }
    let action = memory_ops::action(inst.op.memory_use()?.action, inst.mods.glc);
    let kind = if inst.op.is_of(Families::SCALAR_BUFFER) {
        ScalarKind::Buffer
    } else if inst.op.is_of(Families::SCALAR_SCRATCH) {
        ScalarKind::Scratch
    } else {
        ScalarKind::Global
    };
    let scalar = |slot| {
        inst.operands.iter().find_map(|operand| match operand.value {
            Value::Scalar(register) if operand.slot == slot => Some(register),
            _ => None,
        })
    };
    let offset = inst.operands.iter().find_map(|operand| match operand.value {
        Value::Imm(value) if operand.slot == Slot::Offset => Some(i64::from(value)),
        _ => None,
    });
    Some(ScalarAccess {
        kind,
        action,
        base: scalar(Slot::Sbase)?,
        data: scalar(Slot::Sdata)?,
        offset: offset.unwrap_or(0),
        soffset: scalar(Slot::Soffset).or_else(|| scalar(Slot::Offset)),
    })
}
