//! Vector memory: FLAT, GLOBAL, SCRATCH, MUBUF.
//!
//! Each lane's address becomes a place: a device address, an LDS offset, or a position in the wave's scratch. When
//! all active lanes' device addresses lie in one allocation, that is found once for the instruction.

mod allocation;
mod buffer;
mod flat;
mod scratch;

use amdinst_core::isa::Op;

use super::lane_data::set_result;
use super::{Context, atomic, lds, nothing, unimplemented_step};
use crate::check::{FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::{Allocation, Memory, Protection};
use crate::program::{Action, Handler, MemoryAccess, Space, Step};
use crate::wave::{FLAT_SCRATCH, LANES, Scratch, odd_operand};
use allocation::{atomic_operands, in_allocation, one_allocation};

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
        Space::Flat => flat::flat_places(w, access, &mut places),
        Space::Global => flat::global_places(w, access, &mut places),
        Space::Scratch => flat::scratch_places(w, access, &mut places),
        Space::Buffer => buffer::buffer_places(w, access, &mut places),
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
                Some(at) => scratch::scratch(w, access, lane, &|byte| Some(at + byte as usize), address)?,
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
                            set_result(w, access.dst, lane, bytes, old);
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
                scratch::scratch(w, access, lane, &place, offset)?;
            }
            Place::Swizzled { base, offset } => {
                let first = w.scratch.offset_of(base);
                let place = |byte: u64| {
                    first
                        .map(|first| first as u64 + Scratch::swizzle(offset + byte, lane))
                        .map(|at| at as usize)
                };
                scratch::scratch(w, access, lane, &place, offset)?;
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
