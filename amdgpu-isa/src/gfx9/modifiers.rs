//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{
    ACC_CD, EXP_COMPR, MIMG_OPCODE_HIGH, SCRATCH_SVE, SDWA_S0, SDWA_S1, SDWA_SD, SMEM_IMM, acc_bit, exp_en,
    field_of, format_of,
};
use super::scaled;
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier, ModifierBits};
use crate::signature::{
    ACCVGPR, ANY_POLICY, ATOMIC, BITOP3, BYTE_RESULT, CLAMP, Class, FLOAT, FROM_LDS, Flags, GDS_ONLY, HIGH,
    IDLE_MODS, ImmKind, LD_SCALE, LOAD, MAI, MIX, NEG_ONLY, NO_D16, NO_DST_SEL, NO_GDS, NO_OPSEL,
    NO_SRC_MODS, NO_THIRD, OMOD, OPSEL, PACKED, SMALL_FLOATS, SPARSE, SWAPS_ROWS, Spec, TO_LDS, TWO_OFFSETS,
    Ty,
};
use crate::{Arch, Encoding, Feature, Slot};

/// The modifiers that an opcode takes, and where.
pub(super) fn modifiers_of(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> ModifierList {
    use Modifier as M;
    let mut list = ModifierList::new();
    let mut add = |modifier, lsb, width| list.push(ModifierBits::new(modifier, Field::new(lsb, width)));
    // Sources that take modifiers, as a bit mask.
    let mut floats = 0;
    let mut sources = 0;
    for spec in specs {
        let bit = match spec.slot {
            Slot::Src0 => 1,
            Slot::Src1 => 2,
            Slot::Src2 => 4,
            _ => continue,
        };
        sources |= bit;
        if spec.ty.is_float() && !flags.has(NO_SRC_MODS) {
            floats |= bit;
        }
    }
    let [has_gds, has_status, has_coherence_bit] =
        [Feature::GlobalDataShare, Feature::FailStatus, Feature::SystemCoherenceBit]
            .map(|feature| arch.has(feature));
    let returns = !flags.has(FLOAT) || arch.has(Feature::ReturningFloatAtomics);
    let has_scc = has_coherence_bit && (!flags.has(FLOAT) || arch.has(Feature::FloatAtomicCoherenceBit));
    // Loads of 96 and 128 bits reach LDS on gfx950 only.
    let is_wide = specs.iter().any(|spec| spec.slot == Slot::Vdata && spec.ty.dwords() > 2);
    match encoding {
        Encoding::Smem => {
            if specs.iter().any(|spec| spec.class == Class::SmemOffset) {
                add(M::SoffsetEn, 14, 1);
            }
            if specs.iter().any(|spec| spec.class == Class::Sdata && specs.len() > 1) {
                add(M::Glc, 16, 1);
            }
        }
        Encoding::Vop3 => {
            let has_sdst = specs.iter().any(|spec| spec.slot == Slot::Sdst && spec.class == Class::Sgpr);
            let (abs, neg) = match () {
                () if flags.has(BITOP3) => (7, 7),
                () if flags.has(NEG_ONLY) => (0, floats),
                () => (floats, floats),
            };
            if !has_sdst {
                list.push(ModifierBits::masked(M::Abs, Field::new(8, 3), abs));
                if flags.has(OPSEL) {
                    let result = if flags.has(BYTE_RESULT) { 12 } else { 8 };
                    // An interpolation's source has the bit of SRC0, its attribute none.
                    let sources = if interpolates(specs) { 0b101 } else { sources };
                    list.push(ModifierBits::masked(M::OpSel, Field::new(11, 4), sources | result));
                }
            }
            if flags.has(SWAPS_ROWS) {
                list.push(ModifierBits::new(M::Fi, Field::new(11, 1)));
                list.push(ModifierBits::new(M::BoundCtrl, Field::new(12, 1)));
            }
            if flags.has(HIGH) {
                list.push(ModifierBits::new(M::High, Field::new(40, 1)));
            }
            if flags.has(CLAMP) {
                list.push(ModifierBits::new(M::Clamp, Field::new(15, 1)));
            }
            if flags.has(OMOD) || flags.has(BITOP3) {
                list.push(ModifierBits::new(M::Omod, Field::new(59, 2)));
            }
            list.push(ModifierBits::masked(M::Neg, Field::new(61, 3), neg));
        }
        Encoding::Vop3px => {
            add(M::Cbsz, 8, 3);
            add(M::Blgp, 61, 3);
            list.push(ModifierBits::new(M::OpSel, scaled::OP_SEL));
            list.push(ModifierBits::new(M::OpSelHi, scaled::OP_SEL_HI));
        }
        Encoding::Vop3p if flags.has(LD_SCALE) => {
            // Alone, these are the first two dwords.
            add(M::OpSel, 11, 2);
            add(M::OpSelHi, 59, 2);
        }
        Encoding::Vop3p if flags.has(MAI) => {
            add(M::Cbsz, 8, 3);
            // Set, it announces scales.
            if !flags.has(SMALL_FLOATS) {
                add(M::Abid, 11, 4);
            }
            if !flags.has(SPARSE) {
                add(M::Blgp, 61, 3);
            }
        }
        Encoding::Vop3p if flags.has(PACKED) || flags.has(MIX) => {
            list.push(ModifierBits::masked(M::NegHi, Field::new(8, 3), sources));
            if !flags.has(NO_OPSEL) {
                list.push(ModifierBits::masked(M::OpSel, Field::new(11, 3), sources));
            }
            list.push(ModifierBits::new(M::Clamp, Field::new(15, 1)));
            if !flags.has(NO_OPSEL) {
                list.push(ModifierBits::masked(M::OpSelHi2, Field::new(14, 1), sources >> 2));
                list.push(ModifierBits::masked(M::OpSelHi, Field::new(59, 2), sources & 3));
            }
            list.push(ModifierBits::masked(M::Neg, Field::new(61, 3), sources));
        }
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa if sources != 0 => {
            if encoding != Encoding::VopcSdwa {
                add(M::SdwaDstSel, 40, 3);
                if !flags.has(NO_DST_SEL) {
                    add(M::SdwaDstUnused, 43, 2);
                }
                add(M::Clamp, 45, 1);
                // VOP3 takes it for whole numbers, too.
                let is_float = |ty: Ty| ty.is_float() || ty == Ty::V2F32;
                if flags.has(OMOD) && specs.first().is_some_and(|spec| is_float(spec.ty)) {
                    add(M::Omod, 46, 2);
                }
            }
            for (source, lsb) in [(0, 48), (1, 56)] {
                if sources & (1 << source) == 0 {
                    continue;
                }
                add(M::SdwaSel(source), lsb, 3);
                if specs.iter().any(is_packed) {
                    continue;
                }
                if flags.has(NO_DST_SEL) {
                    continue;
                }
                if floats & (1 << source) != 0 {
                    add(M::NegOf(source), lsb + 4, 1);
                    add(M::AbsOf(source), lsb + 5, 1);
                } else if !flags.has(NO_SRC_MODS) {
                    add(M::SdwaSext(source), lsb + 3, 1);
                }
            }
        }
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => {
            add(M::DppCtrl, 40, 9);
            add(M::DppBoundCtrl, 51, 1);
            for (source, lsb) in [(0, 52), (1, 54)] {
                if floats & (1 << source) != 0 {
                    add(M::NegOf(source), lsb, 1);
                    add(M::AbsOf(source), lsb + 1, 1);
                }
            }
            add(M::DppBankMask, 56, 4);
            add(M::DppRowMask, 60, 4);
        }
        Encoding::Ds => {
            if flags.has(TWO_OFFSETS) {
                add(M::Offset, 0, 8);
                add(M::Offset1, 8, 8);
            } else if !specs.is_empty() || flags.has(GDS_ONLY) {
                add(M::Offset, 0, 16);
            }
            // CDNA 2 dropped GDS but for global wave sync.
            if (has_gds && !specs.is_empty() && !flags.has(NO_GDS)) || flags.has(GDS_ONLY) {
                add(M::Gds, 16, 1);
            }
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            if encoding == Encoding::Flat {
                add(M::Offset, 0, 12);
            } else {
                add(M::SignedOffset, 0, 13);
            }
            if flags.has(TO_LDS) && !arch.has(Feature::LdsLoadsByOpcode) {
                add(M::Lds, 13, 1);
            }
            if returns {
                add(M::Glc, 16, 1);
            }
            add(M::Slc, 17, 1);
            if has_scc {
                add(M::Scc, 25, 1);
            }
        }
        Encoding::Mubuf => {
            if !specs.is_empty() {
                add(M::Offset, 0, 12);
            }
            if !specs.is_empty() && !flags.has(FROM_LDS) {
                add(M::Offen, 12, 1);
                add(M::Idxen, 13, 1);
            }
            // Cache control instructions take the cache bits only from gfx940 on.
            if !specs.is_empty() || arch.has(Feature::ScopedCachePolicy) {
                if returns {
                    add(M::Glc, 14, 1);
                }
                if has_scc {
                    add(M::Scc, 15, 1);
                }
                if !specs.is_empty() {
                    add(M::Slc, 17, 1);
                }
            }
            if flags.has(FROM_LDS) || (flags.has(TO_LDS) && (!is_wide || arch.has(Feature::WideLdsLoads))) {
                add(M::Lds, 16, 1);
            }
            if has_status && flags.has(LOAD) {
                add(M::Tfe, 55, 1);
            }
        }
        Encoding::Mtbuf => {
            add(M::Offset, 0, 12);
            add(M::Offen, 12, 1);
            add(M::Idxen, 13, 1);
            add(M::Glc, 14, 1);
            add(M::Format, 19, 7);
            if has_coherence_bit {
                add(M::Scc, 53, 1);
            }
            add(M::Slc, 54, 1);
        }
        Encoding::Mimg => {
            if has_coherence_bit {
                add(M::Scc, 7, 1);
            }
            add(M::Dmask, 8, 4);
            add(M::Unorm, 12, 1);
            add(M::Glc, 13, 1);
            add(M::Da, 14, 1);
            add(M::A16, 15, 1);
            if has_status {
                add(M::Tfe, 16, 1);
            }
            add(M::Lwe, 17, 1);
            add(M::Slc, 25, 1);
            if !flags.has(NO_D16) && !flags.has(ATOMIC) {
                add(M::D16, 63, 1);
            }
        }
        Encoding::Exp => {
            list.push(ModifierBits::new(M::Compr, EXP_COMPR));
            list.push(ModifierBits::new(M::Done, Field::new(11, 1)));
            list.push(ModifierBits::new(M::Vm, Field::new(12, 1)));
        }
        _ => {}
    }
    list
}

/// The bits of the first two dwords that an opcode gives a meaning to; the others must be zero.
pub(super) fn used_bits(arch: Arch, encoding: Encoding, specs: &[Spec], modifiers: &[ModifierBits]) -> u64 {
    let format = format_of(encoding);
    let mut used = format.prefix_mask | format.opcode.mask();
    if encoding == Encoding::Mimg {
        used |= MIMG_OPCODE_HIGH.mask();
    }
    for bits in modifiers.iter().filter(|bits| !bits.field.is_extra()) {
        used |= bits.field.put(bits.mask);
    }
    for spec in specs.iter().filter(|spec| !matches!(spec.slot, Slot::ScaleA | Slot::ScaleB)) {
        used |= field_of(encoding, spec.slot).mask();
        used |= match spec.class {
            Class::SmemOffset => SMEM_IMM.mask() | field_of(encoding, Slot::Soffset).mask(),
            Class::MatrixAb => acc_bit(encoding, spec.slot).mask(),
            Class::MatrixC | Class::MatrixD => ACC_CD.mask(),
            Class::VgprOrAgpr | Class::GwsData | Class::BufferData | Class::ImageData
                if arch.has(Feature::UnifiedRegisterFile) =>
            {
                acc_bit(encoding, spec.slot).mask()
            }
            Class::Export => exp_en(spec.slot).mask(),
            Class::ScratchAddr if arch.has(Feature::LdsLoadsByOpcode) => SCRATCH_SVE.mask(),
            _ => 0,
        };
        if matches!(encoding, Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa) {
            used |= match spec.slot {
                Slot::Src0 => SDWA_S0.mask(),
                Slot::Src1 => SDWA_S1.mask(),
                Slot::Sdst => SDWA_SD.mask(),
                _ => 0,
            };
        }
    }
    used
}

/// Bits beside [`used_bits`] that LLVM's disassembler passes over: fields of operands that an opcode lacks, and gaps.
/// Other bits make the instruction illegal.
pub(super) fn ignored_bits(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    let of = |slots: &[Slot]| {
        slots.iter().map(|&slot| field_of(encoding, slot).mask()).fold(0, |all, mask| all | mask)
    };
    let without_coherence_bit = |bits: u64| if arch.has(Feature::SystemCoherenceBit) { 0 } else { bits };
    match encoding {
        Encoding::Sop2 | Encoding::Sopk => of(&[Slot::Sdst]),
        Encoding::Sop1 => of(&[Slot::Sdst, Slot::Ssrc0]),
        Encoding::Smem => Field::new(0, 17).mask() | Field::new(32, 32).mask(),
        Encoding::Vop1 => of(&[Slot::Src0]),
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => {
            of(&[Slot::Src0]) | Field::new(49, 2).mask() | idle_modifiers(encoding, specs, flags)
        }
        // The fields of the first source and of the result, but for their modifiers.
        Encoding::Vop1Sdwa if specs.is_empty() => Field::new(32, 13).mask() | SDWA_GAPS | 1 << 55,
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa => {
            let named = if flags.has(NO_DST_SEL) { Field::new(43, 2).mask() } else { 0 };
            // Packed halves have the bits of negation and absolute value, but no text for them.
            let idle = if specs.iter().any(is_packed) { 0b11 << 52 | 0b11 << 60 } else { 0 };
            SDWA_GAPS | named | idle | idle_modifiers(encoding, specs, flags)
        }
        Encoding::Vop3 if interpolates(specs) => {
            let op_sel = if flags.has(OPSEL) { 1 << 12 } else { Field::new(11, 4).mask() };
            of(&[Slot::Src2]) | op_sel
        }
        Encoding::Exp => Field::new(13, 13).mask(),
        Encoding::Vop3 => {
            let op_sel = match () {
                () if flags.has(OPSEL) || flags.has(BITOP3) => 0,
                () if flags.has(NO_THIRD) => Field::new(11, 2).mask() | 1 << 14,
                () => Field::new(11, 4).mask(),
            };
            of(&[Slot::Src0, Slot::Src1, Slot::Src2]) | op_sel | idle_modifiers(encoding, specs, flags)
        }
        Encoding::Vop3p if flags.has(LD_SCALE) => {
            Field::new(8, 2).mask() | 1 << 14 | of(&[Slot::Src2]) | Field::new(61, 2).mask()
        }
        Encoding::Vop3p if flags.has(ACCVGPR) => {
            Field::new(14, 2).mask() | of(&[Slot::Src1, Slot::Src2]) | Field::new(59, 2).mask()
        }
        // CDNA 1 has no ACC_CD: its matrices are always in accumulation registers.
        Encoding::Vop3p if flags.has(MAI) => ACC_CD.mask(),
        Encoding::Vop3p => of(&[Slot::Src1, Slot::Src2]) | OP_SEL_HI,
        Encoding::Ds => {
            // GDS went with gfx90a; only where the bit has always been fixed is it still looked at.
            let fixed = specs.is_empty() || flags.has(GDS_ONLY) || flags.has(NO_GDS);
            if !arch.has(Feature::GlobalDataShare) && !fixed { Field::new(16, 1).mask() } else { 0 }
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            let gap = if flags.has(FLOAT) { 0 } else { without_coherence_bit(Field::new(25, 1).mask()) };
            of(&[Slot::Data0, Slot::Vdst]) | gap
        }
        Encoding::Mubuf if specs.is_empty() => {
            // The bits of the address and the cache policy: those that no cache control instruction has.
            let policy = if flags.has(ANY_POLICY) { Field::new(14, 2).mask() } else { 0 };
            let second = Field::new(32, 23).mask() | Field::new(56, 8).mask();
            Field::new(0, 12).mask() | policy | Field::new(17, 1).mask() | Field::new(25, 1).mask() | second
        }
        Encoding::Mubuf => {
            let absent = of(&[Slot::Vaddr, Slot::Vdata]);
            absent
                | Field::new(25, 1).mask()
                | Field::new(53, 2).mask()
                | without_coherence_bit(Field::new(15, 1).mask())
        }
        Encoding::Mtbuf => without_coherence_bit(Field::new(53, 1).mask()),
        Encoding::Mimg => {
            Field::new(1, 6).mask()
                | Field::new(58, 5).mask()
                | without_coherence_bit(Field::new(7, 1).mask())
        }
        _ => 0,
    }
}

/// Whether an operand is two halves.
fn is_packed(spec: &Spec) -> bool {
    spec.ty == Ty::V2F16
}

/// Whether an opcode has an attribute.
fn interpolates(specs: &[Spec]) -> bool {
    specs.iter().any(|spec| spec.class == Class::Imm(ImmKind::Attribute))
}

/// SDWA's bits beside the selectors of each source.
const SDWA_GAPS: u64 = 1 << 54 | 1 << 62;
/// OP_SEL_HI of all three sources.
const OP_SEL_HI: u64 = 1 << 14 | 0b11 << 59;

/// What ignored bits are when assembled.
pub(super) fn rest_bits(encoding: Encoding, _: &[Spec], flags: Flags) -> u64 {
    match encoding {
        Encoding::Vop3p if !flags.has(MAI) => OP_SEL_HI,
        _ => 0,
    }
}

/// Negation and absolute value of sources that have the bits but no use for them.
fn idle_modifiers(encoding: Encoding, specs: &[Spec], flags: Flags) -> u64 {
    if !flags.has(IDLE_MODS) {
        return 0;
    }
    let source = |spec: &Spec| match spec.slot {
        Slot::Src0 => Some(0),
        Slot::Src1 => Some(1),
        Slot::Src2 => Some(2),
        _ => None,
    };
    // Those that write a byte have three sources, of which one has no text.
    let third = flags.has(BYTE_RESULT).then_some(2);
    let bits = |source: u8| match encoding {
        Encoding::Vop3 => 1 << (8 + source) | 1 << (61 + source),
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => 0b11 << (52 + 2 * source),
        _ => 0,
    };
    specs.iter().filter_map(source).chain(third).map(bits).fold(0, |all, bits| all | bits)
}
