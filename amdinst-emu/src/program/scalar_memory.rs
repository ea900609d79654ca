//! Scalar memory instructions: from the mnemonic to what the access does.

use amdgpu_isa::{Encoding, Inst, Slot, Value};

use super::{Action, Part, ScalarAccess, ScalarKind, memory_ops};

/// The access of a scalar memory instruction; `None` for others, for clocks, and for those that only name caches.
pub(crate) fn access(inst: &Inst) -> Option<ScalarAccess> {
    if inst.encoding != Encoding::Smem {
        return None;
    }
    let name = inst.op.name().strip_prefix("s_")?;
    let (kind, name) = match (name.strip_prefix("buffer_"), name.strip_prefix("scratch_")) {
        (Some(name), _) => (ScalarKind::Buffer, name),
        (_, Some(name)) => (ScalarKind::Scratch, name),
        _ => (ScalarKind::Global, name),
    };
    let bytes = |dwords: &str| match dwords {
        "" => Some(4),
        "x2" => Some(8),
        "x4" => Some(16),
        "x8" => Some(32),
        "x16" => Some(64),
        _ => None,
    };
    let action = if let Some(dwords) = name.strip_prefix("load_dword") {
        Action::Load { bytes: bytes(dwords)?, signed: false, part: Part::Whole }
    } else if let Some(kind) = name.strip_prefix("load_") {
        let (bytes, signed) = match kind {
            "b96" => (12, false),
            "u8" => (1, false),
            "i8" => (1, true),
            "u16" => (2, false),
            "i16" => (2, true),
            _ => return None,
        };
        Action::Load { bytes, signed, part: Part::Whole }
    } else if let Some(dwords) = name.strip_prefix("store_dword") {
        Action::Store { bytes: bytes(dwords)?, part: Part::Whole }
    } else if let Some(atomic) = name.strip_prefix("atomic_") {
        memory_ops::atomic_action(atomic, inst.mods.glc)?
    } else {
        return None;
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
