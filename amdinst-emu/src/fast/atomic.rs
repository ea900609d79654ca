//! Atomics in device memory, when all active lanes' bytes lie in one allocation.
//!
//! Each lane's is an atomic operation of the host: other workgroups, and the host itself, may change the same
//! bytes at the same time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::level::Level;
use super::memory::{Addresses, Lanes, find, note};
use super::{Body, general, rows};
use amdgpu_isa::AtomicOp;

use crate::check::AccessKind;
use crate::exec::AtomicWork;
use crate::program::{Action, Context, Hot};
use crate::wave::{LANES, lanes_of};

/// An atomic on 4 bytes, or 8 if `WIDE`, which writes what was there to rows from `hot.dst` on if it
/// `RETURNS`. Addresses as those of [`Access`](super::memory::Access); the data's first row is in
/// `hot.imm[2]`, that of compare-and-swap's other operand in `hot.imm[1]`.
pub(super) struct Atomic<const WIDE: bool, const RETURNS: bool>;

impl<const WIDE: bool, const RETURNS: bool> Body for Atomic<WIDE, RETURNS> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let exec = context.wave.exec;
        if exec == 0 {
            return hot.next;
        }
        let size = if WIDE { 8 } else { 4 };
        let step = &context.program.steps[(hot.next - 1) as usize];
        let access = step.extra.as_ref().and_then(|extra| extra.memory.as_ref());
        let Some(action @ Action::Atomic { op, .. }) = access.map(|access| access.action) else {
            // SAFETY: the caller's.
            return unsafe { general(context, hot) };
        };
        // SAFETY: rows are in the register file (checked by `compile`); `find` has checked that the bytes of
        // all active lanes are in the allocation.
        unsafe {
            let Some(addresses) = Addresses::of::<L>(context.wave, hot) else {
                return general(context, hot);
            };
            let Some(place) = find::<L, true>(context.wave, context.memory, addresses, size) else {
                return general(context, hot);
            };
            // A result may overwrite addresses.
            let lanes: [u32; LANES] = *rows(context.wave).add(addresses.row as usize).cast();
            let at = |lane: usize| place.start.wrapping_add(u64::from(lanes[lane]));
            let odd = lanes_of(exec).fold(place.allocation.address, |bits, lane| bits | at(lane));
            if odd & u64::from(size - 1) != 0 {
                return general(context, hot);
            }
            if context.lds.is_watched() || context.scan.is_some() {
                let (start, consecutive) = (place.start, place.consecutive);
                let lanes = Lanes { addresses: &lanes, start, consecutive, bytes: size as usize, action };
                if !note(context, hot, place.allocation, AccessKind::Atomic, &lanes) {
                    return general(context, hot);
                }
            }
            let w = &mut *context.wave;
            let work = AtomicWork::in_memory(op, size as u8, context.program.target.arch, w);
            let (registers, memory) = (rows(w), place.allocation.bytes.as_ptr());
            for lane in lanes_of(exec) {
                let cell = memory.add(at(lane) as usize);
                let operand = |first: u32| read::<WIDE>(registers.add(first as usize + lane));
                let (data, other) = (operand(hot.imm[2]), operand(hot.imm[1]));
                let old = match WIDE {
                    true => change64(cell, op, work, data, other),
                    false => change32(cell, op, work, data, other),
                };
                if RETURNS {
                    write::<WIDE>(registers.add(hot.dst as usize + lane), old);
                }
            }
        }
        hot.next
    }
}

/// A lane's number, of two registers if it is `WIDE`.
///
/// # Safety
/// They are in the register file.
#[inline(always)]
pub(super) unsafe fn read<const WIDE: bool>(register: *const u32) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let high = if WIDE { register.add(LANES).read() } else { 0 };
        u64::from(register.read()) | u64::from(high) << 32
    }
}

/// The way back from [`read`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn write<const WIDE: bool>(register: *mut u32, number: u64) {
    // SAFETY: the caller's.
    unsafe {
        register.write(number as u32);
        if WIDE {
            register.add(LANES).write((number >> 32) as u32);
        }
    }
}

macro_rules! change {
    ($name:ident, $cell:ty, $number:ty) => {
        /// Does it to an aligned number in memory; returns what was there. The commonest operations are the
        /// host's own.
        ///
        /// # Safety
        /// The bytes are some that are reached as atomics only.
        #[inline(always)]
        unsafe fn $name(at: *const u8, op: AtomicOp, work: AtomicWork, data: u64, other: u64) -> u64 {
            // SAFETY: the caller's.
            let cell = unsafe { &*at.cast::<$cell>() };
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
