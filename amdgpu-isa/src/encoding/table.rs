//! The shape of a generation's opcode tables, one row an opcode, and the look-up built from them.
//!
//! A table (`gcn/sop2.rs`, …) is a `rows!` list. A row gives an opcode of [`signature`](crate::signature)
//! its number, the processors that have it, and what its encodings add. Everything else (decode, encode,
//! text, effects) is derived.

use std::collections::HashMap;
use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::decode::VOP3_OP_SEL;
use super::format::{Field, ModifierList};
use super::model::{Halves, Model};
use super::modifiers::{self, Modifier, ModifierBits};
use crate::signature::{
    BARE, Class, E64, Flags, IDLE_OP_SEL, MIX, NAMES_HALVES, OPSEL, Signature, Spec, Ty, halves,
};
use crate::{Arch, Encoding, Feature, Mods, Numbers, Op, Slot, Target, WaveSize};

/// Processors of one generation that share instructions, as a bit set; each generation has bits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Archs(pub(crate) u16);

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
    /// The mnemonic, where it is not that of the signature's op.
    pub(crate) name: Option<&'static str>,
}

/// A table: `number mnemonic processors [properties];` or, where the generation has another name for it,
/// `number mnemonic "name" processors …`, one row a line; the signatures are those of a module of
/// [`signature`](crate::signature).
macro_rules! rows {
    ($(#[$doc:meta])* $table:ident of $($signatures:ident)::+; $($number:literal $op:ident $($name:literal)? $archs:ident [$($flag:ident)*];)*) => {
        $(#[$doc])*
        pub(super) const $table: &[$crate::encoding::table::Row] = {
            use $crate::signature::$($signatures)::+ as signatures;
            &[$(
                $crate::encoding::table::Row {
                    number: $number,
                    signature: &signatures::$op,
                    archs: super::$archs,
                    flags: $crate::signature::Flags::NONE$(.with($crate::signature::$flag))*,
                    name: $crate::encoding::table::name!($($name)?),
                },
            )*]
        };
    };
}
pub(crate) use rows;

/// The other name of a row, if there is one.
macro_rules! name {
    () => {
        None
    };
    ($name:literal) => {
        Some($name)
    };
}
pub(crate) use name;

/// The operands of one opcode in one encoding on one processor.
pub(crate) type Specs = ArrayVec<Spec, 8>;

/// A row as one encoding of one processor has it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) op: Op,
    /// The second operation of VOPD.
    pub(crate) dual: Option<Op>,
    /// The mnemonic in text, without its suffix.
    pub(crate) name: &'static str,
    /// That of VOPD's second operation.
    pub(crate) dual_name: &'static str,
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
    /// The bits of a third dword that may be set.
    pub(crate) used_extra: u64,
    /// Bits beside those that may be set and mean nothing.
    pub(crate) ignored_control: u32,
    /// Whether a source may be a literal.
    pub(crate) takes_literal: bool,
    /// Kinds of its numbers.
    pub(crate) numbers: Numbers,
    /// Operands that are halves of registers: bits as OP_SEL has them.
    pub(crate) halves: u8,
    /// The text names them always, rather than where there is no other.
    always_names_halves: bool,
    /// What those bits are when assembled: ones where OP_SEL_HI belongs to no source, else zeros.
    pub(crate) rest: u64,
    /// Without modifiers, the bits of all of them are zero.
    pub(crate) rests_at_zero: bool,
    /// The suffix of the mnemonic in text.
    pub(crate) suffix: &'static str,
}

impl Entry {
    /// Whether it takes a modifier.
    pub(crate) fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.iter().any(|bits| bits.modifier == modifier)
    }

    /// Whether the set bits of a word make LLVM read an instruction with halves of registers as one without:
    /// it has both of VOP3.
    pub(crate) fn reads_whole(&self, bits: u64) -> bool {
        self.halves != 0
            && self.encoding.is_vop3()
            && !self.flags.has(IDLE_OP_SEL)
            && bits & self.ignored & VOP3_OP_SEL.mask() != 0
    }

    /// The operands that the text names as halves of registers: bits as OP_SEL has them. None where OP_SEL
    /// itself, or no text at all, says which halves they are.
    pub(crate) fn named_halves(&self, mods: &Mods) -> u8 {
        let shows_op_sel = self.has(Modifier::OpSel) && (self.flags.has(OPSEL) || !self.encoding.is_vop3());
        let are_named = self.always_names_halves || mods.op_sel != 0 && !shows_op_sel;
        if are_named && !self.reads_whole(mods.ignored) { self.halves } else { 0 }
    }

    /// Whether it is the form of an image instruction that names the registers of an address which another
    /// form has in a row.
    pub(crate) fn has_named_form(&self) -> bool {
        matches!(self.encoding, Encoding::MimgNsa | Encoding::MimgNsa2 | Encoding::MimgNsa3)
    }

    /// Whether it is an image instruction that follows a ray.
    pub(crate) fn is_ray(&self) -> bool {
        self.specs.iter().any(|spec| {
            matches!(spec.class, Class::ImageAddress(address) | Class::ImageAddresses(address) if address.is_ray())
        })
    }

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

/// An operand as a processor has it: lane masks are as wide as a wave; without a unified register file,
/// matrices accumulate in AGPRs alone.
const fn on(target: Target, spec: Spec) -> Spec {
    let ty = match (spec.ty, target.wave) {
        (Ty::Lanes, WaveSize::Wave32) => Ty::I32,
        (Ty::Lanes, WaveSize::Wave64) => Ty::I64,
        (Ty::Matrix, WaveSize::Wave32) => Ty::B256,
        (Ty::Matrix, WaveSize::Wave64) => Ty::B128,
        (Ty::HalfMatrix, WaveSize::Wave32) => Ty::B128,
        (Ty::HalfMatrix, WaveSize::Wave64) => Ty::I64,
        (Ty::QuarterMatrix, WaveSize::Wave32) => Ty::I64,
        (Ty::QuarterMatrix, WaveSize::Wave64) | (Ty::WideKeys, WaveSize::Wave32) => Ty::I32,
        (Ty::Keys, WaveSize::Wave32) | (Ty::WideKeys, WaveSize::Wave64) => Ty::Keys16,
        (Ty::Keys, WaveSize::Wave64) => Ty::Keys8,
        (ty, _) => of_halves(target.arch, ty),
    };
    let class = match spec.class {
        class if !target.arch.has(Feature::NoMatrixConstants) => class,
        Class::MatrixD => Class::Agpr,
        Class::MatrixC => Class::MatrixCAgpr,
        class => class,
    };
    Spec { class, ty, ..spec }
}

/// What several halves of memory take: two a register, or one each.
const fn of_halves(arch: Arch, ty: Ty) -> Ty {
    match (ty, arch.has(Feature::UnpackedHalves)) {
        (Ty::Halves2, false) => Ty::I32,
        (Ty::Halves2, true) | (Ty::Halves3 | Ty::Halves4, false) => Ty::I64,
        (Ty::Halves3, true) => Ty::B96,
        (Ty::Halves4, true) => Ty::B128,
        (ty, _) => ty,
    }
}

/// Marks an absent opcode.
const NONE: u16 = u16::MAX;

/// Number of encodings.
const ENCODINGS: usize = Encoding::Vsample as usize + 1;

/// The look-up of one processor: encoding and opcode to entry, and op to entries.
#[derive(Debug)]
pub(crate) struct Tables {
    entries: Vec<Entry>,
    by_opcode: [Vec<u16>; ENCODINGS],
    by_op: Vec<ArrayVec<(Encoding, u16), 8>>,
    /// The entries of VOPD, by both ops.
    by_pair: HashMap<(Op, Op), u16>,
}

/// The rows of all generations, with their encodings: those that processors share several times.
pub(crate) fn all_rows() -> impl Iterator<Item = (Encoding, &'static Row)> {
    let tables = Arch::KNOWN.iter().flat_map(|arch| arch.generation().model().tables);
    tables.flat_map(|(encoding, rows)| rows.iter().map(|row| (*encoding, row)))
}

static TABLES: [[OnceLock<Tables>; WaveSize::COUNT]; Arch::KNOWN.len()] =
    [const { [const { OnceLock::new() }; WaveSize::COUNT] }; Arch::KNOWN.len()];

impl Tables {
    /// The tables of a processor, built on first use.
    pub(crate) fn of(target: impl Into<Target>) -> &'static Self {
        let Target { arch, wave } = target.into();
        let like = arch.instructions();
        TABLES[like as usize][wave as usize].get_or_init(|| Self::build(Target { arch: like, wave }))
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

    /// The entry of an op, and of the second one of VOPD, in an encoding.
    pub(crate) fn by_ops(&self, op: Op, dual: Option<Op>, encoding: Encoding) -> Option<&Entry> {
        match (dual, encoding) {
            (None, Encoding::Vopd) => None,
            (None, _) => self.by_op(op, encoding),
            (Some(second), _) => self.entries.get(usize::from(*self.by_pair.get(&(op, second))?)),
        }
    }

    /// The entries of an op.
    pub(crate) fn all_of(&self, op: Op) -> impl Iterator<Item = &Entry> {
        self.by_op[op as usize].iter().map(|&(_, index)| &self.entries[usize::from(index)])
    }

    fn build(target: Target) -> Self {
        let arch = target.arch;
        let model = arch.generation().model();
        let version = (model.version)(arch);
        let mut tables = Self {
            entries: Vec::with_capacity(2048),
            by_opcode: [const { Vec::new() }; ENCODINGS],
            by_op: vec![ArrayVec::new(); Op::ALL.len()],
            by_pair: HashMap::new(),
        };
        for (encoding, rows) in model.tables {
            for row in rows.iter().filter(|row| row.archs.meets(version)) {
                let specs: Specs = row.signature.operands.iter().map(|&spec| on(target, spec)).collect();
                let specs = super::forms::with_named_addresses(*encoding, specs);
                // Waves of 64 lanes have no pairs.
                if *encoding == Encoding::Vopd && target.wave == WaveSize::Wave64 {
                    continue;
                }
                if *encoding == Encoding::Vopd {
                    for second in model.vopd_second.iter().filter(|second| second.archs.meets(version)) {
                        tables.add_pair((target, model), row, second, &specs);
                    }
                    continue;
                }
                tables.add((arch, model), *encoding, row.number, (row, None), specs.clone());
                super::forms::derive(model, (*encoding, row), &specs, |form, number, specs| {
                    tables.add((arch, model), form, number, (row, None), specs);
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
        (row, second): (&Row, Option<&Row>),
        specs: Specs,
    ) {
        let (op, flags) = (row.signature.op, row.flags.with(row.signature.flags));
        let index = u16::try_from(self.entries.len()).expect("fewer than 65535 opcodes");
        let modifiers = (model.modifiers)(arch, encoding, &specs, flags);
        let used = (model.used)(arch, encoding, &specs, &modifiers);
        let ignored = (model.ignored)(arch, encoding, &specs, flags) & !used;
        let rest = (model.rest)(encoding, &specs, flags) & ignored;
        let suffix = match encoding {
            Encoding::Vop3Dpp | Encoding::Vop3Dpp8 | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => "_e64_dpp",
            Encoding::Vop1Dpp8 | Encoding::Vop2Dpp8 => "_dpp",
            Encoding::Vop1Dpp | Encoding::Vop2Dpp if model.names_permutations => "_dpp",
            Encoding::VopcSdwa if model.unnamed_sdwa_comparisons => "",
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
        if let Some(second) = second {
            self.by_pair.insert((op, second.signature.op), index);
        } else {
            self.by_op[op as usize].push((encoding, index));
        }
        let place = |spec: &Spec| {
            let field = (model.field)(encoding, spec.slot);
            // A vector register that needs no mark.
            if spec.class == Class::Vgpr && field.width == 9 { Field::new(field.lsb, 8) } else { field }
        };
        let places: ArrayVec<Field, 8> = specs.iter().map(place).collect();
        let used_extra = used_extra(model, encoding, &modifiers, &places);
        self.entries.push(Entry {
            op,
            dual: second.map(|second| second.signature.op),
            name: row.name.unwrap_or(op.name()),
            dual_name: second.map_or("", |second| second.name.unwrap_or(second.signature.op.name())),
            used_extra,
            ignored_control: (model.ignored_control)(encoding, &specs) & !(used_extra as u32),
            takes_literal: (model.format)(encoding).dwords == 1 || model.long_literals.contains(&encoding),
            halves: if model.halves == Halves::Whole || flags.has(MIX) { 0 } else { halves(&specs) },
            always_names_halves: model.halves == Halves::Named || flags.has(NAMES_HALVES),
            numbers: Numbers::of(row.signature, &specs),
            places,
            opcode,
            encoding,
            specs,
            flags,
            rests_at_zero: !modifiers::has_control_word(encoding)
                && modifiers.iter().all(|bits| modifiers::get(&Mods::default(), bits.modifier) == 0),
            modifiers,
            used,
            ignored,
            rest,
            suffix,
        });
    }

    /// Adds an entry of VOPD: the operands of both operations, one behind the other.
    fn add_pair(&mut self, (target, model): (Target, &Model), first: &Row, second: &Row, specs: &Specs) {
        let of_second = second.signature.operands.iter().map(|&spec| {
            let (slot, class) = match spec.slot {
                Slot::Vdst => (Slot::VdstY, Class::VgprY),
                Slot::Src0 => (Slot::Src0Y, spec.class),
                Slot::Src1 => (Slot::Src1Y, spec.class),
                slot => (slot, spec.class),
            };
            on(target, Spec { slot, class, ..spec })
        });
        let specs = specs.iter().copied().chain(of_second).collect();
        let number = first.number | second.number << (model.format)(Encoding::Vopd).opcode.width;
        self.add((target.arch, model), Encoding::Vopd, number, (first, Some(second)), specs);
    }
}

/// The bits of a third dword that modifiers and operands stand in.
fn used_extra(model: &Model, encoding: Encoding, modifiers: &[ModifierBits], places: &[Field]) -> u64 {
    if (model.format)(encoding).dwords < 3 {
        return 0;
    }
    let modifiers = modifiers.iter().map(|bits| (bits.field, bits.field.put(bits.mask)));
    let places = places.iter().map(|place| (*place, place.mask()));
    modifiers.chain(places).filter(|(field, _)| field.is_extra()).fold(0, |all, (_, mask)| all | mask)
}
