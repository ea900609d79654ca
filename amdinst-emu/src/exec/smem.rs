//! Scalar memory: SMEM.

use amdinst_core::isa::{Op, Slot, Value};

use super::Context;
use crate::check::{FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::Protection;
use crate::program::Step;
use crate::wave::NO_SCALAR;

/// What a mnemonic does.
enum Access {
    Load(u8),
    Store(u8),
    Time,
    Nothing,
}

fn access(op: Op) -> Option<(Access, bool)> {
    let name = op.name();
    let (name, buffer) =
        name.strip_prefix("s_buffer_").map_or_else(|| (&name[2..], false), |name| (name, true));
    let dwords = |suffix: &str| match suffix {
        "" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        "x8" => Some(8),
        "x16" => Some(16),
        _ => None,
    };
    let access = if let Some(rest) = name.strip_prefix("load_dword") {
        Access::Load(dwords(rest)?)
    } else if let Some(rest) = name.strip_prefix("store_dword") {
        Access::Store(dwords(rest)?)
    } else if matches!(op, Op::s_memtime | Op::s_memrealtime) {
        Access::Time
    } else if name.starts_with("dcache") || name.starts_with("atc_probe") {
        Access::Nothing
    } else {
        return None;
    };
    Some((access, buffer))
}

/// Scalar loads and stores.
pub(super) fn smem(context: &mut Context<'_>, step: &Step) -> Outcome {
    let Some(extra) = &step.extra else { return Err(Trap::unimplemented(step.op, "")) };
    let (access, buffer) = access(step.op).ok_or_else(|| Trap::unimplemented(step.op, ""))?;
    let inst = &extra.inst;
    let register = |slot| {
        inst.operands.iter().find(|operand| operand.slot == slot).and_then(|operand| match operand.value {
            Value::Scalar(register) => Some(register),
            _ => None,
        })
    };
    let w = &mut *context.wave;
    let count = match access {
        Access::Nothing => return Ok(()),
        Access::Time => {
            // A clock that moves with the wave and with each reading.
            w.clock_reads += 1;
            let time = w.steps_run + 64 * w.clock_reads;
            w.set_s64(step.sdst, time);
            return Ok(());
        }
        Access::Load(count) | Access::Store(count) => count,
    };
    let base = register(Slot::Sbase).ok_or_else(|| crate::wave::odd_operand(step.op))?;
    let mut offset = i64::from(inst.mods.offset);
    for operand in &inst.operands {
        match (operand.slot, operand.value) {
            (Slot::Offset, Value::Imm(value)) => offset += value,
            (Slot::Offset, Value::Literal(value)) => offset += i64::from(value as i32),
            (Slot::Soffset | Slot::Offset, Value::Scalar(register)) => {
                offset += i64::from(w.s[usize::from(register & 127)]);
            }
            _ => {}
        }
    }
    let mut limit = u64::MAX;
    let address = if buffer {
        let (low, high) = (w.s64(base), w.s64(base + 2));
        let stride = low >> 48 & 0x3fff;
        limit = (high & 0xffff_ffff).saturating_mul(stride.max(1));
        low & 0xffff_ffff_ffff
    } else {
        w.s64(base)
    };
    let data = match access {
        Access::Load(_) if step.sdst != NO_SCALAR => step.sdst,
        _ => register(Slot::Sdata).ok_or_else(|| crate::wave::odd_operand(step.op))?,
    };
    // The two lowest bits of the address do not count.
    let first = address.wrapping_add_signed(offset & !3) & !3;
    let in_range = |dword: u64| offset >= 0 && (offset as u64 & !3) + 4 * dword + 4 <= limit;
    let write = matches!(access, Access::Store(_));
    let inside = (0..u64::from(count)).take_while(|dword| in_range(*dword)).count() as u64;
    let found = context.memory.find(first, 4 * inside);
    let Some((allocation, start)) = found.filter(|_| inside > 0) else {
        if inside == 0 {
            for dword in 0..count {
                w.set_s32(data + dword, 0);
            }
            return Ok(());
        }
        let size = 4 * u32::from(count);
        return Err(Trap::new(context.memory.diagnose(MemorySpace::Scalar, first, size, write)));
    };
    if write && allocation.protection == Protection::ReadOnly {
        let (size, label) = (4 * u32::from(count), allocation.label.clone());
        return Err(Trap::new(FaultKind::ReadOnly { address: first, size, label }));
    }
    for dword in 0..count {
        let at = start + 4 * usize::from(dword);
        let exists = u64::from(dword) < inside;
        if write {
            if exists {
                allocation.bytes.store::<4>(at, u64::from(w.s[usize::from(data + dword) & 127]));
            }
        } else {
            let value = if exists { allocation.bytes.load::<4>(at) as u32 } else { 0 };
            w.set_s32(data + dword, value);
        }
    }
    Ok(())
}
