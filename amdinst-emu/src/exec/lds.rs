//! LDS instructions: DS.

use amdinst_core::isa::Op;

use super::{Context, atomic, unimplemented_step};
use crate::check::{FaultKind, MemorySpace, NearestAllocation, Outcome, Trap};
use crate::program::{Action, AtomicOp, Handler, MemoryAccess, Part, Step};
use crate::wave::{LANES, M0, Wave, odd_operand};

/// The function that executes a DS instruction.
pub(super) fn handler(op: Op) -> Handler {
    match op {
        Op::ds_permute_b32 | Op::ds_bpermute_b32 | Op::ds_swizzle_b32 => exchange,
        Op::ds_nop => super::nothing,
        Op::ds_append | Op::ds_consume => count,
        Op::ds_read_addtid_b32 | Op::ds_write_addtid_b32 => by_lane,
        _ if op.name().starts_with("ds_gws") => unimplemented_step,
        _ => access,
    }
}

/// The first byte of an LDS access, after checking it: in bounds, and at a multiple of its size, but of 4 at most (the
/// driver lets wider accesses be aligned to dwords); atomics at a multiple of their size.
pub(super) fn check(
    lds: &[u8],
    address: u64,
    bytes: u8,
    write: bool,
    atomic: bool,
    lane: usize,
) -> Outcome<usize> {
    let size = u32::from(bytes);
    let required = if atomic { size } else { size.min(4) };
    if !address.is_multiple_of(u64::from(required)) {
        let kind = FaultKind::Misaligned { space: MemorySpace::Lds, address, size, required, write };
        return Err(Trap::at_lane(kind, lane));
    }
    let len = lds.len() as u64;
    if address + u64::from(size) > len {
        let nearest = NearestAllocation {
            label: "the workgroup's LDS".to_owned(),
            address: 0,
            size: len,
            distance: address.saturating_sub(len) as i64,
        };
        let kind = FaultKind::OutOfBounds {
            space: MemorySpace::Lds,
            address,
            size,
            write,
            nearest: Some(Box::new(nearest)),
        };
        return Err(Trap::at_lane(kind, lane));
    }
    Ok(address as usize)
}

/// Little-endian load of up to 8 bytes that have been checked.
pub(super) fn load(lds: &[u8], at: usize, bytes: usize) -> u64 {
    lds[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Little-endian store of up to 8 bytes that have been checked.
pub(super) fn store(lds: &mut [u8], at: usize, bytes: usize, value: u64) {
    lds[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
}

/// Load into a lane's registers from LDS, or store from them.
pub(super) fn transfer(w: &mut Wave, lds: &mut [u8], action: Action, at: usize, lane: usize, row: u16) {
    match action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = load(lds, at, usize::from(bytes));
            put_small(w, row, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                let value = load(lds, at + 4 * dword, 4) as u32;
                w.rows[usize::from(row) + dword][lane] = value;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = get_small(w, row, lane, part);
            store(lds, at, usize::from(bytes), value);
        }
        Action::Store { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                let value = w.rows[usize::from(row) + dword][lane];
                store(lds, at + 4 * dword, 4, u64::from(value));
            }
        }
        Action::Atomic { .. } => {}
    }
}

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

/// The access of a step.
pub(super) fn access_of(step: &Step) -> Outcome<&MemoryAccess> {
    step.extra
        .as_ref()
        .and_then(|extra| extra.memory.as_ref())
        .ok_or_else(|| Trap::unimplemented(step.op, ""))
}

/// Reads, writes and atomics, lane by lane in ascending order.
fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = access_of(step)?;
    let vaddr = access.vaddr.ok_or_else(|| odd_operand(step.op))?;
    if step.extra.as_ref().is_some_and(|extra| extra.inst.mods.gds) {
        return Err(Trap::unimplemented(step.op, "on the global data share"));
    }
    let Context { wave: w, lds, .. } = context;
    let active = (0..LANES).filter({
        let exec = w.exec;
        move |lane| exec >> lane & 1 != 0
    });
    // Results must not overwrite addresses of lanes still to come: each lane reads only its own, so order is free.
    for lane in active {
        let base = u64::from(w.rows[usize::from(vaddr)][lane]);
        let address = |offset: i64| base.wrapping_add_signed(offset) & 0xffff_ffff;
        match access.action {
            Action::Atomic { op, bytes, returns } => {
                let mut rows = [(access.offset, access.data[0], access.dst); 2];
                if let Some(second) = access.second {
                    rows[1] = (second, access.data[1], access.dst + u16::from(bytes / 4));
                }
                let count = if access.second.is_some() { 2 } else { 1 };
                for (offset, data, dst) in rows.into_iter().take(count) {
                    let at = check(lds, address(offset), bytes, true, true, lane)?;
                    let old = load(lds, at, usize::from(bytes));
                    let first = operand(w, data, lane, bytes);
                    let second = operand(w, access.data[1], lane, bytes);
                    store(lds, at, usize::from(bytes), atomic::apply(op, bytes, old, first, second));
                    if returns {
                        set_result(w, dst, lane, bytes, old);
                    }
                }
            }
            action @ Action::Load { bytes, .. } => {
                let at = check(lds, address(access.offset), bytes, false, false, lane)?;
                let second = match access.second {
                    Some(second) => Some(check(lds, address(second), bytes, false, false, lane)?),
                    None => None,
                };
                transfer(w, lds, action, at, lane, access.dst);
                if let Some(at) = second {
                    transfer(w, lds, action, at, lane, access.dst + u16::from(bytes / 4));
                }
            }
            action @ Action::Store { bytes, .. } => {
                let at = check(lds, address(access.offset), bytes, true, false, lane)?;
                transfer(w, lds, action, at, lane, access.data[0]);
                if let Some(second) = access.second {
                    let at = check(lds, address(second), bytes, true, false, lane)?;
                    transfer(w, lds, action, at, lane, access.data[1]);
                }
            }
        }
    }
    Ok(())
}

/// `ds_append` and `ds_consume`: add or subtract the number of active lanes at M0's base, once for the wave.
fn count(context: &mut Context<'_>, step: &Step) -> Outcome {
    let offset = step.extra.as_ref().map_or(0, |extra| extra.inst.mods.offset);
    let Context { wave: w, lds, .. } = context;
    let base = u64::from(w.s[usize::from(M0)] & 0xffff).wrapping_add_signed(i64::from(offset));
    let at = check(lds, base, 4, true, true, w.first_lane())?;
    let old = load(lds, at, 4);
    let lanes = u64::from(w.exec.count_ones());
    let op = if step.op == Op::ds_append { AtomicOp::Add } else { AtomicOp::Sub };
    store(lds, at, 4, atomic::apply(op, 4, old, lanes, 0));
    for lane in (0..LANES).filter(|lane| w.exec >> lane & 1 != 0) {
        w.rows[usize::from(step.dst)][lane] = old as u32;
    }
    Ok(())
}

/// `ds_read_addtid_b32` and `ds_write_addtid_b32`: the address is M0's base plus four bytes a lane.
fn by_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = access_of(step);
    let Some(extra) = &step.extra else { return Err(Trap::unimplemented(step.op, "")) };
    let Context { wave: w, lds, .. } = context;
    let base =
        u64::from(w.s[usize::from(M0)] & 0xffff).wrapping_add_signed(i64::from(extra.inst.mods.offset));
    let write = step.op == Op::ds_write_addtid_b32;
    let data = match (access, step.src[0]) {
        (_, crate::program::Src::Row(row)) if write => row,
        (Ok(access), _) if write => access.data[0],
        _ => step.dst,
    };
    for lane in (0..LANES).filter({
        let exec = w.exec;
        move |lane| exec >> lane & 1 != 0
    }) {
        let at = check(lds, base + 4 * lane as u64, 4, write, false, lane)?;
        if write {
            store(lds, at, 4, u64::from(w.rows[usize::from(data)][lane]));
        } else {
            w.rows[usize::from(data)][lane] = load(lds, at, 4) as u32;
        }
    }
    Ok(())
}

/// Exchanges between lanes that go through the LDS hardware but not its memory.
fn exchange(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access_offset = step.extra.as_ref().map_or(0, |extra| extra.inst.mods.offset);
    let w = &mut *context.wave;
    let rows: Vec<u16> = step
        .src
        .iter()
        .filter_map(|source| if let crate::program::Src::Row(row) = source { Some(*row) } else { None })
        .collect();
    let mut result = [0u32; LANES];
    match (step.op, rows.as_slice()) {
        (Op::ds_swizzle_b32, [data, ..]) => {
            let data = w.rows[usize::from(*data)];
            for (lane, value) in result.iter_mut().enumerate() {
                let from = swizzle(access_offset as u32, lane);
                *value = if w.active(from) { data[from] } else { 0 };
            }
        }
        (op, [address, data, ..]) => {
            let addresses = w.rows[usize::from(*address)];
            let data = w.rows[usize::from(*data)];
            for lane in 0..LANES {
                let other = (addresses[lane].wrapping_add(access_offset as u32) / 4) as usize & 63;
                if op == Op::ds_bpermute_b32 {
                    result[lane] = if w.active(other) { data[other] } else { 0 };
                } else if w.active(lane) {
                    result[other] = data[lane];
                }
            }
        }
        _ => return Err(odd_operand(step.op)),
    }
    for (lane, value) in result.into_iter().enumerate() {
        if w.active(lane) {
            w.rows[usize::from(step.dst)][lane] = value;
        }
    }
    Ok(())
}

/// The lane that `ds_swizzle_b32` reads for a lane (Vega ISA manual, "DS_SWIZZLE_B32").
fn swizzle(offset: u32, lane: usize) -> usize {
    if offset & 0xe000 == 0xc000 {
        // Rotation of 32 lanes, with a mask of bits that stay.
        let (left, amount, keep) = (offset & 0x400 == 0, (offset >> 5 & 31) as usize, (offset & 31) as usize);
        let turned = if left { lane + amount } else { lane + 32 - amount } & 31;
        return lane & 32 | turned & !keep & 31 | lane & keep & 31;
    }
    if offset & 0x8000 != 0 {
        return lane & !3 | (offset >> (2 * (lane & 3)) & 3) as usize;
    }
    let (and, or, xor) = ((offset & 31) as usize, (offset >> 5 & 31) as usize, (offset >> 10 & 31) as usize);
    lane & 32 | ((lane & and | or) ^ xor) & 31
}
