//! Rules that span operands and modifiers, on every RDNA.

use arrayvec::ArrayVec;

use crate::encoding::operand;
use crate::encoding::table::Entry;
use crate::signature::image::ImageAddress;
use crate::signature::{Class, MIX, Spec, Ty, VCC_R};
use crate::value::{double_twin, has_inline_twin};
use crate::{Access, Arch, Encoding, Illegal, Mods, Op, Operand, Operands, Slot, Special, Value};

/// A resource of four or more registers is no NULL, nor is a sampler.
pub(crate) fn resources(operands: &Operands) -> Result<(), Illegal> {
    let is_null = |operand: &Operand| {
        let is_resource =
            matches!(operand.slot, Slot::Sbase | Slot::Srsrc | Slot::Ssamp) && operand.dwords >= 4;
        is_resource && operand.value == Value::Special(Special::Null)
    };
    if operands.iter().any(is_null) { Err(Illegal::Kind("NULL")) } else { Ok(()) }
}

/// The operands as LLVM writes them: an inline float of a 16-bit integer as its bits, hence as a literal, and
/// of a literal beside such a one the low half. All other literals are the one dword, of which an operand of
/// 16 bits may use the low half and another all.
pub(crate) fn with_half_literals(entry: &Entry, operands: &Operands) -> Result<Operands, Illegal> {
    let mut operands = operands.clone();
    let is_float = |(spec, operand): (&Spec, &Operand)| {
        spec.ty == Ty::I16 && matches!(operand.value, Value::Inline(240..))
    };
    let has_float = entry.specs.iter().zip(&operands).any(is_float);
    for (spec, operand) in entry.specs.iter().zip(&mut operands) {
        match (spec.ty, operand.value) {
            (Ty::I16, Value::Inline(240..)) => {
                if !entry.takes_literal {
                    return Err(Illegal::Kind("a float"));
                }
                operand.value = Value::Literal(operand.value.as_u16().unwrap_or_default().into());
            }
            // The low half is all that is written.
            (Ty::I16 | Ty::Exponent16 | Ty::F16, Value::Literal(value)) if has_float => {
                operand.value = Value::Literal(value & 0xffff)
            }
            _ => {}
        }
    }
    Ok(operands)
}

/// Sources can share a literal, but there is room for one only.
pub(crate) fn one_literal(operands: &Operands) -> Result<(), Illegal> {
    let mut literals = operands.iter().filter_map(|operand| match operand.value {
        Value::Literal(value) => Some(value),
        _ => None,
    });
    match literals.next() {
        Some(first) if literals.any(|other| other != first) => Err(Illegal::TwoLiterals),
        _ => Ok(()),
    }
}

/// Negation and absolute value of literals: none of the high half of a double, and no negation of one that is
/// marked in text.
pub(crate) fn wide_literals(entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
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
        let is_unread = spec.ty == Ty::V2F16 && entry.encoding == Encoding::Vop2 && is_marked;
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

/// A vector instruction reads two scalar values: registers or tuples, the literal among them (RDNA 3 ISA,
/// section 7.2.1).
pub(crate) fn constant_bus(entry: &Entry, operands: &Operands) -> Result<(), Illegal> {
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
            // SCC or a base is the same value in whatever width.
            Value::Special(_) => add((operand.value, 0)),
            Value::Scalar(_) => add((operand.value, operand.dwords)),
            _ => {}
        }
    }
    if values.len() > limit(entry.op) { Err(Illegal::ConstantBus) } else { Ok(()) }
}

/// The defined lane permutations (RDNA 3 ISA, "DPP_CTRL Enumeration").
pub(crate) fn is_dpp_control(ctrl: u16) -> bool {
    matches!(ctrl, 0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 | 0x150..=0x15f | 0x160..=0x16f)
}

/// An image's address is as long as one can be. What breaks this has no text: LLVM's is that of another form.
pub(crate) fn image_dimension(entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    let address = entry.specs.iter().find_map(|spec| match spec.class {
        Class::ImageAddress(address @ ImageAddress::Texel(_))
        | Class::ImageAddresses(address @ ImageAddress::Texel(_)) => Some(address),
        _ => None,
    });
    let Some(address) = address else { return Ok(()) };
    let most = address.longest(has_sampler(entry));
    let count = address.dwords(mods.dim, mods.a16);
    let is_legal = match entry.encoding {
        Encoding::Mimg => count <= most || matches!(count, 4 | 8),
        Encoding::Vimage | Encoding::Vsample => count <= most,
        _ => (2..=most).contains(&count),
    };
    if is_legal { Ok(()) } else { Err(Illegal::Field("DIM")) }
}

/// The mask of an image's data leaves it a width. What breaks this has no text, but a gather: it says of what
/// its text leaves out alone, how many values there are.
pub(crate) fn image_width(arch: Arch, entry: &Entry, mods: &Mods) -> Result<(), Illegal> {
    let says_width = has_sampler(entry) && !(mods.d16 && mods.tfe);
    if says_width { Ok(()) } else { operand::image_mask(arch, entry, mods) }
}

fn has_sampler(entry: &Entry) -> bool {
    entry.specs.iter().any(|spec| spec.slot == Slot::Ssamp)
}
