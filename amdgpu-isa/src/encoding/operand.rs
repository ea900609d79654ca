//! Operand fields to [`Operand`]s and back: what each [`Class`] can hold.

use super::format::{Field, Pairs};
use super::immediate;
use super::model::Model;
use super::modifiers::{Modifier, ModifierBits};
use super::table::Entry;
use crate::registers::Naming;
use crate::signature::image::{ADDRESSES_PER_DWORD, ImageAddress, MOST_ADDRESSES};
use crate::signature::{ATOMIC, Class, ImmKind, RETURNS, SMALL_FLOATS, Spec, TO_LDS_ALWAYS, Ty, UNALIGNED};
use crate::{
    Access, Arch, Encoding, Feature, Illegal, Mods, Operand, Operands, SdwaUnused, Slot, Special, Value,
    scalar,
};

/// The words an instruction is decoded from.
pub(crate) struct Fields {
    pub(crate) arch: Arch,
    pub(crate) model: &'static Model,
    /// The dwords without the literal.
    pub(crate) pairs: Pairs,
    /// The dword after them, if there is one.
    pub(crate) literal: Option<u32>,
    /// Whether an operand took it.
    pub(crate) literal_used: bool,
    /// Bits of operand fields that turned out to mean nothing: fields of absent operands, low bits of the
    /// first register of a tuple. From bit 32 on those of the literal, where the encoding has one dword.
    pub(crate) idle: u64,
    /// As that, of a third dword.
    pub(crate) idle_control: u32,
}

impl Fields {
    pub(crate) fn new((arch, model): (Arch, &'static Model), pairs: Pairs, literal: Option<u32>) -> Self {
        Self { arch, model, pairs, literal, literal_used: false, idle: 0, idle_control: 0 }
    }

    /// Notes that a field means nothing.
    fn pass_over(&mut self, field: Field) {
        if field.is_extra() {
            self.idle_control |= field.mask() as u32;
        } else {
            self.idle |= field.mask();
        }
    }

    /// Takes the literal: a whole dword, of which an operand of 16 bits takes the low half. When the bytes
    /// end before it, the caller finds `literal_used` and reports that.
    fn take_literal(&mut self) -> Value {
        self.literal_used = true;
        Value::Literal(self.literal.unwrap_or(0))
    }

    /// A scalar register tuple in a field that drops the low `shift` bits of the register's number. The
    /// hardware drops the other bits below a tuple's alignment.
    fn scalar(&mut self, field: Field, code: u32, shift: u8, dwords: u8) -> Result<Value, Illegal> {
        let registers = self.arch.generation().registers();
        if registers.is_null(code << shift) {
            return Ok(Value::Special(Special::Null));
        }
        if registers.is_m0(code << shift) {
            return if dwords < 2 {
                Ok(Value::M0)
            } else {
                Err(Illegal::Range { first: code as u16, dwords })
            };
        }
        let first = scalar_tuple(self.arch, code << shift, dwords)?;
        self.idle |= field.put((code << shift ^ u32::from(first)) >> shift);
        Ok(Value::Scalar(first))
    }

    /// A scalar register tuple, an inline constant, or a special source.
    fn scalar_source(&mut self, field: Field, code: u32, dwords: u8) -> Result<Value, Illegal> {
        match code {
            0..=127 => self.scalar(field, code, 0, dwords),
            128..=208 | 240..=248 => Ok(Value::Inline(code as u8)),
            _ => match self.arch.generation().registers().special(code) {
                Some(Special::LdsDirect) | None => Err(Illegal::ReservedCode(code as u16)),
                Some(special) => Ok(Value::Special(special)),
            },
        }
    }
}

/// The first operand code of a scalar source that is no register.
const OTHER_SOURCES: u32 = 128;
/// Operand code of the literal.
const LITERAL: u32 = 255;
/// Operand code of the first vector register.
const VGPR_BASE: u32 = 256;

/// Whether a slot is present at all with these modifiers.
pub(crate) fn is_present(entry: &Entry, spec: Spec, mods: &Mods) -> bool {
    match (entry.encoding, spec.slot) {
        // An atomic returns the old value only with GLC; a load to LDS has no destination.
        (Encoding::Flat | Encoding::Global | Encoding::Scratch, Slot::Vdst) => {
            if entry.flags.has(ATOMIC) && !entry.flags.has(RETURNS) { mods.glc } else { !mods.lds }
        }
        (Encoding::Mubuf, Slot::Vdata) => !mods.lds,
        (encoding, _) if encoding.is_named_image() => match spec.class {
            Class::ImageAddress(address) | Class::ImageAddresses(address) => {
                named_address_width(entry, (spec.class, address), spec.slot, mods) > 0
            }
            _ => true,
        },
        _ => true,
    }
}

/// How an operand is used with these modifiers.
pub(crate) fn access(entry: &Entry, spec: Spec, mods: &Mods) -> Access {
    let preserves = mods.sdwa.is_some_and(|sdwa| sdwa.dst_unused == SdwaUnused::Preserve);
    match spec.slot {
        Slot::Vdst if preserves => Access::ReadWrite,
        // Data of a failed access, and the half of a register beside the last channel, stay.
        Slot::Vdata if entry.encoding.is_image() && (mods.tfe || mods.lwe || mods.d16) => {
            if spec.access == Access::Read { Access::Read } else { Access::ReadWrite }
        }
        Slot::Sdata | Slot::Vdata if entry.flags.has(ATOMIC) && !mods.glc => Access::Read,
        _ => spec.access,
    }
}

/// Decodes one slot, which stands in a field. Most are one operand; SMEM's offset can be two, and some slots
/// are absent.
pub(crate) fn decode(
    fields: &mut Fields,
    entry: &Entry,
    (spec, field): (Spec, Field),
    mods: &Mods,
    decoded: &mut Operands,
) -> Result<(), Illegal> {
    if !is_present(entry, spec, mods) {
        // LDS has no accumulation registers, nor TFE.
        let acc = (fields.model.bits.acc)(entry.encoding, spec.slot);
        if mods.lds && acc.get(fields.pairs.main) != 0 {
            return Err(Illegal::Field("ACC or TFE"));
        }
        if entry.encoding == Encoding::Vimage && !field.is_extra() && field.get(fields.pairs.main) != 0 {
            return Err(Illegal::Field("VADDR4"));
        }
        fields.pass_over(field);
        return Ok(());
    }
    let dwords = width(fields.arch, entry, spec, mods, fields.pairs.main);
    let operand = |value| {
        let dwords = if value_has_width(value) { dwords } else { 0 };
        Operand { value, slot: spec.slot, dwords, access: access(entry, spec, mods) }
    };
    if spec.class == Class::SmemOffset {
        return smem_offset(fields, entry, mods, decoded);
    }
    let value = value(fields, entry, (spec, field), dwords)?;
    if spec.class == Class::SdwaDst && fields.model.bits.sdwa_sdst.get(fields.pairs.main) == 0 {
        decoded.push(Operand { slot: Slot::Implied, ..operand(value) });
    } else {
        decoded.push(operand(value));
    }
    Ok(())
}

/// Registers (and constants standing for them) have a width; immediates have not.
fn value_has_width(value: Value) -> bool {
    !matches!(value, Value::Imm(_) | Value::Off)
}

/// How many registers an operand spans.
pub(crate) fn width(arch: Arch, entry: &Entry, spec: Spec, mods: &Mods, bits: u64) -> u8 {
    let base = spec.ty.dwords();
    match spec.class {
        Class::FlatAddr => 2,
        Class::GlobalAddr => {
            let model = arch.generation().model();
            let saddr = (model.field)(entry.encoding, Slot::Saddr).get(bits);
            if saddr == model.bits.saddr_off { 2 } else { 1 }
        }
        Class::MatrixAb if entry.flags.has(SMALL_FLOATS) => {
            match if spec.slot == Slot::Src0 { mods.cbsz } else { mods.blgp } {
                // FP6 and BF6, FP4; the numbers above have no format, and the width of FP8 and BF8.
                2 | 3 => 6,
                4 => 4,
                _ => base,
            }
        }
        Class::BufferAddr => u8::from(mods.idxen) + u8::from(mods.offen),
        Class::BufferData => base + u8::from(mods.tfe),
        Class::ImageData => image_data_width(arch, entry, spec, mods),
        Class::ImageAddress(address) | Class::ImageAddresses(address) if entry.encoding.is_named_image() => {
            named_address_width(entry, (spec.class, address), spec.slot, mods)
        }
        Class::ImageAddresses(address) => address.dwords(mods.dim, mods.a16),
        Class::ImageAddress(address) => address.dwords(mods.dim, mods.a16),
        _ => base,
    }
}

/// Registers of one of the address operands of MIMG that names each; 0 where there are fewer.
fn named_address_width(
    entry: &Entry,
    (class, address): (Class, ImageAddress),
    slot: Slot,
    mods: &Mods,
) -> u8 {
    let index: u8 = match slot {
        Slot::Vaddr1 => 1,
        Slot::Vaddr2 => 2,
        Slot::Vaddr3 => 3,
        Slot::Vaddr4 => 4,
        _ => 0,
    };
    match class {
        // One in the first operand, then four in each.
        Class::ImageAddresses(_) => {
            let before = (4 * index).saturating_sub(3);
            let most = if index == 0 { 1 } else { ADDRESSES_PER_DWORD };
            address.dwords(mods.dim, mods.a16).saturating_sub(before).min(most)
        }
        _ => address.operand_dwords(index, most_addresses(entry.encoding), mods.dim, mods.a16),
    }
}

/// Address operands of an image that names each register, in the order of which the last takes what is left.
const fn most_addresses(encoding: Encoding) -> u8 {
    match encoding {
        // The fifth is of rays alone.
        Encoding::Vimage | Encoding::Vsample => MOST_ADDRESSES - 1,
        _ => MOST_ADDRESSES,
    }
}

/// Registers of image data: one a channel, of 16-bit data one for two where they are packed, and the status
/// of TFE. A gather has four channels whatever DMASK says; atomics have one or two values of one or two
/// registers.
fn image_data_width(arch: Arch, entry: &Entry, spec: Spec, mods: &Mods) -> u8 {
    let gathers = spec.ty == Ty::B128;
    // Hardware returns a status behind the halves of a gather as well. LLVM has no form of three registers,
    // and lists two.
    let packs = packs_halves(arch, mods);
    let has_form = !(gathers && packs && has_sampler(entry));
    let status = u8::from(mods.tfe && has_form);
    let channels = if gathers { 4 } else { (mods.dmask.count_ones() as u8).max(1) };
    if entry.flags.has(ATOMIC) {
        let base = spec.ty.dwords();
        let all = channels + status;
        // What LLVM has no form for, it lists in the narrowest.
        return if (base..=2 * base + 1).contains(&all) { all } else { base };
    }
    status + if packs { channels.div_ceil(2) } else { channels }
}

/// Whether two halves of an image's data share a register.
fn packs_halves(arch: Arch, mods: &Mods) -> bool {
    mods.d16 && !arch.has(Feature::UnpackedHalves)
}

/// A gather takes one channel, an atomic its data: a mask of 1, 3 or 15 by their number.
pub(crate) fn image_mask(arch: Arch, entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    let Some(data) = entry.specs.iter().find(|spec| spec.class == Class::ImageData) else { return Ok(()) };
    let packs = packs_halves(arch, mods);
    let legal = match data.ty {
        // A sample of each pixel may be halves and have a status; a gather has no such form.
        Ty::B128 => mods.dmask.count_ones() == 1 && !(packs && mods.tfe && has_sampler(entry)),
        _ if !entry.flags.has(ATOMIC) => true,
        // Two values a lane; LLVM takes one where the status fills its place.
        Ty::I64 => matches!((mods.dmask, mods.tfe), (3 | 15, _) | (1, true)),
        _ => matches!(mods.dmask, 1 | 3),
    };
    if legal { Ok(()) } else { Err(Illegal::Field("DMASK")) }
}

fn has_sampler(entry: &Entry) -> bool {
    entry.specs.iter().any(|spec| spec.slot == Slot::Ssamp)
}

fn smem_offset(fields: &mut Fields, entry: &Entry, mods: &Mods, out: &mut Operands) -> Result<(), Illegal> {
    let offset = (fields.model.field)(entry.encoding, Slot::Offset);
    let soffset = (fields.model.field)(entry.encoding, Slot::Soffset);
    // Without the bit there is always one.
    let always = fields.model.bits.smem_imm.width == 0;
    let imm = if always {
        !mods.soffset_en || fields.model.bits.smem_names_zero || offset.get(fields.pairs.main) != 0
    } else {
        fields.model.bits.smem_imm.get(fields.pairs.main) != 0
    };
    let raw = offset.get(fields.pairs.main);
    let mut push = |value, slot, dwords| out.push(Operand { value, slot, dwords, access: Access::Read });
    if mods.soffset_en {
        push(fields.scalar(soffset, soffset.get(fields.pairs.main), 0, 1)?, Slot::Soffset, 1);
    } else if !always {
        fields.idle |= soffset.mask();
    }
    if imm {
        let value = if fields.model.bits.smem_unsigned { raw as i32 } else { sign_extend(raw, offset.width) };
        // Buffers are addressed forwards only.
        let is_buffer = entry.specs.iter().any(|spec| spec.slot == Slot::Sbase && spec.ty == Ty::B128);
        if is_buffer && value < 0 {
            return Err(Illegal::Immediate(value.into()));
        }
        push(Value::Imm(value), Slot::Offset, 0);
    } else if mods.soffset_en {
        fields.idle |= if always { 0 } else { offset.mask() };
    } else {
        // The older form: the low bits of OFFSET name the register.
        let register = Field::new(offset.lsb, soffset.width);
        fields.idle |= offset.mask() & !register.mask();
        push(fields.scalar(register, register.get(fields.pairs.main), 0, 1)?, Slot::Offset, 1);
    }
    Ok(())
}

/// The value of an operand's field.
fn value(
    fields: &mut Fields,
    entry: &Entry,
    (spec, field): (Spec, Field),
    dwords: u8,
) -> Result<Value, Illegal> {
    let mut code = fields.pairs.get(field);
    let arch = fields.arch;
    let (bits, main) = (fields.model.bits, fields.pairs.main);
    let acc = || (bits.acc)(entry.encoding, spec.slot).get(main) != 0;
    if entry.halves != 0 {
        code &= !half_bit(entry, spec, field, code);
    }
    match spec.class {
        Class::Sgpr => fields.scalar(field, code, 0, dwords),
        Class::Sdata => match fields.scalar(field, code, 0, dwords)? {
            Value::M0 | Value::Scalar(scalar::EXEC | scalar::EXEC_HI) => Err(Illegal::Kind("M0 or EXEC")),
            register => Ok(register),
        },
        Class::ScalarDst => scalar_result(fields.scalar_source(field, code, dwords)?, dwords),
        Class::SsrcOrLds if is_lds_direct(arch, code) => Ok(Value::Special(Special::LdsDirect)),
        Class::Ssrc | Class::SsrcOrLds => match code {
            LITERAL => Ok(fields.take_literal()),
            _ => fields.scalar_source(field, code, dwords),
        },
        Class::Barrier => match fields.scalar_source(field, code, dwords)? {
            barrier @ (Value::M0 | Value::Inline(_)) => Ok(barrier),
            _ => Err(Illegal::Kind("no number of a barrier")),
        },
        Class::SsrcReg => scalar_register(fields.scalar_source(field, code, dwords)?, dwords),
        Class::Mask => match fields.scalar_source(field, code, dwords)? {
            Value::Inline(_) => Err(Illegal::Kind("a constant")),
            register => Ok(register),
        },
        Class::SsrcInline => fields.scalar_source(field, code, dwords),
        Class::Vgpr | Class::DppVgpr => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::VgprY => {
            let first = (fields.model.field)(entry.encoding, Slot::Vdst).get(main);
            Ok(Value::Vgpr((code << 1 | (first & 1 ^ 1)) as u8))
        }
        Class::SrcLane if is_lds_direct(arch, code) => Ok(Value::Special(Special::LdsDirect)),
        Class::SrcVgpr | Class::SrcLane => vector_source(arch, code, dwords).map(Value::Vgpr),
        Class::Agpr => vgpr(arch, code, dwords).map(Value::Agpr),
        Class::SrcAgpr => vector_source(arch, code, dwords).map(Value::Agpr),
        Class::VgprOrAgpr | Class::BufferData | Class::ImageData => {
            let is_loose = entry.flags.has(UNALIGNED);
            let first = if is_loose { tuple_in_range(code, dwords) } else { vgpr(arch, code, dwords) }?;
            Ok(vector_register(first, arch.has(Feature::UnifiedRegisterFile) && acc()))
        }
        Class::GwsData => match arch.has(Feature::UnifiedRegisterFile) {
            true if !code.is_multiple_of(2) => Err(Illegal::Alignment { first: code as u16, dwords }),
            true if acc() => Ok(Value::Agpr(code as u8)),
            _ => Ok(Value::Vgpr(code as u8)),
        },
        Class::Src => any_source(fields, entry, field, code, dwords),
        Class::MatrixAb => Ok(vector_register(vector_source(arch, code, dwords)?, acc())),
        Class::MatrixD => Ok(vector_register(vgpr(arch, code, dwords)?, bits.acc_cd.get(main) != 0)),
        Class::MatrixC | Class::MatrixCAgpr => matrix_addend(fields, (spec, field), code, dwords),
        Class::SgprGroup => {
            if code >= OTHER_SOURCES {
                return Err(Illegal::ReservedCode(code as u16));
            }
            fields.scalar(field, code, (bits.resource_shift)(entry.encoding), dwords)
        }
        Class::FlatAddr | Class::GlobalAddr => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::ScratchAddr if has_scratch_address(fields, entry) => vgpr(arch, code, 1).map(Value::Vgpr),
        Class::ScratchAddr => {
            fields.pass_over(field);
            Ok(Value::Off)
        }
        Class::Saddr => scalar_address(fields, entry, field, code, dwords),
        Class::BufferAddr if dwords == 0 => {
            fields.pass_over(field);
            Ok(Value::Off)
        }
        Class::BufferAddr | Class::ImageAddr | Class::ImageAddress(_) => {
            vgpr(arch, code, dwords).map(Value::Vgpr)
        }
        Class::ImageAddresses(_) if field.width == 8 => vgpr(arch, code, dwords).map(Value::Vgpr),
        Class::ImageAddresses(_) => {
            let used = u32::MAX >> (8 * (4 - u32::from(dwords)));
            fields.idle_control |= !used;
            Ok(Value::Vgprs((code & used).to_le_bytes()))
        }
        Class::Imm(kind) => immediate::value(fields, entry, (kind, field), code),
        Class::Export => Ok(export(fields, spec.slot)),
        Class::Literal => Ok(fields.take_literal()),
        Class::Vcc => Ok(Value::VCC),
        Class::SdwaSrc => sdwa_source(fields, (spec, field), code, dwords),
        Class::SdwaDst if fields.model.bits.sdwa_sdst.get(fields.pairs.main) == 0 => {
            fields.idle |= field.mask();
            Ok(Value::VCC)
        }
        Class::SdwaDst => fields.scalar(field, code, 0, dwords),
        Class::SmemOffset => Err(Illegal::Kind("SMEM's offset")),
    }
}

/// A source of a vector instruction, which may be all that has a code.
fn any_source(
    fields: &mut Fields,
    entry: &Entry,
    field: Field,
    code: u32,
    dwords: u8,
) -> Result<Value, Illegal> {
    match code {
        VGPR_BASE.. => vgpr(fields.arch, code - VGPR_BASE, dwords).map(Value::Vgpr),
        LITERAL if entry.takes_literal => Ok(fields.take_literal()),
        _ if dwords < 2 && is_lds_direct(fields.arch, code) => Ok(Value::Special(Special::LdsDirect)),
        _ => fields.scalar_source(field, code, dwords),
    }
}

/// The scalar part of an address in memory, if there is one.
fn scalar_address(
    fields: &mut Fields,
    entry: &Entry,
    field: Field,
    code: u32,
    dwords: u8,
) -> Result<Value, Illegal> {
    let bits = fields.model.bits;
    match code {
        _ if code == bits.saddr_off => Ok(Value::Off),
        _ if bits.scratch_off == Some(code)
            && entry.encoding == Encoding::Scratch
            && (fields.arch.has(Feature::ScratchWithoutAddress) || moves_to_lds(fields, entry)) =>
        {
            Ok(Value::Off)
        }
        _ => match fields.scalar(field, code, 0, dwords)? {
            Value::EXEC if dwords > 1 && !takes_exec(fields, entry) => Err(Illegal::Kind("EXEC")),
            register => Ok(register),
        },
    }
}

/// A scalar register that is written, of what a source's code names.
fn scalar_result(value: Value, dwords: u8) -> Result<Value, Illegal> {
    match value {
        Value::M0 => Err(Illegal::Kind("M0")),
        Value::Inline(_) => Err(Illegal::Kind("a constant")),
        Value::Special(special) if special.is_aperture() && dwords < 2 => Err(Illegal::Kind("an aperture")),
        register => Ok(register),
    }
}

/// A scalar register, of what a source's code names.
fn scalar_register(value: Value, dwords: u8) -> Result<Value, Illegal> {
    match value {
        register @ Value::Scalar(_) => Ok(register),
        Value::Special(Special::Null) => Ok(Value::Special(Special::Null)),
        Value::Special(special) if !special.is_aperture() && dwords < 2 => Ok(Value::Special(special)),
        _ => Err(Illegal::Kind("a constant")),
    }
}

/// The first vector register that a source's code names.
fn vector_source(arch: Arch, code: u32, dwords: u8) -> Result<u8, Illegal> {
    match code.checked_sub(VGPR_BASE) {
        Some(register) => vgpr(arch, register, dwords),
        None => Err(Illegal::Kind("a scalar source")),
    }
}

const fn vector_register(first: u8, is_agpr: bool) -> Value {
    if is_agpr { Value::Agpr(first) } else { Value::Vgpr(first) }
}

/// What a matrix instruction adds to.
fn matrix_addend(
    fields: &mut Fields,
    (spec, field): (Spec, Field),
    code: u32,
    dwords: u8,
) -> Result<Value, Illegal> {
    if let Some(register) = code.checked_sub(VGPR_BASE) {
        let in_agprs = || fields.model.bits.acc_cd.get(fields.pairs.main) != 0;
        let first = vgpr(fields.arch, register, dwords)?;
        return Ok(vector_register(first, spec.class == Class::MatrixCAgpr || in_agprs()));
    }
    match inline(code) {
        Some(constant) => Ok(constant),
        None if fields.arch.generation().registers().is_null(code) => Ok(Value::Special(Special::Null)),
        // LLVM takes these for pairs.
        None if dwords == 2 && code > 128 => fields.scalar_source(field, code, dwords),
        None => Err(Illegal::Kind("a scalar register")),
    }
}

/// Whether an access to scratch has an address in a vector register.
fn has_scratch_address(fields: &Fields, entry: &Entry) -> bool {
    let (bits, main) = (fields.model.bits, fields.pairs.main);
    let is_told =
        bits.scratch_sve.width != 0 && (fields.arch.has(Feature::LdsLoadsByOpcode) || bits.always_sve);
    if is_told {
        bits.scratch_sve.get(main) != 0
    } else {
        (fields.model.field)(entry.encoding, Slot::Saddr).get(main) == bits.saddr_off
    }
}

fn sdwa_source(
    fields: &mut Fields,
    (spec, field): (Spec, Field),
    code: u32,
    dwords: u8,
) -> Result<Value, Illegal> {
    let select = fields.model.bits.sdwa_scalar[usize::from(spec.slot != Slot::Src0)];
    if select.get(fields.pairs.main) == 0 {
        return vgpr(fields.arch, code, dwords).map(Value::Vgpr);
    }
    match fields.scalar_source(field, code, dwords)? {
        // LLVM writes these as literals, which SDWA has not.
        Value::Inline(240..) if spec.ty == Ty::I16 => Err(Illegal::Kind("a float")),
        value => Ok(value),
    }
}

/// The bit of a code that says which half of a vector register it is, where a register's number has seven
/// bits.
fn half_bit(entry: &Entry, spec: Spec, field: Field, code: u32) -> u32 {
    let is_short = matches!(
        entry.encoding,
        Encoding::Vop1
            | Encoding::Vop2
            | Encoding::Vopc
            | Encoding::Vop1Dpp
            | Encoding::Vop2Dpp
            | Encoding::VopcDpp
            | Encoding::Vop1Dpp8
            | Encoding::Vop2Dpp8
            | Encoding::VopcDpp8
    );
    let is_vector =
        matches!(spec.slot, Slot::Src0 | Slot::Src1 | Slot::Vdst) && (field.width == 8 || code >= VGPR_BASE);
    if is_short && is_vector && spec.ty.is_half() { 0x80 } else { 0 }
}

/// Whether EXEC may be a scalar address: of loads to LDS, and where there is no vector address beside it.
fn takes_exec(fields: &Fields, entry: &Entry) -> bool {
    moves_to_lds(fields, entry) || !entry.specs.iter().any(|spec| spec.slot == Slot::Vaddr)
}

/// Whether a load's data goes to LDS.
fn moves_to_lds(fields: &Fields, entry: &Entry) -> bool {
    let is_set =
        |bits: &ModifierBits| bits.modifier == Modifier::Lds && bits.field.get(fields.pairs.main) != 0;
    entry.flags.has(TO_LDS_ALWAYS) || entry.modifiers.iter().any(is_set)
}

/// The register field of a source of an export: compressed, two share one.
fn export_field(model: &Model, slot: Slot, compressed: bool) -> Field {
    let shared = match slot {
        Slot::Src1 if compressed => Slot::Src0,
        Slot::Src2 | Slot::Src3 if compressed => Slot::Src1,
        slot => slot,
    };
    (model.field)(Encoding::Exp, shared)
}

fn export(fields: &mut Fields, slot: Slot) -> Value {
    let bits = fields.pairs.main;
    let compressed = fields.model.bits.exp_compr.get(bits) != 0;
    let field = export_field(fields.model, slot, compressed);
    if compressed && matches!(slot, Slot::Src2 | Slot::Src3) {
        fields.idle |= (fields.model.field)(Encoding::Exp, slot).mask();
    }
    if (fields.model.bits.exp_en)(slot).get(bits) != 0 {
        return Value::Vgpr(field.get(bits) as u8);
    }
    let partner = match slot {
        Slot::Src0 => Slot::Src1,
        Slot::Src1 => Slot::Src0,
        Slot::Src2 => Slot::Src3,
        _ => Slot::Src2,
    };
    if !compressed || (fields.model.bits.exp_en)(partner).get(bits) == 0 {
        fields.idle |= field.mask();
    }
    Value::Off
}

pub(super) fn sign_extend(raw: u32, width: u8) -> i32 {
    let unused = 32 - u32::from(width);
    ((raw << unused) as i32) >> unused
}

/// The first register of the scalar tuple that a code names. SGPR pairs are even, wider tuples are aligned to
/// four: bits below that are dropped for SGPRs and trap temporaries.
fn scalar_tuple(arch: Arch, code: u32, dwords: u8) -> Result<u8, Illegal> {
    let code = code as u8;
    let low = match dwords {
        0 | 1 => 0,
        2 => 1,
        _ => 3,
    };
    let run = arch.generation().registers().run_of(code).ok_or(Illegal::ReservedCode(code.into()))?;
    let end = run.end();
    let first = if run.naming == Naming::Numbered { code & !low } else { code };
    if u16::from(first) + u16::from(dwords) > end.into() {
        return Err(Illegal::Range { first: first.into(), dwords });
    }
    Ok(first)
}

fn is_lds_direct(arch: Arch, code: u32) -> bool {
    arch.generation().registers().special(code) == Some(Special::LdsDirect)
}

/// An inline constant.
fn inline(code: u32) -> Option<Value> {
    matches!(code, 128..=208 | 240..=248).then_some(Value::Inline(code as u8))
}

/// A vector register tuple. From gfx90a on, tuples start at even registers.
fn vgpr(arch: Arch, code: u32, dwords: u8) -> Result<u8, Illegal> {
    if dwords > 1 && arch.has(Feature::AlignedTuples) && !code.is_multiple_of(2) {
        return Err(Illegal::Alignment { first: code as u16, dwords });
    }
    tuple_in_range(code, dwords)
}

fn tuple_in_range(code: u32, dwords: u8) -> Result<u8, Illegal> {
    if code > 255 || code + u32::from(dwords) > 256 {
        return Err(Illegal::Range { first: code as u16, dwords });
    }
    Ok(code as u8)
}

/// The bits in the field's pair, those elsewhere in the first two dwords, and the literal of the operands of
/// one slot, at most two for SMEM's offset. What they may be is not judged here: the caller decodes the word
/// again. `has_no_address` tells of scratch that there is no vector address.
pub(crate) fn encode(
    (arch, model): (Arch, &Model),
    entry: &Entry,
    (spec, field): (Spec, Field),
    (operands, has_no_address): (&[Operand], bool),
    mods: &Mods,
) -> Result<(u64, u64, Option<u32>), Illegal> {
    if spec.class == Class::SmemOffset {
        return smem_offset_bits((arch, model), entry, operands, mods).map(|bits| (bits, 0, None));
    }
    let Some(operand) = operands.first() else { return Err(Illegal::Kind("a missing operand")) };
    if spec.class == Class::Export {
        return match operand.value {
            Value::Vgpr(register) => {
                let field = export_field(model, spec.slot, mods.compr);
                Ok((field.put(register.into()), (model.bits.exp_en)(spec.slot).mask(), None))
            }
            Value::Off => Ok((0, 0, None)),
            value => Err(Illegal::Kind(kind_name(value))),
        };
    }
    let (code, extra, literal) = code_of((arch, model), entry, spec, operand, (field, has_no_address))?;
    if u64::from(code) >> field.width != 0 && field.width != 0 {
        return Err(Illegal::Kind(kind_name(operand.value)));
    }
    if entry.halves != 0 && half_bit(entry, spec, field, code) & code != 0 {
        return Err(Illegal::Range { first: code as u16 & 0xff, dwords: 1 });
    }
    Ok((field.put(code), extra, literal))
}

/// What is wrong with an operand that its own bits do not decode to.
pub(crate) fn mismatch(arch: Arch, operand: &Operand) -> Illegal {
    match operand.value {
        Value::Scalar(first)
            if scalar_tuple(arch, first.into(), operand.dwords).is_ok_and(|other| other != first) =>
        {
            Illegal::Alignment { first: first.into(), dwords: operand.dwords }
        }
        value => Illegal::Kind(kind_name(value)),
    }
}

/// A word for an operand that cannot stand where it does.
fn kind_name(value: Value) -> &'static str {
    match value {
        Value::Scalar(_) => "a scalar register",
        Value::Vgpr(_) | Value::Vgprs(_) => "a vector register",
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
    (arch, model): (Arch, &Model),
    entry: &Entry,
    spec: Spec,
    operand: &Operand,
    (field, has_no_address): (Field, bool),
) -> Result<(u32, u64, Option<u32>), Illegal> {
    let wide = field.width == 9;
    let acc = |register: u8, code: u32| {
        let bit = match spec.class {
            Class::MatrixC | Class::MatrixD => model.bits.acc_cd.mask(),
            Class::Agpr | Class::SrcAgpr | Class::MatrixCAgpr => 0,
            _ => (model.bits.acc)(entry.encoding, spec.slot).mask(),
        };
        (code + u32::from(register), bit, None)
    };
    let vector = if wide { VGPR_BASE } else { 0 };
    let scalar_mark = match (spec.class, spec.slot) {
        (Class::SdwaSrc, Slot::Src0) => model.bits.sdwa_scalar[0].mask(),
        (Class::SdwaSrc, _) => model.bits.sdwa_scalar[1].mask(),
        (Class::SdwaDst, _) if operand.slot != Slot::Implied => model.bits.sdwa_sdst.mask(),
        _ => 0,
    };
    Ok(match operand.value {
        Value::Scalar(_) if operand.slot == Slot::Implied => (0, 0, None),
        Value::Scalar(register) if spec.class == Class::SgprGroup => {
            let code = u32::from(arch.generation().registers().code(register));
            (code >> (model.bits.resource_shift)(entry.encoding), 0, None)
        }
        Value::Scalar(register) => (arch.generation().registers().code(register).into(), scalar_mark, None),
        Value::Inline(code) => (code.into(), scalar_mark, None),
        Value::Special(special) => {
            let found = arch.generation().registers().code_and_name(special);
            let (code, _) = found.ok_or(Illegal::Kind("a special source"))?;
            let shift = match spec.class {
                Class::SgprGroup => (model.bits.resource_shift)(entry.encoding),
                _ => 0,
            };
            (u32::from(code) >> shift, scalar_mark, None)
        }
        Value::Vgpr(register) if spec.class == Class::VgprY => (u32::from(register) >> 1, 0, None),
        Value::Vgpr(register) => {
            let has_sve = spec.class == Class::ScratchAddr
                && (arch.has(Feature::LdsLoadsByOpcode) || model.bits.always_sve);
            let sve = if has_sve { model.bits.scratch_sve.mask() } else { 0 };
            (vector + u32::from(register), sve, None)
        }
        Value::Vgprs(registers) => (u32::from_le_bytes(registers), 0, None),
        Value::Agpr(register) => acc(register, vector),
        Value::Literal(value) if spec.class == Class::Literal => (0, 0, Some(value)),
        Value::Literal(value) => (LITERAL, 0, Some(value)),
        Value::Off if spec.class == Class::Saddr => {
            let is_alone = entry.encoding == Encoding::Scratch && has_no_address;
            let off = model.bits.scratch_off.filter(|_| is_alone);
            (off.unwrap_or(model.bits.saddr_off), 0, None)
        }
        Value::Off => (0, 0, None),
        Value::Imm(value) => {
            let code = value as u32 & ((1 << field.width) - 1);
            let range = 1_i64 << field.width;
            if !(-range / 2..range).contains(&value.into()) {
                return Err(Illegal::Immediate(value.into()));
            }
            let is_attribute = spec.class == Class::Imm(ImmKind::Attribute);
            let code = if is_attribute && entry.encoding == Encoding::Vop3 {
                code >> 2 | (code & 3) << 6
            } else {
                code
            };
            (code, 0, None)
        }
    })
}

fn smem_offset_bits(
    (arch, model): (Arch, &Model),
    entry: &Entry,
    operands: &[Operand],
    mods: &Mods,
) -> Result<u64, Illegal> {
    let offset = (model.field)(entry.encoding, Slot::Offset);
    let soffset = (model.field)(entry.encoding, Slot::Soffset);
    let registers = arch.generation().registers();
    let register = |operand: &Operand| match operand.value {
        Value::Scalar(register) => Ok(u32::from(registers.code(register))),
        other => Err(Illegal::Kind(kind_name(other))),
    };
    let immediate = |value: i32| {
        let range = if model.bits.smem_unsigned {
            0..1_i32 << offset.width
        } else {
            let half = 1_i32 << (offset.width - 1);
            -half..half
        };
        if range.contains(&value) {
            Ok(offset.put(value as u32) | model.bits.smem_imm.mask())
        } else {
            Err(Illegal::Immediate(value.into()))
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
