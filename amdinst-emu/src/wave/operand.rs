//! Operands of steps, and the registers that these name.

use amdgpu_isa::{Operand, Special, Value};

use super::{FLAT_SCRATCH, REGISTERS, VCC};
use crate::check::RegisterBank;
use crate::rules::Rules;

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    /// Row of a vector register, the first of a tuple.
    Row(u16),
    /// Scalar register by operand number, the first of a tuple.
    Scalar(u8),
    /// A constant, already in the operand's format.
    Const(u64),
    /// SHARED_BASE … EXECZ.
    Special(Special),
    /// Absent.
    None,
}

/// Registers, each bank's counted from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) sgprs: u16,
    pub(crate) vgprs: u16,
    pub(crate) agprs: u16,
}

impl Registers {
    /// VGPRs, and AGPRs, that a wave can name.
    const BANK: u16 = REGISTERS as u16 / 2;

    /// All that a wave can name.
    pub(crate) fn all(rules: &Rules) -> Self {
        Self { sgprs: rules.sgprs.into(), vgprs: Self::BANK, agprs: Self::BANK }
    }

    /// The registers that an operand reaches to.
    pub(crate) fn of(operand: &Operand) -> Self {
        let end = |first: u8| u16::from(first) + u16::from(operand.dwords.max(1));
        let mut registers = Self::default();
        match operand.value {
            // Every wave has those from there on: special ones, and where they are SGPRs, all of these.
            Value::Scalar(first) if first < FLAT_SCRATCH => registers.sgprs = end(first).min(VCC.into()),
            Value::Vgpr(first) => registers.vgprs = end(first).min(Self::BANK),
            Value::Agpr(first) => registers.agprs = end(first).min(Self::BANK),
            _ => {}
        }
        registers
    }

    /// As many of each as the larger of the two.
    pub(crate) fn max(self, other: Self) -> Self {
        self.each(other, u16::max)
    }

    /// As many of each as the smaller of the two.
    pub(crate) fn min(self, other: Self) -> Self {
        self.each(other, u16::min)
    }

    fn each(self, other: Self, of: fn(u16, u16) -> u16) -> Self {
        Self {
            sgprs: of(self.sgprs, other.sgprs),
            vgprs: of(self.vgprs, other.vgprs),
            agprs: of(self.agprs, other.agprs),
        }
    }

    /// The bank of the first that is not among `allotted`, the last such register of it, and how many are
    /// allotted.
    pub(crate) fn beyond(self, allotted: Self) -> Option<(RegisterBank, u16, u16)> {
        [
            (RegisterBank::Sgpr, self.sgprs, allotted.sgprs),
            (RegisterBank::Vgpr, self.vgprs, allotted.vgprs),
            (RegisterBank::Agpr, self.agprs, allotted.agprs),
        ]
        .into_iter()
        .find(|(_, needed, there)| needed > there)
        .map(|(bank, needed, there)| (bank, needed - 1, there))
    }
}
