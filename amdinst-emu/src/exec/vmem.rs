//! Vector memory: FLAT, GLOBAL, SCRATCH, MUBUF.
//!
//! Each lane's address becomes a place: a device address, an LDS offset, or a position in the wave's scratch. When
//! all active lanes' device addresses lie in one allocation, that is found once for the instruction.

use amdinst_core::isa::Op;

use super::{Context, atomic, lds, nothing, unimplemented_step};
use crate::check::{FaultKind, MemorySpace, NearestAllocation, Outcome, Trap};
use crate::memory::{Allocation, Memory, PRIVATE_APERTURE, Protection, SHARED_APERTURE};
use crate::program::{Action, Handler, MemoryAccess, Space, Src, Step};
use crate::wave::{FLAT_SCRATCH, LANES, Scratch, Wave, odd_operand};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Handler {
    let name = op.name();
    if name.starts_with("buffer_wb") || name.starts_with("buffer_inv") {
        return nothing;
    }
    if name.contains("_format_") || name.starts_with("buffer_store_lds") {
        return unimplemented_step;
    }
    access
}

/// Where a lane's access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Device memory.
    Global(u64),
    Lds(u64),
    /// The lane's private memory, by byte; reached through the flat scratch base.
    Private(u64),
    /// The wave's scratch through a swizzled resource: base of the resource with the scalar offset, then the lane's.
    Swizzled {
        base: u64,
        offset: u64,
    },
    /// Out of a buffer's range: reads zero, writes nothing.
    Nowhere,
}

fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = lds::access_of(step)?;
    if access.to_lds {
        return Err(Trap::unimplemented(step.op, "with its result to LDS"));
    }
    let w = &mut *context.wave;
    let mut places = [Place::Nowhere; LANES];
    let global = match access.space {
        Space::Flat => flat_places(w, access, &mut places),
        Space::Global => global_places(w, access, &mut places),
        Space::Scratch => scratch_places(w, access, &mut places),
        Space::Buffer => buffer_places(w, access, &mut places),
        Space::Lds => return Err(odd_operand(step.op)),
    };
    if let Some((low, high)) = global {
        let size = u64::from(bytes_of(access.action));
        let end = high.saturating_add(size);
        // A store or atomic must also be allowed to write: the slow path names the fault.
        let writes = !matches!(access.action, Action::Load { .. });
        if let Some((allocation, _)) = context.memory.find(low, end - low)
            && !(writes && allocation.protection == Protection::ReadOnly)
        {
            return one_allocation(w, access, allocation, &places);
        }
    }
    lane_by_lane(context, access, &places)
}

fn bytes_of(action: Action) -> u8 {
    match action {
        Action::Load { bytes, .. } | Action::Store { bytes, .. } | Action::Atomic { bytes, .. } => bytes,
    }
}

/// Lowest and highest device address, when every active lane has one.
type Span = Option<(u64, u64)>;

fn note(span: &mut Span, address: u64) {
    let (low, high) = span.unwrap_or((u64::MAX, 0));
    *span = Some((low.min(address), high.max(address)));
}

fn address64(w: &Wave, row: u16, lane: usize) -> u64 {
    w.lane::<u64>(row, lane)
}

fn flat_places(w: &Wave, access: &MemoryAccess, places: &mut [Place; LANES]) -> Span {
    let row = access.vaddr?;
    let mut span = None;
    let mut only_global = true;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let address = address64(w, row, lane).wrapping_add_signed(access.offset);
        places[lane] = match address >> 32 {
            high if high == SHARED_APERTURE >> 32 => Place::Lds(address & 0xffff_ffff),
            high if high == PRIVATE_APERTURE >> 32 => Place::Private(address & 0xffff_ffff),
            _ => {
                note(&mut span, address);
                Place::Global(address)
            }
        };
        only_global &= matches!(places[lane], Place::Global(_));
    }
    span.filter(|_| only_global)
}

fn global_places(w: &Wave, access: &MemoryAccess, places: &mut [Place; LANES]) -> Span {
    let base = match access.scalar {
        Src::None => None,
        source => Some(w.scalar64(source)),
    };
    let mut span = None;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let address = match (base, access.vaddr) {
            (Some(base), Some(row)) => base.wrapping_add(u64::from(w.lane::<u32>(row, lane))),
            (Some(base), None) => base,
            (None, Some(row)) => address64(w, row, lane),
            (None, None) => 0,
        };
        let address = address.wrapping_add_signed(access.offset);
        note(&mut span, address);
        places[lane] = Place::Global(address);
    }
    span
}

fn scratch_places(w: &Wave, access: &MemoryAccess, places: &mut [Place; LANES]) -> Span {
    let base = w.scalar32(access.scalar);
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let offset = access.vaddr.map_or(0, |row| w.lane::<u32>(row, lane)).wrapping_add(base);
        places[lane] = Place::Private(u64::from(offset).wrapping_add_signed(access.offset) & 0xffff_ffff);
    }
    None
}

/// Buffer addressing (Vega ISA manual, "Buffer addressing").
fn buffer_places(w: &Wave, access: &MemoryAccess, places: &mut [Place; LANES]) -> Span {
    let low = w.s64(access.resource);
    let high = w.s64(access.resource + 2);
    let (base, mut stride) = (low & 0xffff_ffff_ffff, low >> 48 & 0x3fff);
    let swizzle = low >> 63 != 0;
    let records = high & 0xffff_ffff;
    let word3 = (high >> 32) as u32;
    let index_stride = 8u64 << (word3 >> 21 & 3);
    let add_lane = word3 & 1 << 23 != 0;
    if add_lane {
        // The data format's bits are the upper ones of the stride then; for scratch the stride is 0 and they are not.
        stride |= if stride != 0 { u64::from(word3 >> 15 & 15) << 14 } else { 0 };
    }
    let scalar = u64::from(w.scalar32(access.scalar));
    let mut span = None;
    let mut only_global = true;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let mut registers = access.vaddr.into_iter().flat_map(|row| [row, row + 1]);
        let mut next = |wanted: bool| {
            if wanted { registers.next().map_or(0, |row| u64::from(w.lane::<u32>(row, lane))) } else { 0 }
        };
        let index = next(access.idxen) + if add_lane { lane as u64 } else { 0 };
        let offset = next(access.offen).wrapping_add_signed(access.offset) & 0xffff_ffff;
        places[lane] = if swizzle && add_lane && stride == 0 && index_stride == LANES as u64 {
            // The form of private memory: no range check.
            only_global = false;
            Place::Swizzled { base: base + scalar, offset }
        } else {
            let size = u64::from(bytes_of(access.action));
            let outside = if stride == 0 || !access.idxen && !swizzle {
                offset + size > records
            } else {
                index >= records
            };
            let element = 4u64;
            let linear = if swizzle {
                let (index_high, index_low) = (index / index_stride, index % index_stride);
                let (offset_high, offset_low) = (offset / element, offset % element);
                (index_high * stride + offset_high * element) * index_stride
                    + index_low * element
                    + offset_low
            } else {
                index * stride + offset
            };
            if outside {
                only_global = false;
                Place::Nowhere
            } else {
                let address = base + scalar + linear;
                note(&mut span, address);
                Place::Global(address)
            }
        };
    }
    span.filter(|_| only_global)
}

/// The fast path: every active lane's bytes are inside one allocation that may be accessed so.
fn one_allocation(
    w: &mut Wave,
    access: &MemoryAccess,
    allocation: &Allocation,
    places: &[Place; LANES],
) -> Outcome {
    let exec = w.exec;
    let offset = |lane: usize| match places[lane] {
        Place::Global(address) => (address - allocation.address) as usize,
        _ => 0,
    };
    let active = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
    let bytes = &allocation.bytes;
    match access.action {
        Action::Load { bytes: 4, .. } => {
            for lane in active {
                w.rows[usize::from(access.dst)][lane] = bytes.load::<4>(offset(lane)) as u32;
            }
        }
        Action::Store { bytes: 4, .. } => {
            for lane in active {
                bytes.store::<4>(offset(lane), u64::from(w.rows[usize::from(access.data[0])][lane]));
            }
        }
        _ => {
            for lane in active {
                let address = allocation.address + offset(lane) as u64;
                in_allocation(w, access, allocation, address, lane)?;
            }
        }
    }
    Ok(())
}

/// One lane's access, within an allocation.
fn in_allocation(
    w: &mut Wave,
    access: &MemoryAccess,
    allocation: &Allocation,
    address: u64,
    lane: usize,
) -> Outcome {
    let at = (address - allocation.address) as usize;
    let memory = &allocation.bytes;
    match access.action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = if bytes == 1 { memory.load::<1>(at) } else { memory.load::<2>(at) };
            lds::put_small(w, access.dst, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                w.rows[usize::from(access.dst) + dword][lane] = memory.load::<4>(at + 4 * dword) as u32;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = lds::get_small(w, access.data[0], lane, part);
            if bytes == 1 { memory.store::<1>(at, value) } else { memory.store::<2>(at, value) }
        }
        Action::Store { bytes, .. } => {
            for dword in 0..usize::from(bytes / 4) {
                memory
                    .store::<4>(at + 4 * dword, u64::from(w.rows[usize::from(access.data[0]) + dword][lane]));
            }
        }
        Action::Atomic { op, bytes, returns } => {
            let required = u32::from(bytes);
            if !address.is_multiple_of(u64::from(required)) {
                let kind = FaultKind::Misaligned {
                    space: MemorySpace::Global,
                    address,
                    size: required,
                    required,
                    write: true,
                };
                return Err(Trap::at_lane(kind, lane));
            }
            let (data, second) = atomic_operands(w, access, op, bytes, lane);
            let f = |old| atomic::apply(op, bytes, old, data, second);
            let old = if bytes == 8 { memory.update::<8>(at, f) } else { memory.update::<4>(at, f) };
            if returns {
                lds::set_result(w, access.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}

/// The operands as [`atomic::apply`] takes them: compare-and-swap has the new value first, then what to compare with.
fn atomic_operands(
    w: &Wave,
    access: &MemoryAccess,
    op: crate::program::AtomicOp,
    bytes: u8,
    lane: usize,
) -> (u64, u64) {
    let first = lds::operand(w, access.data[0], lane, bytes);
    if op == crate::program::AtomicOp::CmpSwap {
        let compare = lds::operand(w, access.data[0] + u16::from(bytes / 4), lane, bytes);
        (compare, first)
    } else {
        (first, 0)
    }
}

/// The general path: each lane finds its own memory. Nothing is written before every lane's place has been checked only
/// as far as the lanes before a faulting one go, as on hardware a faulting wave leaves partial results.
fn lane_by_lane(context: &mut Context<'_>, access: &MemoryAccess, places: &[Place; LANES]) -> Outcome {
    let Context { wave: w, lds: group, memory, .. } = context;
    let write = !matches!(access.action, Action::Load { .. });
    let bytes = bytes_of(access.action);
    let exec = w.exec;
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        match places[lane] {
            Place::Global(address) => match w.scratch.offset_of(address) {
                Some(at) => scratch(w, access, lane, &|byte| Some(at + byte as usize), address)?,
                None => {
                    let allocation = checked(memory, address, bytes, write, lane)?;
                    in_allocation(w, access, allocation, address, lane)?;
                }
            },
            Place::Lds(address) => {
                let is_atomic = matches!(access.action, Action::Atomic { .. });
                let at = lds::check(group, address, bytes, write, is_atomic, lane)?;
                match access.action {
                    Action::Atomic { op, bytes, returns } => {
                        let (data, second) = atomic_operands(w, access, op, bytes, lane);
                        let old = lds::load(group, at, usize::from(bytes));
                        let new = atomic::apply(op, bytes, old, data, second);
                        lds::store(group, at, usize::from(bytes), new);
                        if returns {
                            lds::set_result(w, access.dst, lane, bytes, old);
                        }
                    }
                    action @ Action::Load { .. } => lds::transfer(w, group, action, at, lane, access.dst),
                    action => lds::transfer(w, group, action, at, lane, access.data[0]),
                }
            }
            Place::Private(offset) => {
                let base = w.s64(FLAT_SCRATCH);
                let first = w.scratch.offset_of(base);
                let place = |byte: u64| {
                    first
                        .map(|first| first as u64 + Scratch::swizzle(offset + byte, lane))
                        .map(|at| at as usize)
                };
                scratch(w, access, lane, &place, offset)?;
            }
            Place::Swizzled { base, offset } => {
                let first = w.scratch.offset_of(base);
                let place = |byte: u64| {
                    first
                        .map(|first| first as u64 + Scratch::swizzle(offset + byte, lane))
                        .map(|at| at as usize)
                };
                scratch(w, access, lane, &place, offset)?;
            }
            Place::Nowhere => {
                if let Action::Load { bytes, .. } = access.action {
                    for dword in 0..usize::from(bytes.div_ceil(4)) {
                        w.rows[usize::from(access.dst) + dword][lane] = 0;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The allocation that an access may go to, or what is wrong with it.
fn checked(memory: &Memory, address: u64, bytes: u8, write: bool, lane: usize) -> Outcome<&Allocation> {
    let size = u32::from(bytes);
    let Some((allocation, _)) = memory.find(address, u64::from(size)) else {
        return Err(Trap::at_lane(memory.diagnose(MemorySpace::Global, address, size, write), lane));
    };
    if write && allocation.protection == Protection::ReadOnly {
        let kind = FaultKind::ReadOnly { address, size, label: allocation.label.clone() };
        return Err(Trap::at_lane(kind, lane));
    }
    Ok(allocation)
}

/// One lane's access to scratch; `place` gives a byte's position in the wave's part.
fn scratch(
    w: &mut Wave,
    access: &MemoryAccess,
    lane: usize,
    place: &dyn Fn(u64) -> Option<usize>,
    offset: u64,
) -> Outcome {
    let bytes = bytes_of(access.action);
    let write = !matches!(access.action, Action::Load { .. });
    let outside = |w: &Wave| {
        let size = u64::from(w.scratch.per_lane());
        let nearest = NearestAllocation {
            label: "the work-item's scratch".to_owned(),
            address: 0,
            size,
            distance: offset.saturating_sub(size) as i64,
        };
        let kind = FaultKind::OutOfBounds {
            space: MemorySpace::Scratch,
            address: offset,
            size: u32::from(bytes),
            write,
            nearest: Some(Box::new(nearest)),
        };
        Trap::at_lane(kind, lane)
    };
    // Stay in bytes where an access crosses dwords, which lie apart.
    let read = |w: &Wave, first: u64, count: u64| -> Option<u64> {
        if count == 4 && offset.is_multiple_of(4) {
            return w.scratch.load_dword(place(first)?).map(u64::from);
        }
        (0..count).try_fold(0, |value, byte| {
            Some(value | u64::from(w.scratch.load(place(first + byte)?)?) << (8 * byte))
        })
    };
    let store = |w: &mut Wave, first: u64, count: u64, value: u64| -> Option<()> {
        if count == 4 && offset.is_multiple_of(4) {
            return w.scratch.store_dword(place(first)?, value as u32).then_some(());
        }
        (0..count).try_for_each(|byte| {
            w.scratch.store(place(first + byte)?, (value >> (8 * byte)) as u8).then_some(())
        })
    };
    match access.action {
        Action::Load { bytes, signed, part } if bytes < 4 => {
            let value = read(w, 0, u64::from(bytes)).ok_or_else(|| outside(w))?;
            lds::put_small(w, access.dst, lane, value, bytes, signed, part);
        }
        Action::Load { bytes, .. } => {
            for dword in 0..u64::from(bytes / 4) {
                let value = read(w, 4 * dword, 4).ok_or_else(|| outside(w))?;
                w.rows[usize::from(access.dst) + dword as usize][lane] = value as u32;
            }
        }
        Action::Store { bytes, part } if bytes < 4 => {
            let value = lds::get_small(w, access.data[0], lane, part);
            store(w, 0, u64::from(bytes), value).ok_or_else(|| outside(w))?;
        }
        Action::Store { bytes, .. } => {
            for dword in 0..u64::from(bytes / 4) {
                let value = u64::from(w.rows[usize::from(access.data[0]) + dword as usize][lane]);
                store(w, 4 * dword, 4, value).ok_or_else(|| outside(w))?;
            }
        }
        Action::Atomic { op, bytes, returns } => {
            let (data, second) = atomic_operands(w, access, op, bytes, lane);
            let halves = |w: &Wave| -> Option<u64> {
                let low = read(w, 0, 4)?;
                Some(if bytes == 8 { low | read(w, 4, 4)? << 32 } else { low })
            };
            let old = halves(w).ok_or_else(|| outside(w))?;
            let new = atomic::apply(op, bytes, old, data, second);
            store(w, 0, 4, new & 0xffff_ffff).ok_or_else(|| outside(w))?;
            if bytes == 8 {
                store(w, 4, 4, new >> 32).ok_or_else(|| outside(w))?;
            }
            if returns {
                lds::set_result(w, access.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}
