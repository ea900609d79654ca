//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{EXP_COMPR, NULL, SDWA_S0, SDWA_S1, SDWA_SD, exp_en, field_of, format_of, opcode_high};
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier as M, ModifierBits};
use crate::encoding::sdwa;
use crate::encoding::taken::{ModifierRow as Row, OpcodeTraits, taken};
use crate::rdna::modifiers::{
    DPP, DPP8, all_sources, follows_ray, has_data, has_no_sdst, has_operands, idle_permuted, idle_sources,
    signs,
};
use crate::signature::{
    ATOMIC, CLAMP, Class, EXEC_W, Flags, GDS_ONLY, HIGH, ImmKind, LOAD, MIX, NEG_ONLY, NO_D16, NO_GDS,
    NO_OPSEL, NO_THIRD, OMOD, OPSEL, SWAPS_ROWS, Spec, TO_LDS, TWO_OFFSETS,
};
use crate::{Arch, Encoding, Slot};

/// The modifiers that an opcode takes, and where.
pub(super) fn modifiers_of(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> ModifierList {
    let opcode = OpcodeTraits { arch, encoding, specs, flags };
    taken(rows(&opcode), &opcode)
}

/// The table of an opcode.
fn rows(opcode: &OpcodeTraits<'_>) -> &'static [Row] {
    match opcode.encoding {
        Encoding::Smem if has_operands(opcode) => SMEM,
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => DPP,
        Encoding::Vop1Dpp8 | Encoding::Vop2Dpp8 => DPP8,
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => sdwa::ROWS,
        Encoding::Vop3 => VOP3,
        Encoding::Vop3p => VOP3P,
        Encoding::Ds => DS,
        Encoding::Flat | Encoding::Global | Encoding::Scratch => FLAT,
        Encoding::Mubuf if has_operands(opcode) => MUBUF,
        Encoding::Mtbuf => MTBUF,
        encoding if encoding.is_image() && follows_ray(opcode.specs) => RAY,
        encoding if encoding.is_image() => MIMG,
        Encoding::Exp => EXP,
        _ => &[],
    }
}

const SMEM: &[Row] = &[
    Row::at(M::SoffsetUsed(NULL as u8), 57, 7).when(|op| has_offset(op.specs)),
    Row::at(M::Dlc, 14, 1).when(|op| has_data(op) && has_offset(op.specs)),
    Row::at(M::Glc, 16, 1).when(|op| has_data(op) && has_offset(op.specs)),
];

const VOP3: &[Row] = &[
    Row::at(M::Abs, 8, 3).when(has_no_sdst).bits(|op| if op.has(NEG_ONLY) { 0 } else { signs(op) }),
    Row::at(M::OpSel, 11, 4).when(|op| has_no_sdst(op) && (op.has(OPSEL) || op.has(SWAPS_ROWS))).bits(|op| {
        match () {
            () if op.has(SWAPS_ROWS) => 3,
            () => all_sources(op) | 8,
        }
    }),
    Row::at(M::High, 40, 1).when(|op| op.has(HIGH)),
    Row::at(M::Clamp, 15, 1).when(|op| op.has(CLAMP)),
    Row::at(M::Omod, 59, 2).when(|op| op.has(OMOD)),
    Row::at(M::Neg, 61, 3).bits(signs),
];

const VOP3P: &[Row] = &[
    Row::at(M::NegHi, 8, 3).bits(all_sources),
    Row::at(M::OpSel, 11, 3).bits(packed_halves),
    Row::at(M::Clamp, 15, 1),
    Row::at(M::OpSelHi2, 14, 1).bits(|op| packed_halves(op) >> 2),
    Row::at(M::OpSelHi, 59, 2).bits(|op| packed_halves(op) & 3),
    Row::at(M::Neg, 61, 3).bits(all_sources),
];

const DS: &[Row] = &[
    Row::at(M::Offset, 0, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset1, 8, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset, 0, 16).when(|op| !op.has(TWO_OFFSETS) && (has_operands(op) || op.has(GDS_ONLY))),
    Row::at(M::Gds, 17, 1).when(|op| !op.has(NO_GDS) && (has_operands(op) || op.has(GDS_ONLY))),
];

const FLAT: &[Row] = &[
    Row::at(M::Offset, 0, 11).when(|op| op.encoding == Encoding::Flat),
    Row::at(M::SignedOffset, 0, 12).when(|op| op.encoding != Encoding::Flat),
    Row::at(M::Dlc, 12, 1),
    Row::at(M::Lds, 13, 1).when(|op| op.has(TO_LDS)),
    Row::at(M::Glc, 16, 1),
    Row::at(M::Slc, 17, 1),
];

const MUBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12),
    Row::at(M::Offen, 12, 1),
    Row::at(M::Idxen, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Dlc, 15, 1).when(|op| !op.has(ATOMIC)),
    Row::at(M::Lds, 16, 1).when(|op| op.has(TO_LDS)),
    Row::at(M::Slc, 54, 1),
    Row::at(M::Tfe, 55, 1).when(|op| op.has(LOAD)),
];

const MTBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12),
    Row::at(M::Offen, 12, 1),
    Row::at(M::Idxen, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Dlc, 15, 1),
    Row::at(M::Format, 19, 7),
    Row::at(M::Slc, 54, 1),
];

const RAY: &[Row] =
    &[Row::at(M::Dmask, 8, 4), Row::at(M::Unorm, 12, 1), Row::at(M::R128, 15, 1), Row::at(M::A16, 62, 1)];

const MIMG: &[Row] = &[
    Row::at(M::Dim, 3, 3),
    Row::at(M::Dlc, 7, 1),
    Row::at(M::Dmask, 8, 4),
    Row::at(M::Unorm, 12, 1),
    Row::at(M::Glc, 13, 1),
    Row::at(M::R128, 15, 1),
    Row::at(M::Tfe, 16, 1),
    Row::at(M::Lwe, 17, 1),
    Row::at(M::Slc, 25, 1),
    Row::at(M::A16, 62, 1),
    Row::at(M::D16, 63, 1).when(|op| !op.has(NO_D16) && !op.has(ATOMIC)),
];

const EXP: &[Row] = &[Row::in_field(M::Compr, EXP_COMPR), Row::at(M::Done, 11, 1), Row::at(M::Vm, 12, 1)];

fn packed_halves(op: &OpcodeTraits<'_>) -> u32 {
    if op.has(NO_OPSEL) { 0 } else { all_sources(op) }
}

/// Whether a scalar memory instruction has an address.
fn has_offset(specs: &[Spec]) -> bool {
    specs.iter().any(|spec| spec.class == Class::SmemOffset)
}

/// Whether an opcode has an attribute.
fn interpolates(specs: &[Spec]) -> bool {
    specs.iter().any(|spec| spec.class == Class::Imm(ImmKind::Attribute))
}

/// The bits of the first two dwords that an opcode gives a meaning to; the others must be zero.
pub(super) fn used_bits(_: Arch, encoding: Encoding, specs: &[Spec], modifiers: &[ModifierBits]) -> u64 {
    let format = format_of(encoding);
    let mut used = format.prefix_mask | format.opcode.mask() | opcode_high(encoding).mask();
    for bits in modifiers.iter().filter(|bits| !bits.field.is_extra()) {
        used |= bits.field.put(bits.mask);
    }
    for spec in specs {
        let field = field_of(encoding, spec.slot);
        if !field.is_extra() {
            used |= field.mask();
        }
        used |= match spec.class {
            Class::SmemOffset => field_of(encoding, Slot::Soffset).mask(),
            Class::Export => exp_en(spec.slot).mask(),
            _ => 0,
        };
        if encoding.is_sdwa() {
            used |= match spec.slot {
                Slot::Src0 if spec.class == Class::SdwaSrc => SDWA_S0.mask(),
                Slot::Src1 => SDWA_S1.mask(),
                Slot::Sdst => SDWA_SD.mask(),
                _ => 0,
            };
        }
    }
    used
}

/// Bits beside [`used_bits`] that LLVM's disassembler passes over: fields of operands that an opcode lacks,
/// and gaps. Other bits make the instruction illegal.
pub(super) fn ignored_bits(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
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
        Encoding::Smem => Field::new(0, 18).mask() | Field::new(32, 32).mask(),
        Encoding::Vop1 => of(&[Slot::Src0]),
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => 1 << 49 | idle_permuted(specs, flags, false),
        // The result is EXEC.
        Encoding::VopcSdwa if flags.has(EXEC_W) => {
            sdwa::ignored(arch, encoding, specs, flags) | Field::new(40, 8).mask()
        }
        _ if encoding.is_sdwa() => sdwa::ignored(arch, encoding, specs, flags),
        Encoding::Vop3 if interpolates(specs) => of(&[Slot::Src2]) | Field::new(11, 4).mask(),
        Encoding::Vop3 => {
            let result = if flags.has(EXEC_W) { of(&[Slot::Vdst]) } else { 0 };
            let op_sel = match () {
                () if flags.has(OPSEL) => 0,
                () if flags.has(NO_THIRD) => 0,
                () => Field::new(11, 4).mask(),
            };
            let idle = u64::from(idle_sources(specs, flags, false));
            of(&[Slot::Src0, Slot::Src1, Slot::Src2]) | result | op_sel | idle << 8 | idle << 61
        }
        Encoding::Vop3p => of(&[Slot::Src1, Slot::Src2]) | OP_SEL_HI,
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            of(&[Slot::Data0, Slot::Vdst, Slot::Vaddr]) | 1 << 25
        }
        Encoding::Mubuf if specs.is_empty() => {
            Field::new(0, 18).mask() | Field::new(32, 23).mask() | Field::new(55, 9).mask()
        }
        Encoding::Mubuf => of(&[Slot::Vaddr, Slot::Vdata]) | 1 << 17 | 1 << 53,
        Encoding::Ds => 1 << 16,
        encoding if encoding.is_image() => 1 << 6 | 1 << 14 | Field::new(58, 4).mask(),
        Encoding::Exp => Field::new(13, 13).mask(),
        _ => 0,
    }
}

/// OP_SEL_HI of all three sources.
const OP_SEL_HI: u64 = 1 << 14 | 0b11 << 59;

/// What ignored bits are when assembled.
pub(super) fn rest_bits(encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    match encoding {
        Encoding::Vop3p => {
            if flags.has(MIX) {
                0
            } else {
                OP_SEL_HI
            }
        }
        // EXEC's code.
        Encoding::Vop3 if flags.has(EXEC_W) => 126,
        // NULL's.
        Encoding::Smem if has_offset(specs) => u64::from(NULL) << 57,
        _ => 0,
    }
}
