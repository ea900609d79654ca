//! How GLOBAL and SCRATCH instructions reach memory: their immediate offsets, and where scratch begins.

use crate::{Generation, Inst, Mods, Op, Value};

/// A hardware register by its number in `s_setreg_b32`, all 32 bits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareRegister(u8);

impl HardwareRegister {
    /// The immediate of `s_getreg_b32` and `s_setreg_b32` for the whole register (RDNA 2 ISA, S_SETREG:
    /// number 5:0, first bit 10:6, bits less one 15:11).
    pub const fn whole(self) -> i32 {
        31 << 11 | self.0 as i32
    }

    /// The register that an instruction writes, in part or whole.
    pub fn written(inst: &Inst) -> Option<Self> {
        match (inst.op, inst.operands.first()?.value) {
            (Op::s_setreg_b32 | Op::s_setreg_imm32_b32, Value::Imm(field)) => {
                Some(Self((field & 0x3f) as u8))
            }
            _ => None,
        }
    }
}

impl Generation {
    /// Immediate offsets of GLOBAL and SCRATCH are below this where they are not negative: 13 bits, signed,
    /// or 12 (RDNA 2 ISA, section 9.1), or 24.
    pub const fn offset_end(self) -> u32 {
        match self {
            // Neither is there.
            Self::Gfx8 => 1,
            Self::Gfx9 | Self::Gfx11 => 1 << 12,
            Self::Gfx10 => 1 << 11,
            Self::Gfx12 => 1 << 23,
        }
    }

    /// The modifiers of a store that is seen outside of the device at once: `glc slc`, or the scope that is
    /// the whole system.
    pub fn store_to_system(self) -> Mods {
        const SYSTEM: u8 = 3;
        match self {
            Self::Gfx8 | Self::Gfx9 | Self::Gfx10 | Self::Gfx11 => {
                Mods { glc: true, slc: true, ..Mods::default() }
            }
            Self::Gfx12 => Mods { scope: SYSTEM, ..Mods::default() },
        }
    }

    /// The halves of FLAT_SCRATCH, where it is a pair of hardware registers that the program sets and no
    /// operand (RDNA 2 ISA, table 16).
    pub const fn flat_scratch_registers(self) -> Option<[HardwareRegister; 2]> {
        match self {
            Self::Gfx10 => Some([HardwareRegister(20), HardwareRegister(21)]),
            Self::Gfx8 | Self::Gfx9 | Self::Gfx11 | Self::Gfx12 => None,
        }
    }
}
