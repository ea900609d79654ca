//! Rules that span operands and modifiers: what LLVM's assembler refuses although each field by itself is legal.

use arrayvec::ArrayVec;

use crate::encoding::operand;
use crate::encoding::table::Entry;
use crate::signature::image::{DIMENSIONS, ImageAddress, VOLUME};
use crate::signature::{Class, MIX, STORE, Ty, VCC_R};
use crate::value::{double_twin, has_inline_twin};
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
        operand::image_mask(entry, mods)?;
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
pub(super) fn check_fields(_: Arch, entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
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
        image(entry, mods)?;
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

/// An address as long as one can be, several samples where the instruction loads those, and data that its mask and its status leave a width.
/// What breaks this has no text: LLVM's is that of another form.
fn image(entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    if !DIMENSIONS[usize::from(mods.dim & 7)].is_multisampled && entry.op == Op::image_msaa_load {
        return Err(Illegal::Field("DIM"));
    }
    let has_sampler = entry.specs.iter().any(|spec| spec.slot == Slot::Ssamp);
    let address = entry.specs.iter().find_map(|spec| match spec.class {
        Class::ImageAddress(address @ ImageAddress::Texel(_)) => Some(address),
        _ => None,
    });
    if let Some(address) = address {
        // What is sampled has three coordinates at most, and what is not an address of four registers; the longer ones that LLVM has are
        // leftovers of rounding.
        let most = if has_sampler { address.dwords(VOLUME, false) } else { 4 };
        let count = address.dwords(mods.dim, mods.a16);
        let is_legal = match entry.encoding {
            Encoding::MimgNsa => (2..=most).contains(&count),
            _ => count <= most || matches!(count, 4 | 8),
        };
        if !is_legal {
            return Err(Illegal::Field("DIM"));
        }
    }
    // A gather says of what its text leaves out alone, how many values there are.
    let says_width = has_sampler && !(mods.d16 && mods.tfe);
    if says_width { Ok(()) } else { operand::image_mask(entry, mods) }
}

/// A resource of four or more registers is no NULL, nor is a sampler.
fn resources(operands: &Operands) -> Result<(), Illegal> {
    let is_null = |operand: &crate::Operand| {
        let is_resource =
            matches!(operand.slot, Slot::Sbase | Slot::Srsrc | Slot::Ssamp) && operand.dwords >= 4;
        is_resource && operand.value == Value::Special(Special::Null)
    };
    if operands.iter().any(is_null) { Err(Illegal::Kind("NULL")) } else { Ok(()) }
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

/// The operands as LLVM writes them: an inline float of a 16-bit integer as its bits, hence as a literal, and of a literal the low half.
fn with_half_literals(entry: &Entry, operands: &Operands) -> Result<Operands, Illegal> {
    let mut operands = operands.clone();
    for (spec, operand) in entry.specs.iter().zip(&mut operands) {
        match (spec.ty, operand.value) {
            (Ty::I16, Value::Inline(240..)) => {
                if !entry.takes_literal {
                    return Err(Illegal::Kind("a float"));
                }
                operand.value = Value::Literal(operand.value.as_u16().unwrap_or_default().into());
            }
            // The low half is all that is written.
            (Ty::I16 | Ty::Exponent16 | Ty::F16, Value::Literal(value)) => {
                operand.value = Value::Literal(value & 0xffff)
            }
            _ => {}
        }
    }
    Ok(operands)
}

/// Sources can share a literal, but there is room for one only.
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

/// Negation and absolute value of literals: none of the high half of a double, and no negation of one that is marked in text.
fn wide_literals(entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    let changed = entry.specs.iter().zip(operands).any(|(spec, operand)| {
        let source = match spec.slot {
            Slot::Src0 => 1,
            Slot::Src1 => 2,
            Slot::Src2 => 4,
            _ => 0,
        };
        let is_literal = matches!(operand.value, Value::Literal(_));
        let (is_double, is_marked) = match operand.value {
            Value::Literal(value) => (
                spec.ty == Ty::F64 && (mods.neg | mods.abs) & source != 0 && double_twin(value).is_none(),
                has_inline_twin(value, spec.ty),
            ),
            _ => (false, false),
        };
        // LLVM reads no `-lit(…)`, and none at all here.
        let is_unread = entry.op == Op::v_dot2c_f32_f16 && entry.encoding == Encoding::Vop2 && is_marked;
        is_literal
            && (is_double
                || is_unread
                || is_marked
                    && mods.neg & !mods.abs & source != 0
                    && (!entry.encoding.is_vop3p() || entry.flags.has(MIX)))
    });
    if changed { Err(Illegal::Kind("a literal")) } else { Ok(()) }
}

/// How many scalar values a vector instruction reads: 64-bit shifts take one (`getConstantBusLimit`).
fn limit(op: Op) -> usize {
    match op {
        Op::v_lshlrev_b64 | Op::v_lshrrev_b64 | Op::v_ashrrev_i64 => 1,
        _ => 2,
    }
}

/// A vector instruction reads two scalar values: registers or tuples, the literal among them (RDNA 3 ISA, section 7.2.1).
fn constant_bus(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    let mut values = ArrayVec::<(Value, u8), 9>::new();
    let mut add = |value| {
        if !values.contains(&value) {
            values.push(value);
        }
    };
    if entry.flags.has(VCC_R) {
        add((Value::VCC, 2));
    }
    for operand in operands.iter().filter(|operand| operand.access == Access::Read) {
        match operand.value {
            _ if entry.encoding == Encoding::Vopd && operand.slot == Slot::Implied => add((Value::VCC, 2)),
            Value::Special(Special::Null | Special::LdsDirect) => {}
            // The same dword counts twice where it is once a single and once the half of a double.
            Value::Literal(_) => add((Value::Literal(0), operand.dwords)),
            // SCC is the same value in whatever width, but the halves of a base are registers of their own.
            Value::Special(special) if !special.is_aperture() => add((operand.value, 0)),
            Value::Scalar(_) | Value::Special(_) => add((operand.value, operand.dwords)),
            _ => {}
        }
    }
    if values.len() > limit(entry.op) { Err(Illegal::ConstantBus) } else { Ok(()) }
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

/// The two operations of VOPD read from different banks, write one an even and one an odd register, and share two scalar values.
fn pair(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
    // The registers that each operation reads as its first, second and third source. The third of a multiply-add is its destination, or
    // stands behind the literal.
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

/// The defined lane permutations (RDNA 3 ISA, "DPP_CTRL Enumeration").
fn is_dpp_control(ctrl: u16) -> bool {
    matches!(ctrl, 0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 | 0x150..=0x15f | 0x160..=0x16f)
}

/// Whether an opcode has a form at all.
pub(super) fn has_form(_: Arch, _: &Entry) -> bool {
    true
}
