//! The shape of a generation's opcode tables, one row an opcode, and the look-up built from them.
//!
//! A table (`gfx9/sop2.rs`, …) is a `rows!` list. A row gives an opcode of [`signature`](crate::signature) its number, the processors
//! that have it, and what its encodings add. Everything else (decode, encode, text, effects) is derived.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::format::{Field, ModifierList};
use super::model::Model;
use super::modifiers::Modifier;
use crate::signature::{BARE, Class, E64, Flags, Signature, Spec};
use crate::{Arch, Encoding, Feature, Op};

/// Processors of one generation that share instructions, as a bit set; each generation has bits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Archs(pub(crate) u8);

impl Archs {
    /// The processors of either set.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets share a processor.
    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// One opcode of a generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The opcode field's value.
    pub(crate) number: u16,
    pub(crate) signature: &'static Signature,
    /// The processors that have it.
    pub(crate) archs: Archs,
    /// Properties beside those of the signature.
    pub(crate) flags: Flags,
}

/// A table: `number mnemonic processors [properties];`, one row a line; the signatures are those of a module of
/// [`signature`](crate::signature).
macro_rules! rows {
    ($(#[$doc:meta])* $table:ident of $signatures:ident; $($number:literal $op:ident $archs:ident [$($flag:ident)*];)*) => {
        $(#[$doc])*
        pub(super) const $table: &[$crate::encoding::table::Row] = &[$(
            $crate::encoding::table::Row {
                number: $number,
                signature: &$crate::signature::$signatures::$op,
                archs: super::$archs,
                flags: $crate::signature::Flags::NONE$(.with($crate::signature::$flag))*,
            },
        )*];
    };
}
pub(crate) use rows;

/// The operands of one opcode in one encoding on one processor.
pub(crate) type Specs = ArrayVec<Spec, 8>;

/// A row as one encoding of one processor has it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) op: Op,
    pub(crate) opcode: u16,
    pub(crate) encoding: Encoding,
    pub(crate) specs: Specs,
    /// Where each of them stands.
    pub(crate) places: ArrayVec<Field, 8>,
    pub(crate) flags: Flags,
    pub(crate) modifiers: ModifierList,
    /// Bits of the first 64 that may be set, the fixed ones of the encoding and opcode included.
    pub(crate) used: u64,
    /// Bits beside those that may be set and mean nothing.
    pub(crate) ignored: u64,
    /// What those bits are when assembled: ones where OP_SEL_HI belongs to no source, else zeros.
    pub(crate) rest: u64,
    /// The suffix of the mnemonic in text.
    pub(crate) suffix: &'static str,
}

impl Entry {
    /// The bits of OP_SEL_HI that belong to sources, as [`Mods`](crate::Mods) has them.
    pub(crate) fn op_sel_hi(&self) -> u8 {
        let bits = self.modifiers.iter().map(|bits| match bits.modifier {
            Modifier::OpSelHi => bits.mask,
            Modifier::OpSelHi2 => bits.mask << 2,
            _ => 0,
        });
        bits.fold(0, |all, bits| all | bits) as u8
    }
}

/// An operand as a processor has it: without a unified register file, matrices accumulate in AGPRs alone.
const fn on(arch: Arch, spec: Spec) -> Spec {
    if arch.has(Feature::UnifiedRegisterFile) {
        return spec;
    }
    let class = match spec.class {
        Class::MatrixD => Class::Agpr,
        Class::MatrixC => Class::MatrixCAgpr,
        class => class,
    };
    Spec { class, ..spec }
}

/// Marks an absent opcode.
const NONE: u16 = u16::MAX;

/// Number of encodings.
const ENCODINGS: usize = Encoding::Exp as usize + 1;

/// The look-up of one processor: encoding and opcode to entry, and op to entries.
#[derive(Debug)]
pub(crate) struct Tables {
    entries: Vec<Entry>,
    by_opcode: [Vec<u16>; ENCODINGS],
    by_op: Vec<ArrayVec<(Encoding, u16), 4>>,
}

static TABLES: [OnceLock<Tables>; Arch::ALL.len()] = [const { OnceLock::new() }; Arch::ALL.len()];

impl Tables {
    /// The tables of a processor, built on first use.
    pub(crate) fn of(arch: Arch) -> &'static Self {
        let like = arch.instructions();
        TABLES[like as usize].get_or_init(|| Self::build(like))
    }

    /// Every entry.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of an opcode.
    pub(crate) fn by_opcode(&self, encoding: Encoding, opcode: u16) -> Option<&Entry> {
        let index = *self.by_opcode[encoding as usize].get(usize::from(opcode))?;
        self.entries.get(usize::from(index))
    }

    /// The entry of an op in an encoding.
    pub(crate) fn by_op(&self, op: Op, encoding: Encoding) -> Option<&Entry> {
        let &(_, index) = self.by_op[op as usize].iter().find(|(other, _)| *other == encoding)?;
        self.entries.get(usize::from(index))
    }

    /// The entries of an op.
    pub(crate) fn all_of(&self, op: Op) -> impl Iterator<Item = &Entry> {
        self.by_op[op as usize].iter().map(|&(_, index)| &self.entries[usize::from(index)])
    }

    fn build(arch: Arch) -> Self {
        let model = arch.generation().model();
        let version = (model.version)(arch);
        let mut tables = Self {
            entries: Vec::with_capacity(2048),
            by_opcode: [const { Vec::new() }; ENCODINGS],
            by_op: vec![ArrayVec::new(); Op::ALL.len()],
        };
        for (encoding, rows) in model.tables {
            for row in rows.iter().filter(|row| row.archs.meets(version)) {
                let specs: Specs = row.signature.operands.iter().map(|&spec| on(arch, spec)).collect();
                tables.add((arch, model), *encoding, row.number, row, specs.clone());
                super::forms::derive(model, (*encoding, row), &specs, |form, number, specs| {
                    tables.add((arch, model), form, number, row, specs);
                });
            }
        }
        tables
    }

    fn add(
        &mut self,
        (arch, model): (Arch, &Model),
        encoding: Encoding,
        opcode: u16,
        row: &Row,
        specs: Specs,
    ) {
        let (op, flags) = (row.signature.op, row.flags.with(row.signature.flags));
        let index = u16::try_from(self.entries.len()).expect("fewer than 65535 opcodes");
        let modifiers = (model.modifiers)(arch, encoding, &specs, flags);
        let used = (model.used)(arch, encoding, &specs, &modifiers);
        let ignored = (model.ignored)(arch, encoding, &specs, flags) & !used;
        let rest = (model.rest)(encoding, flags) & ignored;
        let suffix = match encoding {
            _ if flags.has(BARE) => "",
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vintrp => "_e32",
            Encoding::Vop3 if flags.has(E64) => "_e64",
            Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => "_sdwa",
            Encoding::Vop1Dpp | Encoding::Vop2Dpp => "_dpp",
            _ => "",
        };
        let by_opcode = &mut self.by_opcode[encoding as usize];
        let slot = usize::from(opcode);
        if by_opcode.len() <= slot {
            by_opcode.resize(slot + 1, NONE);
        }
        debug_assert_eq!(by_opcode[slot], NONE, "{encoding:?} opcode {opcode} stands twice in the tables");
        by_opcode[slot] = index;
        self.by_op[op as usize].push((encoding, index));
        let places = specs.iter().map(|spec| (model.field)(encoding, spec.slot)).collect();
        self.entries.push(Entry {
            places,
            op,
            opcode,
            encoding,
            specs,
            flags,
            modifiers,
            used,
            ignored,
            rest,
            suffix,
        });
    }
}
