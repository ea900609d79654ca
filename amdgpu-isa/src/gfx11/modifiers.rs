//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{NULL, SCRATCH_SVE, VOPD_OPCODE_Y, exp_en, field_of, format_of};
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier as M, ModifierBits};
use crate::encoding::taken::{ModifierRow as Row, OpcodeTraits, taken};
use crate::rdna::modifiers::{
    DPP, DPP_BEHIND, DPP_HALVES, DPP8, DPP8_BEHIND, HALVES, all_sources, follows_ray, has_data, has_no_sdst,
    has_operands, idle_permuted, idle_sources, signs,
};
use crate::signature::{
    ATOMIC, CLAMP, Class, EXEC_W, Flags, GDS_ONLY, LOAD, MAI, MIX, NEG_ONLY, NO_D16, NO_GDS, NO_OPSEL,
    NO_THIRD, OMOD, OPSEL, SIGNED_BY_NEG, STORE, SWAPS_ROWS, Spec, TWO_OFFSETS, halves,
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
        Encoding::Smem if has_operands(opcode) => SMEM,
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
        Encoding::Mimg | Encoding::MimgNsa if follows_ray(opcode.specs) => RAY,
        Encoding::Mimg | Encoding::MimgNsa => MIMG,
        Encoding::Exp => EXP,
        _ => &[],
    }
}

const SMEM: &[Row] = &[
    Row::at(M::SoffsetUsed(NULL as u8), 57, 7),
    Row::at(M::Dlc, 13, 1).when(has_data),
    Row::at(M::Glc, 14, 1).when(has_data),
];

const VOP3: &[Row] = &[
    Row::at(M::Abs, 8, 3).when(has_no_sdst).bits(|op| if op.has(NEG_ONLY) { 0 } else { signs(op) }),
    Row::at(M::OpSel, 11, 4).when(|op| has_no_sdst(op) && vop3_halves(op) != 0).bits(vop3_halves),
    Row::at(M::Clamp, 15, 1).when(|op| op.has(CLAMP)),
    Row::at(M::Omod, 59, 2).when(|op| op.has(OMOD)),
    Row::at(M::Neg, 61, 3).bits(signs),
];

const VOP3P: &[Row] = &[
    Row::at(M::NegHi, 8, 3).bits(all_sources),
    Row::at(M::OpSel, 11, 3).bits(packed_halves),
    Row::at(M::Clamp, 15, 1).when(|op| !op.has(MAI) || op.has(SIGNED_BY_NEG)),
    Row::at(M::OpSelHi2, 14, 1).bits(|op| packed_halves(op) >> 2),
    Row::at(M::OpSelHi, 59, 2).bits(|op| packed_halves(op) & 3),
    Row::at(M::Neg, 61, 3).bits(all_sources),
];

const VINTERP: &[Row] = &[
    Row::at(M::Wait, 8, 3),
    Row::at(M::OpSel, 11, 4).bits(|op| if halves(op.specs) == 0 { 0 } else { 15 }),
    Row::at(M::Clamp, 15, 1),
    Row::at(M::Neg, 61, 3),
];

const LDSDIR: &[Row] = &[Row::at(M::Wait, 16, 4)];

const DS: &[Row] = &[
    Row::at(M::Offset, 0, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset1, 8, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset, 0, 16).when(|op| !op.has(TWO_OFFSETS) && (has_operands(op) || op.has(GDS_ONLY))),
    Row::at(M::Gds, 17, 1).when(|op| !op.has(NO_GDS) && (has_operands(op) || op.has(GDS_ONLY))),
];

const FLAT: &[Row] = &[
    Row::at(M::Offset, 0, 12).when(|op| op.encoding == Encoding::Flat),
    Row::at(M::SignedOffset, 0, 13).when(|op| op.encoding != Encoding::Flat),
    Row::at(M::Dlc, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Slc, 15, 1),
];

const MUBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12),
    Row::at(M::Slc, 12, 1),
    Row::at(M::Dlc, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Tfe, 53, 1).when(|op| op.has(LOAD) || op.has(STORE) && !op.has(ATOMIC)),
    Row::at(M::Offen, 54, 1),
    Row::at(M::Idxen, 55, 1),
];

const MTBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12),
    Row::at(M::Slc, 12, 1),
    Row::at(M::Dlc, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Format, 19, 7),
    Row::at(M::Offen, 54, 1),
    Row::at(M::Idxen, 55, 1),
];

const RAY: &[Row] =
    &[Row::at(M::Unorm, 7, 1), Row::at(M::Dmask, 8, 4), Row::at(M::R128, 15, 1), Row::at(M::A16, 16, 1)];

const MIMG: &[Row] = &[
    Row::at(M::Dim, 2, 3),
    Row::at(M::Unorm, 7, 1),
    Row::at(M::Dmask, 8, 4),
    Row::at(M::Slc, 12, 1),
    Row::at(M::Dlc, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::R128, 15, 1),
    Row::at(M::A16, 16, 1),
    Row::at(M::D16, 17, 1).when(|op| !op.has(NO_D16) && !op.has(ATOMIC)),
    Row::at(M::Tfe, 53, 1),
    Row::at(M::Lwe, 54, 1),
];

const EXP: &[Row] = &[Row::at(M::Done, 11, 1), Row::at(M::RowEn, 13, 1)];

/// The bits of OP_SEL that mean something: of sources, and the highest of the result.
fn vop3_halves(op: &OpcodeTraits<'_>) -> u32 {
    match () {
        () if op.has(SWAPS_ROWS) => 3,
        () if op.has(OPSEL) => all_sources(op) | 8,
        () => halves(op.specs).into(),
    }
}

fn packed_halves(op: &OpcodeTraits<'_>) -> u32 {
    if op.has(NO_OPSEL) { 0 } else { all_sources(op) }
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
        Encoding::Smem => Field::new(0, 13).mask() | Field::new(15, 3).mask() | Field::new(32, 32).mask(),
        Encoding::Vop1 => of(&[Slot::Src0]),
        Encoding::Vop1Dpp | Encoding::Vop2Dpp | Encoding::VopcDpp => {
            1 << 49 | idle_permuted(specs, flags, true)
        }
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 => {
            let result = if flags.has(EXEC_W) { of(&[Slot::Vdst]) } else { 0 };
            let op_sel = if flags.has(NO_THIRD) { 0 } else { Field::new(11, 4).mask() };
            let idle = u64::from(idle_sources(specs, flags, true));
            of(&[Slot::Src0, Slot::Src1, Slot::Src2]) | result | op_sel | idle << 8 | idle << 61
        }
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => {
            of(&[Slot::Src1, Slot::Src2]) | OP_SEL_HI
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            of(&[Slot::Data0, Slot::Vdst, Slot::Vaddr]) | 1 << 25
        }
        // Without operands, the bits of the offset and of SLC.
        Encoding::Mubuf if specs.is_empty() => {
            Field::new(0, 13).mask() | 0b111 << 15 | Field::new(32, 21).mask() | Field::new(56, 8).mask()
        }
        Encoding::Mubuf => of(&[Slot::Vaddr, Slot::Vdata]) | 0b111 << 15,
        Encoding::Ds => 1 << 16,
        Encoding::Mimg | Encoding::MimgNsa => 1 << 1 | 0b11 << 5 | 0b111 << 55 | 1 << 63,
        Encoding::Exp => 1 << 10 | 1 << 12 | Field::new(14, 12).mask(),
        Encoding::Vinterp => {
            let op_sel =
                if specs.iter().any(|spec| spec.ty.is_half()) { 0 } else { Field::new(11, 4).mask() };
            1 << 23 | op_sel | 1 << 40 | 1 << 49 | 1 << 58 | 0b11 << 59
        }
        Encoding::Ldsdir => of(&[Slot::Other]),
        _ => 0,
    }
}

/// The bits of a third dword that mean nothing: gaps, and modifiers that stand in VOP3's own dwords.
pub(super) fn ignored_control(encoding: Encoding, _: &[Spec]) -> u32 {
    if encoding.is_dpp() && format_of(encoding).dwords == 3 { 1 << 17 | 0xf << 20 } else { 0 }
}

/// OP_SEL_HI of all three sources.
const OP_SEL_HI: u64 = 1 << 14 | 0b11 << 59;

/// What ignored bits are when assembled.
pub(super) fn rest_bits(encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    match encoding {
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => {
            if flags.has(MIX) {
                0
            } else {
                OP_SEL_HI
            }
        }
        // The marks of vector registers.
        Encoding::Vinterp => 1 << 40 | 1 << 49 | 1 << 58,
        // EXEC's code.
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 if flags.has(EXEC_W) => 126,
        // NULL's.
        Encoding::Smem if !specs.is_empty() => (NULL as u64) << 57,
        _ => 0,
    }
}
