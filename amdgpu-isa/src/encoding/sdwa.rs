//! Sub-dword addressing: the modifiers in its dword, which are the same wherever there is one.

use super::format::Field;
use super::modifiers::Modifier as M;
use super::table::Entry;
use super::taken::{ModifierRow as Row, OpcodeTraits};
use crate::signature::{Flags, NO_DST_SEL, NO_SRC_MODS, OMOD, Spec, Ty};
use crate::{Arch, Encoding, Illegal, Mods, Op, Operands, Slot, Value};

/// The modifiers.
pub(crate) const ROWS: &[Row] = &[
    Row::at(M::SdwaDstSel, 40, 3).when(has_result),
    Row::at(M::SdwaDstUnused, 43, 2).when(|op| has_result(op) && !op.has(NO_DST_SEL)),
    Row::at(M::Clamp, 45, 1).when(|op| has_result(op) || !has_scalars(op.arch)),
    Row::at(M::Omod, 46, 2).when(|op| {
        // VOP3 takes it for whole numbers, too.
        let is_float = |spec: &Spec| spec.ty.is_float() || spec.ty == Ty::V2F32;
        has_result(op) && has_scalars(op.arch) && op.has(OMOD) && op.specs.first().is_some_and(is_float)
    }),
    Row::at(M::SdwaSel(0), 48, 3).when(has_source::<0>),
    Row::at(M::NegOf(0), 52, 1).when(selects_float::<0>),
    Row::at(M::AbsOf(0), 53, 1).when(selects_float::<0>),
    Row::at(M::SdwaSext(0), 51, 1).when(selects_integer::<0>),
    Row::at(M::SdwaSel(1), 56, 3).when(has_source::<1>),
    Row::at(M::NegOf(1), 60, 1).when(selects_float::<1>),
    Row::at(M::AbsOf(1), 61, 1).when(selects_float::<1>),
    Row::at(M::SdwaSext(1), 59, 1).when(selects_integer::<1>),
];

/// Whether SDWA takes scalar registers. Else it has neither OMOD nor a result of comparisons in their bits,
/// and CLAMP of comparisons.
fn has_scalars(arch: Arch) -> bool {
    arch.generation().model().bits.sdwa_scalar[0].width != 0
}

/// Whether SDWA's result has bits of its own: not of comparisons.
fn has_result(op: &OpcodeTraits<'_>) -> bool {
    op.encoding != Encoding::VopcSdwa
}

/// Whether SDWA takes modifiers of sources.
fn selects(op: &OpcodeTraits<'_>) -> bool {
    !op.any(is_packed) && !op.has(NO_DST_SEL)
}

fn selects_float<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    selects(op) && has_float::<SOURCE>(op)
}

fn selects_integer<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    selects(op) && has_source::<SOURCE>(op) && !has_float::<SOURCE>(op) && !op.has(NO_SRC_MODS)
}

fn all_sources(op: &OpcodeTraits<'_>) -> u32 {
    op.sources(|_| true)
}

fn has_source<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    all_sources(op) & 1 << SOURCE != 0
}

fn has_float<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    op.sources(|spec| spec.ty.is_float() && !op.has(NO_SRC_MODS)) & 1 << SOURCE != 0
}

/// Whether an operand is two halves.
fn is_packed(spec: &Spec) -> bool {
    spec.ty == Ty::V2F16
}

/// SDWA's bits beside the selectors of each source.
const SDWA_GAPS: u64 = 1 << 54 | 1 << 62;
/// Bits that LLVM's disassembler passes over.
pub(crate) fn ignored(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    let results = if encoding == Encoding::VopcSdwa { Field::new(40, 5).mask() } else { 0 };
    let of_scalars = Field::new(46, 2).mask() | 1 << 55 | 1 << 63 | results;
    let absent = if has_scalars(arch) { 0 } else { of_scalars };
    if specs.is_empty() {
        // The fields of the first source and of the result, but for their modifiers.
        return Field::new(32, 13).mask() | SDWA_GAPS | 1 << 55 | absent;
    }
    let named = if flags.has(NO_DST_SEL) { Field::new(43, 2).mask() } else { 0 };
    // Packed halves have the bits of negation and absolute value, but no text for them.
    let idle = if specs.iter().any(is_packed) { 0b11 << 52 | 0b11 << 60 } else { 0 };
    SDWA_GAPS | named | idle | absent
}

/// The exponent of `v_ldexp_f16_sdwa` is read as a half, though it is a whole number: LLVM has no text for a
/// constant with its sign extended, nor for 1/(2π).
pub(crate) fn exponent(entry: &Entry, operands: &Operands, mods: &Mods) -> Result<(), Illegal> {
    let constant = operands.iter().find_map(|operand| match (operand.slot, operand.value) {
        (Slot::Src1, Value::Inline(code)) => Some(code),
        _ => None,
    });
    match (entry.op, mods.sdwa, constant) {
        (Op::v_ldexp_f16, Some(sdwa), Some(code)) if sdwa.sext[1] || code == 248 => {
            Err(Illegal::Kind("a constant"))
        }
        _ => Ok(()),
    }
}
