//! Read-modify-write operations on 4 and 8 bytes, whatever memory they act on.

use amdgpu_isa::{Arch, AtomicOp};

use super::atomic_float::{self, FloatRules};
use crate::wave::Wave;

/// An operation on so many bytes, and what it does with floats.
#[derive(Clone, Copy)]
pub(crate) struct AtomicWork {
    op: AtomicOp,
    bytes: u8,
    float_rules: FloatRules,
}

impl AtomicWork {
    /// One on LDS.
    pub(crate) fn in_lds(op: AtomicOp, bytes: u8, w: &Wave) -> Self {
        Self { op, bytes, float_rules: FloatRules::in_lds(op, bytes, w) }
    }

    /// One on device memory of a processor.
    pub(crate) fn in_memory(op: AtomicOp, bytes: u8, arch: Arch, w: &Wave) -> Self {
        Self { op, bytes, float_rules: FloatRules::in_memory(op, bytes, arch, w) }
    }

    /// The value that replaces `old`; see [`apply`].
    #[inline]
    pub(crate) fn apply(self, old: u64, data: u64, second: u64) -> u64 {
        apply(self.op, self.bytes, old, data, second, self.float_rules)
    }
}

/// The value that replaces `old`. `data` is the operand, `second` the other one of compare-and-swap (the new
/// value), masked or wrapping operations. Values of 4 bytes are in the low half.
pub(super) fn apply(
    op: AtomicOp,
    bytes: u8,
    old: u64,
    data: u64,
    second: u64,
    float_rules: FloatRules,
) -> u64 {
    let wide = bytes == 8;
    let signed = |value: u64| if wide { value as i64 } else { i64::from(value as u32 as i32) };
    let result = match op {
        AtomicOp::Swap => data,
        AtomicOp::CmpSwap => {
            if old == data {
                second
            } else {
                old
            }
        }
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        AtomicOp::SubClamped => old.saturating_sub(data),
        AtomicOp::SubIfNotLess => old.checked_sub(data).unwrap_or(old),
        AtomicOp::Rsub => data.wrapping_sub(old),
        AtomicOp::SMin => {
            if signed(data) < signed(old) {
                data
            } else {
                old
            }
        }
        AtomicOp::SMax => {
            if signed(data) > signed(old) {
                data
            } else {
                old
            }
        }
        AtomicOp::UMin => old.min(data),
        AtomicOp::UMax => old.max(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::Inc => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        AtomicOp::MaskOr => old & !data | second,
        AtomicOp::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(second)
            }
        }
        AtomicOp::FAdd => atomic_float::add(bytes, old, data, float_rules),
        AtomicOp::FMin => atomic_float::min(bytes, old, data, float_rules),
        AtomicOp::FMax => atomic_float::max(bytes, old, data, float_rules),
        AtomicOp::FCmpSwap => atomic_float::swap_if_equal(bytes, old, data, second, float_rules),
        AtomicOp::PkAddF16 => atomic_float::packed_add_f16(old, data, float_rules),
        AtomicOp::PkAddBf16 => atomic_float::packed_add_bf16(old, data, float_rules),
        AtomicOp::ConditionalSwap32 => half_swapped(old, data, 0) | half_swapped(old, data, 32) << 32,
    };
    if wide { result } else { result & 0xffff_ffff }
}

/// `ds_condxchg32_rtn_b64`: one of the two dwords is replaced if its data has the top bit set, which is not
/// stored.
fn half_swapped(old: u64, data: u64, shift: u32) -> u64 {
    let (old, data) = (old >> shift & 0xffff_ffff, data >> shift & 0xffff_ffff);
    if data >> 31 != 0 { data & 0x7fff_ffff } else { old }
}
