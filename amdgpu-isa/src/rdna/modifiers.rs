//! Modifiers that every RDNA has.

use crate::Slot;
use crate::encoding::modifiers::Modifier as M;
use crate::encoding::taken::{ModifierRow as Row, OpcodeTraits, sources_of};
use crate::signature::{Class, Flags, IDLE_MODS, NO_SRC_MODS, SRC_MODS, STRICT_MODS, Spec, halves};

/// DPP8's dword behind a first one.
pub(crate) const DPP8: &[Row] = &[Row::at(M::Dpp8Mark, 0, 9), Row::at(M::Dpp8Lanes, 32 + 8, 24)];

pub(crate) const DPP8_BEHIND: &[Row] = &[Row::at(M::Dpp8Mark, 32, 9), Row::at(M::Dpp8Lanes, 64 + 8, 24)];

pub(crate) const DPP: &[Row] = &[
    Row::at(M::DppCtrl, 32 + 8, 9),
    Row::at(M::Fi, 32 + 18, 1),
    Row::at(M::DppBoundCtrl, 32 + 19, 1),
    Row::at(M::DppBankMask, 32 + 24, 4),
    Row::at(M::DppRowMask, 32 + 28, 4),
    Row::at(M::NegOf(0), 52, 1).when(has_signs::<0>),
    Row::at(M::AbsOf(0), 53, 1).when(has_signs::<0>),
    Row::at(M::NegOf(1), 54, 1).when(has_signs::<1>),
    Row::at(M::AbsOf(1), 55, 1).when(has_signs::<1>),
];

pub(crate) const DPP_BEHIND: &[Row] = &[
    Row::at(M::DppCtrl, 64 + 8, 9),
    Row::at(M::Fi, 64 + 18, 1),
    Row::at(M::DppBoundCtrl, 64 + 19, 1),
    Row::at(M::DppBankMask, 64 + 24, 4),
    Row::at(M::DppRowMask, 64 + 28, 4),
];

/// Halves of registers, beside their numbers of seven bits.
pub(crate) const HALVES: &[Row] = &[
    Row::at(M::OpSelOf(0), 7, 1).when(has_half::<0>),
    Row::at(M::OpSelOf(1), 16, 1).when(has_half::<1>),
    Row::at(M::OpSelOf(3), 24, 1).when(has_half::<3>),
];

/// As that, with a dword of lane permutation, which names the first source.
pub(crate) const DPP_HALVES: &[Row] = &[
    Row::at(M::OpSelOf(0), 39, 1).when(has_half::<0>),
    Row::at(M::OpSelOf(1), 16, 1).when(has_half::<1>),
    Row::at(M::OpSelOf(3), 24, 1).when(has_half::<3>),
];

/// Whether the operand of a bit of OP_SEL is a half of a register.
fn has_half<const BIT: u8>(op: &OpcodeTraits<'_>) -> bool {
    halves(op.specs) & 1 << BIT != 0
}

pub(crate) fn has_operands(op: &OpcodeTraits<'_>) -> bool {
    !op.specs.is_empty()
}

pub(crate) fn has_data(op: &OpcodeTraits<'_>) -> bool {
    op.any(|spec| spec.class == Class::Sdata)
}

/// Whether the bits of ABS and OP_SEL are not a second result's.
pub(crate) fn has_no_sdst(op: &OpcodeTraits<'_>) -> bool {
    !op.any(|spec| spec.slot == Slot::Sdst && spec.class == Class::Sgpr)
}

pub(crate) fn all_sources(op: &OpcodeTraits<'_>) -> u32 {
    op.sources(|_| true)
}

/// The sources that may be negated.
pub(crate) fn signs(op: &OpcodeTraits<'_>) -> u32 {
    let takes = |spec: &Spec| spec.ty.is_float() && !op.has(NO_SRC_MODS) || op.has(SRC_MODS);
    op.sources(|spec| takes(spec) && spec.class != Class::Mask)
}

pub(crate) fn has_signs<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    signs(op) & 1 << SOURCE != 0
}

/// Whether an image instruction's address is a ray.
pub(crate) fn follows_ray(specs: &[Spec]) -> bool {
    specs.iter().any(
        |spec| matches!(spec.class, Class::ImageAddress(address) | Class::ImageAddresses(address) if address.is_ray()),
    )
}

/// Sources with the bits of negation and absolute value but no use for them: where others are floats or, if
/// `of_halves`, halves.
pub(crate) fn idle_sources(specs: &[Spec], flags: Flags, of_halves: bool) -> u32 {
    let has_modifiers = specs.iter().any(|spec| {
        of_halves && spec.ty.is_half()
            || spec.ty.is_float() && matches!(spec.slot, Slot::Src0 | Slot::Src1 | Slot::Src2)
    });
    let has_them =
        has_modifiers && !flags.has(NO_SRC_MODS) && !flags.has(STRICT_MODS) || flags.has(IDLE_MODS);
    if has_them { sources_of(specs, |spec| spec.class != Class::Mask && !spec.ty.is_float()) } else { 0 }
}

/// As that, in DPP's dword.
pub(crate) fn idle_permuted(specs: &[Spec], flags: Flags, of_halves: bool) -> u64 {
    let idle = idle_sources(specs, flags, of_halves);
    let of_source = |source: u32| if idle & 1 << source != 0 { 0b11 << (52 + 2 * source) } else { 0 };
    of_source(0) | of_source(1)
}
