//! Where each field sits in each encoding (Vega and CDNA ISA manuals, chapter "Microcode Formats").
//!
//! Bit numbers count through the first two dwords: 0-31 the first, 32-63 the second.

use crate::encoding::format::{Field, Format};
use crate::encoding::model::OperandBits;
use crate::encoding::table::{Entry, Tables};
use crate::{Encoding, Slot};

/// Those of GFX9, those of four dwords aside.
pub(super) const GFX9: &[Encoding] = &[
    Encoding::Sop2,
    Encoding::Sopk,
    Encoding::Sop1,
    Encoding::Sopc,
    Encoding::Sopp,
    Encoding::Smem,
    Encoding::Vop1,
    Encoding::Vop1Sdwa,
    Encoding::Vop1Dpp,
    Encoding::Vop2,
    Encoding::Vop2Sdwa,
    Encoding::Vop2Dpp,
    Encoding::Vopc,
    Encoding::VopcSdwa,
    Encoding::Vop3,
    Encoding::Vop3p,
    Encoding::Vintrp,
    Encoding::Ds,
    Encoding::Flat,
    Encoding::Scratch,
    Encoding::Global,
    Encoding::Mubuf,
    Encoding::Mtbuf,
    Encoding::Mimg,
    Encoding::Exp,
];

/// Those of GFX8.
pub(super) const GFX8: &[Encoding] = &[
    Encoding::Sop2,
    Encoding::Sopk,
    Encoding::Sop1,
    Encoding::Sopc,
    Encoding::Sopp,
    Encoding::Smem,
    Encoding::Vop1,
    Encoding::Vop1Sdwa,
    Encoding::Vop1Dpp,
    Encoding::Vop2,
    Encoding::Vop2Sdwa,
    Encoding::Vop2Dpp,
    Encoding::Vopc,
    Encoding::VopcSdwa,
    Encoding::Vop3,
    Encoding::Vintrp,
    Encoding::Ds,
    Encoding::Flat,
    Encoding::Mubuf,
    Encoding::Mtbuf,
    Encoding::Mimg,
    Encoding::Exp,
];

/// Bits beside the slots.
pub(super) const OPERAND_BITS: OperandBits = OperandBits {
    acc: acc_bit,
    acc_cd: ACC_CD,
    smem_imm: SMEM_IMM,
    smem_unsigned: false,
    smem_names_zero: false,
    resource_shift,
    scratch_sve: SCRATCH_SVE,
    always_sve: false,
    saddr_off: 0x7f,
    scratch_off: None,
    sdwa_scalar: [SDWA_S0, SDWA_S1],
    sdwa_sdst: SDWA_SD,
    exp_en,
    exp_compr: EXP_COMPR,
    opcode_high,
    vopd_opcode_y: Field::new(0, 0),
};

/// As those, on GFX8: SDWA has neither scalar sources nor a result but VCC.
pub(super) const GFX8_OPERAND_BITS: OperandBits = OperandBits {
    smem_unsigned: true,
    sdwa_scalar: [Field::new(0, 0); 2],
    sdwa_sdst: Field::new(0, 0),
    ..OPERAND_BITS
};

/// SRC0's code that announces an SDWA dword.
pub(super) const SDWA_MARK: u64 = 249;
/// SRC0's code that announces a DPP dword.
pub(super) const DPP_MARK: u64 = 250;

const fn format(prefix: u32, prefix_bits: u8, opcode: Field, dwords: u8) -> Format {
    let shift = 32 - prefix_bits;
    Format { prefix: (prefix as u64) << shift, prefix_mask: 0xffff_ffff >> shift << shift, opcode, dwords }
}

const fn marked(base: Format, mark: u64) -> Format {
    Format {
        prefix: base.prefix | mark,
        prefix_mask: base.prefix_mask | 0x1ff,
        opcode: base.opcode,
        dwords: 2,
    }
}

const fn segment(value: u64) -> Format {
    let base = format(0b11_0111, 6, Field::new(18, 7), 2);
    Format { prefix: base.prefix | value << 14, prefix_mask: base.prefix_mask | 0b11 << 14, ..base }
}

/// Neither has such an encoding, and none of the tables names it.
const fn foreign(_: Encoding) -> Format {
    panic!("an encoding of another generation")
}

/// The format of an encoding.
pub(super) const fn format_of(encoding: Encoding) -> Format {
    const VOP1: Format = format(0b011_1111, 7, Field::new(9, 8), 1);
    const VOP2: Format = format(0b0, 1, Field::new(25, 6), 1);
    const VOPC: Format = format(0b011_1110, 7, Field::new(17, 8), 1);
    const VOP3P: Format = format(0b1_1010_0111, 9, Field::new(16, 7), 2);
    match encoding {
        Encoding::Sop2 => format(0b10, 2, Field::new(23, 7), 1),
        Encoding::Sopk => format(0b1011, 4, Field::new(23, 5), 1),
        Encoding::Sop1 => format(0b1_0111_1101, 9, Field::new(8, 8), 1),
        Encoding::Sopc => format(0b1_0111_1110, 9, Field::new(16, 7), 1),
        Encoding::Sopp => format(0b1_0111_1111, 9, Field::new(16, 7), 1),
        Encoding::Smem => format(0b11_0000, 6, Field::new(18, 8), 2),
        Encoding::Vop1 => VOP1,
        Encoding::Vop1Sdwa => marked(VOP1, SDWA_MARK),
        Encoding::Vop1Dpp => marked(VOP1, DPP_MARK),
        Encoding::Vop2 => VOP2,
        Encoding::Vop2Sdwa => marked(VOP2, SDWA_MARK),
        Encoding::Vop2Dpp => marked(VOP2, DPP_MARK),
        Encoding::Vopc => VOPC,
        Encoding::VopcSdwa => marked(VOPC, SDWA_MARK),
        Encoding::Vop3 => format(0b11_0100, 6, Field::new(16, 10), 2),
        Encoding::Vop3p => VOP3P,
        // ABID is 1.
        Encoding::Vop3px => Format {
            prefix: VOP3P.prefix | 1 << 11,
            prefix_mask: VOP3P.prefix_mask | Field::new(11, 4).mask(),
            ..VOP3P
        },
        Encoding::Vintrp => format(0b11_0101, 6, Field::new(16, 2), 1),
        Encoding::Ds => format(0b11_0110, 6, Field::new(17, 8), 2),
        Encoding::Flat => segment(0),
        Encoding::Scratch => segment(1),
        Encoding::Global => segment(2),
        Encoding::Mubuf => format(0b11_1000, 6, Field::new(18, 7), 2),
        Encoding::Mtbuf => format(0b11_1010, 6, Field::new(15, 4), 2),
        Encoding::Mimg => format(0b11_1100, 6, Field::new(18, 7), 2),
        // Exports are one opcode.
        Encoding::Exp => format(0b11_0001, 6, Field::new(0, 0), 2),
        other => foreign(other),
    }
}

/// Pairs in SMEM, and four registers elsewhere.
pub(super) const fn resource_shift(encoding: Encoding) -> u8 {
    if matches!(encoding, Encoding::Smem) { 1 } else { 2 }
}

/// Where a slot of an encoding is. SMEM's offset and implied operands have classes of their own.
pub(super) const fn field_of(encoding: Encoding, slot: Slot) -> Field {
    use Encoding as E;
    let (lsb, width) = match (encoding, slot) {
        (E::Sop2 | E::Sopk | E::Sop1, Slot::Sdst) => (16, 7),
        (E::Sop2 | E::Sop1 | E::Sopc, Slot::Ssrc0) => (0, 8),
        (E::Sop2 | E::Sopc, Slot::Ssrc1) => (8, 8),
        (E::Sopk | E::Sopp, Slot::Simm16) => (0, 16),
        (E::Smem, Slot::Sbase) => (0, 6),
        (E::Smem, Slot::Sdata) => (6, 7),
        (E::Smem, Slot::Soffset) => (57, 7),
        (E::Smem, Slot::Offset) => (32, 21),
        (E::Vop1 | E::Vop2 | E::Vopc, Slot::Src0) => (0, 9),
        (E::Vop2 | E::Vopc | E::Vop2Sdwa | E::VopcSdwa | E::Vop2Dpp, Slot::Src1) => (9, 8),
        (E::Vop1 | E::Vop2 | E::Vop1Sdwa | E::Vop2Sdwa | E::Vop1Dpp | E::Vop2Dpp, Slot::Vdst) => (17, 8),
        (E::Vop1Sdwa | E::Vop2Sdwa | E::VopcSdwa | E::Vop1Dpp | E::Vop2Dpp, Slot::Src0) => (32, 8),
        (E::VopcSdwa, Slot::Sdst) => (40, 7),
        (E::Vop3, Slot::Sdst) => (8, 7),
        (E::Vop3 | E::Vop3p | E::Vop3px, Slot::Vdst) => (0, 8),
        (E::Vop3 | E::Vop3p | E::Vop3px, Slot::Src0) => (32, 9),
        (E::Vop3 | E::Vop3p | E::Vop3px, Slot::Src1) => (41, 9),
        (E::Vop3 | E::Vop3p | E::Vop3px, Slot::Src2) => (50, 9),
        // Attribute and channel stand in the other order in VINTRP.
        (E::Vop3, Slot::Other) => (32, 8),
        (E::Vintrp, Slot::Vdst) => (18, 8),
        (E::Vintrp, Slot::Other) => (8, 8),
        (E::Vintrp, Slot::Src0) => (0, 8),
        (E::Exp, Slot::Other) => (4, 6),
        (E::Exp, Slot::Src0) => (32, 8),
        (E::Exp, Slot::Src1) => (40, 8),
        (E::Exp, Slot::Src2) => (48, 8),
        (E::Exp, Slot::Src3) => (56, 8),
        // In the first two of the four dwords.
        (E::Vop3px, Slot::ScaleA) => (64 + 32, 9),
        (E::Vop3px, Slot::ScaleB) => (64 + 41, 9),
        (E::Ds | E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf | E::Mimg, Slot::Vaddr) => (32, 8),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Data0) => (40, 8),
        (E::Ds, Slot::Data1) => (48, 8),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Vdst) => (56, 8),
        (E::Flat | E::Global | E::Scratch, Slot::Saddr) => (48, 7),
        (E::Mubuf | E::Mtbuf | E::Mimg, Slot::Vdata) => (40, 8),
        (E::Mubuf | E::Mtbuf | E::Mimg, Slot::Srsrc) => (48, 5),
        (E::Mubuf | E::Mtbuf, Slot::Soffset) => (56, 8),
        (E::Mimg, Slot::Ssamp) => (53, 5),
        _ => (0, 0),
    };
    Field::new(lsb, width)
}

/// As that, on GFX8.
pub(super) const fn gfx8_field_of(encoding: Encoding, slot: Slot) -> Field {
    match (encoding, slot) {
        (Encoding::Smem, Slot::Offset) => Field::new(32, 20),
        // Comparisons write VCC alone.
        (Encoding::VopcSdwa, Slot::Sdst) => Field::new(0, 0),
        _ => field_of(encoding, slot),
    }
}

/// SMEM's IMM bit: OFFSET holds an immediate.
pub(super) const SMEM_IMM: Field = Field::new(17, 1);
/// VOP3P-MAI's ACC_CD bit: D and C are accumulation registers.
pub(super) const ACC_CD: Field = Field::new(15, 1);
/// gfx940's SCRATCH has its VADDR enable where LDS used to be.
pub(super) const SCRATCH_SVE: Field = Field::new(13, 1);
/// SDWA: source 0 is scalar.
pub(super) const SDWA_S0: Field = Field::new(55, 1);
/// SDWA: source 1 is scalar.
pub(super) const SDWA_S1: Field = Field::new(63, 1);
/// SDWA comparisons: SDST is used instead of VCC.
pub(super) const SDWA_SD: Field = Field::new(47, 1);

/// The highest bit of an opcode, where it stands apart.
pub(super) const fn opcode_high(encoding: Encoding) -> Field {
    match encoding {
        Encoding::Mimg => Field::new(0, 1),
        _ => Field::new(0, 0),
    }
}

/// EXP's EN bit of a source: it is exported.
pub(super) const fn exp_en(slot: Slot) -> Field {
    match slot {
        Slot::Src0 => Field::new(0, 1),
        Slot::Src1 => Field::new(1, 1),
        Slot::Src2 => Field::new(2, 1),
        _ => Field::new(3, 1),
    }
}
/// EXP's COMPR bit.
pub(super) const EXP_COMPR: Field = Field::new(10, 1);

/// The bit that makes an operand an accumulation register.
pub(super) const fn acc_bit(encoding: Encoding, slot: Slot) -> Field {
    match (encoding, slot) {
        (Encoding::Vop3p | Encoding::Vop3px, Slot::Src0) => Field::new(59, 1),
        (Encoding::Vop3p | Encoding::Vop3px, Slot::Src1) => Field::new(60, 1),
        (Encoding::Ds, _) => Field::new(25, 1),
        (Encoding::Mimg, _) => Field::new(16, 1),
        _ => Field::new(55, 1),
    }
}

/// Whether a first dword has the mark of SDWA or DPP.
pub(super) fn is_mark(word: u32) -> bool {
    [SDWA_MARK, DPP_MARK].contains(&u64::from(word & 0x1ff))
}

/// The short encoding of an opcode that has no source and hence no SDWA or DPP form, or none with this second
/// dword: the mark means nothing then.
pub(super) fn unmarked(
    tables: &Tables,
    encoding: Encoding,
    first: u32,
    second: Option<u32>,
) -> Option<Encoding> {
    match encoding {
        Encoding::Vop1Sdwa | Encoding::Vop1Dpp => {
            let opcode = format_of(encoding).opcode.get(first.into()) as u16;
            let entry = tables.by_opcode(Encoding::Vop1, opcode)?;
            let is_marked = |marked: &Entry| {
                second.is_some_and(|second| u64::from(second) << 32 & !(marked.used | marked.ignored) == 0)
            };
            let marked = tables.by_opcode(encoding, opcode).is_some_and(is_marked);
            (entry.specs.is_empty() && !marked).then_some(Encoding::Vop1)
        }
        _ => None,
    }
}
