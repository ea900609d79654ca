//! LDS instructions: DS.

mod addressed_by_m0;
mod exchange;
mod global_sync;
mod memory;
mod source_in_lds;
mod transpose;

use amdgpu_isa::{Families, Op};

pub(crate) use exchange::exchanged_lane;
use memory::check_to_m0;
pub(super) use memory::{check, load, store, transfer};

use super::atomic_float::FloatRules;
use super::footprint::Footprint;
use super::lane_data::{operand, set_result};
use super::{atomic, lane_race, unimplemented_step, unsupported};
use crate::check::{AccessKind, Outcome, Trap};
use crate::program::{Action, Context, Handler, MemoryAccess, Step};
use crate::watch::Watch;
use crate::wave::{LANES, Wave, odd_operand};

/// The function that executes a DS instruction.
pub(super) fn handler(op: Op) -> Handler {
    special(op).unwrap_or(access)
}

/// Whether a DS instruction reads, writes or updates what each lane's address says, and does no more.
pub(crate) fn is_plain(op: Op) -> bool {
    special(op).is_none()
}

/// The function of an instruction that does something else than [`access`].
fn special(op: Op) -> Option<Handler> {
    Some(match op {
        Op::ds_permute_b32 | Op::ds_bpermute_b32 | Op::ds_bpermute_fi_b32 | Op::ds_swizzle_b32 => {
            exchange::exchange
        }
        Op::ds_nop => super::nothing,
        Op::ds_append | Op::ds_consume => addressed_by_m0::count,
        Op::ds_read_addtid_b32 | Op::ds_write_addtid_b32 => addressed_by_m0::by_lane,
        _ if unsupported::reason(op).is_some() => unimplemented_step,
        _ if op.is_of(Families::GLOBAL_SYNC) => global_sync::sync,
        _ if op.is_of(Families::SOURCE_IN_LDS) => source_in_lds::access,
        _ if transpose::element_bits(op).is_some() => transpose::read,
        _ => return None,
    })
}

/// The access of a step.
pub(super) fn access_of(step: &Step) -> Outcome<&MemoryAccess> {
    step.extra
        .as_ref()
        .and_then(|extra| extra.memory.as_ref())
        .ok_or_else(|| Trap::unimplemented(step.op, ""))
}

/// The LDS bytes that an instruction is about to access.
pub(crate) fn footprint(w: &Wave, access: &MemoryAccess, out: &mut Footprint) {
    let Some(row) = access.vaddr.map(usize::from) else { return };
    out.local = w.exec;
    out.second = access.second.map(|second| (second - access.offset) as i32);
    for (lane, offset) in out.offset.iter_mut().enumerate() {
        *offset = w.rows[row][lane].wrapping_add(access.offset as u32);
    }
}

/// Instructions on the global data share are not executed.
fn no_gds(step: &Step) -> Outcome {
    match &step.extra {
        Some(extra) if extra.inst.mods.gds => Err(Trap::unimplemented(step.op, "on the global data share")),
        _ => Ok(()),
    }
}

/// Reads, writes and atomics, lane by lane in ascending order.
fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = access_of(step)?;
    let vaddr = access.vaddr.ok_or_else(|| odd_operand(step.op))?;
    no_gds(step)?;
    let Context { wave: w, lds, .. } = context;
    let exec = w.exec;
    // Results must not overwrite addresses of lanes still to come: each lane reads only its own, so order is
    // free.
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let base = u64::from(w.rows[usize::from(vaddr)][lane]);
        let address = |offset: i64| base.wrapping_add_signed(offset) & 0xffff_ffff;
        match access.action {
            Action::Atomic { op, bytes, returns } => {
                let first =
                    check_to_m0(lds, w, AccessKind::Atomic, address(access.offset), bytes, bytes, lane)?;
                let data = operand(w, access.data[0], lane, bytes);
                let second = operand(w, access.data[1], lane, bytes);
                if let Some(offset) = access.second {
                    let other = check_to_m0(lds, w, AccessKind::Atomic, address(offset), bytes, bytes, lane)?;
                    let at = [first, other];
                    exchange_two(w, lds, access, bytes, lane, at, [data, second]);
                    continue;
                }
                let float_rules = FloatRules::in_lds(op, bytes, w);
                let old = load(lds, first, usize::from(bytes));
                let new = atomic::apply(op, bytes, old, data, second, float_rules);
                store(lds, first, usize::from(bytes), new);
                if returns {
                    set_result(w, access.dst, lane, bytes, old);
                }
            }
            action @ Action::Load { bytes, .. } => {
                let at = check_to_m0(lds, w, AccessKind::Read, address(access.offset), bytes, 1, lane)?;
                let second = match access.second {
                    Some(second) => {
                        Some(check_to_m0(lds, w, AccessKind::Read, address(second), bytes, 1, lane)?)
                    }
                    None => None,
                };
                transfer(w, lds, action, at, lane, access.dst);
                if let Some(at) = second {
                    transfer(w, lds, action, at, lane, access.dst + u16::from(bytes / 4));
                }
            }
            action @ Action::Store { bytes, .. } => {
                let at = check_to_m0(lds, w, AccessKind::Write, address(access.offset), bytes, 1, lane)?;
                transfer(w, lds, action, at, lane, access.data[0]);
                // Equal offsets mean one write, of the first data (Vega ISA manual, "Double Address
                // Instructions").
                if let Some(second) = access.second.filter(|second| *second != access.offset) {
                    let at = check_to_m0(lds, w, AccessKind::Write, address(second), bytes, 1, lane)?;
                    transfer(w, lds, action, at, lane, access.data[1]);
                }
            }
        }
    }
    lds.settle()?;
    match &context.watch {
        Watch::Races(races) => lane_race::judged(races, w, lane_races(w, access, vaddr))?,
        Watch::Scan(_) => {
            if let Some(scan) = lds.scan()
                && lane_races(w, access, vaddr).is_err()
            {
                scan.report_lanes();
            }
        }
        Watch::Nobody | Watch::Trace(_) => {}
    }
    Ok(())
}

/// Whether lanes have stored different values to one place.
fn lane_races(w: &Wave, access: &MemoryAccess, vaddr: u16) -> Outcome {
    let offsets = [Some(access.offset), access.second.filter(|second| *second != access.offset)];
    let active = (0..LANES).filter(|lane| w.active(*lane));
    let stores = active.flat_map(|lane| {
        let base = u64::from(w.rows[usize::from(vaddr)][lane]);
        offsets.into_iter().zip(access.data).filter_map(move |(offset, row)| {
            let address = base.wrapping_add_signed(offset?) & 0xffff_ffff;
            Some(lane_race::Store { address, lane, row })
        })
    });
    lane_race::check(w, None, access.action, &mut stores.collect::<Vec<_>>())
}

/// `ds_wrxchg2_*`: both places are read before either is written. Equal offsets mean one exchange, with the
/// first data (Vega ISA manual, "Double Address Instructions").
fn exchange_two(
    w: &mut Wave,
    lds: &mut [u8],
    access: &MemoryAccess,
    bytes: u8,
    lane: usize,
    at: [usize; 2],
    data: [u64; 2],
) {
    let size = usize::from(bytes);
    let old = at.map(|at| load(lds, at, size));
    store(lds, at[0], size, data[0]);
    if at[0] != at[1] {
        store(lds, at[1], size, data[1]);
    }
    set_result(w, access.dst, lane, bytes, old[0]);
    set_result(w, access.dst + u16::from(bytes / 4), lane, bytes, old[1]);
}
