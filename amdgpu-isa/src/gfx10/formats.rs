//! Where each field sits in each encoding (RDNA 2 ISA manual, chapter "Microcode Formats").
//!
//! Bit numbers count through the dwords: 0-31 the first, 32-63 the second, 64-95 the third, up to 128-159 the
//! fifth.

use crate::encoding::format::{Field, Format};
use crate::encoding::model::OperandBits;
use crate::encoding::modifiers;
use crate::encoding::table::Tables;
use crate::rdna::formats::{DPP_MARK, format, permuted};
use crate::{Encoding, Slot};

/// The encodings that a first dword's prefix tells. Marks of SDWA and DPP stand in operand fields:
/// [`instead`] finds them.
pub(super) const ENCODINGS: &[Encoding] = &[
    Encoding::Sop2,
    Encoding::Sopk,
    Encoding::Sop1,
    Encoding::Sopc,
    Encoding::Sopp,
    Encoding::Smem,
    Encoding::Vop1,
    Encoding::Vop2,
    Encoding::Vopc,
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
    Encoding::MimgNsa,
    Encoding::MimgNsa2,
    Encoding::MimgNsa3,
    Encoding::Exp,
];

/// A field that there is not.
const NONE: Field = Field::new(0, 0);
/// NULL's operand code.
pub(super) const NULL: u32 = 125;
/// The code of a scalar address that says of scratch that there is no address at all.
const NO_ADDRESS: u32 = 127;

/// Bits beside the slots.
pub(super) const OPERAND_BITS: OperandBits = OperandBits {
    acc: |_, _| NONE,
    acc_cd: NONE,
    smem_imm: NONE,
    smem_unsigned: false,
    smem_names_zero: false,
    resource_shift,
    scratch_sve: NONE,
    always_sve: false,
    saddr_off: NULL,
    scratch_off: Some(NO_ADDRESS),
    sdwa_scalar: [SDWA_S0, SDWA_S1],
    sdwa_sdst: SDWA_SD,
    exp_en,
    exp_compr: EXP_COMPR,
    opcode_high,
    vopd_opcode_y: NONE,
};

/// SDWA: source 0 is scalar.
pub(super) const SDWA_S0: Field = Field::new(55, 1);
/// SDWA: source 1 is scalar.
pub(super) const SDWA_S1: Field = Field::new(63, 1);
/// SDWA comparisons: SDST is used instead of VCC.
pub(super) const SDWA_SD: Field = Field::new(47, 1);
/// EXP's COMPR bit.
pub(super) const EXP_COMPR: Field = Field::new(10, 1);
/// The first source's code that announces a dword of SDWA.
const SDWA_MARK: u32 = 249;

/// The highest bit of an opcode, where it stands apart.
pub(super) const fn opcode_high(encoding: Encoding) -> Field {
    match encoding {
        Encoding::Mubuf => Field::new(25, 1),
        Encoding::Mtbuf => Field::new(53, 1),
        encoding if encoding.is_image() => Field::new(0, 1),
        _ => NONE,
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

const fn segment(value: u64) -> Format {
    let base = format(0b11_0111, 6, Field::new(18, 7), 2);
    Format { prefix: base.prefix | value << 14, prefix_mask: base.prefix_mask | 0b11 << 14, ..base }
}

/// As that, without a scalar address: NULL.
const fn no_saddr(base: Format) -> Format {
    Format { prefix: base.prefix | (NULL as u64) << 48, prefix_mask: base.prefix_mask | 0xff << 48, ..base }
}

/// Images, with so many dwords that name more registers of the address.
const fn image(dwords: u8) -> Format {
    let base = format(0b11_1100, 6, Field::new(18, 7), 2);
    Format {
        prefix: base.prefix | (dwords as u64) << 1,
        prefix_mask: base.prefix_mask | 0b11 << 1,
        dwords: base.dwords + dwords,
        ..base
    }
}

/// The format of an encoding.
pub(super) const fn format_of(encoding: Encoding) -> Format {
    const VOP1: Format = format(0b011_1111, 7, Field::new(9, 8), 1);
    const VOP2: Format = format(0b0, 1, Field::new(25, 6), 1);
    const VOPC: Format = format(0b011_1110, 7, Field::new(17, 8), 1);
    const DPP: u64 = DPP_MARK as u64;
    const SDWA: u64 = SDWA_MARK as u64;
    match encoding {
        Encoding::Sop2 => format(0b10, 2, Field::new(23, 7), 1),
        Encoding::Sopk => format(0b1011, 4, Field::new(23, 5), 1),
        Encoding::Sop1 => format(0b1_0111_1101, 9, Field::new(8, 8), 1),
        Encoding::Sopc => format(0b1_0111_1110, 9, Field::new(16, 7), 1),
        Encoding::Sopp => format(0b1_0111_1111, 9, Field::new(16, 7), 1),
        Encoding::Smem => format(0b11_1101, 6, Field::new(18, 8), 2),
        Encoding::Vop1 => VOP1,
        Encoding::Vop1Sdwa => permuted(VOP1, 0, SDWA),
        Encoding::Vop1Dpp => permuted(VOP1, 0, DPP),
        Encoding::Vop1Dpp8 => permuted(VOP1, 0, 0),
        Encoding::Vop2 => VOP2,
        Encoding::Vop2Sdwa => permuted(VOP2, 0, SDWA),
        Encoding::Vop2Dpp => permuted(VOP2, 0, DPP),
        Encoding::Vop2Dpp8 => permuted(VOP2, 0, 0),
        Encoding::Vopc => VOPC,
        Encoding::VopcSdwa => permuted(VOPC, 0, SDWA),
        Encoding::Vop3 => format(0b11_0101, 6, Field::new(16, 10), 2),
        Encoding::Vop3p => format(0b1_1001_1000, 9, Field::new(16, 7), 2),
        Encoding::Vintrp => format(0b11_0010, 6, Field::new(16, 2), 1),
        Encoding::Ds => format(0b11_0110, 6, Field::new(18, 8), 2),
        Encoding::Flat => no_saddr(segment(0)),
        Encoding::Scratch => segment(1),
        Encoding::Global => segment(2),
        Encoding::Mubuf => format(0b11_1000, 6, Field::new(18, 7), 2),
        Encoding::Mtbuf => format(0b11_1010, 6, Field::new(16, 3), 2),
        Encoding::Mimg => image(0),
        Encoding::MimgNsa => image(1),
        Encoding::MimgNsa2 => image(2),
        Encoding::MimgNsa3 => image(3),
        // Exports are one opcode.
        Encoding::Exp => format(0b11_1110, 6, Field::new(0, 0), 2),
        other => foreign(other),
    }
}

/// GFX10 has no such encoding, and none of its tables names it.
const fn foreign(_: Encoding) -> Format {
    panic!("an encoding of another generation")
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
        (E::Vop2 | E::Vopc | E::Vop2Sdwa | E::VopcSdwa | E::Vop2Dpp | E::Vop2Dpp8, Slot::Src1) => (9, 8),
        (
            E::Vop1
            | E::Vop2
            | E::Vop1Sdwa
            | E::Vop2Sdwa
            | E::Vop1Dpp
            | E::Vop2Dpp
            | E::Vop1Dpp8
            | E::Vop2Dpp8,
            Slot::Vdst,
        ) => (17, 8),
        (
            E::Vop1Sdwa | E::Vop2Sdwa | E::VopcSdwa | E::Vop1Dpp | E::Vop2Dpp | E::Vop1Dpp8 | E::Vop2Dpp8,
            Slot::Src0,
        ) => (32, 8),
        (E::VopcSdwa, Slot::Sdst) => (40, 7),
        (E::Vop3, Slot::Sdst) => (8, 7),
        (E::Vop3 | E::Vop3p, Slot::Vdst) => (0, 8),
        (E::Vop3 | E::Vop3p, Slot::Src0) => (32, 9),
        (E::Vop3 | E::Vop3p, Slot::Src1) => (41, 9),
        (E::Vop3 | E::Vop3p, Slot::Src2) => (50, 9),
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
        (E::Ds | E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf, Slot::Vaddr) => (32, 8),
        (E::Mimg | E::MimgNsa | E::MimgNsa2 | E::MimgNsa3, Slot::Vaddr) => (32, 8),
        (E::MimgNsa | E::MimgNsa2 | E::MimgNsa3, Slot::Vaddr1) => (64, 32),
        (E::MimgNsa2 | E::MimgNsa3, Slot::Vaddr2) => (96, 32),
        (E::MimgNsa3, Slot::Vaddr3) => (128, 32),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Data0) => (40, 8),
        (E::Ds, Slot::Data1) => (48, 8),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Vdst) => (56, 8),
        (E::Flat | E::Global | E::Scratch, Slot::Saddr) => (48, 7),
        (E::Mubuf | E::Mtbuf | E::Mimg | E::MimgNsa | E::MimgNsa2 | E::MimgNsa3, Slot::Vdata) => (40, 8),
        (E::Mubuf | E::Mtbuf | E::Mimg | E::MimgNsa | E::MimgNsa2 | E::MimgNsa3, Slot::Srsrc) => (48, 5),
        (E::Mimg | E::MimgNsa | E::MimgNsa2 | E::MimgNsa3, Slot::Ssamp) => (53, 5),
        (E::Mubuf | E::Mtbuf, Slot::Soffset) => (56, 8),
        _ => (0, 0),
    };
    Field::new(lsb, width)
}

/// The form with SDWA or lane permutation that the first source's code announces.
pub(super) fn instead(tables: &Tables, encoding: Encoding, first: u32, _: Option<u32>) -> Option<Encoding> {
    use Encoding as E;
    let forms = match encoding {
        E::Vop1 => [E::Vop1Sdwa, E::Vop1Dpp, E::Vop1Dpp8],
        E::Vop2 => [E::Vop2Sdwa, E::Vop2Dpp, E::Vop2Dpp8],
        E::Vopc if first & 0x1ff == SDWA_MARK => return Some(E::VopcSdwa),
        _ => return None,
    };
    let form = match first & 0x1ff {
        SDWA_MARK => forms[0],
        DPP_MARK => forms[1],
        modifiers::DPP8 | modifiers::DPP8_FI => forms[2],
        _ => return None,
    };
    // Without a source, its field means nothing.
    let opcode = format_of(encoding).opcode.get(first.into()) as u16;
    let entry = tables.by_opcode(encoding, opcode);
    if entry.is_some_and(|entry| entry.specs.is_empty()) { None } else { Some(form) }
}

/// No code of a first dword may stand for either of two things.
pub(super) fn is_mark(_: u32) -> bool {
    false
}
