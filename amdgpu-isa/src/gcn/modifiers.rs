//! The modifiers of each encoding, and which of the other bits mean something.

use super::formats::{
    ACC_CD, EXP_COMPR, SCRATCH_SVE, SMEM_IMM, acc_bit, exp_en, field_of, format_of, opcode_high,
};
use super::scaled;
use crate::encoding::format::{Field, ModifierList};
use crate::encoding::modifiers::{Modifier as M, ModifierBits};
use crate::encoding::sdwa;
use crate::encoding::taken::{ModifierRow as Row, OpcodeTraits, taken};
use crate::signature::{
    ACCVGPR, ANY_POLICY, ATOMIC, BITOP3, BYTE_RESULT, CLAMP, Class, FLOAT, FROM_LDS, Flags, GDS_ONLY, HIGH,
    IDLE_MODS, ImmKind, LD_SCALE, LOAD, MAI, MIX, NEG_ONLY, NO_D16, NO_GDS, NO_OPSEL, NO_SRC_MODS, NO_THIRD,
    OMOD, OPSEL, PACKED, SMALL_FLOATS, SPARSE, SWAPS_ROWS, Spec, TO_LDS, TWO_OFFSETS,
};
use crate::{Arch, Encoding, Feature, Slot};

/// The modifiers that an opcode takes, and where.
pub(super) fn modifiers_of(arch: Arch, encoding: Encoding, specs: &[Spec], flags: Flags) -> ModifierList {
    let opcode = OpcodeTraits { arch, encoding, specs, flags };
    taken(rows(&opcode), &opcode)
}

/// The table of an opcode.
fn rows(opcode: &OpcodeTraits<'_>) -> &'static [Row] {
    match opcode.encoding {
        Encoding::Smem => SMEM,
        Encoding::Vop3 => VOP3,
        Encoding::Vop3px => VOP3PX,
        Encoding::Vop3p if opcode.has(LD_SCALE) => LOAD_SCALE,
        Encoding::Vop3p if opcode.has(MAI) => MATRIX,
        Encoding::Vop3p if opcode.has(PACKED) || opcode.has(MIX) => PACKED_MATH,
        Encoding::Vop1Sdwa | Encoding::Vop2Sdwa | Encoding::VopcSdwa if opcode.sources(|_| true) != 0 => {
            sdwa::ROWS
        }
        Encoding::Vop1Dpp | Encoding::Vop2Dpp => DPP,
        Encoding::Ds => DS,
        Encoding::Flat | Encoding::Global | Encoding::Scratch => FLAT,
        Encoding::Mubuf => MUBUF,
        Encoding::Mtbuf => MTBUF,
        Encoding::Mimg => MIMG,
        Encoding::Exp => EXP,
        _ => &[],
    }
}

const SMEM: &[Row] = &[
    Row::at(M::SoffsetEn, 14, 1)
        .when(|op| op.supports(Feature::TwoScalarOffsets) && op.any(|spec| spec.class == Class::SmemOffset)),
    Row::at(M::Glc, 16, 1).when(|op| op.specs.len() > 1 && op.any(|spec| spec.class == Class::Sdata)),
];

const VOP3: &[Row] = &[
    Row::at(M::Abs, 8, 3).when(has_no_sdst).bits(|op| match () {
        () if op.has(BITOP3) => 7,
        () if op.has(NEG_ONLY) => 0,
        () => floats(op),
    }),
    Row::at(M::OpSel, 11, 4).when(|op| has_no_sdst(op) && op.has(OPSEL)).bits(|op| {
        let result = if op.has(BYTE_RESULT) { 12 } else { 8 };
        // An interpolation's source has the bit of SRC0, its attribute none.
        result | if interpolates(op.specs) { 0b101 } else { op.sources(|_| true) }
    }),
    Row::at(M::Fi, 11, 1).when(|op| op.has(SWAPS_ROWS)),
    Row::at(M::BoundCtrl, 12, 1).when(|op| op.has(SWAPS_ROWS)),
    Row::at(M::High, 40, 1).when(|op| op.has(HIGH)),
    Row::at(M::Clamp, 15, 1).when(|op| op.has(CLAMP)),
    Row::at(M::Omod, 59, 2).when(|op| op.has(OMOD) || op.has(BITOP3)),
    Row::at(M::Neg, 61, 3).bits(|op| if op.has(BITOP3) { 7 } else { floats(op) }),
];

const VOP3PX: &[Row] = &[
    Row::at(M::Cbsz, 8, 3),
    Row::at(M::Blgp, 61, 3),
    Row::in_field(M::OpSel, scaled::OP_SEL),
    Row::in_field(M::OpSelHi, scaled::OP_SEL_HI),
];

/// Loads of scales: alone, these are the first two dwords of an instruction that takes them.
const LOAD_SCALE: &[Row] = &[Row::at(M::OpSel, 11, 2), Row::at(M::OpSelHi, 59, 2)];

const MATRIX: &[Row] = &[
    Row::at(M::Cbsz, 8, 3),
    // Set, it announces scales.
    Row::at(M::Abid, 11, 4).when(|op| !op.has(SMALL_FLOATS)),
    Row::at(M::Blgp, 61, 3).when(|op| !op.has(SPARSE)),
];

const PACKED_MATH: &[Row] = &[
    Row::at(M::NegHi, 8, 3).bits(all_sources),
    Row::at(M::OpSel, 11, 3).when(|op| !op.has(NO_OPSEL)).bits(all_sources),
    Row::at(M::Clamp, 15, 1),
    Row::at(M::OpSelHi2, 14, 1).when(|op| !op.has(NO_OPSEL)).bits(|op| all_sources(op) >> 2),
    Row::at(M::OpSelHi, 59, 2).when(|op| !op.has(NO_OPSEL)).bits(|op| all_sources(op) & 3),
    Row::at(M::Neg, 61, 3).bits(all_sources),
];

const DPP: &[Row] = &[
    Row::at(M::DppCtrl, 40, 9),
    Row::at(M::DppBoundCtrl, 51, 1),
    Row::at(M::NegOf(0), 52, 1).when(has_float::<0>),
    Row::at(M::AbsOf(0), 53, 1).when(has_float::<0>),
    Row::at(M::NegOf(1), 54, 1).when(has_float::<1>),
    Row::at(M::AbsOf(1), 55, 1).when(has_float::<1>),
    Row::at(M::DppBankMask, 56, 4),
    Row::at(M::DppRowMask, 60, 4),
];

const DS: &[Row] = &[
    Row::at(M::Offset, 0, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset1, 8, 8).when(|op| op.has(TWO_OFFSETS)),
    Row::at(M::Offset, 0, 16).when(|op| !op.has(TWO_OFFSETS) && (has_operands(op) || op.has(GDS_ONLY))),
    // CDNA 2 dropped GDS but for global wave sync.
    Row::at(M::Gds, 16, 1).when(|op| {
        let may_be = op.supports(Feature::GlobalDataShare) && has_operands(op) && !op.has(NO_GDS);
        may_be || op.has(GDS_ONLY)
    }),
];

const FLAT: &[Row] = &[
    Row::at(M::Offset, 0, 12).when(|op| op.encoding == Encoding::Flat && op.supports(Feature::FlatOffsets)),
    // LLVM's disassembler reads 13 bits.
    Row::at(M::Offset, 0, 13).when(|op| op.encoding == Encoding::Flat && !op.supports(Feature::FlatOffsets)),
    Row::at(M::SignedOffset, 0, 13).when(|op| op.encoding != Encoding::Flat),
    Row::at(M::Lds, 13, 1).when(|op| op.has(TO_LDS) && !op.supports(Feature::LdsLoadsByOpcode)),
    Row::at(M::Glc, 16, 1).when(returns),
    Row::at(M::Slc, 17, 1),
    Row::at(M::Scc, 25, 1).when(is_coherent),
];

const MUBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12).when(has_operands),
    Row::at(M::Offen, 12, 1).when(|op| has_operands(op) && !op.has(FROM_LDS)),
    Row::at(M::Idxen, 13, 1).when(|op| has_operands(op) && !op.has(FROM_LDS)),
    Row::at(M::Glc, 14, 1).when(|op| has_policy(op) && returns(op)),
    Row::at(M::Scc, 15, 1).when(|op| has_policy(op) && is_coherent(op)),
    Row::at(M::Slc, 17, 1).when(has_operands),
    Row::at(M::Lds, 16, 1).when(|op| {
        // Loads of 96 and 128 bits reach LDS on gfx950 only.
        let is_wide = op.any(|spec| spec.slot == Slot::Vdata && spec.ty.dwords() > 2);
        op.has(FROM_LDS) || op.has(TO_LDS) && (!is_wide || op.supports(Feature::WideLdsLoads))
    }),
    Row::at(M::Tfe, 55, 1).when(|op| op.supports(Feature::FailStatus) && op.has(LOAD)),
];

const MTBUF: &[Row] = &[
    Row::at(M::Offset, 0, 12),
    Row::at(M::Offen, 12, 1),
    Row::at(M::Idxen, 13, 1),
    Row::at(M::Glc, 14, 1),
    Row::at(M::Format, 19, 7),
    Row::at(M::Scc, 53, 1).when(|op| op.supports(Feature::SystemCoherenceBit)),
    Row::at(M::Slc, 54, 1),
];

const MIMG: &[Row] = &[
    Row::at(M::Scc, 7, 1).when(|op| op.supports(Feature::SystemCoherenceBit)),
    Row::at(M::Dmask, 8, 4),
    Row::at(M::Unorm, 12, 1),
    Row::at(M::Glc, 13, 1),
    Row::at(M::Da, 14, 1),
    Row::at(M::A16, 15, 1).when(|op| op.supports(Feature::HalfCoordinates)),
    Row::at(M::R128, 15, 1).when(|op| !op.supports(Feature::HalfCoordinates)),
    Row::at(M::Tfe, 16, 1).when(|op| op.supports(Feature::FailStatus)),
    Row::at(M::Lwe, 17, 1),
    Row::at(M::Slc, 25, 1),
    Row::at(M::D16, 63, 1).when(|op| !op.has(NO_D16) && !op.has(ATOMIC)),
];

const EXP: &[Row] = &[Row::in_field(M::Compr, EXP_COMPR), Row::at(M::Done, 11, 1), Row::at(M::Vm, 12, 1)];

fn has_operands(op: &OpcodeTraits<'_>) -> bool {
    !op.specs.is_empty()
}

/// Whether the bits of ABS and OP_SEL are not a second result's.
fn has_no_sdst(op: &OpcodeTraits<'_>) -> bool {
    !op.any(|spec| spec.slot == Slot::Sdst && spec.class == Class::Sgpr)
}

fn all_sources(op: &OpcodeTraits<'_>) -> u32 {
    op.sources(|_| true)
}

/// The sources that may be negated.
fn floats(op: &OpcodeTraits<'_>) -> u32 {
    op.sources(|spec| spec.ty.is_float() && !op.has(NO_SRC_MODS))
}

fn has_float<const SOURCE: u32>(op: &OpcodeTraits<'_>) -> bool {
    floats(op) & 1 << SOURCE != 0
}

/// Whether GLC can ask for the old value, or for a policy.
fn returns(op: &OpcodeTraits<'_>) -> bool {
    !op.has(FLOAT) || op.supports(Feature::ReturningFloatAtomics)
}

fn is_coherent(op: &OpcodeTraits<'_>) -> bool {
    op.supports(Feature::SystemCoherenceBit)
        && (!op.has(FLOAT) || op.supports(Feature::FloatAtomicCoherenceBit))
}

/// Whether a buffer instruction has a cache policy: cache control has one from gfx940 on.
fn has_policy(op: &OpcodeTraits<'_>) -> bool {
    has_operands(op) || op.supports(Feature::ScopedCachePolicy)
}

/// The bits of the first two dwords that an opcode gives a meaning to; the others must be zero.
pub(super) fn used_bits(arch: Arch, encoding: Encoding, specs: &[Spec], modifiers: &[ModifierBits]) -> u64 {
    let format = format_of(encoding);
    let mut used = format.prefix_mask | format.opcode.mask() | opcode_high(encoding).mask();
    for bits in modifiers.iter().filter(|bits| !bits.field.is_extra()) {
        used |= bits.field.put(bits.mask);
    }
    for spec in specs.iter().filter(|spec| !matches!(spec.slot, Slot::ScaleA | Slot::ScaleB)) {
        used |= (arch.generation().model().field)(encoding, spec.slot).mask();
        used |= match spec.class {
            Class::SmemOffset if arch.has(Feature::TwoScalarOffsets) => {
                SMEM_IMM.mask() | field_of(encoding, Slot::Soffset).mask()
            }
            Class::SmemOffset => SMEM_IMM.mask(),
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
            let bits = arch.generation().model().bits;
            used |= match spec.slot {
                Slot::Src0 if spec.class == Class::SdwaSrc => bits.sdwa_scalar[0].mask(),
                Slot::Src1 => bits.sdwa_scalar[1].mask(),
                Slot::Sdst => bits.sdwa_sdst.mask(),
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
        _ if encoding.is_sdwa() => sdwa::ignored(arch, encoding, specs, flags),
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

/// Whether an opcode has an attribute.
fn interpolates(specs: &[Spec]) -> bool {
    specs.iter().any(|spec| spec.class == Class::Imm(ImmKind::Attribute))
}

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
