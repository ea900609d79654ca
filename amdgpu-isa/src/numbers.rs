//! Kinds of numbers that operands are: how a constant stands in them, and what modifiers and MODE do to them.
//! Types in signatures follow LLVM's text, which calls a pair of halves 32 bits and some results floats that
//! are none; what an opcode computes with is told here.

use crate::action::Action;
use crate::encoding::table::{Entry, Tables};
use crate::signature::{Signature, Spec, Ty};
use crate::{Access, Inst, Slot, Target};

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// 16 bits, an integer or raw.
    Bits16,
    /// 32 bits, an integer, raw, or several values that instructions take apart themselves.
    Bits32,
    /// 64 bits, an integer, raw, or several values.
    Bits64,
    /// Half precision, or two of them.
    F16,
    /// The upper half of single precision, or two of them.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl NumberKind {
    /// A half, a single or a double: what MODE's fields and float modifiers apply to.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// One value of 16 bits that is a half or an integer.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bits16)
    }

    /// That of an operand's type.
    const fn of(ty: Ty) -> Self {
        match ty {
            Ty::I16 | Ty::Exponent16 => Self::Bits16,
            Ty::F16 | Ty::V2F16 | Ty::V2F16Splat => Self::F16,
            Ty::BF16 | Ty::V2BF16 => Self::Bf16,
            Ty::F32 => Self::F32,
            Ty::F64 => Self::F64,
            _ if ty.dwords() >= 2 => Self::Bits64,
            _ => Self::Bits32,
        }
    }
}

/// Kinds of the numbers of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first result.
    pub result: NumberKind,
    /// Sources in the order of the text, without one that is the result's old value. Those that are not there
    /// are [`NumberKind::Bits32`].
    pub sources: [NumberKind; 4],
}

impl Numbers {
    /// Raw registers.
    pub const RAW: Self = Self { result: NumberKind::Bits32, sources: [NumberKind::Bits32; 4] };

    /// Those of an opcode with these operands.
    pub(crate) fn of(signature: &Signature, specs: &[Spec]) -> Self {
        let from_types = Self::from_types(specs);
        match signature.action {
            Some(Action::Numbers(numbers)) => numbers,
            // A constant stands for each element of the addend; the other sources are registers.
            Some(Action::Matrix(product)) => {
                let kind = product.result.number_kind();
                Self { result: kind, sources: [kind; 4] }
            }
            Some(Action::Convert(conversion)) => conversion.numbers(),
            Some(Action::Compare(comparison)) => {
                let kind = comparison.operands.number_kind();
                Self { sources: [kind, kind, NumberKind::Bits32, NumberKind::Bits32], ..from_types }
            }
            _ => from_types,
        }
    }

    /// Those that the types of operands tell.
    fn from_types(specs: &[Spec]) -> Self {
        let mut numbers = Self::RAW;
        if let Some(result) = specs.iter().find(|spec| spec.access != Access::Read) {
            numbers.result = NumberKind::of(result.ty);
        }
        let is_source = |spec: &&Spec| match spec.access {
            Access::Read => true,
            Access::ReadWrite => !matches!(spec.slot, Slot::Vdst | Slot::Sdst),
            Access::Write => false,
        };
        for (kind, spec) in numbers.sources.iter_mut().zip(specs.iter().filter(is_source)) {
            *kind = NumberKind::of(spec.ty);
        }
        numbers
    }
}

impl Inst {
    /// Kinds of its numbers on a processor; raw registers if that has no such instruction.
    pub fn numbers(&self, target: impl Into<Target>) -> Numbers {
        let tables = Tables::of(target);
        let entry = tables.by_ops(self.op, self.mods.dual, self.encoding);
        let entry: Option<&Entry> = entry.or_else(|| tables.all_of(self.op).next());
        entry.map_or(Numbers::RAW, |entry| entry.numbers)
    }
}
