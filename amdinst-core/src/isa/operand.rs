//! Operand fields to [`Operand`]s and back: what each [`Class`] can hold.

use arrayvec::ArrayVec;

use super::fields::{self, Field, field_of};
use super::table::{ATOMIC, Class, DPP, Entry, FROM_LDS, GDS_ONLY, ImmKind, RETURNS, Spec, Ty};
use super::{Access, Encoding, Illegal, Mods, Operand, Operands, SdwaUnused, Slot, Value};
use crate::Arch;

/// The words an instruction is decoded from.
pub(super) struct Fields {
    pub(super) arch: Arch,
    /// The first two dwords.
    pub(super) bits: u64,
    /// The dword after them, if there is one.
    pub(super) literal: Option<u32>,
    /// Whether an operand took it.
    pub(super) literal_used: bool,
}

impl Fields {
    /// Takes the literal. When the bytes end before it, the caller finds `literal_used` and reports that.
    fn take_literal(&mut self) -> Value {
        self.literal_used = true;
        Value::Literal(self.literal.unwrap_or(0))
    }
}

/// Most slots are one operand; SMEM's offset can be two, and some slots are absent.
pub(super) type Decoded = ArrayVec<Operand, 2>;

/// First scalar register that is no SGPR.
const SGPRS: u8 = 102;
/// Operand code of the literal.
const LITERAL: u32 = 255;
/// Operand code of the first vector register.
const VGPR_BASE: u32 = 256;
/// SADDR's code for `off`.
const SADDR_OFF: u32 = 0x7f;

/// Whether a slot is present at all with these modifiers.
pub(super) fn is_present(entry: &Entry, spec: Spec, mods: &Mods) -> bool {
    match (entry.encoding, spec.slot) {
        // An atomic returns the old value only with GLC; a load to LDS has no destination.
        (Encoding::Flat | Encoding::Global | Encoding::Scratch, Slot::Vdst) => {
            if entry.flags.has(ATOMIC) && !entry.flags.has(RETURNS) { mods.glc } else { !mods.lds }
        }
        (Encoding::Mubuf, Slot::Vdata) => !mods.lds,
        _ => true,
    }
}

/// How an operand is used with these modifiers.
pub(super) fn access(entry: &Entry, spec: Spec, mods: &Mods) -> Access {
    let preserves = mods.sdwa.is_some_and(|sdwa| sdwa.dst_unused == SdwaUnused::Preserve);
    match spec.slot {
        Slot::Vdst if preserves => Access::ReadWrite,
        Slot::Sdata | Slot::Vdata if entry.flags.has(ATOMIC) && !mods.glc => Access::Read,
        _ => spec.access,
    }
}

/// Decodes one slot.
pub(super) fn decode(
    fields: &mut Fields,
    entry: &Entry,
    spec: Spec,
    mods: &Mods,
) -> Result<Decoded, Illegal> {
    let mut decoded = Decoded::new();
    if !is_present(entry, spec, mods) {
        return if field_of(entry.encoding, spec.slot).get(fields.bits) == 0 {
            Ok(decoded)
        } else {
            Err(Illegal::Field("the register field of an absent result"))
        };
    }
    let dwords = width(entry, spec, mods, fields.bits);
    let operand = |value| {
        let dwords = if value_has_width(value) { dwords } else { 0 };
        Operand { value, slot: spec.slot, dwords, access: access(entry, spec, mods) }
    };
    if spec.class == Class::SmemOffset {
        smem_offset(fields, entry, mods, &mut decoded)?;
        return Ok(decoded);
    }
    let value = value(fields, entry, spec, dwords)?;
    if spec.class == Class::SdwaDst && fields::SDWA_SD.get(fields.bits) == 0 {
        decoded.push(Operand { slot: Slot::Implied, ..operand(value) });
    } else {
        decoded.push(operand(value));
    }
    Ok(decoded)
}

/// Registers (and constants standing for them) have a width; immediates have not.
fn value_has_width(value: Value) -> bool {
    !matches!(value, Value::Imm(_) | Value::Off)
}

/// How many registers an operand spans.
pub(super) fn width(entry: &Entry, spec: Spec, mods: &Mods, bits: u64) -> u8 {
    let base = spec.ty.dwords();
    match spec.class {
        Class::FlatAddr => 2,
        Class::GlobalAddr => {
            let saddr = field_of(entry.encoding, Slot::Saddr).get(bits);
            if saddr == SADDR_OFF { 2 } else { 1 }
        }
        Class::BufferAddr => u8::from(mods.idxen) + u8::from(mods.offen),
        Class::BufferData => base + u8::from(mods.tfe),
        Class::ImageData if spec.ty == Ty::I32 => {
            let channels = (mods.dmask.count_ones() as u8).max(1);
            (if mods.d16 { channels.div_ceil(2) } else { channels }) + u8::from(mods.tfe)
        }
        _ => base,
    }
}

fn smem_offset(fields: &Fields, entry: &Entry, mods: &Mods, out: &mut Decoded) -> Result<(), Illegal> {
    let offset = field_of(entry.encoding, Slot::Offset);
    let soffset = field_of(entry.encoding, Slot::Soffset);
    let imm = fields::SMEM_IMM.get(fields.bits) != 0;
    let mut push = |value, slot, dwords| out.push(Operand { value, slot, dwords, access: Access::Read });
    if mods.soffset_en {
        push(scalar(soffset.get(fields.bits), 1)?, Slot::Soffset, 1);
    } else if soffset.get(fields.bits) != 0 {
        return Err(Illegal::Field("SOFFSET"));
    }
    let raw = offset.get(fields.bits);
    if imm {
        push(Value::Imm(sign_extend(raw, offset.width)), Slot::Offset, 0);
    } else if !mods.soffset_en {
        // The older form: OFFSET names the register.
        if raw > 0x7f {
            return Err(Illegal::Field("OFFSET"));
        }
        push(scalar(raw, 1)?, Slot::Offset, 1);
    } else if raw != 0 {
        return Err(Illegal::Field("OFFSET"));
    }
    Ok(())
}

fn value(fields: &mut Fields, entry: &Entry, spec: Spec, dwords: u8) -> Result<Value, Illegal> {
    let field = field_of(entry.encoding, spec.slot);
    let code = field.get(fields.bits);
    let arch = fields.arch;
    let acc = || fields::acc_bit(entry.encoding, spec.slot).get(fields.bits) != 0;
    match spec.class {
        Class::Sgpr => {
            if code > 127 {
                return Err(Illegal::ReservedCode(code as u16));
            }
            scalar(code, dwords)
        }
        Class::Ssrc => match code {
            LITERAL => Ok(fields.take_literal()),
            _ => scalar_source(code, dwords),
        },
        Class::SsrcReg => match scalar_source(code, dwords)? {
            register @ Value::Scalar(_) => Ok(register),
            _ => Err(Illegal::Kind("a constant")),
        },
        Class::SsrcInline => scalar_source(code, dwords),
        Class::Vgpr => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::SrcVgpr => match code.checked_sub(VGPR_BASE) {
            Some(register) => vgpr(arch, register, dwords).map(Value::Vgpr),
            None => Err(Illegal::Kind("a scalar source")),
        },
        Class::Agpr => vgpr(arch, code, dwords).map(Value::Agpr),
        Class::SrcAgpr => match code.checked_sub(VGPR_BASE) {
            Some(register) => vgpr(arch, register, dwords).map(Value::Agpr),
            None => Err(Illegal::Kind("a scalar source")),
        },
        Class::VgprOrAgpr | Class::BufferData | Class::ImageData => {
            let register = vgpr(arch, code, dwords)?;
            Ok(if arch.is_gfx90a_plus() && acc() { Value::Agpr(register) } else { Value::Vgpr(register) })
        }
        Class::Src => match code {
            VGPR_BASE.. => vgpr(arch, code - VGPR_BASE, dwords).map(Value::Vgpr),
            LITERAL if fields::format_of(entry.encoding).dwords == 1 => Ok(fields.take_literal()),
            _ => scalar_source(code, dwords),
        },
        Class::MatrixAb => match code.checked_sub(VGPR_BASE) {
            Some(register) => {
                let register = vgpr(arch, register, dwords)?;
                Ok(if acc() { Value::Agpr(register) } else { Value::Vgpr(register) })
            }
            None => Err(Illegal::Kind("a scalar source")),
        },
        Class::MatrixD => {
            let register = vgpr(arch, code, dwords)?;
            Ok(if fields::ACC_CD.get(fields.bits) != 0 {
                Value::Agpr(register)
            } else {
                Value::Vgpr(register)
            })
        }
        Class::MatrixC | Class::MatrixCAgpr => match code.checked_sub(VGPR_BASE) {
            Some(register) => {
                let register = vgpr(arch, register, dwords)?;
                let agpr = spec.class == Class::MatrixCAgpr || fields::ACC_CD.get(fields.bits) != 0;
                Ok(if agpr { Value::Agpr(register) } else { Value::Vgpr(register) })
            }
            None => match inline(code) {
                Some(constant) => Ok(constant),
                None => Err(Illegal::Kind("a scalar register")),
            },
        },
        Class::SgprGroup => {
            let shift = if entry.encoding == Encoding::Smem { 1 } else { 2 };
            scalar(code << shift, dwords)
        }
        Class::FlatAddr | Class::GlobalAddr => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::ScratchAddr => {
            let used = if arch.is_gfx940_plus() {
                fields::SCRATCH_SVE.get(fields.bits) != 0
            } else {
                field_of(entry.encoding, Slot::Saddr).get(fields.bits) == SADDR_OFF
            };
            match (used, code) {
                (true, _) => vgpr(arch, code, 1).map(Value::Vgpr),
                (false, 0) => Ok(Value::Off),
                (false, _) => Err(Illegal::Field("VADDR")),
            }
        }
        Class::Saddr => match code {
            SADDR_OFF => Ok(Value::Off),
            _ => scalar(code, dwords),
        },
        Class::BufferAddr => match (dwords, code) {
            (0, 0) => Ok(Value::Off),
            (0, _) => Err(Illegal::Field("VADDR")),
            _ => vgpr(arch, code, dwords).map(Value::Vgpr),
        },
        Class::ImageAddr => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::Imm(kind) => Ok(Value::Imm(match kind {
            ImmKind::SignedHex | ImmKind::Target => sign_extend(code, field.width),
            _ => code.into(),
        })),
        Class::Literal => Ok(fields.take_literal()),
        Class::Vcc => Ok(Value::VCC),
        Class::SdwaSrc => {
            let select = if spec.slot == Slot::Src0 { fields::SDWA_S0 } else { fields::SDWA_S1 };
            if select.get(fields.bits) == 0 {
                vgpr(arch, code, dwords).map(Value::Vgpr)
            } else {
                scalar_source(code, dwords)
            }
        }
        Class::SdwaDst => match (fields::SDWA_SD.get(fields.bits), code) {
            (0, 0) => Ok(Value::VCC),
            (0, _) => Err(Illegal::Field("SDST")),
            _ => scalar(code, dwords),
        },
        Class::SmemOffset => Err(Illegal::Kind("SMEM's offset")),
    }
}

fn sign_extend(raw: u32, width: u8) -> i64 {
    let unused = 32 - u32::from(width);
    i64::from(((raw << unused) as i32) >> unused)
}

/// A scalar register tuple. SGPR pairs are even, wider tuples are aligned to four.
fn scalar(code: u32, dwords: u8) -> Result<Value, Illegal> {
    let first = code as u8;
    let end = match first {
        0..SGPRS => SGPRS,
        102 | 103 => 104,
        104 | 105 => 106,
        106 | 107 => 108,
        108..=123 => 124,
        124 => 125,
        126 | 127 => 128,
        _ => return Err(Illegal::ReservedCode(code as u16)),
    };
    let aligned = match dwords {
        0 | 1 => true,
        2 => first.is_multiple_of(2),
        _ => first.is_multiple_of(4),
    };
    if !aligned {
        return Err(Illegal::Alignment { first: code as u16, dwords });
    }
    if u32::from(first) + u32::from(dwords) > u32::from(end) {
        return Err(Illegal::Range { first: code as u16, dwords });
    }
    Ok(Value::Scalar(first))
}

/// An inline constant.
fn inline(code: u32) -> Option<Value> {
    matches!(code, 128..=208 | 240..=248).then_some(Value::Inline(code as u8))
}

/// What an 8-bit scalar source code stands for, literals apart.
fn scalar_source(code: u32, dwords: u8) -> Result<Value, Illegal> {
    match code {
        0..=127 => scalar(code, dwords),
        128..=208 | 240..=248 => Ok(Value::Inline(code as u8)),
        235..=239 | 251..=253 => Ok(Value::Special(code as u8)),
        254 if dwords < 2 => Ok(Value::Special(code as u8)),
        _ => Err(Illegal::ReservedCode(code as u16)),
    }
}

/// A vector register tuple. From gfx90a on, tuples start at even registers.
fn vgpr(arch: Arch, code: u32, dwords: u8) -> Result<u8, Illegal> {
    let first = code as u8;
    if dwords > 1 && arch.is_gfx90a_plus() && !first.is_multiple_of(2) {
        return Err(Illegal::Alignment { first: code as u16, dwords });
    }
    if code > 255 || code + u32::from(dwords) > 256 {
        return Err(Illegal::Range { first: code as u16, dwords });
    }
    Ok(first)
}

/// Encodes the operands of one slot, at most two for SMEM's offset, and returns the bits and the literal.
pub(super) fn encode(
    arch: Arch,
    entry: &Entry,
    spec: Spec,
    operands: &[Operand],
    mods: &Mods,
) -> Result<(u64, Option<u32>), Illegal> {
    let field = field_of(entry.encoding, spec.slot);
    if spec.class == Class::SmemOffset {
        return smem_offset_bits(entry, operands, mods).map(|bits| (bits, None));
    }
    let Some(operand) = operands.first() else { return Err(Illegal::Kind("a missing operand")) };
    let (code, extra, literal) = code_of(arch, entry, spec, operand, field)?;
    let bits = field.put(code) | extra;
    // Decoding is the judge of what an operand may be.
    let mut check =
        Fields { arch, bits: bits | saddr_bits(entry, operand, bits), literal, literal_used: false };
    let dwords = operand.dwords;
    if value(&mut check, entry, spec, dwords)? != operand.value || check.literal_used != literal.is_some() {
        return Err(Illegal::Kind(kind_name(operand.value)));
    }
    Ok((bits, literal))
}

/// SCRATCH's VADDR is judged by whether SADDR is `off`, which is another operand.
fn saddr_bits(entry: &Entry, operand: &Operand, bits: u64) -> u64 {
    match (entry.encoding, operand.slot, operand.value) {
        (Encoding::Scratch, Slot::Vaddr, Value::Vgpr(_)) => {
            field_of(entry.encoding, Slot::Saddr).put(SADDR_OFF) & !bits
        }
        _ => 0,
    }
}

/// A word for an operand that cannot stand where it does.
fn kind_name(value: Value) -> &'static str {
    match value {
        Value::Scalar(_) => "a scalar register",
        Value::Vgpr(_) => "a vector register",
        Value::Agpr(_) => "an accumulation register",
        Value::Inline(_) => "an inline constant",
        Value::Special(_) => "a special source",
        Value::Literal(_) => "a literal",
        Value::Imm(_) => "an immediate",
        Value::Off => "`off`",
    }
}

/// The field's code, bits elsewhere that belong to the operand, and the literal.
fn code_of(
    arch: Arch,
    entry: &Entry,
    spec: Spec,
    operand: &Operand,
    field: Field,
) -> Result<(u32, u64, Option<u32>), Illegal> {
    let wide = field.width == 9;
    let acc = |register: u8, code: u32| {
        let bit = match spec.class {
            Class::MatrixC | Class::MatrixD => fields::ACC_CD.mask(),
            Class::Agpr | Class::SrcAgpr | Class::MatrixCAgpr => 0,
            _ => fields::acc_bit(entry.encoding, spec.slot).mask(),
        };
        (code + u32::from(register), bit, None)
    };
    let vector = if wide { VGPR_BASE } else { 0 };
    let scalar_mark = match (spec.class, spec.slot) {
        (Class::SdwaSrc, Slot::Src0) => fields::SDWA_S0.mask(),
        (Class::SdwaSrc, _) => fields::SDWA_S1.mask(),
        (Class::SdwaDst, _) if operand.slot != Slot::Implied => fields::SDWA_SD.mask(),
        _ => 0,
    };
    Ok(match operand.value {
        Value::Scalar(_) if operand.slot == Slot::Implied => (0, 0, None),
        Value::Scalar(register) if spec.class == Class::SgprGroup => {
            let shift = if entry.encoding == Encoding::Smem { 1 } else { 2 };
            (u32::from(register) >> shift, 0, None)
        }
        Value::Scalar(register) => (register.into(), scalar_mark, None),
        Value::Inline(code) | Value::Special(code) => (code.into(), scalar_mark, None),
        Value::Vgpr(register) => {
            let has_sve = spec.class == Class::ScratchAddr && arch.is_gfx940_plus();
            let sve = if has_sve { fields::SCRATCH_SVE.mask() } else { 0 };
            (vector + u32::from(register), sve, None)
        }
        Value::Agpr(register) => acc(register, vector),
        Value::Literal(value) if spec.class == Class::Literal => (0, 0, Some(value)),
        Value::Literal(value) => (LITERAL, 0, Some(value)),
        Value::Off if spec.class == Class::Saddr => (SADDR_OFF, 0, None),
        Value::Off => (0, 0, None),
        Value::Imm(value) => {
            let code = value as u32 & ((1 << field.width) - 1);
            let range = 1_i64 << field.width;
            if !(-range / 2..range).contains(&value) {
                return Err(Illegal::Immediate(value));
            }
            (code, 0, None)
        }
    })
}

fn smem_offset_bits(entry: &Entry, operands: &[Operand], mods: &Mods) -> Result<u64, Illegal> {
    let offset = field_of(entry.encoding, Slot::Offset);
    let soffset = field_of(entry.encoding, Slot::Soffset);
    let register = |operand: &Operand| match operand.value {
        Value::Scalar(register) => scalar(register.into(), 1).map(|_| u32::from(register)),
        other => Err(Illegal::Kind(kind_name(other))),
    };
    let immediate = |value: i64| {
        let half = 1_i64 << (offset.width - 1);
        if (-half..half).contains(&value) {
            Ok(offset.put(value as u32) | fields::SMEM_IMM.mask())
        } else {
            Err(Illegal::Immediate(value))
        }
    };
    match (mods.soffset_en, operands) {
        (false, [Operand { value: Value::Imm(value), .. }]) => immediate(*value),
        (false, [base]) => Ok(offset.put(register(base)?)),
        (true, [base]) => Ok(soffset.put(register(base)?)),
        (true, [base, Operand { value: Value::Imm(value), .. }]) => {
            Ok(soffset.put(register(base)?) | immediate(*value)?)
        }
        _ => Err(Illegal::Kind("an SMEM offset of this form")),
    }
}

/// Rules that span operands and modifiers.
pub(super) fn check(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    if entry.flags.has(FROM_LDS) && !mods.lds {
        return Err(Illegal::Field("LDS"));
    }
    if entry.flags.has(GDS_ONLY) && !mods.gds {
        return Err(Illegal::Field("GDS"));
    }
    if let Some(dpp) = mods.dpp {
        debug_assert!(entry.flags.has(DPP));
        let double = entry.specs.iter().any(|spec| {
            spec.ty.dwords() == 2 && matches!(spec.class, Class::Vgpr) && spec.slot != Slot::Src1
        });
        if !is_dpp_control(arch, dpp.ctrl, double) {
            return Err(Illegal::Field("DPP_CTRL"));
        }
    }
    let literals = operands.iter().filter_map(|operand| match operand.value {
        Value::Literal(value) => Some(value),
        _ => None,
    });
    let mut literals = literals.peekable();
    if let Some(&first) = literals.peek()
        && literals.any(|other| other != first)
    {
        return Err(Illegal::TwoLiterals);
    }
    Ok(())
}

/// The defined lane permutations (Vega ISA, "DPP_CTRL Enumeration"; gfx90a adds row_newbcast, the only one that 64-bit
/// operations take there).
fn is_dpp_control(arch: Arch, ctrl: u16, double: bool) -> bool {
    let newbcast = arch.is_gfx90a_plus() && (0x150..=0x15f).contains(&ctrl);
    if double && arch.is_gfx90a_plus() {
        return newbcast;
    }
    newbcast
        || matches!(
            ctrl,
            0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138 | 0x13c | 0x140
                ..=0x143
        )
}
