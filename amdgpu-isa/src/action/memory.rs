//! Accesses to memory.

use super::Action;
use crate::signature::{
    ADDS_LANE, BY_64, COMPARES_LAST, FROM_LDS, RETURNS, Signature, TO_LDS_ALWAYS, TWO_OFFSETS,
};

/// An access to memory, as its opcode alone tells it: not where, and not what modifiers add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The access at an address.
    pub action: MemoryAction,
    /// It does so at two addresses, whose offsets count so many elements each (`ds_read2_b32` 1,
    /// `ds_read2st64_b32` 64).
    pub stride: Option<u8>,
    /// An atomic that returns the old value whatever its modifiers say (`ds_add_rtn_u32`).
    pub returns: bool,
    /// The value that memory is compared with is the last operand (`ds_cmpstore_b32`); otherwise the first.
    pub compares_last: bool,
    /// The address has four times the lane's number added (`global_load_addtid_dword`).
    pub adds_lane: bool,
    /// Data move between memory and LDS (`global_load_lds_dword`, `buffer_store_lds_dword`).
    pub moves_lds: bool,
}

/// What an access does at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAction {
    /// A register takes a value, which is extended to 32 bits if it takes all of it.
    Load(Moved),
    /// A register's value goes to memory.
    Store(Moved),
    /// A value is read, changed and written in one step.
    Atomic {
        /// The change.
        op: AtomicOp,
        /// Bytes of the value.
        bytes: u8,
    },
    /// As a load, of components that the format of a buffer resource, or of the instruction, converts.
    LoadFormat(Components),
    /// As a store, of such.
    StoreFormat(Components),
}

/// A value that a load or a store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Bytes in memory: 1, 2, 4, 8, 12, 16; scalar loads up to 64.
    pub bytes: u8,
    /// Whether it is extended with its sign.
    pub signed: bool,
    /// The half of the register that has it; `None` if it has all of it, or several.
    pub half: Option<Half>,
}

/// A half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Bits 15 to 0.
    Low,
    /// Bits 31 to 16.
    High,
}

/// Components that are converted, and how they lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// 1 for `x` to 4 for `xyzw`.
    pub count: u8,
    /// How they lie in registers.
    pub packing: Packing,
}

/// How components lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// One in each register.
    Dwords,
    /// Two in each register, the low half first. (One in each low half, where halves are unpacked.)
    Halves,
    /// One in the low half of each register. No signature has it: it is what [`Packing::Halves`] is where
    /// halves are unpacked.
    LowHalves,
    /// One, in a register's high half.
    HighHalf,
}

/// The new value of an atomic in memory, of the one there, `old`, and its operand, `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// `data`.
    Swap,
    /// `data` if `old` equals another operand, else `old`.
    CmpSwap,
    /// `old + data`.
    Add,
    /// `old - data`.
    Sub,
    /// `old - data`, not below zero.
    SubClamped,
    /// `old >= data ? old - data : old`.
    SubIfNotLess,
    /// `data - old`.
    Rsub,
    /// The smaller one, signed.
    SMin,
    /// The larger one, signed.
    SMax,
    /// The smaller one.
    UMin,
    /// The larger one.
    UMax,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one of them.
    Xor,
    /// `old >= data ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > data ? data : old - 1`.
    Dec,
    /// `(old & ~data) | data1`.
    MaskOr,
    /// `old >= data ? old - data : old + data1`.
    Wrap,
    /// The sum of floats.
    FAdd,
    /// The smaller float.
    FMin,
    /// The larger float.
    FMax,
    /// As [`AtomicOp::CmpSwap`], compared as floats.
    FCmpSwap,
    /// Sums of two halves.
    PkAddF16,
    /// Sums of two BF16.
    PkAddBf16,
    /// Each dword of two is exchanged if the new one has its top bit set.
    ConditionalSwap32,
}

impl AtomicOp {
    /// The kind of operations among which this one may happen in any order, and leave the same value in
    /// memory: named by one of them. Additions and subtractions are of one kind; a maximum is not of theirs.
    pub const fn commuting(self) -> Option<Self> {
        match self {
            Self::Add | Self::Sub => Some(Self::Add),
            Self::SMin | Self::SMax | Self::UMin | Self::UMax | Self::And | Self::Or | Self::Xor => {
                Some(self)
            }
            _ => None,
        }
    }
}

/// The access of a signature, if it is one.
pub(super) fn memory_use(signature: &Signature) -> Option<MemoryUse> {
    let Some(Action::Memory(action)) = signature.action else { return None };
    let has = |flag| signature.flags.has(flag);
    Some(MemoryUse {
        action,
        stride: has(TWO_OFFSETS).then(|| if has(BY_64) { 64 } else { 1 }),
        returns: has(RETURNS),
        compares_last: has(COMPARES_LAST),
        adds_lane: has(ADDS_LANE),
        moves_lds: has(TO_LDS_ALWAYS) || has(FROM_LDS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::table::all_rows;
    use crate::signature::Spec;
    use crate::{Access, Slot};

    /// Registers of the operand that an access fills, or of the one that it takes.
    fn dwords(specs: &[Spec], slots: &[Slot]) -> Option<u8> {
        slots
            .iter()
            .find_map(|slot| specs.iter().find(|spec| spec.slot == *slot))
            .map(|spec| spec.ty.dwords())
    }

    #[test]
    fn accesses_move_what_their_registers_hold() {
        let (mut loads, mut stores, mut atomics) = (0, 0, 0);
        for (_, row) in all_rows() {
            let (signature, name) = (row.signature, row.signature.op.name());
            let Some(told) = memory_use(signature) else { continue };
            let registers = |bytes: u8| bytes.div_ceil(4);
            let specs = signature.operands;
            let times = if told.stride.is_some() { 2 } else { 1 };
            let filled = dwords(specs, &[Slot::Vdst, Slot::Sdata, Slot::Vdata]);
            let taken = dwords(specs, &[Slot::Data0, Slot::Sdata, Slot::Vdata]);
            match told.action {
                // Data that go to LDS have no register.
                MemoryAction::Load(_) | MemoryAction::Store(_) if told.moves_lds => continue,
                MemoryAction::Load(moved) => {
                    assert_eq!(filled, Some(times * registers(moved.bytes)), "{name}");
                    loads += 1;
                }
                MemoryAction::Store(moved) => {
                    assert_eq!(taken, Some(registers(moved.bytes)), "{name}");
                    stores += 1;
                }
                MemoryAction::Atomic { op, bytes } => {
                    let result = specs.iter().find(|spec| spec.slot == Slot::Vdst);
                    let result = result.filter(|spec| spec.access != Access::Read);
                    if let Some(result) = result {
                        assert_eq!(result.ty.dwords(), times * registers(bytes), "{name}");
                    }
                    // Outside of LDS one operand has what is stored, and what it is compared with.
                    let compared = matches!(op, AtomicOp::CmpSwap | AtomicOp::FCmpSwap);
                    let both = compared && !specs.iter().any(|spec| spec.slot == Slot::Data1);
                    let operands = if both { 2 } else { 1 };
                    if let Some(taken) = taken {
                        assert_eq!(taken, operands * registers(bytes), "{name}");
                    }
                    atomics += 1;
                }
                MemoryAction::LoadFormat(components) | MemoryAction::StoreFormat(components) => {
                    let packed = if components.packing == Packing::Dwords { 1 } else { 2 };
                    assert_eq!(taken, Some(components.count.div_ceil(packed)), "{name}");
                }
            }
        }
        assert!(loads > 300 && stores > 200 && atomics > 700, "{loads} {stores} {atomics}");
    }
}
