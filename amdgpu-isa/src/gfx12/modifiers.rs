//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{NULL, SCRATCH_SVE, VOPD_OPCODE_Y, exp_en, field_of, format_of};
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier as M, ModifierBits};
use crate::encoding::taken::{ModifierRow as Row, OpcodeTraits, taken};
use crate::rdna::modifiers::{
    DPP, DPP_BEHIND, DPP_HALVES, DPP8, DPP8_BEHIND, HALVES, all_sources, follows_ray, has_data, has_no_sdst,
    has_operands, idle_permuted, idle_sources, signs,
};
use crate::signature::image::ImageAddress;
use crate::signature::{
    ATOMIC, BYTE_RESULT, BYTE_SOURCE, CLAMP, Class, EXEC_W, Flags, IDLE_MODS, IDLE_OP_SEL, MAI, MIX,
    NEG_ONLY, NEGATES_ADDEND, NO_D16, NO_OPSEL, NO_SRC_MODS, NO_THIRD, OMOD, OPSEL, SHOWS_ALL, SIGNED_BY_NEG,
    SPARSE, SWAPS_ROWS, Spec, TWO_OFFSETS, Ty, halves,
};
use crate::{Arch, Encoding, Slot};

/// The modifiers that an opcode takes, and where.
pub(super) fn modifiers_of(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> ModifierList {
    let opcode = OpcodeTraits { arch, encoding, specs, flags };
    let mut all = taken(control_rows(encoding), &opcode);
    all.extend(taken(rows(&opcode), &opcode));
    all
}

/// The table of an encoding's DPP control.
fn control_rows(encoding: Encoding) -> &'static [Row] {
    let is_third_dword = format_of(encoding).dwords == 3;
    match encoding {
        Encoding::Vop3Dpp8 | Encoding::Vop3pDpp8 => DPP8_BEHIND,
        _ if encoding.is_dpp8() => DPP8,
        _ if encoding.is_dpp() && is_third_dword => DPP_BEHIND,
        _ if encoding.is_dpp() => DPP,
        _ => &[],
    }
}

/// The table of an opcode.
fn rows(opcode: &OpcodeTraits<'_>) -> &'static [Row] {
    match opcode.encoding {
        Encoding::Smem if has_data(opcode) => SMEM,
        Encoding::Smem if opcode.any(|spec| spec.class == Class::SmemOffset) => PROBE,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => HALVES,
        Encoding::Vop1Dpp
        | Encoding::Vop2Dpp
        | Encoding::VopcDpp
        | Encoding::Vop1Dpp8
        | Encoding::Vop2Dpp8
        | Encoding::VopcDpp8 => DPP_HALVES,
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 => VOP3,
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => VOP3P,
        Encoding::Vinterp => VINTERP,
        Encoding::Ldsdir => LDSDIR,
        Encoding::Ds => DS,
        Encoding::Flat | Encoding::Global | Encoding::Scratch => FLAT,
        Encoding::Mubuf if has_operands(opcode) => MUBUF,
        Encoding::Mtbuf => MTBUF,
        Encoding::Vimage if follows_ray(opcode.specs) => RAY,
        Encoding::Vimage => VIMAGE,
        Encoding::Vsample => VSAMPLE,
        Encoding::Exp => EXP,
        _ => &[],
    }
}

const SMEM: &[Row] =
    &[Row::at(M::SoffsetUsed(NULL as u8), 57, 7), Row::at(M::Scope, 21, 2), Row::at(M::Th, 23, 2)];

const PROBE: &[Row] = &[Row::at(M::SoffsetUsed(NULL as u8), 57, 7)];

const VOP3: &[Row] = &[
    Row::at(M::Abs, 8, 3).when(has_no_sdst).bits(|op| if op.has(NEG_ONLY) { 0 } else { signs(op) }),
    Row::at(M::OpSel, 11, 4).when(|op| has_no_sdst(op) && selected(op) != 0).bits(selected),
    Row::at(M::Clamp, 15, 1).when(|op| op.has(CLAMP)),
    Row::at(M::Omod, 59, 2).when(|op| op.has(OMOD)),
    Row::at(M::Neg, 61, 3).bits(signs),
];

const VOP3P: &[Row] = &[
    Row::at(M::NegHi, 8, 3).bits(|op| negated(op).1),
    Row::at(M::OpSel, 11, 3).bits(packed_halves),
    Row::at(M::Clamp, 15, 1).when(|op| op.has(SIGNED_BY_NEG) || !op.has(MAI) && !op.has(NEGATES_ADDEND)),
    Row::at(M::OpSelHi2, 14, 1).bits(|op| high_halves(op) >> 2),
    Row::at(M::OpSelHi, 59, 2).bits(|op| high_halves(op) & 3),
    Row::at(M::Neg, 61, 3).bits(|op| negated(op).0),
];

const VINTERP: &[Row] = &[
    Row::at(M::Wait, 8, 3),
    Row::at(M::OpSel, 11, 4).bits(|op| if op.any(|spec| spec.ty.is_half()) { 15 } else { 0 }),
    Row::at(M::Clamp, 15, 1),
    Row::at(M::Neg, 61, 3),
];

const LDSDIR: &[Row] = &[Row::at(M::Wait, 16, 4), Row::at(M::WaitVsrc, 23, 1)];

const DS: &[Row] = &[
    Row::at(M::Offset, 0, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset1, 8, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset, 0, 16).when(|op| !op.has(TWO_OFFSETS) && has_operands(op)),
];

const FLAT: &[Row] = &[
    Row::at(M::Scope, 50, 2),
    Row::at(M::Th, 52, 3).when(|op| !op.has(ATOMIC)),
    Row::at(M::Glc, 52, 1).when(|op| op.has(ATOMIC)),
    Row::at(M::AtomicTh, 53, 2).when(|op| op.has(ATOMIC)),
    Row::at(M::SignedOffset, 72, 24).when(has_operands),
];

const MUBUF: &[Row] = &[
    Row::at(M::Tfe, 22, 1).when(|op| !op.has(ATOMIC)),
    Row::at(M::Scope, 50, 2),
    Row::at(M::Th, 52, 3).when(|op| !op.has(ATOMIC)),
    Row::at(M::Glc, 52, 1).when(|op| op.has(ATOMIC)),
    Row::at(M::AtomicTh, 53, 2).when(|op| op.has(ATOMIC)),
    Row::at(M::Offen, 62, 1),
    Row::at(M::Idxen, 63, 1),
    Row::at(M::Offset, 72, 23),
];

const MTBUF: &[Row] = &[
    Row::at(M::Scope, 50, 2),
    Row::at(M::Th, 52, 3),
    Row::at(M::Format, 55, 7),
    Row::at(M::Offen, 62, 1),
    Row::at(M::Idxen, 63, 1),
    Row::at(M::Offset, 72, 23),
];

const RAY: &[Row] =
    &[Row::at(M::R128, 4, 1), Row::at(M::A16, 6, 1).when(has_short_rays), Row::at(M::Dmask, 22, 4)];

const VIMAGE: &[Row] = &[
    Row::at(M::Dim, 0, 3),
    Row::at(M::R128, 4, 1),
    Row::at(M::D16, 5, 1).when(|op| !op.has(NO_D16) && !op.has(ATOMIC)),
    Row::at(M::A16, 6, 1),
    Row::at(M::Dmask, 22, 4),
    Row::at(M::Scope, 50, 2),
    Row::at(M::Th, 52, 3).when(|op| !op.has(ATOMIC)),
    Row::at(M::Glc, 52, 1).when(|op| op.has(ATOMIC)),
    Row::at(M::AtomicTh, 53, 2).when(|op| op.has(ATOMIC)),
    Row::at(M::Tfe, 55, 1),
];

const VSAMPLE: &[Row] = &[
    Row::at(M::Dim, 0, 3),
    Row::at(M::Tfe, 3, 1),
    Row::at(M::R128, 4, 1),
    Row::at(M::D16, 5, 1).when(|op| !op.has(NO_D16)),
    Row::at(M::A16, 6, 1),
    Row::at(M::Unorm, 13, 1),
    Row::at(M::Dmask, 22, 4),
    Row::at(M::Lwe, 40, 1),
    Row::at(M::Scope, 50, 2),
    Row::at(M::Th, 52, 3),
];

const EXP: &[Row] = &[Row::at(M::Done, 11, 1), Row::at(M::RowEn, 13, 1)];

/// The bits of OP_SEL that mean something: of sources, and the highest of the result.
fn selected(op: &OpcodeTraits<'_>) -> u32 {
    match () {
        () if op.has(SWAPS_ROWS) => 3,
        () if op.has(BYTE_SOURCE) => 3,
        () if op.has(BYTE_RESULT) => 12,
        () if op.has(IDLE_OP_SEL) => op.sources(|spec| spec.ty.is_half()) | 8,
        () if op.has(OPSEL) || op.has(SHOWS_ALL) => all_sources(op) | 8,
        () => halves(op.specs).into(),
    }
}

fn packed_halves(op: &OpcodeTraits<'_>) -> u32 {
    match () {
        // Which part of the register of a sparse matrix' indices.
        () if op.has(SPARSE) && op.any(|spec| spec.ty == Ty::Keys16) => 1,
        () if op.has(SPARSE) && op.any(|spec| spec.ty == Ty::Keys8) => 3,
        () if op.has(NO_OPSEL) => 0,
        () => all_sources(op),
    }
}

fn high_halves(op: &OpcodeTraits<'_>) -> u32 {
    match () {
        () if has_fixed_high_halves(op.flags) => 0b111,
        () if op.has(NO_OPSEL) => 0,
        () => all_sources(op),
    }
}

/// The sources of which NEG and NEG_HI mean something.
fn negated(op: &OpcodeTraits<'_>) -> (u32, u32) {
    const FACTORS: u32 = 0b011;
    const ADDEND: u32 = 0b100;
    match () {
        () if op.has(NO_SRC_MODS) => (0, 0),
        () if op.has(NEGATES_ADDEND) => (ADDEND, ADDEND),
        () if op.has(MAI) && op.has(SIGNED_BY_NEG) => (FACTORS, 0),
        () if op.has(SPARSE) => (FACTORS, FACTORS),
        () => (all_sources(op), all_sources(op)),
    }
}

/// Whether a ray may be of halves.
fn has_short_rays(op: &OpcodeTraits<'_>) -> bool {
    op.any(|spec| matches!(spec.class, Class::ImageAddress(ImageAddress::Ray { .. })))
}

/// Whether all of OP_SEL_HI must be set: of matrices and of dot products of small floats.
pub(super) fn has_fixed_high_halves(flags: Flags) -> bool {
    flags.has(MAI) || flags.has(NEGATES_ADDEND)
}

/// The bits of the first two dwords that an opcode gives a meaning to; the others must be zero.
pub(super) fn used_bits(_: Arch, encoding: Encoding, specs: &[Spec], modifiers: &[ModifierBits]) -> u64 {
    let format = format_of(encoding);
    let mut used = format.prefix_mask | format.opcode.mask();
    if encoding == Encoding::Vopd {
        used |= VOPD_OPCODE_Y.mask();
    }
    for bits in modifiers.iter().filter(|bits| !bits.field.is_extra()) {
        used |= bits.field.put(bits.mask);
    }
    for spec in specs {
        let field = field_of(encoding, spec.slot);
        if spec.class == Class::Vgpr && field.width == 9 {
            // The mark of a vector register is passed over.
            used |= Field::new(field.lsb, 8).mask();
        } else if !field.is_extra() {
            used |= field.mask();
        }
        used |= match spec.class {
            Class::SmemOffset => field_of(encoding, Slot::Soffset).mask(),
            Class::ScratchAddr => SCRATCH_SVE.mask(),
            Class::Export => exp_en(spec.slot).mask(),
            _ => 0,
        };
    }
    used
}

/// Bits beside [`used_bits`] that LLVM's disassembler passes over: fields of operands that an opcode lacks,
/// and gaps. Other bits make the instruction illegal.
pub(super) fn ignored_bits(_: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    let of = |slots: &[Slot]| {
        slots
            .iter()
            .map(|&slot| field_of(encoding, slot))
            .filter(|field| !field.is_extra())
            .fold(0, |all, field| all | field.mask())
    };
    match encoding {
        Encoding::Sop2 | Encoding::Sopk => of(&[Slot::Sdst]),
        Encoding::Sop1 => of(&[Slot::Sdst, Slot::Ssrc0]),
        Encoding::Smem if specs.is_empty() => {
            Field::new(0, 13).mask() | Field::new(19, 7).mask() | Field::new(32, 32).mask()
        }
        Encoding::Smem if specs.iter().any(|spec| spec.class == Class::Sdata) => 1 << 19 | 1 << 25,
        Encoding::Smem => of(&[Slot::Sbase]) | Field::new(19, 7).mask() | 1 << 56,
        Encoding::Vop1 => of(&[Slot::Src0]),
        Encoding::Vop1Dpp | Encoding::Vop2Dpp | Encoding::VopcDpp => {
            1 << 49 | idle_permuted(specs, flags, false)
        }
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 => {
            let result = if flags.has(EXEC_W) { of(&[Slot::Vdst]) } else { 0 };
            let has_third = specs.iter().any(|spec| spec.slot == Slot::Src2);
            let op_sel = match () {
                () if flags.has(IDLE_OP_SEL) => Field::new(11, 4).mask(),
                () if flags.has(SWAPS_ROWS) && has_third => Field::new(13, 2).mask(),
                () if flags.has(SWAPS_ROWS) => 1 << 14,
                () if flags.has(BYTE_SOURCE) && encoding != Encoding::Vop3 => Field::new(13, 2).mask(),
                () if flags.has(OPSEL) || flags.has(NO_THIRD) || flags.has(BYTE_SOURCE) => 0,
                () => Field::new(11, 4).mask(),
            };
            // What selects halves has the bits of signs.
            let flags =
                if flags.has(OPSEL) && !flags.has(SWAPS_ROWS) { flags.with(IDLE_MODS) } else { flags };
            let idle = u64::from(idle_sources(specs, flags, false));
            of(&[Slot::Src0, Slot::Src1, Slot::Src2]) | result | op_sel | idle << 8 | idle << 61
        }
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => {
            of(&[Slot::Src1, Slot::Src2]) | OP_SEL_HI
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            let saddr = if specs.is_empty() { of(&[Slot::Saddr]) } else { 0 };
            of(&[Slot::Data0, Slot::Vdst]) | saddr | GAP | 0b11 << 22 | Field::new(40, 8).mask() | 1 << 63
        }
        Encoding::Mubuf => Field::new(55, 7).mask() | GAP | 0b111 << 23 | 1 << 40,
        Encoding::Mtbuf => GAP | 0b111 << 23 | 1 << 40,
        Encoding::Vimage => 1 << 3 | GAP | 1 << 40,
        Encoding::Vsample => Field::new(8, 5).mask(),
        Encoding::Ds => 1 << 16,
        Encoding::Exp => 1 << 10 | 1 << 12 | Field::new(14, 12).mask(),
        Encoding::Vinterp => {
            let op_sel =
                if specs.iter().any(|spec| spec.ty.is_half()) { 0 } else { Field::new(11, 4).mask() };
            0b111 << 21 | op_sel | 1 << 40 | 1 << 49 | 1 << 58 | 0b11 << 59
        }
        Encoding::Ldsdir => of(&[Slot::Other]),
        _ => 0,
    }
}

/// The bits of a third dword that mean nothing: gaps, modifiers that stand in VOP3's own dwords, and what
/// instructions without an address have in its place.
pub(super) fn ignored_control(encoding: Encoding, specs: &[Spec]) -> u32 {
    match encoding {
        _ if encoding.is_dpp() && format_of(encoding).dwords == 3 => 1 << 17 | 0xf << 20,
        Encoding::Flat | Encoding::Global | Encoding::Scratch if specs.is_empty() => u32::MAX,
        Encoding::Global => 0xff,
        _ => 0,
    }
}

/// A gap below the opcodes of memory instructions.
const GAP: u64 = Field::new(8, 6).mask();

/// OP_SEL_HI of all three sources.
const OP_SEL_HI: u64 = 1 << 14 | 0b11 << 59;

/// What ignored bits are when assembled.
pub(super) fn rest_bits(encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    match encoding {
        Encoding::Global if specs.is_empty() => NULL.into(),
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => {
            if flags.has(MIX) {
                0
            } else {
                OP_SEL_HI
            }
        }
        // The marks of vector registers.
        Encoding::Vinterp => 1 << 40 | 1 << 49 | 1 << 58,
        // One byte, an unsigned normal number: what typed buffers have without a format.
        Encoding::Mubuf => 1 << 55,
        // EXEC's code.
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 if flags.has(EXEC_W) => 126,
        _ => 0,
    }
}
