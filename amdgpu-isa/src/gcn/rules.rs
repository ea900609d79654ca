//! Rules that span operands and modifiers: what LLVM's assembler refuses although each field by itself is
//! legal.

use arrayvec::ArrayVec;

use crate::encoding::operand;
use crate::encoding::sdwa;
use crate::encoding::table::Entry;
use crate::signature::{
    ATOMIC, Class, DOT, DPP, FLOAT, FROM_LDS, GDS_ONLY, M0_R, MAI, NO_DST_SEL, NO_OPSEL, REVERSED,
    SDWA_DWORD, SMALL_FLOATS, SPARSE, Ty, VCC_R,
};
use crate::{
    Access, Arch, Encoding, Feature, Illegal, Mods, Op, Operand, Operands, SdwaSel, Slot, Special, Value,
    scalar,
};

/// Judges an instruction whose operands and modifiers are legal each.
pub(super) fn check(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    check_fields(arch, entry, operands, mods)?;
    if !arch.has(Feature::Xnack) {
        xnack_mask(operands)?;
    }
    // LLVM's assembler takes no other, though its disassembler prints them.
    if entry.flags.has(SDWA_DWORD) && mods.sdwa.is_some_and(|sdwa| sdwa.dst_sel != SdwaSel::Dword) {
        return Err(Illegal::Field("DST_SEL"));
    }
    match entry.encoding {
        encoding if encoding.is_vector_alu() => {
            constant_bus(entry, operands)?;
            lds_direct(arch, entry, operands)?;
            half_constants(entry, operands)?;
            sdwa::exponent(entry, operands, mods)?;
            wide_dpp(arch, entry)?;
            dot_selection(arch, entry, mods)?;
            if arch.has(Feature::NoMatrixConstants) {
                matrix_constants(entry, operands)?;
            }
            // A sparse matrix has its accumulator in the destination; LLVM lets those of small floats
            // overlap.
            let apart = entry.flags.has(MAI) && !entry.flags.has(SPARSE) && !entry.flags.has(SMALL_FLOATS);
            if apart { matrix_overlap(operands) } else { Ok(()) }
        }
        Encoding::Mimg => operand::image_mask(arch, entry, mods),
        Encoding::Flat if mods.offset != 0 && !arch.has(Feature::FlatOffsets) => {
            Err(Illegal::Field("OFFSET"))
        }
        _ => Ok(()),
    }
}

/// Without replay of accesses there is no XNACK_MASK.
fn xnack_mask(operands: &Operands) -> Result<(), Illegal> {
    const HALVES: [Value; 2] = [Value::Scalar(scalar::XNACK_MASK), Value::Scalar(scalar::XNACK_MASK + 1)];
    if operands.iter().any(|operand| HALVES.contains(&operand.value)) {
        return Err(Illegal::Kind("XNACK_MASK"));
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
    if entry.flags.has(FROM_LDS) && !mods.lds {
        return Err(Illegal::Field("LDS"));
    }
    if entry.flags.has(GDS_ONLY) && !mods.gds {
        return Err(Illegal::Field("GDS"));
    }
    if let (Some(sdwa), true) = (mods.sdwa, entry.flags.has(NO_DST_SEL))
        && sdwa.dst_sel != SdwaSel::Dword
    {
        return Err(Illegal::Field("DST_SEL"));
    }
    if let Some(dpp) = mods.dpp {
        debug_assert!(entry.flags.has(DPP));
        if !is_dpp_control(arch, dpp.ctrl, permutes_pairs(entry)) {
            return Err(Illegal::Field("DPP_CTRL"));
        }
    }
    match entry.encoding {
        // LLVM's text of an atomic that has halves and a status is that of another form.
        Encoding::Mimg if entry.flags.has(ATOMIC) && mods.d16 && mods.tfe => {
            operand::image_mask(arch, entry, mods)
        }
        Encoding::Sop2 | Encoding::Sopc => one_literal(operands),
        Encoding::Flat | Encoding::Global => returning_float(arch, entry, operands, mods),
        _ => Ok(()),
    }
}

/// From gfx940 on, LLVM has no accumulation registers for the 32-bit float atomics of GLOBAL where they
/// return the old value, and none with SC1 for the 64-bit ones of GLOBAL and FLAT.
fn returning_float(arch: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    if !(entry.flags.has(FLOAT) && arch.has(Feature::ScopedCachePolicy) && mods.glc) {
        return Ok(());
    }
    let in_accumulators = |dwords: u8| {
        operands.iter().any(|operand| operand.dwords == dwords && matches!(operand.value, Value::Agpr(_)))
    };
    if in_accumulators(1) && entry.encoding == Encoding::Global || in_accumulators(2) && mods.scc {
        return Err(Illegal::Field("ACC"));
    }
    Ok(())
}

/// Two sources can share a literal, but there is room for one only.
fn one_literal(operands: &Operands) -> Result<(), Illegal> {
    let mut literals = operands.iter().filter_map(|operand| match operand.value {
        Value::Literal(value) => Some(value),
        _ => None,
    });
    match literals.next() {
        Some(first) if literals.any(|other| other != first) => Err(Illegal::TwoLiterals),
        _ => Ok(()),
    }
}

/// A vector instruction reads one scalar value: a register or tuple, or the literal (Vega ISA, section
/// 6.2.1).
fn constant_bus(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let mut seen = None;
    let mut values = ArrayVec::<(Value, u8), 8>::new();
    if entry.flags.has(VCC_R) {
        values.push((Value::VCC, 2));
    }
    if entry.flags.has(M0_R) {
        values.push((Value::M0, 1));
    }
    for operand in operands.iter().filter(|operand| operand.access == Access::Read) {
        // The lane that `v_writelane_b32` writes may come from M0 beside the value.
        let lane = entry.op == Op::v_writelane_b32 && operand.slot == Slot::Src1;
        match operand.value {
            Value::Special(Special::LdsDirect) => {}
            Value::M0 if lane => {}
            Value::Scalar(_) | Value::Special(_) => values.push((operand.value, operand.dwords)),
            Value::Literal(_) => values.push((Value::Literal(0), 1)),
            _ => {}
        }
    }
    for value in values {
        if *seen.get_or_insert(value) != value {
            return Err(Illegal::ConstantBus);
        }
    }
    Ok(())
}

/// LDS_DIRECT is a first source only, not of SDWA, not where the sources are exchanged, and gone from gfx90a
/// on.
fn lds_direct(arch: Arch, entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let is_direct = |operand: &&Operand| operand.value == Value::Special(Special::LdsDirect);
    let Some(operand) = operands.iter().rfind(is_direct) else { return Ok(()) };
    let is_reversed = entry.flags.has(REVERSED);
    if operand.slot != Slot::Src0 || is_reversed || entry.encoding.is_sdwa() || !arch.has(Feature::LdsDirect)
    {
        return Err(Illegal::Kind("LDS_DIRECT"));
    }
    Ok(())
}

/// A matrix accumulator of more than four registers is the destination, or lies apart from it.
fn matrix_overlap(operands: &Operands) -> Result<(), Illegal> {
    let (Some(d), Some(c)) = (operands.first(), operands.iter().find(|operand| operand.slot == Slot::Src2))
    else {
        return Ok(());
    };
    let (first, second) = match (d.value, c.value) {
        (Value::Vgpr(first), Value::Vgpr(second)) | (Value::Agpr(first), Value::Agpr(second)) => {
            (u16::from(first), u16::from(second))
        }
        _ => return Ok(()),
    };
    let overlap = first < second + u16::from(c.dwords) && second < first + u16::from(d.dwords);
    if d.dwords > 4 && first != second && overlap { Err(Illegal::Overlap) } else { Ok(()) }
}

/// An inline float of a 16-bit integer operand is written as its bits, hence as a literal, which VOP3 has
/// not.
fn half_constants(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let is_half = |operand: &Operand| {
        let spec = entry.specs.iter().find(|spec| spec.slot == operand.slot);
        matches!(operand.value, Value::Inline(240..)) && spec.is_some_and(|spec| spec.ty == Ty::I16)
    };
    match entry.encoding {
        Encoding::Vop3 if operands.iter().any(is_half) => Err(Illegal::Kind("a float")),
        _ => Ok(()),
    }
}

/// DPP permutes single registers up to gfx908, though the result may be a pair.
fn wide_dpp(arch: Arch, entry: &Entry) -> Result<(), Illegal> {
    match entry.encoding {
        Encoding::Vop1Dpp | Encoding::Vop2Dpp if !arch.has(Feature::DppPairs) && has_wide_source(entry) => {
            Err(Illegal::Kind("a register pair"))
        }
        _ => Ok(()),
    }
}

/// Whether an opcode has a form at all.
pub(super) fn has_form(arch: Arch, entry: &Entry) -> bool {
    wide_dpp(arch, entry).is_ok()
}

fn has_wide_source(entry: &Entry) -> bool {
    entry.specs.iter().any(|spec| spec.slot == Slot::Src0 && spec.ty.dwords() == 2)
}

/// Whether DPP takes 64-bit operations for such: those with a result or a first source of two registers.
fn permutes_pairs(entry: &Entry) -> bool {
    entry
        .specs
        .iter()
        .any(|spec| spec.ty.dwords() == 2 && matches!(spec.class, Class::Vgpr) && spec.slot != Slot::Src1)
}

/// From gfx940 on, dot products take each half from its own place.
fn dot_selection(arch: Arch, entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    let is_dot = entry.encoding == Encoding::Vop3p && entry.flags.has(DOT) && !entry.flags.has(NO_OPSEL);
    if is_dot && arch.has(Feature::FixedDotHalves) && (mods.op_sel != 0 || mods.op_sel_hi != 7) {
        return Err(Illegal::Field("OP_SEL"));
    }
    Ok(())
}

/// gfx908 has no constants in a matrix accumulator (an erratum), and no scalar registers in
/// `v_accvgpr_write_b32`.
fn matrix_constants(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let is_constant = |operand: &Operand| matches!(operand.value, Value::Inline(_));
    let is_scalar = |operand: &Operand| match operand.value {
        Value::Special(special) => special != Special::LdsDirect,
        value => matches!(value, Value::Scalar(_)),
    };
    if entry.flags.has(MAI)
        && operands.iter().any(|operand| operand.slot == Slot::Src2 && is_constant(operand))
    {
        return Err(Illegal::Kind("a constant"));
    }
    if entry.op == Op::v_accvgpr_write_b32
        && operands.iter().any(|operand| operand.slot == Slot::Src0 && is_scalar(operand))
    {
        return Err(Illegal::Kind("a scalar register"));
    }
    Ok(())
}

/// The defined lane permutations (Vega ISA, "DPP_CTRL Enumeration"; gfx90a adds row_newbcast, the only one
/// that 64-bit operations take there).
fn is_dpp_control(arch: Arch, ctrl: u16, double: bool) -> bool {
    let newbcast = arch.has(Feature::DppPairs) && (0x150..=0x15f).contains(&ctrl);
    if double && arch.has(Feature::DppPairs) {
        return newbcast;
    }
    newbcast
        || matches!(
            ctrl,
            0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138 | 0x13c | 0x140
                ..=0x143
        )
}
