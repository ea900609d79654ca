//! Bytes to [`Inst`].

use super::fields::{self, Format};
use super::modifiers;
use super::operand::{self, Fields};
use super::rules;
use super::scaled::{self, Pairs};
use super::table::{Entry, Tables};
use super::{DecodeError, Encoding, Illegal, Inst, Mods, Operands};
use crate::{Arch, Feature};

/// Decodes the instruction at the start of `bytes`, which may go on to the end of the section.
///
/// The result is exact: [`Inst::encode`] gives back the same bytes. Forms that are illegal (reserved codes, misaligned
/// tuples, bits without meaning) are errors, so that what decodes can be analysed, rewritten and executed.
///
/// # Errors
/// [`DecodeError`], with the offending words.
pub fn decode(arch: Arch, bytes: &[u8]) -> Result<Inst, DecodeError> {
    decode_with(arch, bytes, rules::check)
}

/// As [`decode`], for a listing: takes every combination of operands of which each by itself is legal, as LLVM's
/// disassembler does. What no assembler would write stands in paddings and tables: `v_cndmask_b32_e32 v0, s0, v0, vcc`
/// is a zero.
///
/// # Errors
/// [`DecodeError`], with the offending words.
pub fn decode_for_listing(arch: Arch, bytes: &[u8]) -> Result<Inst, DecodeError> {
    decode_with(arch, bytes, rules::check_fields)
}

/// How many bytes at the start of `bytes` tell that they are `inst`, which they decode to: with any others behind these they
/// would be the same instruction.
pub fn significant_bytes(arch: Arch, bytes: &[u8], inst: &Inst) -> usize {
    if arch.has(Feature::ScaledMatrices) && scaled::may_be_prefix(bytes) {
        // What stands behind tells whether it belongs to it.
        return scaled::PREFIX_SIZE + 8;
    }
    // Without a source, whether the mark of SDWA or DPP in its place means anything.
    let is_marked = inst.encoding == Encoding::Vop1
        && inst.operands.is_empty()
        && bytes.first().is_some_and(|&mark| [fields::SDWA_MARK, fields::DPP_MARK].contains(&mark.into()));
    usize::from(inst.size) + if is_marked { 4 } else { 0 }
}

/// Rules for whole instructions.
pub(super) type Rules = fn(Arch, &Entry, &Operands, &Mods) -> Result<(), Illegal>;

fn decode_with(arch: Arch, bytes: &[u8], rules: Rules) -> Result<Inst, DecodeError> {
    let prefix = if arch.has(Feature::ScaledMatrices) { scaled::prefix_at(bytes) } else { None };
    match decode_behind(arch, bytes, prefix, rules) {
        // Two instructions where they cannot be one.
        Err(DecodeError::IllegalOperand { .. }) if prefix.is_some() && !scaled::names_matrices(bytes) => {
            decode_behind(arch, bytes, None, rules)
        }
        result => result,
    }
}

/// Decodes an instruction that begins with these two dwords of scales, if any.
fn decode_behind(arch: Arch, bytes: &[u8], prefix: Option<u64>, rules: Rules) -> Result<Inst, DecodeError> {
    let bytes = if prefix.is_some() { &bytes[scaled::PREFIX_SIZE..] } else { bytes };
    let word = |index: usize| {
        let bytes = bytes.get(index * 4..index * 4 + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let truncated =
        |dwords: u8| DecodeError::Truncated { needed: usize::from(dwords) * 4, available: bytes.len() };
    let first = word(0).ok_or_else(|| truncated(1))?;
    let tables = Tables::of(arch);
    let mut encoding = encoding_of(first).ok_or(DecodeError::UnknownEncoding { word: first })?;
    if prefix.is_some() {
        encoding = Encoding::Vop3px;
    } else if let Some(short) = unmarked(tables, encoding, first, word(1)) {
        encoding = short;
    }
    let format = fields::format_of(encoding);
    let second = if format.dwords > 1 { word(1).ok_or_else(|| truncated(2))? } else { 0 };
    let words = [first, second];
    let bits = u64::from(first) | u64::from(second) << 32;

    let opcode = opcode_of(encoding, format, bits);
    let entry = tables.by_opcode(encoding, opcode).ok_or(DecodeError::UnknownOpcode {
        arch,
        encoding,
        opcode,
        words,
    })?;
    let reserved = bits & !(entry.used | entry.ignored);
    if reserved != 0 {
        return Err(DecodeError::ReservedBits { op: entry.op, bits: reserved, words });
    }
    let illegal = |reason| DecodeError::IllegalOperand { op: entry.op, reason, words };

    let pairs = Pairs { main: bits, prefix: prefix.unwrap_or(0) };
    let mut fields = Fields::new(arch, pairs, word(usize::from(format.dwords)));
    let mut inst =
        Inst { op: entry.op, encoding, size: 0, operands: Operands::new(), mods: modifiers::empty(encoding) };
    read(entry, &mut fields, rules, &mut inst.operands, &mut inst.mods).map_err(illegal)?;
    if fields.literal_used && fields.literal.is_none() {
        return Err(truncated(format.dwords + 1));
    }
    let prefix_size = if prefix.is_some() { scaled::PREFIX_SIZE as u8 } else { 0 };
    inst.size = prefix_size + 4 * (format.dwords + u8::from(fields.literal_used));
    Ok(inst)
}

/// Operands and modifiers of the words of an opcode, written where there are none yet: these are large to move about.
pub(super) fn read(
    entry: &Entry,
    fields: &mut Fields,
    rules: Rules,
    operands: &mut Operands,
    mods: &mut Mods,
) -> Result<(), Illegal> {
    decode_modifiers(entry, &fields.pairs, mods)?;
    for (&spec, &place) in entry.specs.iter().zip(&entry.places) {
        operand::decode(fields, entry, (spec, place), mods, operands)?;
    }
    mods.ignored = match entry.encoding {
        Encoding::Vop3px => scaled::idle_bits(fields.pairs.prefix),
        _ => (fields.pairs.main ^ entry.rest) & (entry.ignored | fields.idle),
    };
    rules(fields.arch, entry, operands, mods)
}

/// The opcode of an instruction of this encoding.
fn opcode_of(encoding: Encoding, format: Format, bits: u64) -> u16 {
    let low = format.opcode.get(bits) as u16;
    match encoding {
        Encoding::Mimg => low | (fields::MIMG_OPCODE_HIGH.get(bits) as u16) << 7,
        _ => low,
    }
}

/// The short encoding of an opcode that has no source and hence no SDWA or DPP form, or none with this second dword: the
/// mark means nothing then.
fn unmarked(tables: &Tables, encoding: Encoding, first: u32, second: Option<u32>) -> Option<Encoding> {
    let format = fields::format_of(encoding);
    match encoding {
        Encoding::Vop1Sdwa | Encoding::Vop1Dpp => {
            let opcode = format.opcode.get(first.into()) as u16;
            let entry = tables.by_opcode(Encoding::Vop1, opcode)?;
            let is_marked = |marked: &Entry| {
                second.is_some_and(|second| u64::from(second) << 32 & !(marked.used | marked.ignored) == 0)
            };
            let marked = tables.by_opcode(encoding, opcode).is_some_and(is_marked);
            (entry.specs.is_empty() && !marked).then_some(Encoding::Vop1)
        }
        _ => None,
    }
}

fn decode_modifiers(entry: &Entry, pairs: &Pairs, mods: &mut Mods) -> Result<(), Illegal> {
    for &modifier in &entry.modifiers {
        let in_prefix = scaled::is_prefix_modifier(entry.encoding, modifier.modifier);
        let bits = if in_prefix { pairs.prefix } else { pairs.main };
        let value = modifier.field.get(bits) & modifier.mask;
        modifiers::set(mods, modifier, value).map_err(|undefined| Illegal::Field(undefined.0))?;
    }
    Ok(())
}

/// Which encoding a first dword belongs to (Vega ISA, table "Summary of Microcode Formats").
fn encoding_of(word: u32) -> Option<Encoding> {
    if word >> 31 == 0 {
        let mark = u64::from(word & 0x1ff);
        let (plain, sdwa, dpp) = match word >> 25 {
            0b011_1111 => (Encoding::Vop1, Encoding::Vop1Sdwa, Encoding::Vop1Dpp),
            // No comparison has a DPP form; the mark is then refused as a source.
            0b011_1110 => (Encoding::Vopc, Encoding::VopcSdwa, Encoding::Vopc),
            _ => (Encoding::Vop2, Encoding::Vop2Sdwa, Encoding::Vop2Dpp),
        };
        return Some(match mark {
            fields::SDWA_MARK => sdwa,
            fields::DPP_MARK => dpp,
            _ => plain,
        });
    }
    if word >> 30 == 0b10 {
        return Some(match word >> 23 {
            0b1_0111_1101 => Encoding::Sop1,
            0b1_0111_1110 => Encoding::Sopc,
            0b1_0111_1111 => Encoding::Sopp,
            _ if word >> 28 == 0b1011 => Encoding::Sopk,
            _ => Encoding::Sop2,
        });
    }
    match word >> 26 {
        0b11_0000 => Some(Encoding::Smem),
        0b11_0001 => Some(Encoding::Exp),
        0b11_0101 => Some(Encoding::Vintrp),
        0b11_0100 if word >> 23 == 0b1_1010_0111 => Some(Encoding::Vop3p),
        0b11_0100 => Some(Encoding::Vop3),
        0b11_0110 => Some(Encoding::Ds),
        0b11_0111 => match word >> 14 & 0b11 {
            0 => Some(Encoding::Flat),
            1 => Some(Encoding::Scratch),
            2 => Some(Encoding::Global),
            _ => None,
        },
        0b11_1000 => Some(Encoding::Mubuf),
        0b11_1010 => Some(Encoding::Mtbuf),
        0b11_1100 => Some(Encoding::Mimg),
        _ => None,
    }
}
