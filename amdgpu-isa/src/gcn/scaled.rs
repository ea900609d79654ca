//! Matrix instructions with scales (VOP3PX; CDNA 4 ISA, section "Scaled matrix instructions"): gfx950's only
//! encoding of four dwords. The first two are those of `v_mfma_ld_scale_b32` and name the scales, the other
//! two those of the matrix instruction; ABID, which has no other use there, is 1.

use std::ops::Range;

use super::formats::{self, field_of};
use crate::encoding::format::Field;
use crate::encoding::model::{PREFIX_BYTES, Scaled};
use crate::encoding::table::rows;
use crate::signature::Class;
use crate::{Encoding, Slot};

rows! {
    /// Scaled matrices.
    VOP3PX of vop3px;
    45  v_mfma_scale_f32_16x16x128_f8f6f4 V950 [];
    46  v_mfma_scale_f32_32x32x64_f8f6f4  V950 [];
}

/// The form with scales.
pub(super) const SCALED: Scaled = Scaled {
    encoding: Encoding::Vop3px,
    may_be_prefix,
    prefix_at,
    names_operands: names_matrices,
    idle_bits,
    prefix_with,
};

/// The fixed bits of the first two dwords.
const PREFIX: u64 = 0xd3ac_0000;
const PREFIX_MASK: u64 = 0xffff_0000;
/// OP_SEL and OP_SEL_HI of the scales: the low and the high bit of a byte's number.
pub(super) const OP_SEL: Field = Field::new(64 + 11, 2);
pub(super) const OP_SEL_HI: Field = Field::new(64 + 59, 2);

/// The bits of the first two dwords that mean nothing.
const IDLE: u64 = !(PREFIX_MASK
    | OP_SEL.mask()
    | OP_SEL_HI.mask()
    | field_of(Encoding::Vop3px, Slot::ScaleA).mask()
    | field_of(Encoding::Vop3px, Slot::ScaleB).mask());

/// Set and idle bits of the first two dwords.
const fn idle_bits(prefix: u64) -> u64 {
    prefix & IDLE
}

/// The fixed bits of the first two dwords, beside what is idle.
const fn prefix_with(idle: u64) -> u64 {
    PREFIX | idle & IDLE
}

/// Whether `bytes` begin with the first dword of scales.
fn may_be_prefix(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&word| u64::from(u32::from_le_bytes(word)) & PREFIX_MASK == PREFIX)
}

/// The first two dwords, if four dwords of one instruction begin here. It is illegal with scales in scalar
/// registers, which `v_mfma_ld_scale_b32` alone takes.
fn prefix_at(bytes: &[u8]) -> Option<u64> {
    let prefix = u64::from_le_bytes(*bytes.first_chunk()?);
    if !may_be_prefix(bytes) {
        return None;
    }
    let main = u64::from_le_bytes(*bytes.get(PREFIX_BYTES..)?.first_chunk()?);
    let format = formats::format_of(Encoding::Vop3px);
    let is_scaled = main & format.prefix_mask == format.prefix
        && VOP3PX.iter().any(|row| u32::from(row.number) == format.opcode.get(main));
    is_scaled.then_some(prefix)
}

/// Whether each field of the last two of four dwords names operands of its width. Where one does not, LLVM
/// takes the first two dwords for an instruction of their own. Scalars, constants and tuples that are not
/// aligned do name operands: they are illegal, but those of one instruction.
fn names_matrices(bytes: &[u8]) -> bool {
    let Some(main) = bytes.get(PREFIX_BYTES..).and_then(|rest| rest.first_chunk()) else { return false };
    let main = u64::from_le_bytes(*main);
    let format = formats::format_of(Encoding::Vop3px);
    let Some(row) = VOP3PX.iter().find(|row| u32::from(row.number) == format.opcode.get(main)) else {
        return false;
    };
    row.signature.operands.iter().all(|spec| match spec.class {
        Class::MatrixAb | Class::MatrixC | Class::MatrixD => {
            let is_source = spec.class != Class::MatrixD;
            let code = field_of(Encoding::Vop3px, spec.slot).get(main) + if is_source { 0 } else { VECTOR };
            let acc = if spec.class == Class::MatrixAb {
                formats::acc_bit(Encoding::Vop3px, spec.slot)
            } else {
                formats::ACC_CD
            };
            names_tuple(code, u32::from(spec.ty.dwords()), acc.get(main) != 0)
        }
        _ => true,
    })
}

/// The first code of a vector register as a source.
const VECTOR: u32 = 256;

/// Whether a source's code names a tuple or a constant at all, aligned or not. Scalar tuples are taken by
/// fours, and tuples of VGPRs run over the end of the register file, where those of AGPRs end (as LLVM's
/// disassembler has it).
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
