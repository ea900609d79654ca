//! Rules that span operands and modifiers: what LLVM's assembler refuses although each field by itself is
//! legal.

use crate::encoding::operand;
use crate::encoding::table::Entry;
use crate::rdna::rules::{
    constant_bus, image_dimension, image_width, is_dpp_control, one_literal, resources, wide_literals,
    with_half_literals,
};
use crate::signature::image::DIMENSIONS;
use crate::signature::{Class, MIX, STORE};
use crate::{Access, Arch, Encoding, Feature, Illegal, Mods, Op, Operands, Slot, Special, Value, scalar};

/// Judges an instruction whose operands and modifiers are legal each.
pub(super) fn check(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    check_fields(arch, entry, operands, mods)?;
    special_sources(entry, operands)?;
    resources(operands)?;
    waits_for_null(entry, operands)?;
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
        permuted_sources(arch, entry, operands)?;
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
    if entry.flags.has(crate::signature::GDS_ONLY) && !mods.gds {
        return Err(Illegal::Field("GDS"));
    }
    if let Some(dpp) = mods.dpp
        && !is_dpp_control(dpp.ctrl)
    {
        return Err(Illegal::Field("DPP_CTRL"));
    }
    let is_exec_hi = |operand: &crate::Operand| {
        operand.slot == Slot::Saddr && operand.value == Value::Scalar(scalar::EXEC_HI)
    };
    if entry.is_ray() && (mods.dmask, mods.unorm, mods.r128) != (0xf, true, true) {
        return Err(Illegal::Field("DMASK, UNRM or R128"));
    }
    if entry.encoding.is_image() {
        image(arch, entry, mods)?;
    }
    if entry.flags.has(MIX) && has_scalar_beside_permuted(entry, operands) {
        return Err(Illegal::Kind("a scalar source"));
    }
    match entry.encoding {
        Encoding::Scratch if operands.iter().any(is_exec_hi) => Err(Illegal::Kind("EXEC")),
        Encoding::Sop2 | Encoding::Sopc => one_literal(operands),
        _ => Ok(()),
    }
}

/// Sources that have a code but that RDNA 3 has not.
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

/// `s_waitcnt_vscnt` and its like add a register to their count: LLVM takes none.
fn waits_for_null(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let waits = matches!(
        entry.op,
        Op::s_waitcnt_vscnt | Op::s_waitcnt_vmcnt | Op::s_waitcnt_expcnt | Op::s_waitcnt_lgkmcnt
    );
    let is_null = operands.first().is_some_and(|operand| operand.value == Value::Special(Special::Null));
    if waits && !is_null { Err(Illegal::Kind("a scalar register")) } else { Ok(()) }
}

/// The sources of DPP beside the first are vector registers up to gfx1103.
fn permuted_sources(arch: Arch, entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    if !arch.has(Feature::DppScalarSource) && has_scalar_beside_permuted(entry, operands) {
        return Err(Illegal::Kind("a scalar source"));
    }
    Ok(())
}

/// Whether a source of DPP beside the first is no vector register.
fn has_scalar_beside_permuted(entry: &Entry, operands: &Operands) -> bool {
    let permutes = entry.encoding.is_dpp() || entry.encoding.is_dpp8();
    let is_scalar =
        |operand: &crate::Operand| operand.slot == Slot::Src1 && !matches!(operand.value, Value::Vgpr(_));
    permutes && operands.iter().any(is_scalar)
}

/// The two operations of VOPD read from different banks, write one an even and one an odd register, and share
/// two scalar values.
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
    for ((a, b), banks) in x.into_iter().zip(y).zip([4, 4, 2]) {
        if let (Some(a), Some(b)) = (a, b)
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
