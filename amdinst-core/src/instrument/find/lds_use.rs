//! What code does with LDS: whether it may read or write it, and whether it reads how much there is.

use amdgpu_isa::{Effects, Families, Inst, MemoryKind, Op, Value};

/// The register of `s_getreg_b32` that tells how much LDS a wave has (`HW_REG_LDS_ALLOC`).
const HW_REG_LDS_ALLOC: i32 = 6;
/// What a kernel with all that it calls does with LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LdsUse {
    /// The code may read or write LDS.
    pub(crate) accesses: bool,
    /// The code reads how much LDS its workgroup has.
    pub(crate) reads_size: bool,
}

impl LdsUse {
    /// Of one instruction.
    pub(crate) fn of(inst: &Inst, effects: &Effects) -> Self {
        let memory = effects.memory.map(|memory| memory.kind);
        let accesses = match memory {
            Some(MemoryKind::Lds) => !inst.op.is_of(Families::MOVES_LANES),
            // Its addresses may lie in the LDS aperture.
            Some(MemoryKind::Flat) => true,
            _ => inst.mods.lds || inst.op.is_of(Families::TO_OR_FROM_LDS),
        };
        let reads_size = inst.op == Op::s_getreg_b32 && hardware_register(inst) == Some(HW_REG_LDS_ALLOC);
        Self { accesses, reads_size }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.accesses |= other.accesses;
        self.reads_size |= other.reads_size;
    }
}

/// The hardware register that `s_getreg_b32` and its like name (bits 5:0 of the immediate).
pub(crate) fn hardware_register(inst: &Inst) -> Option<i32> {
    inst.operands.iter().find_map(|operand| match operand.value {
        Value::Imm(value) => Some(value & 0x3f),
        _ => None,
    })
}
