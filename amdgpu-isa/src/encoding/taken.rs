//! The modifiers that opcodes take, as rows of tables. A generation has a table for each of its encodings.

use super::format::{Field, ModifierList};
use super::modifiers::{Modifier, ModifierBits};
use crate::signature::{Flags, Spec};
use crate::{Arch, Encoding, Feature, Slot};

/// An opcode in an encoding, for which rows are chosen.
#[derive(Clone, Copy)]
pub(crate) struct OpcodeTraits<'a> {
    pub(crate) arch: Arch,
    pub(crate) encoding: Encoding,
    pub(crate) specs: &'a [Spec],
    pub(crate) flags: Flags,
}

impl OpcodeTraits<'_> {
    /// Whether its row has a property.
    pub(crate) fn has(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }

    /// Whether its processor has a feature.
    pub(crate) fn supports(&self, feature: Feature) -> bool {
        self.arch.has(feature)
    }

    /// Whether any of its operands is so.
    pub(crate) fn any(&self, is_so: impl Fn(&Spec) -> bool) -> bool {
        self.specs.iter().any(is_so)
    }

    /// [`sources_of`] its operands.
    pub(crate) fn sources(&self, is_so: impl Fn(&Spec) -> bool) -> u32 {
        sources_of(self.specs, is_so)
    }
}

/// Those of an opcode's three sources that are so, as bits from the lowest on.
pub(crate) fn sources_of(specs: &[Spec], is_so: impl Fn(&Spec) -> bool) -> u32 {
    let bit = |spec: &Spec| match spec.slot {
        Slot::Src0 => 1,
        Slot::Src1 => 2,
        Slot::Src2 => 4,
        _ => 0,
    };
    specs.iter().filter(|spec| is_so(spec)).fold(0, |all, spec| all | bit(spec))
}

/// A modifier where opcodes have it that are so.
#[derive(Clone, Copy)]
pub(crate) struct ModifierRow {
    modifier: Modifier,
    field: Field,
    /// Which bits of the field may be set; all, if this is not told.
    bits: Option<fn(&OpcodeTraits<'_>) -> u32>,
    when: fn(&OpcodeTraits<'_>) -> bool,
}

impl ModifierRow {
    /// A modifier of every opcode, at a bit and so many bits wide.
    pub(crate) const fn at(modifier: Modifier, lsb: u8, width: u8) -> Self {
        Self::in_field(modifier, Field::new(lsb, width))
    }

    /// A modifier of every opcode, in a field.
    pub(crate) const fn in_field(modifier: Modifier, field: Field) -> Self {
        Self { modifier, field, bits: None, when: |_| true }
    }

    /// With only these bits.
    pub(crate) const fn bits(self, bits: fn(&OpcodeTraits<'_>) -> u32) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// Only of opcodes that are so.
    pub(crate) const fn when(self, when: fn(&OpcodeTraits<'_>) -> bool) -> Self {
        Self { when, ..self }
    }
}

/// The modifiers of an opcode, in the order of the rows.
pub(crate) fn taken(rows: &[ModifierRow], opcode: &OpcodeTraits<'_>) -> ModifierList {
    let row = |row: &&ModifierRow| (row.when)(opcode);
    let modifier = |row: &ModifierRow| match row.bits {
        Some(bits) => ModifierBits::masked(row.modifier, row.field, bits(opcode)),
        None => ModifierBits::new(row.modifier, row.field),
    };
    rows.iter().filter(row).map(modifier).collect()
}
