//! How GLOBAL and SCRATCH instructions reach memory: their immediate offsets, and where scratch begins.

use crate::{Generation, Inst, Mods, Op, Value};

/// A hardware register by its number in `s_setreg_b32`, all 32 bits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardwareRegister(u8);

impl HardwareRegister {
    /// The immediate of `s_getreg_b32` and `s_setreg_b32` for the whole register (RDNA 2 ISA, S_SETREG: number 5:0, first bit 10:6,
    /// bits less one 15:11).
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
    /// Immediate offsets of GLOBAL and SCRATCH are below this where they are not negative: 13 bits, signed, or 12 (RDNA 2 ISA, section 9.1),
    /// or 24.
    pub const fn offset_end(self) -> u32 {
        match self {
            Self::Gfx9 | Self::Gfx11 => 1 << 12,
            Self::Gfx10 => 1 << 11,
            Self::Gfx12 => 1 << 23,
        }
    }

    /// The modifiers of a store that is seen outside of the device at once: `glc slc`, or the scope that is the whole system.
    pub fn store_to_system(self) -> Mods {
        const SYSTEM: u8 = 3;
        match self {
            Self::Gfx9 | Self::Gfx10 | Self::Gfx11 => Mods { glc: true, slc: true, ..Mods::default() },
            Self::Gfx12 => Mods { scope: SYSTEM, ..Mods::default() },
        }
    }

    /// The halves of FLAT_SCRATCH, where it is a pair of hardware registers that the program sets and no operand (RDNA 2 ISA, table 16).
    pub const fn flat_scratch_registers(self) -> Option<[HardwareRegister; 2]> {
        match self {
            Self::Gfx10 => Some([HardwareRegister(20), HardwareRegister(21)]),
            Self::Gfx9 | Self::Gfx11 | Self::Gfx12 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arch, Encoding, Mods, Value, assemble, parse};

    #[test]
    fn offsets_end_where_encodings_do() {
        for arch in [Arch::Gfx90a, Arch::Gfx1010, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1201] {
            let end = arch.generation().offset_end() as i32;
            let values = [Value::Vgpr(0), Value::Vgpr(1), Value::Scalar(4)];
            let fits = |offset| {
                let mods = Mods { offset, ..Mods::default() };
                assemble(arch, Op::global_store_dword, Encoding::Global, &values, mods).is_ok()
            };
            assert_eq!([end - 1, end, -end, -end - 1].map(fits), [true, false, true, false], "{arch}");
        }
    }

    #[test]
    fn flat_scratch_is_written_by_its_name() {
        let [low, high] = Generation::Gfx10.flat_scratch_registers().expect("registers");
        for (text, register) in [
            ("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s3", low),
            ("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3", high),
        ] {
            let inst = parse(Arch::Gfx1030, text).expect(text);
            assert_eq!(HardwareRegister::written(&inst), Some(register), "{text}");
            assert_eq!(inst.operands[0].value, Value::Imm(register.whole()), "{text}");
        }
        let part =
            parse(Arch::Gfx1010, "s_setreg_imm32_b32 hwreg(HW_REG_FLAT_SCR_LO, 4, 2), 1").expect("a part");
        assert_eq!(HardwareRegister::written(&part), Some(low));
        let other = parse(Arch::Gfx1010, "s_getreg_b32 s3, hwreg(HW_REG_FLAT_SCR_LO)").expect("a read");
        assert_eq!(HardwareRegister::written(&other), None);
    }
}
