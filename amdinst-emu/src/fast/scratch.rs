//! Loads and stores in the wave's scratch, where all active lanes have the same offset: a variable on the
//! stack.
//!
//! The lanes' dwords then lie side by side ([`crate::wave::Scratch`]), as they do in a register.

use super::level::Level;
use super::memory::{InBuffer, Narrow, is_uniform};
use super::{Body, Operands, general, part, parts};
use crate::memory::is_scratch;
use crate::program::{Context, Hot};
use crate::rules::Buffers;
use crate::wave::{Scratch, Wave};

/// How a [`Access`] is addressed: through a buffer resource, whose first register is `hot.sdst`.
pub(super) const BUFFER: u8 = 0;
/// From FLAT_SCRATCH on.
pub(super) const FLAT: u8 = 1;

/// A load (or store, if `STORE`) of `DWORDS` a lane, or if that is 0 of 1 or 2 bytes, whole registers of them
/// ([`Narrow`]). `hot.src[0]`: the row of the address, or a constant if there is none; `hot.src[1]`: the
/// scalar offset; `hot.imm[0]`: the constant one. Registers from `hot.dst` on.
pub(super) struct Access<const STORE: bool, const DWORDS: usize, const FORM: u8>;

/// Where the wave's scratch is addressed from: its position there; then the offset without the lanes' part.
#[inline(always)]
fn origin<L: Level, const FORM: u8>(w: &Wave, hot: &Hot) -> Option<(usize, u64)> {
    let offset = Operands::of(w).scalar(hot, 1);
    if FORM == FLAT {
        return Some((w.scratch.offset_of(w.flat_scratch())?, u64::from(offset)));
    }
    let (low, word3) = (w.s64(hot.sdst as u8), w.s[(hot.sdst as usize + 3) & 127]);
    // Swizzled, lanes added, as many to a row as the wave has, the range not checked: as private memory is
    // (`exec/vmem/buffer`).
    let lanes_of_a_row = 8 << (word3 >> 21 & 3);
    let is_unchecked = match w.rules.buffers {
        Buffers::TwoFormats => true,
        Buffers::OneFormat => word3 >> 28 & 3 == 2,
        Buffers::SizedElements | Buffers::ScaledStride => false,
    };
    let private = low >> 63 != 0 && word3 & 1 << 23 != 0 && lanes_of_a_row == L::LANES && is_unchecked;
    let base = (low & 0xffff_ffff_ffff).wrapping_add(u64::from(offset));
    if !private || !is_scratch(base) {
        return None;
    }
    Some((w.scratch.offset_of(w.scratch.row_of(base, L::LANES)?)?, 0))
}

impl<const STORE: bool, const DWORDS: usize, const FORM: u8> Body for Access<STORE, DWORDS, FORM> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        if w.exec == 0 {
            return hot.next;
        }
        let Some((first, mut offset)) = origin::<L, FORM>(w, hot) else {
            if FORM == BUFFER {
                return level.apart::<InBuffer<STORE, DWORDS>>(context, hot);
            }
            return general(context, hot);
        };
        if hot.src[0].is_row() {
            let row = hot.src[0].row.row(w.rows.file());
            if !is_uniform(level, row, w.exec) {
                return general(context, hot);
            }
            offset += u64::from(row[w.first_lane()]);
        }
        offset = offset.wrapping_add_signed(i64::from(hot.imm[0] as i32));
        if FORM == FLAT {
            offset &= 0xffff_ffff;
        }
        let is_done = transfer::<L, STORE, DWORDS>(level, w, hot, first, offset);
        if is_done { hot.next } else { general(context, hot) }
    }
}

/// Move between registers and the lanes' bytes at one offset, from position `first` of the wave's part.
/// False, and nothing is done, if they are not all inside, or cross dwords.
#[inline(always)]
pub(super) fn transfer<L: Level, const STORE: bool, const DWORDS: usize>(
    level: L,
    w: &mut Wave,
    hot: &Hot,
    first: usize,
    offset: u64,
) -> bool {
    let (inner, small) = (offset & 3, Narrow::from_bits(hot.imm[2]));
    if DWORDS == 0 && (small.half || small.high) {
        return false;
    }
    if inner + if DWORDS == 0 { u64::from(small.bytes) } else { 4 } > 4 {
        return false;
    }
    let at = Scratch::swizzle(offset & !3, 0).checked_add(first as u64);
    let Wave { rows, scratch, exec, .. } = w;
    let Some(memory) = at.and_then(|at| scratch.rows(at, DWORDS.max(1), STORE)) else {
        return false;
    };
    let registers = hot.dst.group_mut(rows.file_mut());
    if DWORDS == 0 {
        let (register, memory) = (&mut registers[0], &mut memory[0]);
        let shift = level.splat(8 * inner as u32);
        let rest = level.splat(32 - 8 * small.bytes);
        let mask = level.splat((1 << (8 * small.bytes)) - 1);
        for i in 0..parts::<L>() {
            let (bits, old) = (part::<L>(*exec, i), level.load_bytes(memory, i));
            if STORE {
                let value = level.shl(level.and(level.load(register, i), mask), shift);
                let others = level.and_not(old, level.shl(mask, shift));
                level.store_bytes_if(memory, i, level.or(others, value), bits);
            } else if small.signed {
                let top = level.shl(level.shr(old, shift), rest);
                level.store_if(register, i, level.sar(top, rest), bits);
            } else {
                level.store_if(register, i, level.and(level.shr(old, shift), mask), bits);
            }
        }
        return true;
    }
    for dword in 0..DWORDS {
        let (register, memory) = (&mut registers[dword], &mut memory[dword]);
        for i in 0..parts::<L>() {
            let bits = part::<L>(*exec, i);
            if STORE {
                level.store_bytes_if(memory, i, level.load(register, i), bits);
            } else {
                level.store_if(register, i, level.load_bytes(memory, i), bits);
            }
        }
    }
    true
}
