//! Atomics in device memory, when all active lanes' bytes lie in one allocation.
//!
//! Each lane's is an atomic operation of the host: other workgroups, and the host itself, may change the same
//! bytes at the same time.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::level::Level;
use super::memory::note;
use super::places::{Addresses, Place};
use super::{Body, general};
use amdgpu_isa::AtomicOp;

use crate::check::AccessKind;
use crate::exec::AtomicWork;
use crate::program::{Action, Context, Hot};
use crate::wave::{GROUP, Row};

/// An atomic on 4 bytes, or 8 if `WIDE`, which writes what was there to rows from `hot.dst` on if it
/// `RETURNS`. Addresses as those of [`Access`](super::memory::Access); the data are in rows
/// from `hot.src[2]` on, compare-and-swap's other operand from `hot.src[1]` on.
pub(super) struct Atomic<const WIDE: bool, const RETURNS: bool>;

impl<const WIDE: bool, const RETURNS: bool> Body for Atomic<WIDE, RETURNS> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let exec = context.wave.exec;
        if exec == 0 {
            return hot.next;
        }
        let size = if WIDE { 8 } else { 4 };
        let step = &context.program.steps[(hot.next - 1) as usize];
        let access = step.extra.as_ref().and_then(|extra| extra.memory.as_ref());
        let Some(action @ Action::Atomic { op, .. }) = access.map(|access| access.action) else {
            return general(context, hot);
        };
        let Some(addresses) = Addresses::of(level, context.wave, hot) else {
            return general(context, hot);
        };
        let found = Place::find::<L, true>(level, context.wave, context.memory, addresses, size);
        // A result may overwrite addresses.
        let mut kept = MaybeUninit::uninit();
        let Some(place) = found.and_then(|place| place.keep(&mut kept).aligned()) else {
            return general(context, hot);
        };
        if context.watch.is_there() && !note(context, hot, &place, (AccessKind::Atomic, action)) {
            return general(context, hot);
        }
        let w = &mut *context.wave;
        let work = AtomicWork::in_memory(op, size as u8, context.program.target.arch, w);
        let file = w.rows.file_mut();
        for (lane, spot) in place.spots(!0) {
            let data = read::<WIDE>(hot.src[2].row.group(file), lane);
            let other = read::<WIDE>(hot.src[1].row.group(file), lane);
            let old = match WIDE {
                true => change64(spot.qword(), op, work, data, other),
                false => change32(spot.dword(), op, work, data, other),
            };
            if RETURNS {
                write::<WIDE>(hot.dst.group_mut(file), lane, old);
            }
        }
        hot.next
    }
}

/// A lane's number, of two registers if it is `WIDE`.
#[inline(always)]
pub(super) fn read<const WIDE: bool>([low, high, ..]: &[Row; GROUP], lane: usize) -> u64 {
    let high = if WIDE { high[lane] } else { 0 };
    u64::from(low[lane]) | u64::from(high) << 32
}

/// The way back from [`read`].
#[inline(always)]
pub(super) fn write<const WIDE: bool>([low, high, ..]: &mut [Row; GROUP], lane: usize, number: u64) {
    low[lane] = number as u32;
    if WIDE {
        high[lane] = (number >> 32) as u32;
    }
}

macro_rules! change {
    ($name:ident, $cell:ty, $number:ty) => {
        /// Does it to a number in memory; returns what was there. The commonest operations are the host's
        /// own.
        #[inline(always)]
        fn $name(cell: &$cell, op: AtomicOp, work: AtomicWork, data: u64, other: u64) -> u64 {
            let number = data as $number;
            let old = match op {
                AtomicOp::Add => cell.fetch_add(number, Relaxed),
                AtomicOp::Sub => cell.fetch_sub(number, Relaxed),
                AtomicOp::UMin => cell.fetch_min(number, Relaxed),
                AtomicOp::UMax => cell.fetch_max(number, Relaxed),
                AtomicOp::And => cell.fetch_and(number, Relaxed),
                AtomicOp::Or => cell.fetch_or(number, Relaxed),
                AtomicOp::Xor => cell.fetch_xor(number, Relaxed),
                AtomicOp::Swap => cell.swap(number, Relaxed),
                AtomicOp::CmpSwap => cell
                    .compare_exchange(other as $number, number, Relaxed, Relaxed)
                    .unwrap_or_else(|old| old),
                _ => {
                    // The new value is the second operand of what compares.
                    let (first, second) = if op == AtomicOp::FCmpSwap { (other, data) } else { (data, 0) };
                    cell.update(Relaxed, Relaxed, |old| work.apply(old.into(), first, second) as $number)
                }
            };
            old.into()
        }
    };
}

change!(change32, AtomicU32, u32);
change!(change64, AtomicU64, u64);
