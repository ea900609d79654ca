//! Bytes to [`Inst`].

use super::format::{Field, Format, Pairs};
use super::model::{Model, PREFIX_BYTES, Rules, Scaled};
use super::modifiers::{self, Modifier};
use super::operand::{self, Fields};
use super::table::{Entry, Tables};
use crate::{Arch, DecodeError, Encoding, Feature, Illegal, Inst, Mods, Operands, Slot, Target, Value};

/// Decodes the instruction at the start of `bytes`, which may go on to the end of the section.
///
/// The result is exact: [`Inst::encode`] gives back the same bytes. Forms that are illegal (reserved codes,
/// misaligned tuples, bits without meaning) are errors, so that what decodes can be analysed, rewritten and
/// executed.
///
/// # Errors
/// [`DecodeError`], with the offending words.
pub fn decode(target: impl Into<Target>, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let target = target.into();
    decode_with(target, bytes, target.arch.generation().model().check)
}

/// As [`decode`], for a listing: takes every combination of operands of which each by itself is legal, as
/// LLVM's disassembler does. Paddings and tables contain words that no assembler writes:
/// `v_cndmask_b32_e32 v0, s0, v0, vcc` is a zero.
///
/// # Errors
/// [`DecodeError`], with the offending words.
pub fn decode_for_listing(target: impl Into<Target>, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let target = target.into();
    decode_with(target, bytes, target.arch.generation().model().check_fields)
}

/// How many bytes at the start of `bytes` tell that they are `inst`, which they decode to: with any others
/// behind these they would be the same instruction.
pub fn significant_bytes(target: impl Into<Target>, bytes: &[u8], inst: &Inst) -> usize {
    let arch = target.into().arch;
    let model = arch.generation().model();
    if scaled(arch, model).is_some_and(|scaled| (scaled.may_be_prefix)(bytes)) {
        // What stands behind tells whether it belongs to it.
        return PREFIX_BYTES + 8;
    }
    // Without a source, whether the mark of a longer form in its place means anything.
    let is_marked = inst.encoding == Encoding::Vop1
        && inst.operands.is_empty()
        && bytes.first_chunk().is_some_and(|&word| (model.is_mark)(u32::from_le_bytes(word)));
    usize::from(inst.size) + if is_marked { 4 } else { 0 }
}

/// The form with scales, if the processor has it.
fn scaled(arch: Arch, model: &Model) -> Option<&'static Scaled> {
    model.scaled.filter(|_| arch.has(Feature::ScaledMatrices))
}

fn decode_with(target: Target, bytes: &[u8], rules: Rules) -> Result<Inst, DecodeError> {
    let arch = target.arch;
    let model = arch.generation().model();
    let announced = scaled(arch, model).and_then(|scaled| Some((scaled, (scaled.prefix_at)(bytes)?)));
    let Some((scaled, _)) = announced else {
        return decode_behind((target, model), bytes, None, rules);
    };
    match decode_behind((target, model), bytes, announced, rules) {
        // Two instructions where they cannot be one.
        Err(DecodeError::IllegalOperand { .. }) if !(scaled.names_operands)(bytes) => {
            decode_behind((target, model), bytes, None, rules)
        }
        result => result,
    }
}

/// Decodes an instruction that begins with these two dwords of scales, if any.
fn decode_behind(
    (target, model): (Target, &'static Model),
    bytes: &[u8],
    prefix: Option<(&Scaled, u64)>,
    rules: Rules,
) -> Result<Inst, DecodeError> {
    let arch = target.arch;
    let bytes = if prefix.is_some() { &bytes[PREFIX_BYTES..] } else { bytes };
    let word = |index: usize| {
        let bytes = bytes.get(index * 4..index * 4 + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let truncated =
        |dwords: u8| DecodeError::Truncated { needed: usize::from(dwords) * 4, available: bytes.len() };
    let first = word(0).ok_or_else(|| truncated(1))?;
    let tables = Tables::of(target);
    let (mut encoding, mut format) =
        model.encoding_of(arch.generation(), first).ok_or(DecodeError::UnknownEncoding { word: first })?;
    let other = match prefix {
        Some((scaled, _)) => Some(scaled.encoding),
        None => (model.instead)(tables, encoding, first, word(1)),
    };
    if let Some(other) = other {
        (encoding, format) = (other, (model.format)(other));
    }
    let second = if format.dwords > 1 { word(1).ok_or_else(|| truncated(2))? } else { 0 };
    let words = [first, second];
    let bits = u64::from(first) | u64::from(second) << 32;

    let opcode = opcode_of(model, encoding, format, bits);
    let entry = tables.by_opcode(encoding, opcode).ok_or(DecodeError::UnknownOpcode {
        arch,
        encoding,
        opcode,
        words,
    })?;
    // Fixed bits of a second dword are part of the encoding.
    if (bits ^ format.prefix) & format.prefix_mask != 0 {
        return Err(DecodeError::UnknownEncoding { word: first });
    }
    let reserved = bits & !(entry.used | entry.ignored);
    if reserved != 0 {
        return Err(DecodeError::ReservedBits { op: entry.op, bits: reserved, words });
    }
    let illegal = |reason| DecodeError::IllegalOperand { op: entry.op, reason, words };

    let mut pairs = Pairs { main: bits, extra: prefix.map_or(0, |(_, prefix)| prefix), last: 0 };
    for (index, lsb) in (2..format.dwords).zip([64, 96, 128]) {
        let dword = Field::new(lsb, 32);
        pairs.add(dword, dword.put(word(index.into()).ok_or_else(|| truncated(index + 1))?));
    }
    // Every bit of a fourth and a fifth dword names a register.
    if format.dwords == 3 {
        let bits = pairs.extra & !(entry.used_extra | u64::from(entry.ignored_control));
        if bits != 0 {
            return Err(DecodeError::ReservedBits { op: entry.op, bits, words });
        }
    }
    let mut fields = Fields::new((arch, model), pairs, word(usize::from(format.dwords)));
    let mut inst =
        Inst { op: entry.op, encoding, size: 0, operands: Operands::new(), mods: modifiers::empty(encoding) };
    inst.mods.dual = entry.dual;
    read(entry, (&mut fields, format.last_dword()), rules, &mut inst.operands, &mut inst.mods)
        .map_err(illegal)?;
    if fields.literal_used && fields.literal.is_none() {
        return Err(truncated(format.dwords + 1));
    }
    let prefix_size = if prefix.is_some() { PREFIX_BYTES as u8 } else { 0 };
    inst.size = prefix_size + 4 * (format.dwords + u8::from(fields.literal_used));
    Ok(inst)
}

/// OP_SEL of VOP3.
pub(crate) const VOP3_OP_SEL: Field = Field::new(11, 4);

/// Operands and modifiers of the words of an opcode, written where there are none yet: these are large to
/// move about.
pub(super) fn read(
    entry: &Entry,
    (fields, last_dword): (&mut Fields, Field),
    rules: Rules,
    operands: &mut Operands,
    mods: &mut Mods,
) -> Result<(), Illegal> {
    decode_modifiers(entry, fields, mods)?;
    if entry.reads_whole(fields.pairs.main) {
        // LLVM takes these for instructions without halves: all of OP_SEL means nothing.
        const NEG_AND_ABS: u64 = 7 << 8 | 7 << 61;
        if fields.pairs.main & entry.ignored & NEG_AND_ABS != 0 {
            return Err(Illegal::Field("OP_SEL"));
        }
        fields.idle |= VOP3_OP_SEL.mask();
        mods.op_sel = 0;
    }
    for (&spec, &place) in entry.specs.iter().zip(&entry.places) {
        operand::decode(fields, entry, (spec, place), mods, operands)?;
    }
    // In short forms the code of a register has a bit for its half. That bit of a constant's code is no
    // modifier.
    if mods.op_sel & 1 != 0 && !is_vector(operands, Slot::Src0) && has_half_in_code(entry) {
        mods.op_sel &= !1;
    }
    mods.ignored = match fields.model.scaled {
        Some(scaled) if scaled.encoding == entry.encoding => (scaled.idle_bits)(fields.pairs.extra),
        _ => (fields.pairs.main ^ entry.rest) & (entry.ignored | fields.idle),
    };
    mods.ignored_control = fields.pairs.get(last_dword) & (entry.ignored_control | fields.idle_control);
    rules(fields.arch, entry, operands, mods)
}

/// Whether the operand of a slot is a VGPR.
fn is_vector(operands: &Operands, slot: Slot) -> bool {
    operands.iter().any(|operand| operand.slot == slot && matches!(operand.value, Value::Vgpr(_)))
}

/// Whether the code of an opcode's first source says which half of a register it is.
fn has_half_in_code(entry: &Entry) -> bool {
    entry.modifiers.iter().any(|bits| bits.modifier == Modifier::OpSelOf(0))
}

/// The opcode of an instruction of this encoding.
fn opcode_of(model: &Model, encoding: Encoding, format: Format, bits: u64) -> u16 {
    let low = format.opcode.get(bits) as u16;
    let high = match encoding {
        // Both operations of VOPD.
        Encoding::Vopd => model.bits.vopd_opcode_y,
        _ => (model.bits.opcode_high)(encoding),
    };
    low | (high.get(bits) as u16) << format.opcode.width
}

fn decode_modifiers(entry: &Entry, fields: &Fields, mods: &mut Mods) -> Result<(), Illegal> {
    for &modifier in &entry.modifiers {
        let value = fields.pairs.get(modifier.field) & modifier.mask;
        modifiers::set(mods, modifier, value).map_err(|undefined| Illegal::Field(undefined.0))?;
    }
    Ok(())
}
