//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{SCRATCH_SVE, VOPD_OPCODE_Y, exp_en, field_of, format_of};
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier, ModifierBits};
use crate::signature::image::ImageAddress;
use crate::signature::{
    ATOMIC, CLAMP, Class, EXEC_W, Flags, GDS_ONLY, LOAD, MAI, MIX, NEG_ONLY, NO_D16, NO_OPSEL, NO_SRC_MODS,
    NO_THIRD, OMOD, OPSEL, SIGNED_BY_NEG, SRC_MODS, STORE, STRICT_MODS, SWAPS_ROWS, Spec, TWO_OFFSETS,
};
use crate::{Arch, Encoding, Slot};

/// Sources, as OP_SEL has them.
fn sources_of(specs: &[Spec], is_one: impl Fn(&Spec) -> bool) -> u32 {
    let bit = |spec: &Spec| match spec.slot {
        Slot::Src0 => 1,
        Slot::Src1 => 2,
        Slot::Src2 => 4,
        _ => 0,
    };
    specs.iter().filter(|spec| is_one(spec)).fold(0, |all, spec| all | bit(spec))
}

/// The modifiers that an opcode takes, and where.
pub(super) fn modifiers_of(_: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> ModifierList {
    use Modifier as M;
    let mut list = ModifierList::new();
    let mut add = |modifier, lsb, width| list.push(ModifierBits::new(modifier, Field::new(lsb, width)));
    let sources = sources_of(specs, |_| true);
    let takes_mods = |spec: &Spec| spec.ty.is_float() && !flags.has(NO_SRC_MODS) || flags.has(SRC_MODS);
    let floats = sources_of(specs, |spec| takes_mods(spec) && spec.class != Class::Mask);
    let halves = sources_of(specs, |spec| spec.ty.is_half());
    let half_result = specs.iter().any(|spec| spec.slot == Slot::Vdst && spec.ty.is_half());
    if encoding.is_dpp8() {
        match encoding {
            Encoding::Vop3Dpp8 | Encoding::Vop3pDpp8 => {
                add(M::Dpp8Mark, 32, 9);
                add(M::Dpp8Lanes, 64 + 8, 24);
            }
            _ => {
                add(M::Dpp8Mark, 0, 9);
                add(M::Dpp8Lanes, 32 + 8, 24);
            }
        }
    } else if encoding.is_dpp() {
        let base = if format_of(encoding).dwords == 3 { 64 } else { 32 };
        add(M::DppCtrl, base + 8, 9);
        add(M::Fi, base + 18, 1);
        add(M::DppBoundCtrl, base + 19, 1);
        add(M::DppBankMask, base + 24, 4);
        add(M::DppRowMask, base + 28, 4);
        if base == 32 {
            for (source, lsb) in [(0, 52), (1, 54)] {
                if floats & (1 << source) != 0 {
                    add(M::NegOf(source), lsb, 1);
                    add(M::AbsOf(source), lsb + 1, 1);
                }
            }
        }
    }
    match encoding {
        Encoding::Smem if !specs.is_empty() => {
            add(M::SoffsetUsed, 57, 7);
            if specs.iter().any(|spec| spec.class == Class::Sdata) {
                add(M::Dlc, 13, 1);
                add(M::Glc, 14, 1);
            }
        }
        // Halves of registers, beside their numbers of seven bits.
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => {
            for (source, lsb) in [(0, 7), (1, 16)] {
                if halves & (1 << source) != 0 {
                    add(M::OpSelOf(source), lsb, 1);
                }
            }
            if half_result {
                add(M::OpSelOf(3), 24, 1);
            }
        }
        Encoding::Vop1Dpp
        | Encoding::Vop2Dpp
        | Encoding::VopcDpp
        | Encoding::Vop1Dpp8
        | Encoding::Vop2Dpp8
        | Encoding::VopcDpp8 => {
            for (source, lsb) in [(0, 39), (1, 16)] {
                if halves & (1 << source) != 0 {
                    add(M::OpSelOf(source), lsb, 1);
                }
            }
            if half_result {
                add(M::OpSelOf(3), 24, 1);
            }
        }
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 => {
            let has_sdst = specs.iter().any(|spec| spec.slot == Slot::Sdst && spec.class == Class::Sgpr);
            if !has_sdst {
                let abs = if flags.has(NEG_ONLY) { 0 } else { floats };
                list.push(ModifierBits::masked(M::Abs, Field::new(8, 3), abs));
                let of_halves = halves | if half_result { 8 } else { 0 };
                let op_sel = if flags.has(OPSEL) { sources | 8 } else { of_halves };
                if op_sel != 0 && !flags.has(SWAPS_ROWS) {
                    list.push(ModifierBits::masked(M::OpSel, Field::new(11, 4), op_sel));
                }
                if flags.has(SWAPS_ROWS) {
                    list.push(ModifierBits::masked(M::OpSel, Field::new(11, 4), 3));
                }
            }
            if flags.has(CLAMP) {
                list.push(ModifierBits::new(M::Clamp, Field::new(15, 1)));
            }
            if flags.has(OMOD) {
                list.push(ModifierBits::new(M::Omod, Field::new(59, 2)));
            }
            list.push(ModifierBits::masked(M::Neg, Field::new(61, 3), floats));
        }
        Encoding::Vop3p | Encoding::Vop3pDpp | Encoding::Vop3pDpp8 => {
            list.push(ModifierBits::masked(M::NegHi, Field::new(8, 3), sources));
            let op_sel = if flags.has(NO_OPSEL) { 0 } else { sources };
            list.push(ModifierBits::masked(M::OpSel, Field::new(11, 3), op_sel));
            if !flags.has(MAI) || flags.has(SIGNED_BY_NEG) {
                list.push(ModifierBits::new(M::Clamp, Field::new(15, 1)));
            }
            list.push(ModifierBits::masked(M::OpSelHi2, Field::new(14, 1), op_sel >> 2));
            list.push(ModifierBits::masked(M::OpSelHi, Field::new(59, 2), op_sel & 3));
            list.push(ModifierBits::masked(M::Neg, Field::new(61, 3), sources));
        }
        Encoding::Vinterp => {
            add(M::Wait, 8, 3);
            let op_sel = if halves == 0 && !half_result { 0 } else { 15 };
            list.push(ModifierBits::masked(M::OpSel, Field::new(11, 4), op_sel));
            let mut add =
                |modifier, lsb, width| list.push(ModifierBits::new(modifier, Field::new(lsb, width)));
            add(M::Clamp, 15, 1);
            add(M::Neg, 61, 3);
        }
        Encoding::Ldsdir => add(M::Wait, 16, 4),
        Encoding::Ds => {
            if flags.has(TWO_OFFSETS) {
                add(M::Offset, 0, 8);
                add(M::Offset1, 8, 8);
            } else if !specs.is_empty() || flags.has(GDS_ONLY) {
                add(M::Offset, 0, 16);
            }
            if flags.has(crate::signature::NO_GDS) || specs.is_empty() && !flags.has(GDS_ONLY) {
                return list;
            }
            add(M::Gds, 17, 1);
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            if encoding == Encoding::Flat {
                add(M::Offset, 0, 12);
            } else {
                add(M::SignedOffset, 0, 13);
            }
            add(M::Dlc, 13, 1);
            add(M::Glc, 14, 1);
            add(M::Slc, 15, 1);
        }
        Encoding::Mubuf if !specs.is_empty() => {
            add(M::Offset, 0, 12);
            add(M::Slc, 12, 1);
            add(M::Dlc, 13, 1);
            add(M::Glc, 14, 1);
            if flags.has(LOAD) || flags.has(STORE) && !flags.has(ATOMIC) {
                add(M::Tfe, 53, 1);
            }
            add(M::Offen, 54, 1);
            add(M::Idxen, 55, 1);
        }
        Encoding::Mtbuf => {
            add(M::Offset, 0, 12);
            add(M::Slc, 12, 1);
            add(M::Dlc, 13, 1);
            add(M::Glc, 14, 1);
            add(M::Format, 19, 7);
            add(M::Offen, 54, 1);
            add(M::Idxen, 55, 1);
        }
        Encoding::Mimg | Encoding::MimgNsa if follows_ray(specs) => {
            add(M::Unorm, 7, 1);
            add(M::Dmask, 8, 4);
            add(M::R128, 15, 1);
            add(M::A16, 16, 1);
        }
        Encoding::Mimg | Encoding::MimgNsa => {
            add(M::Dim, 2, 3);
            add(M::Unorm, 7, 1);
            add(M::Dmask, 8, 4);
            add(M::Slc, 12, 1);
            add(M::Dlc, 13, 1);
            add(M::Glc, 14, 1);
            add(M::R128, 15, 1);
            add(M::A16, 16, 1);
            if !flags.has(NO_D16) && !flags.has(ATOMIC) {
                add(M::D16, 17, 1);
            }
            add(M::Tfe, 53, 1);
            add(M::Lwe, 54, 1);
        }
        Encoding::Exp => {
            add(M::Done, 11, 1);
            add(M::RowEn, 13, 1);
        }
        _ => {}
    }
    list
}

/// Whether an image instruction's address is a ray.
fn follows_ray(specs: &[Spec]) -> bool {
    specs.iter().any(|spec| matches!(spec.class, Class::ImageAddress(ImageAddress::Ray { .. })))
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

/// Bits beside [`used_bits`] that LLVM's disassembler passes over: fields of operands that an opcode lacks, and gaps.
/// Other bits make the instruction illegal.
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
            let idle = idle_sources(specs, flags);
            let of_source = |source: u32| if idle & 1 << source != 0 { 0b11 << (52 + 2 * source) } else { 0 };
            1 << 49 | of_source(0) | of_source(1)
        }
        Encoding::Vop3 | Encoding::Vop3Dpp | Encoding::Vop3Dpp8 => {
            let result = if flags.has(EXEC_W) { of(&[Slot::Vdst]) } else { 0 };
            let op_sel = if flags.has(NO_THIRD) { 0 } else { Field::new(11, 4).mask() };
            let idle = u64::from(idle_sources(specs, flags));
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

/// Sources with the bits of negation and absolute value but no use for them: where others are floats or halves.
fn idle_sources(specs: &[Spec], flags: Flags) -> u32 {
    let has_modifiers = specs.iter().any(|spec| {
        spec.ty.is_half() || spec.ty.is_float() && matches!(spec.slot, Slot::Src0 | Slot::Src1 | Slot::Src2)
    });
    if has_modifiers && !flags.has(NO_SRC_MODS) && !flags.has(STRICT_MODS) {
        sources_of(specs, |spec| spec.class != Class::Mask && !spec.ty.is_float())
    } else {
        0
    }
}

/// The bits of a third dword that mean nothing: gaps, and modifiers that stand in VOP3's own dwords.
pub(super) fn ignored_control(encoding: Encoding) -> u32 {
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
        Encoding::Smem if !specs.is_empty() => 124 << 57,
        _ => 0,
    }
}
