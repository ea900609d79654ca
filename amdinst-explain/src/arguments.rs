//! What a function was called with, as far as its lane still holds it when it traps.

use std::ops::Range;

use amdgpu_isa::{Encoding, Flow, Inst, Op, Reg, Value};
use amdgpu_object::CodeObject;

use amdinst_emu::LaneState;

/// VGPRs that a function takes arguments in, from v0 on (LLVM's AMDGPU guide, "Non-Kernel Functions": v0 to
/// v31).
const ARGUMENTS: usize = 32;

/// The dwords of a function's arguments when it was called; `None` for one of which no copy is left. `pc` is
/// the instruction that trapped.
///
/// Nothing is known of a function that branches, calls or narrows EXEC before that: only what the lane surely
/// executed is followed.
pub(crate) fn arguments(
    object: &CodeObject,
    function: &Range<u64>,
    pc: u64,
    state: &LaneState,
) -> Option<[Option<u32>; ARGUMENTS]> {
    // Registers, and which argument each is a copy of.
    let mut copies: Vec<(Reg, usize)> =
        (0..ARGUMENTS).map(|argument| (Reg::vgpr(argument as u8), argument)).collect();
    let arch = object.target.arch;
    let text = object.text_bytes();
    let mut at = function.start;
    while at < pc {
        let start = usize::try_from(at.checked_sub(object.text.address)?).ok()?;
        let inst = amdgpu_isa::decode(arch, text.get(start..)?).ok()?;
        if inst.flow() != Flow::Next {
            return None;
        }
        let effects = inst.effects(arch);
        let changes = effects.changes();
        if effects.indirect || changes.contains(Reg::EXEC_LO) || changes.contains(Reg::EXEC_HI) {
            return None;
        }
        let copied = copy(&inst).and_then(|(to, from)| {
            let (_, argument) = copies.iter().find(|(register, _)| *register == from)?;
            Some((to, *argument))
        });
        copies.retain(|(register, _)| !changes.contains(*register));
        copies.extend(copied);
        at += inst.size as u64;
    }
    let mut arguments = [None; ARGUMENTS];
    for (register, argument) in copies {
        let vgpr = || state.vgprs.get(usize::from(register.as_vgpr()?));
        let agpr = || state.agprs.get(usize::from(register.as_agpr()?));
        arguments[argument] = arguments[argument].or(vgpr().or_else(agpr).copied());
    }
    Some(arguments)
}

/// The registers that an instruction copies between, to and from.
fn copy(inst: &Inst) -> Option<(Reg, Reg)> {
    // Other encodings of a move may change what they copy.
    let plain = match inst.op {
        Op::v_mov_b32 => inst.encoding == Encoding::Vop1,
        op => matches!(op, Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32),
    };
    let [to, from] = inst.operands.as_slice() else { return None };
    let register = |value| match value {
        Value::Vgpr(number) => Some(Reg::vgpr(number)),
        Value::Agpr(number) => Some(Reg::agpr(number)),
        _ => None,
    };
    plain.then_some((register(to.value)?, register(from.value)?))
}
