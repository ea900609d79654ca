//! Vector memory and LDS instructions: where an access goes, and what it does there.

use amdgpu_isa::{
    Arch, Components, Encoding, Feature, Half, Inst, MemoryAction, Moved, Packing, Slot, Value,
};

use crate::program::{Action, MemoryAccess, Part, Space, Typed};
use crate::wave::{Src, register_row};

/// The access of a vector memory or LDS instruction; `None` for others, and for those that only name caches.
///
/// Loads to one half of a register keep the other, but for registers that ECC protects: "16-bit memory loads
/// write the full 32-bit VGPR. Unused bits are set to zero" (CDNA ISA manuals, "16-bit Memory Operations";
/// the descriptions of the single instructions leave that out). Libraries' kernels count on it: they join two
/// such loads with `v_or_b32`.
pub(crate) fn access(arch: Arch, inst: &Inst, sramecc: bool) -> Option<MemoryAccess> {
    let space = match inst.encoding {
        Encoding::Flat => Space::Flat,
        Encoding::Global => Space::Global,
        Encoding::Scratch => Space::Scratch,
        Encoding::Mubuf | Encoding::Mtbuf => Space::Buffer,
        Encoding::Ds => Space::Lds,
        _ => return None,
    };
    let told = inst.op.memory_use()?;
    let lds = space == Space::Lds;
    let moved = if arch.has(Feature::UnpackedHalves) { unpacked(told.action) } else { told.action };
    let action = action(moved, told.returns || !lds && inst.mods.glc);
    let action = if sramecc { whole_register(action) } else { action };
    let by_slot = |slot| inst.operands.iter().find(|operand| operand.slot == slot);
    let row = |slot| by_slot(slot).and_then(|operand| register_row(operand.value));
    let vaddr = row(Slot::Vaddr);
    let scalar = by_slot(Slot::Saddr).or_else(|| by_slot(Slot::Soffset)).map_or(Src::None, |operand| {
        match operand.value {
            // Code 0x7f in SADDR means "none"; it decodes as `off`.
            Value::Scalar(register) => Src::Scalar(register),
            Value::Inline(code @ 128..=192) => Src::Const(u64::from(code) - 128),
            Value::Inline(code @ 193..=208) => Src::Const((192 - i64::from(code)) as u32 as u64),
            Value::Literal(value) => Src::Const(u64::from(value)),
            Value::Special(special) => Src::Special(special),
            _ => Src::None,
        }
    });
    let resource = match by_slot(Slot::Srsrc).map(|operand| operand.value) {
        Some(Value::Scalar(register)) => register,
        _ => 0,
    };
    let data = if lds {
        let data =
            [row(Slot::Data0).or_else(|| row(Slot::Vdata)).unwrap_or(0), row(Slot::Data1).unwrap_or(0)];
        // Steps have what is compared with first.
        if told.compares_last { [data[1], data[0]] } else { data }
    } else {
        [row(Slot::Vdata).or_else(|| row(Slot::Data0)).unwrap_or(0), 0]
    };
    let dst = row(Slot::Vdst).unwrap_or(data[0]);
    let step = told.stride.map(|stride| i64::from(stride) * i64::from(action.bytes()));
    let scale = step.unwrap_or(1);
    Some(MemoryAccess {
        space,
        action,
        vaddr,
        scalar,
        resource,
        data,
        dst,
        offset: i64::from(inst.mods.offset) * scale,
        second: step.map(|scale| i64::from(inst.mods.offset1) * scale),
        idxen: inst.mods.idxen,
        offen: inst.mods.offen,
        lds_dma: inst.mods.lds || told.moves_lds,
        typed: typed(inst, moved, sramecc),
        adds_lane: told.adds_lane,
        tfe: inst.mods.tfe,
    })
}

/// The access where each half has a register.
fn unpacked(action: MemoryAction) -> MemoryAction {
    let each = |components: Components| match components.packing {
        Packing::Halves => Components { packing: Packing::LowHalves, ..components },
        _ => components,
    };
    match action {
        MemoryAction::LoadFormat(components) => MemoryAction::LoadFormat(each(components)),
        MemoryAction::StoreFormat(components) => MemoryAction::StoreFormat(each(components)),
        other => other,
    }
}

/// The action where registers are written as a whole.
fn whole_register(action: Action) -> Action {
    match action {
        Action::Load { bytes, signed, part: Part::Low } => {
            Action::Load { bytes, signed, part: Part::LowCleared }
        }
        Action::Load { bytes, signed, part: Part::High } => {
            Action::Load { bytes, signed, part: Part::HighCleared }
        }
        other => other,
    }
}

/// What an access does; an atomic `returns` what was there.
pub(super) fn action(action: MemoryAction, returns: bool) -> Action {
    let part = |half: Option<Half>| match half {
        None => Part::Whole,
        Some(Half::Low) => Part::Low,
        Some(Half::High) => Part::High,
    };
    match action {
        MemoryAction::Load(Moved { bytes, signed, half }) => Action::Load { bytes, signed, part: part(half) },
        MemoryAction::Store(Moved { bytes, half, .. }) => Action::Store { bytes, part: part(half) },
        MemoryAction::Atomic { op, bytes } => Action::Atomic { op, bytes, returns },
        MemoryAction::LoadFormat(components) => {
            Action::Load { bytes: bytes_of(components), signed: false, part: Part::Whole }
        }
        MemoryAction::StoreFormat(components) => {
            Action::Store { bytes: bytes_of(components), part: Part::Whole }
        }
    }
}

/// Bytes of the registers that have components.
fn bytes_of(components: Components) -> u8 {
    match components.packing {
        Packing::Dwords | Packing::LowHalves => 4 * components.count,
        Packing::Halves | Packing::HighHalf => 4 * components.count.div_ceil(2),
    }
}

/// How data are converted: what moves between registers and the converter, and how it is packed there.
fn typed(inst: &Inst, action: MemoryAction, sramecc: bool) -> Option<Typed> {
    let (MemoryAction::LoadFormat(components) | MemoryAction::StoreFormat(components)) = action else {
        return None;
    };
    let format = (inst.encoding == Encoding::Mtbuf).then_some(inst.mods.format);
    Some(Typed { channels: components.count, packing: components.packing, clears: sramecc, format })
}
