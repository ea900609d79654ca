//! [`Inst`] to bytes, and building instructions from values.

use arrayvec::ArrayVec;

use super::decode;
use super::format::Pairs;
use super::model::PREFIX_BYTES;
use super::modifiers;
use super::operand::{self, Fields};
use super::table::{Entry, Tables};
use crate::signature::Class;
use crate::{
    Access, Arch, DppCtrl, EncodeError, Encoding, Feature, Illegal, Inst, Mods, Op, Operand, Operands, Slot,
    Target, Value,
};

/// The dwords of one instruction.
pub type Words = ArrayVec<u32, 5>;

impl Inst {
    /// The dwords of the instruction: the inverse of [`decode`](crate::decode).
    ///
    /// # Errors
    /// [`EncodeError`] when the processor lacks the instruction or an operand does not fit.
    pub fn encode(&self, target: impl Into<Target>) -> Result<Words, EncodeError> {
        let target = target.into();
        self.encode_with(target, entry_of(target, (self.op, self.mods.dual), self.encoding)?, true, true)
    }

    /// `modified` tells whether the instruction may have modifiers, `verify` whether what comes out is
    /// decoded again.
    fn encode_with(
        &self,
        target: Target,
        entry: &Entry,
        modified: bool,
        verify: bool,
    ) -> Result<Words, EncodeError> {
        let arch = target.arch;
        let (op, encoding) = (self.op, self.encoding);
        let model = arch.generation().model();
        let format = (model.format)(encoding);
        let scaled = model.scaled.filter(|scaled| scaled.encoding == encoding);
        let mut bits = format.prefix | format.opcode.put(entry.opcode.into());
        let high = match encoding {
            Encoding::Vopd => model.bits.vopd_opcode_y,
            _ => (model.bits.opcode_high)(encoding),
        };
        bits |= high.put(u32::from(entry.opcode >> format.opcode.width));
        // Without, whatever fields there are are zero.
        let mut pairs = if modified { self.modifier_bits(entry)? } else { Pairs::default() };
        if let Some(scaled) = scaled {
            pairs.extra |= (scaled.prefix_with)(self.mods.ignored);
        } else {
            bits |= self.mods.ignored ^ entry.rest;
        }
        pairs.main |= bits;
        let last = format.last_dword();
        pairs.add(last, last.put(self.mods.ignored_control));

        let is_off = |operand: &Operand| operand.slot == Slot::Vaddr && operand.value == Value::Off;
        let has_no_address =
            (arch.has(Feature::ScratchWithoutAddress) || self.mods.lds) && self.operands.iter().any(is_off);
        let mut literal = None;
        let mut index = 0;
        for (&spec, &place) in entry.specs.iter().zip(&entry.places) {
            if !operand::is_present(entry, spec, &self.mods) {
                continue;
            }
            let taken =
                if spec.class == Class::SmemOffset { self.operands.len().saturating_sub(index) } else { 1 };
            let Some(operands) = self.operands.get(index..index + taken) else {
                return Err(self.operand_count(entry, self.operands.len()));
            };
            let illegal = |reason| EncodeError::IllegalOperand { op, encoding, index, reason };
            let (operand_bits, other_bits, operand_literal) =
                operand::encode((arch, model), entry, (spec, place), (operands, has_no_address), &self.mods)
                    .map_err(illegal)?;
            pairs.add(place, operand_bits);
            pairs.main |= other_bits;
            if let Some(value) = operand_literal {
                if literal.is_some_and(|other| other != value) {
                    return Err(illegal(Illegal::TwoLiterals));
                }
                literal = Some(value);
            }
            index += taken;
        }
        if index != self.operands.len() {
            return Err(self.operand_count(entry, self.operands.len()));
        }
        if verify {
            self.verify(arch, entry, pairs, literal)?;
        }

        let mut words = Words::new();
        if scaled.is_some() {
            words.extend([pairs.extra as u32, (pairs.extra >> 32) as u32]);
        }
        words.push(pairs.main as u32);
        if format.dwords > 1 {
            words.push((pairs.main >> 32) as u32);
        }
        let more = [pairs.extra as u32, (pairs.extra >> 32) as u32, pairs.last as u32];
        words.extend(more.into_iter().take(usize::from(format.dwords).saturating_sub(2)));
        words.extend(literal);
        Ok(words)
    }

    /// Decoding is the judge of what can be encoded: it must give back this instruction.
    fn verify(
        &self,
        arch: Arch,
        entry: &Entry,
        pairs: Pairs,
        literal: Option<u32>,
    ) -> Result<(), EncodeError> {
        let (op, encoding) = (self.op, self.encoding);
        let model = arch.generation().model();
        let mut fields = Fields::new((arch, model), pairs, literal);
        let (mut operands, mut mods) = (Operands::new(), modifiers::empty(encoding));
        let last = (model.format)(encoding).last_dword();
        decode::read(entry, (&mut fields, last), model.check, &mut operands, &mut mods)
            .map_err(|reason| EncodeError::IllegalOperand { op, encoding, index: 0, reason })?;
        for (index, (operand, again)) in self.operands.iter().zip(&operands).enumerate() {
            if operand.value != again.value {
                let reason = operand::mismatch(arch, operand);
                return Err(EncodeError::IllegalOperand { op, encoding, index, reason });
            }
        }
        let stray = pairs.main & !(entry.used | entry.ignored);
        if stray != 0
            || mods.ignored != self.mods.ignored
            || mods.ignored_control != self.mods.ignored_control
        {
            let modifier = format!("ignored bits {:#x}", self.mods.ignored);
            return Err(EncodeError::IllegalModifier { op, encoding, modifier });
        }
        Ok(())
    }

    fn modifier_bits(&self, entry: &Entry) -> Result<Pairs, EncodeError> {
        let illegal = |modifier| EncodeError::IllegalModifier {
            op: self.op,
            encoding: self.encoding,
            modifier: format!("{modifier:?}"),
        };
        let mut pairs = Pairs::default();
        for &modifier in &entry.modifiers {
            let value = modifiers::get(&self.mods, modifier.modifier);
            if !modifiers::fits(modifier, value) {
                return Err(illegal(modifier.modifier));
            }
            pairs.add(modifier.field, modifier.field.put(value));
        }
        match modifiers::stray(&self.mods, &entry.modifiers, self.encoding) {
            Some(modifier) => Err(illegal(modifier)),
            None => Ok(pairs),
        }
    }

    fn operand_count(&self, entry: &Entry, given: usize) -> EncodeError {
        let present = entry.specs.iter().filter(|&&spec| operand::is_present(entry, spec, &self.mods));
        EncodeError::OperandCount { op: self.op, encoding: self.encoding, expected: present.count(), given }
    }
}

/// Builds an instruction: operand slots, widths and access come from the tables.
///
/// `values` stand in the order of LLVM's text, **implied VCC included** (`v_add_co_u32_e32` takes
/// `v0, vcc, v1, v2`), as in [`Inst::operands`]. Modifiers that decide which operands exist (GLC of an
/// atomic, LDS of a load) are honored. An SMEM offset is an [`Value::Imm`], a register, or both with
/// [`Mods::soffset_en`].
///
/// # Errors
/// [`EncodeError`], as [`Inst::encode`]. That runs once, so every result can be encoded.
pub fn assemble(
    target: impl Into<Target>,
    op: Op,
    encoding: Encoding,
    values: &[Value],
    mods: Mods,
) -> Result<Inst, EncodeError> {
    let target = target.into();
    let entry = entry_of(target, (op, mods.dual), encoding)?;
    let mut inst = build(target.arch, entry, values, mods)?;
    inst.size = 4 * inst.encode_with(target, entry, true, true)?.len() as u8;
    Ok(inst)
}

/// As [`assemble`], with its dwords, for operands that are legal by construction: what comes out is decoded
/// again in debug builds only.
///
/// # Errors
/// [`EncodeError`] when the processor lacks the instruction, or there are too few or too many values.
pub fn assemble_legal(
    target: impl Into<Target>,
    op: Op,
    encoding: Encoding,
    values: &[Value],
    mods: Option<Mods>,
) -> Result<(Inst, Result<Words, EncodeError>), EncodeError> {
    let target = target.into();
    let arch = target.arch;
    let entry = entry_of(target, (op, mods.and_then(|mods| mods.dual)), encoding)?;
    let mut inst = build(arch, entry, values, mods.unwrap_or_default())?;
    // Control words and unused registers have something to say without modifiers, too.
    let modified = mods.is_some() || !entry.rests_at_zero;
    let words = inst.encode_with(target, entry, modified, cfg!(debug_assertions));
    let is_literal = |operand: &Operand| matches!(operand.value, Value::Literal(_));
    let model = arch.generation().model();
    let has_prefix = model.scaled.is_some_and(|scaled| scaled.encoding == encoding);
    let prefix = if has_prefix { PREFIX_BYTES as u8 } else { 0 };
    let dwords = (model.format)(encoding).dwords + u8::from(inst.operands.iter().any(is_literal));
    inst.size = prefix + 4 * dwords;
    if cfg!(debug_assertions) {
        let dwords = words.as_ref().map_err(EncodeError::clone)?.len();
        debug_assert_eq!(usize::from(inst.size), 4 * dwords, "{op}");
    }
    Ok((inst, words))
}

/// An instruction that differs from one that [`assemble_legal`] made in registers and inline constants alone,
/// with its dwords; `None` where these are not told by a field each, or other operands differ.
pub fn with_values(
    target: impl Into<Target>,
    like: &Inst,
    words: &Words,
    values: &[Value],
) -> Option<(Inst, Words)> {
    let target = target.into();
    let arch = target.arch;
    let entry = entry_of(target, (like.op, like.mods.dual), like.encoding).ok()?;
    let (mut inst, mut words) = (like.clone(), words.clone());
    if [entry.specs.len(), inst.operands.len()] != [values.len(); 2] {
        return None;
    }
    for ((operand, &value), (spec, place)) in
        inst.operands.iter_mut().zip(values).zip(entry.specs.iter().zip(&entry.places))
    {
        if operand.value == value {
            continue;
        }
        let changed = match (operand.value, value) {
            (Value::Scalar(old), Value::Scalar(new))
            | (Value::Vgpr(old), Value::Vgpr(new))
            | (Value::Inline(old), Value::Inline(new)) => old ^ new,
            _ => return None,
        };
        let is_special = matches!(
            spec.class,
            Class::SgprGroup | Class::SmemOffset | Class::Export | Class::Vcc | Class::SdwaDst
        );
        let scaled = arch.generation().model().scaled;
        // Codes of halves have a bit of their own; M0's may be another than its number.
        let is_half = entry.halves != 0 || matches!((operand.value, value), (Value::M0, _) | (_, Value::M0));
        if is_special
            || place.is_extra()
            || is_half
            || scaled.is_some_and(|scaled| scaled.encoding == inst.encoding)
        {
            return None;
        }
        // What tells kinds of operands apart is not among the low bits of a code.
        let bits = place.put(changed.into());
        for (word, bits) in words.iter_mut().zip([bits as u32, (bits >> 32) as u32]) {
            *word ^= bits;
        }
        operand.value = value;
    }
    Some((inst, words))
}

fn entry_of(
    target: Target,
    (op, dual): (Op, Option<Op>),
    encoding: Encoding,
) -> Result<&'static Entry, EncodeError> {
    let found = Tables::of(target).by_ops(op, dual, encoding);
    found.ok_or(EncodeError::UnknownOp { arch: target.arch, op, encoding })
}

/// The instruction without its size.
fn build(arch: Arch, entry: &Entry, values: &[Value], mut mods: Mods) -> Result<Inst, EncodeError> {
    let Entry { op, encoding, .. } = *entry;
    fill_in(&mut mods, encoding);
    let mut inst = Inst { op, encoding, size: 0, operands: Operands::new(), mods };
    let count = |inst: &Inst| inst.operand_count(entry, values.len());
    let mut values_left = values.iter().copied();
    // GLOBAL's address width depends on SADDR, which comes later.
    let saddr_off = values.last() == Some(&Value::Off);
    for &spec in &entry.specs {
        if !operand::is_present(entry, spec, &mods) {
            continue;
        }
        if spec.class == Class::SmemOffset {
            for value in values_left.by_ref() {
                let (slot, dwords) = match value {
                    Value::Imm(_) => (Slot::Offset, 0),
                    _ if mods.soffset_en => (Slot::Soffset, 1),
                    _ => (Slot::Offset, 1),
                };
                if inst.operands.try_push(Operand { value, slot, dwords, access: Access::Read }).is_err() {
                    return Err(count(&inst));
                }
            }
            continue;
        }
        let value = values_left.next().ok_or_else(|| count(&inst))?;
        let model = arch.generation().model();
        let off = (model.field)(encoding, Slot::Saddr).put(model.bits.saddr_off);
        let dwords = match value {
            Value::Imm(_) | Value::Off => 0,
            _ => operand::width(arch, entry, spec, &mods, if saddr_off { off } else { 0 }),
        };
        let slot = match (spec.class, value) {
            (Class::SdwaDst, Value::VCC) => Slot::Implied,
            _ => spec.slot,
        };
        let access = operand::access(entry, spec, &mods);
        inst.operands.push(Operand { value, slot, dwords, access });
    }
    if values_left.next().is_some() {
        return Err(count(&inst));
    }
    Ok(inst)
}

/// SDWA and DPP encodings have their control word even when the caller names none: all dwords, and the
/// identity.
fn fill_in(mods: &mut Mods, encoding: Encoding) {
    match encoding {
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => {
            mods.sdwa.get_or_insert_default();
        }
        _ if encoding.is_dpp() => {
            let identity = DppCtrl { ctrl: 0xe4, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false };
            mods.dpp.get_or_insert(identity);
        }
        _ if encoding.is_dpp8() => {
            // Each lane reads itself.
            mods.dpp8.get_or_insert([0x88, 0xc6, 0xfa]);
        }
        _ => {}
    }
}
