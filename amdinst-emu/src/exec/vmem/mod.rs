//! Vector memory: FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF.
//!
//! Each lane's address becomes a place: a device address, an LDS offset, or a position in the wave's scratch.
//! When all active lanes' device addresses lie in one allocation, that is found once for the instruction.
//!
//! Addresses have no alignment but for atomics: HSA sets SH_MEM_CONFIG.ALIGNMENT_MODE to "unaligned" (AMDGPU
//! user guide, "Memory Model"). Cache policy bits (GLC, SLC, SCC, SC0, SC1, NT) do not change results.

mod allocation;
mod buffer;
mod device;
mod flat;
mod footprint;
mod formats;
mod lds_dma;
mod scratch;
mod typed;
mod watch;

use amdgpu_isa::Op;

use super::atomic_float::FloatRules;
use super::lane_data::set_result;
use super::{atomic, lds, nothing, unimplemented_step, unsupported};
use crate::check::{AccessKind, Outcome, Trap};
use crate::memory::Protection;
use crate::program::{Action, Context, Handler, MemoryAccess, Space, Step};
use crate::rules::Buffers;
use crate::wave::{LANES, Scratch, odd_operand};
pub(crate) use buffer::{Bytes, plain};
pub(crate) use footprint::footprint;
pub(crate) use watch::passes_the_cache;

use allocation::{atomic_operands, in_allocation, one_allocation};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Handler {
    match op {
        // Caches of a compute unit, of a shader array, and all.
        Op::buffer_wbinvl1
        | Op::buffer_wbinvl1_vol
        | Op::buffer_inv
        | Op::buffer_invl2
        | Op::buffer_gl0_inv
        | Op::buffer_gl1_inv
        | Op::global_inv
        | Op::global_wbinv => acquire,
        Op::buffer_wbl2 | Op::global_wb => nothing,
        _ if unsupported::reason(op).is_some() => unimplemented_step,
        _ => access,
    }
}

/// Caches are not modelled: what is left of emptying one is that what comes next has been ordered by someone.
fn acquire(context: &mut Context<'_>, _: &Step) -> Outcome {
    if let Some(mut races) = context.device_races() {
        races.acquire(context.wave);
    }
    Ok(())
}

/// Where a lane's access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneAddress {
    /// Device memory.
    Global(u64),
    Lds(u64),
    /// The lane's private memory, by byte; reached through the flat scratch base.
    Private(u64),
    /// The wave's scratch through a swizzled resource: base of the resource with the scalar offset, then the
    /// lane's.
    Swizzled {
        base: u64,
        offset: u64,
    },
    /// A buffer's record, where the access lies in pieces or only in part in range.
    Pieces {
        index: u64,
        offset: u64,
    },
    /// Out of a buffer's range: reads zero, writes nothing.
    Nowhere,
}

fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = lds::access_of(step)?;
    if access.tfe {
        return Err(Trap::unimplemented(step.op, "with a texture fail status"));
    }
    if access.typed.is_some() && context.wave.rules.buffers != Buffers::TwoFormats {
        return Err(Trap::unimplemented(step.op, "with data formats of this generation"));
    }
    if access.lds_dma {
        return lds_dma::transfer(context, step, access);
    }
    perform(context, step, access)
}

/// Do a load, store or atomic between memory and registers.
fn perform(context: &mut Context<'_>, step: &Step, access: &MemoryAccess) -> Outcome {
    if let Some(typed) = &access.typed {
        return typed::access(context, step, access, typed);
    }
    let w = &mut *context.wave;
    let mut places = [LaneAddress::Nowhere; LANES];
    let global = match access.space {
        Space::Flat => flat::flat_places(w, access, &mut places),
        Space::Global => flat::global_places(w, access, &mut places),
        Space::Scratch => flat::scratch_places(w, access, &mut places),
        Space::Buffer => buffer::places(w, access, step.op, &mut places)?,
        Space::Lds => return Err(odd_operand(step.op)),
    };
    watch::note(context, step, access, &places)?;
    let before = watch::before(context, access, &places);
    perform_at(context, access, &places, global)?;
    watch::after(context, access, &places, before.as_deref());
    Ok(())
}

/// Do it between these places and registers; `global` is where they lie if all are in device memory.
fn perform_at(
    context: &mut Context<'_>,
    access: &MemoryAccess,
    places: &[LaneAddress; LANES],
    global: Span,
) -> Outcome {
    if let Some((low, high)) = global {
        let size = u64::from(bytes_of(access.action));
        let end = high.saturating_add(size);
        // A store or atomic must also be allowed to write: the slow path names the fault.
        let writes = !matches!(access.action, Action::Load { .. });
        if let Some((allocation, _)) = context.memory.find(low, end - low)
            && !(writes && allocation.protection == Protection::ReadOnly)
        {
            let float_rules = float_rules(context, access);
            one_allocation(context.wave, access, allocation, places, float_rules)?;
            return watch::settle(context, access, places);
        }
    }
    lane_by_lane(context, access, places)?;
    watch::settle(context, access, places)
}

fn bytes_of(action: Action) -> u8 {
    match action {
        Action::Load { bytes, .. } | Action::Store { bytes, .. } | Action::Atomic { bytes, .. } => bytes,
    }
}

/// What an atomic on device memory does with floats.
fn float_rules(context: &Context<'_>, access: &MemoryAccess) -> FloatRules {
    match access.action {
        Action::Atomic { op, bytes, .. } => {
            FloatRules::in_memory(op, bytes, context.program.target.arch, context.wave)
        }
        _ => FloatRules::default(),
    }
}

/// Lowest and highest device address, when every active lane has one.
type Span = Option<(u64, u64)>;

fn note(span: &mut Span, address: u64) {
    let (low, high) = span.unwrap_or((u64::MAX, 0));
    *span = Some((low.min(address), high.max(address)));
}

/// The general path: each lane finds its own memory. Nothing is written before every lane's place has been
/// checked only as far as the lanes before a faulting one go, as on hardware a faulting wave leaves partial
/// results.
fn lane_by_lane(context: &mut Context<'_>, access: &MemoryAccess, places: &[LaneAddress; LANES]) -> Outcome {
    let float_rules = float_rules(context, access);
    let Context { wave: w, lds: group, memory, .. } = context;
    let write = !matches!(access.action, Action::Load { .. });
    let bytes = bytes_of(access.action);
    let exec = w.exec;
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        match places[lane] {
            LaneAddress::Global(address) => match w.scratch.offset_of(address) {
                Some(at) => {
                    scratch::scratch(
                        w,
                        access,
                        lane,
                        &|byte| Some(at + byte as usize),
                        address,
                        float_rules,
                    )?;
                }
                None => {
                    let allocation = device::checked(memory, address, bytes, write, lane)?;
                    in_allocation(w, access, allocation, address, lane, float_rules)?;
                }
            },
            LaneAddress::Lds(address) => match access.action {
                Action::Atomic { op, bytes, returns } => {
                    let at = lds::check(group, w, AccessKind::Atomic, address, bytes, bytes, lane)?;
                    let (data, second) = atomic_operands(w, access, op, bytes, lane);
                    let old = lds::load(group, at, usize::from(bytes));
                    let in_lds = if w.rules.flat_keeps_subnormals {
                        float_rules
                    } else {
                        FloatRules::in_lds(op, bytes, w)
                    };
                    let new = atomic::apply(op, bytes, old, data, second, in_lds);
                    lds::store(group, at, usize::from(bytes), new);
                    if returns {
                        set_result(w, access.dst, lane, bytes, old);
                    }
                }
                action => {
                    let at = lds::check(group, w, AccessKind::plain(write), address, bytes, 1, lane)?;
                    let row = if write { access.data[0] } else { access.dst };
                    lds::transfer(w, group, action, at, lane, row);
                }
            },
            LaneAddress::Private(offset) => {
                let base = w.flat_scratch();
                let first = w.scratch.offset_of(base);
                let place = |byte: u64| {
                    first
                        .map(|first| first as u64 + Scratch::swizzle(offset + byte, lane))
                        .map(|at| at as usize)
                };
                scratch::scratch(w, access, lane, &place, offset, float_rules)?;
            }
            LaneAddress::Swizzled { base, offset } => {
                let first = w.scratch.offset_of(base);
                let place = |byte: u64| {
                    first
                        .map(|first| first as u64 + Scratch::swizzle(offset + byte, lane))
                        .map(|at| at as usize)
                };
                let reported = w.scratch.lane_offset_of(base) + offset;
                scratch::scratch(w, access, lane, &place, reported, float_rules)?;
            }
            LaneAddress::Pieces { index, offset } => buffer::pieces(w, memory, access, lane, index, offset)?,
            LaneAddress::Nowhere => match access.action {
                Action::Load { bytes, signed, part } if bytes < 4 => {
                    super::lane_data::put_small(w, access.dst, lane, 0, bytes, signed, part);
                }
                Action::Load { bytes, .. } | Action::Atomic { bytes, returns: true, .. } => {
                    for dword in 0..usize::from(bytes / 4) {
                        w.rows[usize::from(access.dst) + dword][lane] = 0;
                    }
                }
                _ => {}
            },
        }
    }
    context.lds.settle()
}
