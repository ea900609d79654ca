//! Scalar memory: SMEM (Vega ISA manual, "Scalar Memory Operations").
//!
//! The hardware drops the two lowest bits of base and offset each, but for loads of bytes and of 16 bits. An
//! address that is not at a dword as a whole is a mistake of the program that hardware hides, so here it is a
//! fault. Offsets into buffers are taken as hardware does: there the descriptor's bounds say what is meant.

use amdgpu_isa::{AtomicOp, Op};

use super::atomic;
use super::atomic_float::FloatRules;
use crate::check::{AccessKind, FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::{Allocation, Memory, Protection};
use crate::program::{Action, Context, Handler, ScalarAccess, ScalarKind, Step};
use crate::races::Access;
use crate::watch::{Trace, Watch};
use crate::wave::Wave;

/// The function that executes a scalar memory instruction.
pub(super) fn handler(op: Op) -> Handler {
    match op {
        Op::s_memtime | Op::s_memrealtime => clock,
        Op::s_get_waveid_in_workgroup => wave_number,
        // Caches are not modelled: what a line that is discarded held is in memory already.
        _ if op.memory_use().is_none() => super::nothing,
        _ => access,
    }
}

/// Reads a clock.
fn clock(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let time = w.read_clock();
    w.set_s64(step.sdst, time);
    Ok(())
}

/// The wave's number in its workgroup.
fn wave_number(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let number = w.place.number;
    w.set_s32(step.sdst, number);
    Ok(())
}

/// Loads, stores and atomics.
fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = step.extra.as_ref().and_then(|extra| extra.scalar.as_ref());
    let access = access.ok_or_else(|| Trap::unimplemented(step.op, ""))?;
    let memory = context.memory;
    let w = &mut *context.wave;
    let bytes = bytes_of(access.action);
    let (address, limit) = address(w, access)?;
    // Each dword of a load or store is checked against a buffer's end by itself, an atomic as a whole.
    let inside = match access.action {
        Action::Atomic { .. } if limit < u64::from(bytes) => 0,
        Action::Load { bytes: 1..4, .. } => {
            if limit < u64::from(bytes) {
                0
            } else {
                bytes
            }
        }
        _ => limit.min(u64::from(bytes)) as u8 & !3,
    };
    if inside > 0 {
        watch(context, access.action, address, inside)?;
    }
    let w = &mut *context.wave;
    match access.action {
        Action::Load { bytes: 1..4, signed, .. } => {
            let place = Place::find(memory, w, address, inside, false)?;
            let value = place.load_small(w, inside);
            let value = match (bytes, signed) {
                (1, true) => value as i8 as u32,
                (2, true) => value as i16 as u32,
                _ => value,
            };
            w.set_s32(access.data, value);
        }
        Action::Load { .. } => {
            let place = Place::find(memory, w, address, inside, false)?;
            for at in (0..bytes).step_by(4) {
                let value = if at < inside { place.load(w, at) } else { 0 };
                w.set_s32(access.data + at / 4, value);
            }
        }
        Action::Store { .. } => {
            let place = Place::find(memory, w, address, inside, true)?;
            for at in (0..inside).step_by(4) {
                let value = w.s[usize::from(access.data + at / 4) & 127];
                place.store(w, at, value);
            }
        }
        Action::Atomic { op, bytes, returns } => {
            let old = if inside == 0 { 0 } else { update(memory, w, access, op, address, bytes)? };
            if returns {
                w.set_s32(access.data, old as u32);
                if bytes == 8 {
                    w.set_s32(access.data + 1, (old >> 32) as u32);
                }
            }
        }
    }
    match context.device_races() {
        Some(mut races) => races.settle(memory),
        None => Ok(()),
    }
}

/// Notes what is about to be done to device memory.
fn watch(context: &mut Context<'_>, action: Action, address: u64, bytes: u8) -> Outcome {
    let access = Access { bytes: bytes.into(), ..action.access(false) };
    let w = &*context.wave;
    match &mut context.watch {
        Watch::Nobody => {}
        Watch::Scan(scan) => scan.note(context.memory, w, access, address),
        Watch::Races(races) => {
            let place = w.scratch.offset_of(address).is_none().then_some((address, None));
            races.lock().note(context.memory, w, access, place)?;
        }
        Watch::Trace(_) if access.kind == AccessKind::Read => {}
        Watch::Trace(trace) => Trace::note(trace, w, [(address, access.bytes, None)]),
    }
    Ok(())
}

/// Address and bytes of an access that is about to be made.
pub(crate) fn footprint(w: &Wave, step: &Step) -> Option<(u64, u8)> {
    let access = step.extra.as_ref()?.scalar.as_ref()?;
    Some((address(w, access).ok()?.0, bytes_of(access.action)))
}

fn bytes_of(action: Action) -> u8 {
    match action {
        Action::Load { bytes, .. } | Action::Store { bytes, .. } | Action::Atomic { bytes, .. } => bytes,
    }
}

/// The address, and how many bytes from there on are in range.
fn address(w: &Wave, access: &ScalarAccess) -> Outcome<(u64, u64)> {
    let register = access.soffset.map_or(0, |register| i64::from(w.s[usize::from(register & 127)]));
    let unit = if access.kind == ScalarKind::Scratch { 64 } else { 1 };
    let bytes = bytes_of(access.action);
    let required = u64::from(bytes.min(4));
    // All parts lose their lowest bits on the way.
    let (whole, low_bits) = (-(required as i64), required - 1);
    let offset = (access.offset & whole) + ((register * unit) & whole);
    let low = w.s64(access.base);
    if access.kind == ScalarKind::Buffer {
        let (base, stride) = (low & 0xffff_ffff_ffff, low >> 48 & 0x3fff);
        // NUM_RECORDS counts bytes, or records where there is a stride.
        let size = u64::from(w.s[usize::from(access.base + 2) & 127]) * stride.max(1);
        let offset = offset as u64;
        return Ok(((base & !low_bits).wrapping_add(offset), size.saturating_sub(offset)));
    }
    let address = low.wrapping_add_signed(access.offset + register * unit);
    if !address.is_multiple_of(required) {
        let size = u32::from(bytes);
        let write = !matches!(access.action, Action::Load { .. });
        let (space, required) = (MemorySpace::Scalar, required as u32);
        return Err(Trap::new(FaultKind::Misaligned { space, address, size, required, write }));
    }
    Ok(((low & !low_bits).wrapping_add_signed(offset), u64::MAX))
}

/// Memory that an access may touch.
enum Place<'a> {
    Device(&'a Allocation, usize),
    /// The wave's scratch, by its device address.
    Scratch(usize),
    /// Nothing is touched.
    Nowhere,
}

impl<'a> Place<'a> {
    fn find(memory: &'a Memory, w: &Wave, address: u64, bytes: u8, write: bool) -> Outcome<Self> {
        if bytes == 0 {
            return Ok(Self::Nowhere);
        }
        let last = address.wrapping_add(u64::from(bytes) - 1);
        if let (Some(at), Some(_)) = (w.scratch.offset_of(address), w.scratch.offset_of(last)) {
            return Ok(Self::Scratch(at));
        }
        let size = u32::from(bytes);
        let padded = || memory.find_padded(address, u64::from(bytes)).filter(|_| !write && bytes >= 4);
        let Some((allocation, at)) = memory.find(address, u64::from(bytes)).or_else(padded) else {
            return Err(Trap::new(memory.diagnose(MemorySpace::Scalar, address, size, write)));
        };
        if write && allocation.protection == Protection::ReadOnly {
            let label = allocation.label.clone();
            return Err(Trap::new(FaultKind::ReadOnly { address, size, label }));
        }
        Ok(Self::Device(allocation, at))
    }

    fn load(&self, w: &Wave, at: u8) -> u32 {
        match self {
            Self::Device(allocation, start) => allocation.scalar_dword(start + usize::from(at)),
            Self::Scratch(start) => w.scratch.load_dword(start + usize::from(at)).unwrap_or(0),
            Self::Nowhere => 0,
        }
    }

    /// Fewer bytes than a dword.
    fn load_small(&self, w: &Wave, bytes: u8) -> u32 {
        (0..usize::from(bytes)).fold(0, |value, byte| {
            let loaded = match self {
                Self::Device(allocation, start) => allocation.bytes.load::<1>(start + byte) as u32,
                Self::Scratch(start) => w.scratch.load(start + byte).map_or(0, u32::from),
                Self::Nowhere => 0,
            };
            value | loaded << (8 * byte)
        })
    }

    fn store(&self, w: &mut Wave, at: u8, value: u32) {
        match self {
            Self::Device(allocation, start) => {
                allocation.bytes.store::<4>(start + usize::from(at), u64::from(value));
            }
            Self::Scratch(start) => {
                w.scratch.store_dword(start + usize::from(at), value);
            }
            Self::Nowhere => {}
        }
    }
}

/// One atomic; returns what was there.
fn update(
    memory: &Memory,
    w: &mut Wave,
    access: &ScalarAccess,
    op: AtomicOp,
    address: u64,
    bytes: u8,
) -> Outcome<u64> {
    let (size, required) = (u32::from(bytes), u32::from(bytes));
    if !address.is_multiple_of(u64::from(bytes)) {
        let space = MemorySpace::Scalar;
        return Err(Trap::new(FaultKind::Misaligned { space, address, size, required, write: true }));
    }
    let operand = |index: u8| {
        let first = access.data + index * (bytes / 4);
        if bytes == 8 { w.s64(first) } else { u64::from(w.s[usize::from(first) & 127]) }
    };
    // Compare-and-swap has the new value first, then what to compare with.
    let (data, second) = if op == AtomicOp::CmpSwap { (operand(1), operand(0)) } else { (operand(0), 0) };
    let f = |old| atomic::apply(op, bytes, old, data, second, FloatRules::default());
    let place = Place::find(memory, w, address, bytes, true)?;
    Ok(match place {
        Place::Device(allocation, at) if bytes == 8 => allocation.bytes.update::<8>(at, f),
        Place::Device(allocation, at) => allocation.bytes.update::<4>(at, f),
        Place::Scratch(_) | Place::Nowhere => {
            let low = u64::from(place.load(w, 0));
            let old = if bytes == 8 { low | u64::from(place.load(w, 4)) << 32 } else { low };
            let new = f(old);
            place.store(w, 0, new as u32);
            if bytes == 8 {
                place.store(w, 4, (new >> 32) as u32);
            }
            old
        }
    })
}
