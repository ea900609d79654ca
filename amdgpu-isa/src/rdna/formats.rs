//! Formats that every RDNA has.

use crate::encoding::format::{Field, Format};

/// The first source's code that announces a dword of DPP.
pub(crate) const DPP_MARK: u32 = 250;

pub(crate) const fn format(prefix: u32, prefix_bits: u8, opcode: Field, dwords: u8) -> Format {
    let shift = 32 - prefix_bits;
    Format { prefix: (prefix as u64) << shift, prefix_mask: 0xffff_ffff >> shift << shift, opcode, dwords }
}

/// A format with one dword more, whose first source is this code. (DPP8's is a modifier.)
pub(crate) const fn permuted(base: Format, first_source: u8, code: u64) -> Format {
    let mask = if code == 0 { 0 } else { 0x1ff };
    Format {
        prefix: base.prefix | code << first_source,
        prefix_mask: base.prefix_mask | mask << first_source,
        opcode: base.opcode,
        dwords: base.dwords + 1,
    }
}
