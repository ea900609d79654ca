//! Matrix instructions with scales (VOP3PX; CDNA 4 ISA, section "Scaled matrix instructions"): gfx950's only encoding
//! of four dwords. The first two are those of `v_mfma_ld_scale_b32` and name the scales, the other two those of the matrix
//! instruction; ABID, which has no other use there, is 1.

use std::ops::Range;

use super::fields::{self, Field};
use super::modifiers::Modifier;
use super::table::{Class, rows};
use super::{Encoding, Slot};

rows! {
    /// Scaled matrices.
    VOP3PX;
    45  v_mfma_scale_f32_16x16x128_f8f6f4 [mdst B128, ma B256, mb B256, mc B128, scale_a I32, scale_b I32] V950 [MAI SMALL_FLOATS];
    46  v_mfma_scale_f32_32x32x64_f8f6f4  [mdst B512, ma B256, mb B256, mc B512, scale_a I32, scale_b I32] V950 [MAI SMALL_FLOATS];
}

/// Bytes of the first two dwords.
pub(super) const PREFIX_SIZE: usize = 8;
/// The fixed bits of the first two dwords.
const PREFIX: u64 = 0xd3ac_0000;
const PREFIX_MASK: u64 = 0xffff_0000;
/// OP_SEL and OP_SEL_HI of the scales: the low and the high bit of a byte's number.
pub(super) const OP_SEL: Field = Field::new(11, 2);
pub(super) const OP_SEL_HI: Field = Field::new(59, 2);

/// The bits of the first two dwords that mean nothing.
const IDLE: u64 = !(PREFIX_MASK
    | OP_SEL.mask()
    | OP_SEL_HI.mask()
    | fields::field_of(Encoding::Vop3px, Slot::ScaleA).mask()
    | fields::field_of(Encoding::Vop3px, Slot::ScaleB).mask());

/// The words of an instruction, in the pairs to which fields belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// The first two dwords, of four-dword instructions the last two.
    pub(super) main: u64,
    /// The first two dwords of four-dword instructions.
    pub(super) prefix: u64,
}

impl Pairs {
    /// The pair that a slot's field is in.
    pub(super) const fn of_slot(&self, slot: Slot) -> u64 {
        if matches!(slot, Slot::ScaleA | Slot::ScaleB) { self.prefix } else { self.main }
    }
}

/// Whether a modifier's field is in the first two of four dwords.
pub(super) fn is_prefix_modifier(encoding: Encoding, modifier: Modifier) -> bool {
    encoding == Encoding::Vop3px && matches!(modifier, Modifier::OpSel | Modifier::OpSelHi)
}

/// Set and idle bits of the first two dwords.
pub(super) const fn idle_bits(prefix: u64) -> u64 {
    prefix & IDLE
}

/// The fixed bits of the first two dwords, beside what is idle.
pub(super) const fn prefix_with(idle: u64) -> u64 {
    PREFIX | idle & IDLE
}

/// Whether `bytes` begin with the first dword of scales.
pub(super) fn may_be_prefix(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&word| u64::from(u32::from_le_bytes(word)) & PREFIX_MASK == PREFIX)
}

/// The first two dwords, if four dwords of one instruction begin here. It is illegal with scales in scalar registers,
/// which `v_mfma_ld_scale_b32` alone takes.
pub(super) fn prefix_at(bytes: &[u8]) -> Option<u64> {
    let prefix = u64::from_le_bytes(*bytes.first_chunk()?);
    if !may_be_prefix(bytes) {
        return None;
    }
    let main = u64::from_le_bytes(*bytes.get(PREFIX_SIZE..)?.first_chunk()?);
    let format = fields::format_of(Encoding::Vop3px);
    let is_scaled = main & format.prefix_mask == format.prefix
        && VOP3PX.iter().any(|row| u32::from(row.opcode) == format.opcode.get(main));
    is_scaled.then_some(prefix)
}

/// Whether each field of the last two of four dwords names operands of its width. Where one does not, LLVM takes the first
/// two dwords for an instruction of their own. Scalars, constants and tuples that are not aligned do name operands: they
/// are illegal, but those of one instruction.
pub(super) fn names_matrices(bytes: &[u8]) -> bool {
    let Some(main) = bytes.get(PREFIX_SIZE..).and_then(|rest| rest.first_chunk()) else { return false };
    let main = u64::from_le_bytes(*main);
    let format = fields::format_of(Encoding::Vop3px);
    let Some(row) = VOP3PX.iter().find(|row| u32::from(row.opcode) == format.opcode.get(main)) else {
        return false;
    };
    row.operands.iter().all(|spec| match spec.class {
        Class::MatrixAb | Class::MatrixC | Class::MatrixD => {
            let is_source = spec.class != Class::MatrixD;
            let code =
                fields::field_of(Encoding::Vop3px, spec.slot).get(main) + if is_source { 0 } else { VECTOR };
            let acc = if spec.class == Class::MatrixAb {
                fields::acc_bit(Encoding::Vop3px, spec.slot)
            } else {
                fields::ACC_CD
            };
            names_tuple(code, u32::from(spec.ty.dwords()), acc.get(main) != 0)
        }
        _ => true,
    })
}

/// The first code of a vector register as a source.
const VECTOR: u32 = 256;

/// Whether a source's code names a tuple or a constant at all, aligned or not. Scalar tuples are taken by fours, and tuples
/// of VGPRs run over the end of the register file, where those of AGPRs end (as LLVM's disassembler has it).
fn names_tuple(code: u32, dwords: u32, acc: bool) -> bool {
    /// Codes of the scalar registers that make tuples, and of the trap handler's.
    const SGPRS: u32 = 104;
    const TTMPS: Range<u32> = 108..124;
    match code {
        0..102 => (code & !3) + dwords <= SGPRS,
        _ if TTMPS.contains(&code) => ((code - TTMPS.start) & !3) + dwords <= TTMPS.len() as u32,
        125 | 128..=208 | 240..=248 => true,
        VECTOR.. => !acc || code - VECTOR + dwords <= 256,
        _ => false,
    }
}
