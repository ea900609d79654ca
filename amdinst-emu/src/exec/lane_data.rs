//! A lane's registers as memory instructions see them: bytes, shorts and their halves, and values of one or
//! two registers.

use crate::program::Part;
use crate::wave::Wave;

/// Write a loaded byte or short to a register, extended or to one half of it.
pub(super) fn put_small(
    w: &mut Wave,
    row: u16,
    lane: usize,
    value: u64,
    bytes: u8,
    signed: bool,
    part: Part,
) {
    let extended = match (bytes, signed) {
        (1, true) => value as i8 as u32,
        (1, false) => value as u8 as u32,
        (_, true) => value as i16 as u32,
        (_, false) => value as u16 as u32,
    };
    let old = &mut w.rows[usize::from(row)][lane];
    *old = match part {
        Part::Whole => extended,
        Part::Low => *old & 0xffff_0000 | extended & 0xffff,
        Part::High => *old & 0xffff | extended << 16,
        Part::LowCleared => extended & 0xffff,
        Part::HighCleared => extended << 16,
    };
}

/// The bits that a byte or short store takes from a register.
pub(super) fn get_small(w: &Wave, row: u16, lane: usize, part: Part) -> u64 {
    let value = w.rows[usize::from(row)][lane];
    u64::from(if part == Part::High { value >> 16 } else { value })
}

/// A lane's operand of 4 or 8 bytes.
pub(super) fn operand(w: &Wave, row: u16, lane: usize, bytes: u8) -> u64 {
    let low = u64::from(w.rows[usize::from(row)][lane]);
    if bytes == 8 { low | u64::from(w.rows[usize::from(row) + 1][lane]) << 32 } else { low }
}

/// Write a lane's result of 4 or 8 bytes.
pub(super) fn set_result(w: &mut Wave, row: u16, lane: usize, bytes: u8, value: u64) {
    w.rows[usize::from(row)][lane] = value as u32;
    if bytes == 8 {
        w.rows[usize::from(row) + 1][lane] = (value >> 32) as u32;
    }
}
