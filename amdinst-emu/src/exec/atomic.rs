//! Read-modify-write operations on 4 and 8 bytes, whatever memory they act on.

use super::float::{double, single};
use super::half;
use crate::program::AtomicOp;
use crate::wave::Half;

/// The value that replaces `old`. `data` is the operand, `second` the other one of compare-and-swap (the new value),
/// masked or wrapping operations.
pub(super) fn apply(op: AtomicOp, bytes: u8, old: u64, data: u64, second: u64) -> u64 {
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
        AtomicOp::FAdd if wide => double::add(f64::from_bits(old), f64::from_bits(data)).to_bits(),
        AtomicOp::FMin if wide => double::min(f64::from_bits(old), f64::from_bits(data), true).to_bits(),
        AtomicOp::FMax if wide => double::max(f64::from_bits(old), f64::from_bits(data), true).to_bits(),
        AtomicOp::FCmpSwap if wide => {
            if f64::from_bits(old) == f64::from_bits(data) {
                second
            } else {
                old
            }
        }
        AtomicOp::FAdd => bits(single::add(f32_of(old), f32_of(data))),
        AtomicOp::FMin => bits(single::min(f32_of(old), f32_of(data), true)),
        AtomicOp::FMax => bits(single::max(f32_of(old), f32_of(data), true)),
        AtomicOp::FCmpSwap => {
            if f32_of(old) == f32_of(data) {
                second
            } else {
                old
            }
        }
        AtomicOp::PkAddF16 => halves(old, data, |a, b| half::add(Half(a), Half(b), 0).0),
        AtomicOp::PkAddBf16 => halves(old, data, |a, b| half::to_bf16(half::bf16(a) + half::bf16(b))),
    };
    if wide { result } else { result & 0xffff_ffff }
}

fn f32_of(value: u64) -> f32 {
    f32::from_bits(value as u32)
}

fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn halves(old: u64, data: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(f(old as u16, data as u16)) | u64::from(f((old >> 16) as u16, (data >> 16) as u16)) << 16
}
