//! Where each field sits in each encoding (RDNA 3 ISA manual, chapter "Microcode Formats").
//!
//! Bit numbers count through the dwords: 0-31 the first, 32-63 the second, 64-95 the third.

use crate::encoding::format::{Field, Format};
use crate::encoding::model::OperandBits;
use crate::encoding::modifiers;
use crate::encoding::table::Tables;
use crate::rdna::formats::{DPP_MARK, format, permuted};
use crate::{Encoding, Slot};

/// The encodings that a first dword's prefix tells. Marks of DPP stand in operand fields: [`instead`] finds
/// them.
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
    Encoding::Vopd,
    Encoding::Vinterp,
    Encoding::Ldsdir,
    Encoding::Ds,
    Encoding::Flat,
    Encoding::Scratch,
    Encoding::Global,
    Encoding::Mubuf,
    Encoding::Mtbuf,
    Encoding::Mimg,
    Encoding::MimgNsa,
    Encoding::Exp,
];

/// A field that there is not.
const NONE: Field = Field::new(0, 0);

/// Bits beside the slots.
pub(super) const OPERAND_BITS: OperandBits = OperandBits {
    acc: no_acc,
    acc_cd: NONE,
    smem_imm: NONE,
    smem_unsigned: false,
    smem_names_zero: false,
    resource_shift,
    scratch_sve: SCRATCH_SVE,
    always_sve: true,
    saddr_off: NULL,
    scratch_off: None,
    sdwa_scalar: [NONE; 2],
    sdwa_sdst: NONE,
    exp_en,
    exp_compr: NONE,
    opcode_high: |_| NONE,
    vopd_opcode_y: VOPD_OPCODE_Y,
};

/// NULL's operand code.
pub(super) const NULL: u32 = 124;
/// SCRATCH has a vector address.
pub(super) const SCRATCH_SVE: Field = Field::new(55, 1);
/// The opcode of VOPD's second operation.
pub(super) const VOPD_OPCODE_Y: Field = Field::new(17, 5);

/// There are no accumulation registers.
const fn no_acc(_: Encoding, _: Slot) -> Field {
    NONE
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
    Format { prefix: base.prefix | value << 16, prefix_mask: base.prefix_mask | 0b11 << 16, ..base }
}

/// As that, without a scalar address: NULL.
const fn no_saddr(base: Format) -> Format {
    Format { prefix: base.prefix | (NULL as u64) << 48, prefix_mask: base.prefix_mask | 0xff << 48, ..base }
}

/// Images, with or without a dword that names more registers of the address.
const fn image(named: bool) -> Format {
    let base = format(0b11_1100, 6, Field::new(18, 8), 2);
    Format {
        prefix: base.prefix | named as u64,
        prefix_mask: base.prefix_mask | 1,
        dwords: base.dwords + named as u8,
        ..base
    }
}

/// The format of an encoding.
pub(super) const fn format_of(encoding: Encoding) -> Format {
    const VOP1: Format = format(0b011_1111, 7, Field::new(9, 8), 1);
    const VOP2: Format = format(0b0, 1, Field::new(25, 6), 1);
    const VOPC: Format = format(0b011_1110, 7, Field::new(17, 8), 1);
    const VOP3: Format = format(0b11_0101, 6, Field::new(16, 10), 2);
    const VOP3P: Format = format(0b1_1001_1000, 9, Field::new(16, 7), 2);
    const DPP: u64 = DPP_MARK as u64;
    match encoding {
        Encoding::Sop2 => format(0b10, 2, Field::new(23, 7), 1),
        Encoding::Sopk => format(0b1011, 4, Field::new(23, 5), 1),
        Encoding::Sop1 => format(0b1_0111_1101, 9, Field::new(8, 8), 1),
        Encoding::Sopc => format(0b1_0111_1110, 9, Field::new(16, 7), 1),
        Encoding::Sopp => format(0b1_0111_1111, 9, Field::new(16, 7), 1),
        Encoding::Smem => format(0b11_1101, 6, Field::new(18, 8), 2),
        Encoding::Vop1 => VOP1,
        Encoding::Vop1Dpp => permuted(VOP1, 0, DPP),
        Encoding::Vop1Dpp8 => permuted(VOP1, 0, 0),
        Encoding::Vop2 => VOP2,
        Encoding::Vop2Dpp => permuted(VOP2, 0, DPP),
        Encoding::Vop2Dpp8 => permuted(VOP2, 0, 0),
        Encoding::Vopc => VOPC,
        Encoding::VopcDpp => permuted(VOPC, 0, DPP),
        Encoding::VopcDpp8 => permuted(VOPC, 0, 0),
        Encoding::Vop3 => VOP3,
        Encoding::Vop3Dpp => permuted(VOP3, 32, DPP),
        Encoding::Vop3Dpp8 => permuted(VOP3, 32, 0),
        Encoding::Vop3p => VOP3P,
        Encoding::Vop3pDpp => permuted(VOP3P, 32, DPP),
        Encoding::Vop3pDpp8 => permuted(VOP3P, 32, 0),
        Encoding::Vopd => format(0b11_0010, 6, Field::new(22, 4), 2),
        Encoding::Vinterp => format(0b1100_1101, 8, Field::new(16, 7), 2),
        Encoding::Ldsdir => format(0b1100_1110, 8, Field::new(20, 2), 1),
        Encoding::Ds => format(0b11_0110, 6, Field::new(18, 8), 2),
        Encoding::Flat => no_saddr(segment(0)),
        Encoding::Scratch => segment(1),
        Encoding::Global => segment(2),
        Encoding::Mubuf => format(0b11_1000, 6, Field::new(18, 8), 2),
        Encoding::Mtbuf => format(0b11_1010, 6, Field::new(15, 4), 2),
        Encoding::Mimg => image(false),
        Encoding::MimgNsa => image(true),
        Encoding::Exp => format(0b11_1110, 6, Field::new(0, 0), 2),
        other => foreign(other),
    }
}

/// GFX11 has no such encoding, and none of its tables names it.
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
        (E::Vop2 | E::Vopc | E::Vop2Dpp | E::Vop2Dpp8 | E::VopcDpp | E::VopcDpp8, Slot::Src1) => (9, 8),
        (E::Vop1 | E::Vop2 | E::Vop1Dpp | E::Vop1Dpp8 | E::Vop2Dpp | E::Vop2Dpp8, Slot::Vdst) => (17, 8),
        (E::Vop1Dpp | E::Vop1Dpp8 | E::Vop2Dpp | E::Vop2Dpp8 | E::VopcDpp | E::VopcDpp8, Slot::Src0) => {
            (32, 8)
        }
        (E::Vop3 | E::Vop3Dpp | E::Vop3Dpp8, Slot::Sdst) => (8, 7),
        (E::Vop3Dpp | E::Vop3Dpp8 | E::Vop3pDpp | E::Vop3pDpp8, Slot::Src0) => (64, 8),
        (
            E::Vop3 | E::Vop3Dpp | E::Vop3Dpp8 | E::Vop3p | E::Vop3pDpp | E::Vop3pDpp8 | E::Vinterp,
            Slot::Vdst,
        ) => (0, 8),
        (E::Vop3 | E::Vop3p, Slot::Src0) => (32, 9),
        (E::Vinterp, Slot::Src0) => (32, 9),
        (E::Vinterp, Slot::Src1) => (41, 9),
        (E::Vinterp, Slot::Src2) => (50, 9),
        (E::Vop3 | E::Vop3Dpp | E::Vop3Dpp8 | E::Vop3p | E::Vop3pDpp | E::Vop3pDpp8, Slot::Src1) => (41, 9),
        (E::Vop3 | E::Vop3Dpp | E::Vop3Dpp8 | E::Vop3p | E::Vop3pDpp | E::Vop3pDpp8, Slot::Src2) => (50, 9),
        (E::Vopd, Slot::Src0) => (0, 9),
        (E::Vopd, Slot::Src1) => (9, 8),
        (E::Vopd, Slot::Vdst) => (56, 8),
        (E::Vopd, Slot::Src0Y) => (32, 9),
        (E::Vopd, Slot::Src1Y) => (41, 8),
        // Without its lowest bit, which is not that of the first destination.
        (E::Vopd, Slot::VdstY) => (49, 7),
        (E::Ldsdir, Slot::Vdst) => (0, 8),
        (E::Ldsdir, Slot::Other) => (8, 8),
        (E::Exp, Slot::Other) => (4, 6),
        (E::Exp, Slot::Src0) => (32, 8),
        (E::Exp, Slot::Src1) => (40, 8),
        (E::Exp, Slot::Src2) => (48, 8),
        (E::Exp, Slot::Src3) => (56, 8),
        (
            E::Ds | E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf | E::Mimg | E::MimgNsa,
            Slot::Vaddr,
        ) => (32, 8),
        (E::MimgNsa, Slot::Vaddr1) => (64, 8),
        (E::MimgNsa, Slot::Vaddr2) => (72, 8),
        (E::MimgNsa, Slot::Vaddr3) => (80, 8),
        (E::MimgNsa, Slot::Vaddr4) => (88, 8),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Data0) => (40, 8),
        (E::Ds, Slot::Data1) => (48, 8),
        (E::Ds | E::Flat | E::Global | E::Scratch, Slot::Vdst) => (56, 8),
        (E::Flat | E::Global | E::Scratch, Slot::Saddr) => (48, 7),
        (E::Mubuf | E::Mtbuf | E::Mimg | E::MimgNsa, Slot::Vdata) => (40, 8),
        (E::Mubuf | E::Mtbuf | E::Mimg | E::MimgNsa, Slot::Srsrc) => (48, 5),
        (E::Mimg | E::MimgNsa, Slot::Ssamp) => (58, 5),
        (E::Mubuf | E::Mtbuf, Slot::Soffset) => (56, 8),
        _ => (0, 0),
    };
    Field::new(lsb, width)
}

/// The form with lane permutation that the first source's code announces.
pub(super) fn instead(
    tables: &Tables,
    encoding: Encoding,
    first: u32,
    second: Option<u32>,
) -> Option<Encoding> {
    use Encoding as E;
    let (code, forms) = match encoding {
        E::Vop1 => (first & 0x1ff, [E::Vop1Dpp, E::Vop1Dpp8]),
        E::Vop2 => (first & 0x1ff, [E::Vop2Dpp, E::Vop2Dpp8]),
        E::Vopc => (first & 0x1ff, [E::VopcDpp, E::VopcDpp8]),
        E::Vop3 => (second? & 0x1ff, [E::Vop3Dpp, E::Vop3Dpp8]),
        E::Vop3p => (second? & 0x1ff, [E::Vop3pDpp, E::Vop3pDpp8]),
        _ => return None,
    };
    let form = match code {
        DPP_MARK => forms[0],
        modifiers::DPP8 | modifiers::DPP8_FI => forms[1],
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
