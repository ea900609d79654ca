//! Rules that span operands and modifiers: what LLVM's assembler refuses although each field by itself is
//! legal.

use super::formats::field_of;
use super::modifiers::has_fixed_high_halves;
use crate::encoding::operand;
use crate::encoding::table::Entry;
use crate::rdna::rules::{
    constant_bus, image_dimension, image_width, is_dpp_control, one_literal, resources, wide_literals,
    with_half_literals,
};
use crate::signature::image::DIMENSIONS;
use crate::signature::{Class, MIX, NEGATES_ADDEND, OMOD, STORE};
use crate::text::modifiers::{HintKind, hint_name};
use crate::{Access, Arch, Encoding, Illegal, Mods, Op, Operands, Slot, Special, Value, scalar};

/// Judges an instruction whose operands and modifiers are legal each.
pub(super) fn check(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    check_fields(arch, entry, operands, mods)?;
    special_sources(entry, operands)?;
    resources(operands)?;
    hint(entry, mods)?;
    if entry.encoding == Encoding::Mubuf && mods.tfe && entry.flags.has(STORE) {
        return Err(Illegal::Field("TFE"));
    }
    if entry.encoding.is_image() {
        operand::image_mask(arch, entry, mods)?;
    }
    if entry.encoding == Encoding::Sopc {
        one_literal(&with_half_literals(entry, operands)?)?;
    }
    if entry.encoding.is_vector_alu() {
        let operands = &with_half_literals(entry, operands)?;
        one_literal(operands)?;
        wide_literals(entry, operands, mods)?;
        if entry.encoding == Encoding::Vopd {
            return pair(entry, operands);
        }
        constant_bus(entry, operands)?;
    }
    Ok(())
}

/// The rules that even a disassembler keeps, for it has no text for what breaks them.
pub(super) fn check_fields(
    arch: Arch,
    entry: &Entry,
    operands: &Operands,
    mods: &Mods,
) -> Result<(), Illegal> {
    if entry.encoding.is_vop3p() && has_fixed_high_halves(entry.flags) && mods.op_sel_hi != 0b111 {
        return Err(Illegal::Field("OP_SEL_HI"));
    }
    if entry.encoding.is_dpp() || entry.encoding.is_dpp8() {
        special_sources(entry, operands)?;
    }
    // Scalar results of transcendental functions.
    let is_exec = |operand: &crate::Operand| {
        operand.slot == Slot::Vdst && matches!(operand.value, Value::Scalar(scalar::EXEC | scalar::EXEC_HI))
    };
    if entry.flags.has(OMOD) && operands.iter().any(is_exec) {
        return Err(Illegal::Kind("EXEC"));
    }
    if let Some(dpp) = mods.dpp
        && !is_dpp_control(dpp.ctrl)
    {
        return Err(Illegal::Field("DPP_CTRL"));
    }
    let is_exec_hi = |operand: &crate::Operand| {
        operand.slot == Slot::Saddr && operand.value == Value::Scalar(scalar::EXEC_HI)
    };
    if entry.is_ray() && (mods.dmask, mods.r128) != (0xf, true) {
        return Err(Illegal::Field("DMASK or R128"));
    }
    if entry.encoding.is_image() {
        image(arch, entry, mods)?;
    }
    if has_scalar_beside_permuted(entry, operands) {
        return Err(Illegal::Kind("a scalar source"));
    }
    match entry.encoding {
        // What has no address has NULL for it.
        Encoding::Global
            if operands.is_empty() && mods.ignored & field_of(Encoding::Global, Slot::Saddr).mask() != 0 =>
        {
            Err(Illegal::Field("SADDR"))
        }
        Encoding::Smem => scalar_data(operands),
        Encoding::Scratch if operands.iter().any(is_exec_hi) => Err(Illegal::Kind("EXEC")),
        Encoding::Sop2 | Encoding::Sopc => one_literal(operands),
        _ => Ok(()),
    }
}

/// A temporal hint has a name. An atomic that returns the old value is no cascade, nor is it non-temporal in
/// the whole system.
fn hint(entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    const CASCADES: u8 = 4;
    const NON_TEMPORAL: u8 = 2;
    const SYSTEM: u8 = 3;
    let kind = HintKind::of(entry);
    let is_refused = kind == HintKind::Atomic
        && mods.glc
        && (mods.th >= CASCADES || mods.th == NON_TEMPORAL && mods.scope == SYSTEM);
    if !is_refused && hint_name(kind, mods.th | u8::from(mods.glc), mods.scope).is_some() {
        Ok(())
    } else {
        Err(Illegal::Field("TH"))
    }
}

/// What scalar memory has in its field of data: three registers of a kernel, or the length of a prefetch.
/// That of a buffer goes forwards.
fn scalar_data(operands: &Operands) -> Result<(), Illegal> {
    const LENGTHS: i32 = 32;
    let is_buffer = operands.iter().any(|operand| operand.slot == Slot::Sbase && operand.dwords >= 4);
    let offset = operands.iter().find(|operand| operand.slot == Slot::Offset).map(|offset| offset.value);
    if let Some(Value::Imm(offset @ ..0)) = offset
        && is_buffer
    {
        return Err(Illegal::Immediate(offset.into()));
    }
    let Some(data) = operands.iter().find(|operand| operand.slot == Slot::Sdata) else { return Ok(()) };
    match data.value {
        Value::Imm(length) if length >= LENGTHS => Err(Illegal::Immediate(length.into())),
        Value::Scalar(first @ scalar::TTMP..) if data.dwords == 3 => {
            Err(Illegal::Range { first: first.into(), dwords: 3 })
        }
        _ => Ok(()),
    }
}

/// Sources that have a code but that RDNA 4 has not.
fn special_sources(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let is_gone = |operand: &crate::Operand| match operand.value {
        Value::Special(Special::PopsExitingWaveId | Special::Vccz | Special::Execz) => true,
        // LLVM takes it in pairs of operations alone.
        Value::Special(Special::LdsDirect) => entry.encoding != Encoding::Vopd,
        _ => false,
    };
    if operands.iter().any(is_gone) { Err(Illegal::Kind("a special source")) } else { Ok(()) }
}

/// Several samples where the instruction loads those, an address as long as one can be, and data that its
/// mask and its status leave a width. What breaks this has no text: LLVM's is that of another form.
fn image(arch: Arch, entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    if !DIMENSIONS[usize::from(mods.dim & 7)].is_multisampled && entry.op == Op::image_msaa_load {
        return Err(Illegal::Field("DIM"));
    }
    image_dimension(entry, mods)?;
    image_width(arch, entry, mods)
}

/// Whether a source of DPP beside the first is no vector register although it must be one: the second of
/// mixed precision, all of a dot product of small floats.
fn has_scalar_beside_permuted(entry: &Entry, operands: &Operands) -> bool {
    let vectors: &[Slot] = match () {
        () if entry.flags.has(MIX) => &[Slot::Src1],
        () if entry.flags.has(NEGATES_ADDEND) => &[Slot::Src1, Slot::Src2],
        () => &[],
    };
    let permutes = entry.encoding.is_dpp() || entry.encoding.is_dpp8();
    let is_scalar = |operand: &crate::Operand| {
        vectors.contains(&operand.slot) && !matches!(operand.value, Value::Vgpr(_))
    };
    permutes && operands.iter().any(is_scalar)
}

/// The two operations of VOPD read from different banks or the same register, write one an even and one an
/// odd register, and share two scalar values (RDNA 4 ISA, section 7.8, which LLVM 22's assembler has stricter
/// for these processors).
fn pair(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    // The registers that each operation reads as its first, second and third source. The third of a
    // multiply-add is its destination, or stands behind the literal.
    let sources = |first: Slot, second: Slot, result: Slot| {
        let mut sources = [None; 3];
        let mut behind_literal = false;
        let of_this =
            entry.specs.iter().zip(operands).filter(|(spec, _)| {
                [first, second, result].contains(&spec.slot) || spec.class == Class::Literal
            });
        for (spec, operand) in of_this {
            let register = match operand.value {
                Value::Vgpr(register) => Some(register),
                // LLVM counts it to the second bank.
                Value::Special(Special::LdsDirect) => Some(1),
                _ => None,
            };
            match spec.slot {
                slot if slot == first => {
                    sources[0] = register;
                    behind_literal = false;
                }
                slot if slot == second && behind_literal => sources[2] = register,
                slot if slot == second => sources[1] = register,
                slot if slot == result && operand.access == Access::ReadWrite => sources[2] = register,
                slot if slot == result => behind_literal = false,
                _ => behind_literal = true,
            }
        }
        sources
    };
    let (x, y) =
        (sources(Slot::Src0, Slot::Src1, Slot::Vdst), sources(Slot::Src0Y, Slot::Src1Y, Slot::VdstY));
    // Two moves may read of one bank.
    let moves_both = entry.op == Op::v_mov_b32 && entry.dual == Some(Op::v_mov_b32);
    for ((a, b), (banks, is_shared)) in x.into_iter().zip(y).zip([(4, true), (4, true), (2, false)]) {
        if let (Some(a), Some(b)) = (a, b)
            && !moves_both
            && !(is_shared && a == b)
            && a % banks == b % banks
        {
            return Err(Illegal::Kind("a register of the other operation's bank"));
        }
    }
    constant_bus(entry, operands)
}

/// Whether an opcode has a form at all.
pub(super) fn has_form(_: Arch, _: &Entry) -> bool {
    true
}
