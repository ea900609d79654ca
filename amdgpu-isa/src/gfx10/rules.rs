//! Rules that span operands and modifiers: what LLVM's assembler refuses although each field by itself is
//! legal.

use crate::encoding::operand;
use crate::encoding::sdwa;
use crate::encoding::table::Entry;
use crate::rdna::rules::{
    constant_bus, image_dimension, image_width, is_dpp_control, one_literal, resources, wide_literals,
    with_half_literals,
};
use crate::signature::image::{DIMENSIONS, named_dwords};
use crate::signature::{Class, NO_DST_SEL, REVERSED};
use crate::{Arch, Encoding, Illegal, Mods, Op, Operand, Operands, SdwaSel, Slot, Special, Value, scalar};

/// Judges an instruction whose operands and modifiers are legal each.
pub(super) fn check(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    check_fields(arch, entry, operands, mods)?;
    resources(operands)?;
    if entry.encoding.is_image() {
        operand::image_mask(arch, entry, mods)?;
    }
    if entry.op == Op::image_msaa_load && !DIMENSIONS[usize::from(mods.dim & 7)].is_multisampled {
        return Err(Illegal::Field("DIM"));
    }
    if entry.encoding == Encoding::Sopc {
        one_literal(&with_half_literals(entry, operands)?)?;
    }
    if entry.encoding.is_vector_alu() {
        let operands = &with_half_literals(entry, operands)?;
        one_literal(operands)?;
        wide_literals(entry, operands, mods)?;
        constant_bus(entry, operands)?;
        lds_direct(entry, operands)?;
        sdwa::exponent(entry, operands, mods)?;
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
    if let (Some(sdwa), true) = (mods.sdwa, entry.flags.has(NO_DST_SEL))
        && sdwa.dst_sel != SdwaSel::Dword
    {
        return Err(Illegal::Field("DST_SEL"));
    }
    if let Some(dpp) = mods.dpp
        && !is_dpp_control(dpp.ctrl)
    {
        return Err(Illegal::Field("DPP_CTRL"));
    }
    if entry.is_ray() && (mods.dmask, mods.unorm, mods.r128) != (0xf, true, true) {
        return Err(Illegal::Field("DMASK, UNRM or R128"));
    }
    if entry.encoding.is_image() {
        image(arch, entry, mods)?;
    }
    if mods.lds && mods.tfe {
        return Err(Illegal::Field("TFE"));
    }
    let is_exec_hi =
        |operand: &Operand| operand.slot == Slot::Saddr && operand.value == Value::Scalar(scalar::EXEC_HI);
    match entry.encoding {
        Encoding::Scratch if operands.iter().any(is_exec_hi) => Err(Illegal::Kind("EXEC")),
        Encoding::Sop2 | Encoding::Sopc => one_literal(operands),
        _ => Ok(()),
    }
}

/// An address as long as one can be, in as many dwords as it needs, and data that its mask and its status
/// leave a width.
fn image(arch: Arch, entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    image_dimension(entry, mods)?;
    image_width(arch, entry, mods)?;
    let address = entry.specs.iter().find_map(|spec| match spec.class {
        Class::ImageAddress(address) | Class::ImageAddresses(address) => Some(address),
        _ => None,
    });
    let count = address.map_or(0, |address| address.dwords(mods.dim, mods.a16));
    let dwords = match entry.encoding {
        Encoding::MimgNsa => 1,
        Encoding::MimgNsa2 => 2,
        Encoding::MimgNsa3 => 3,
        _ => return Ok(()),
    };
    if named_dwords(count) == dwords { Ok(()) } else { Err(Illegal::Field("NSA")) }
}

/// LDS_DIRECT is a first source only, not of SDWA, and not where the sources are exchanged.
fn lds_direct(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let is_direct = |operand: &&Operand| operand.value == Value::Special(Special::LdsDirect);
    let Some(operand) = operands.iter().rfind(is_direct) else { return Ok(()) };
    let is_reversed = entry.flags.has(REVERSED);
    if operand.slot != Slot::Src0 || is_reversed || entry.encoding.is_sdwa() {
        return Err(Illegal::Kind("LDS_DIRECT"));
    }
    Ok(())
}

/// Whether an opcode has a form at all.
pub(super) fn has_form(_: Arch, _: &Entry) -> bool {
    true
}
