//! LDS instructions: DS.

mod addressed_by_m0;
mod exchange;
mod memory;

use amdinst_core::isa::Op;

pub(super) use memory::{check, load, store, transfer};

use super::lane_data::{operand, set_result};
use super::{Context, atomic, unimplemented_step};
use crate::check::{Outcome, Trap};
use crate::program::{Action, Handler, MemoryAccess, Step};
use crate::wave::{LANES, odd_operand};

/// The function that executes a DS instruction.
pub(super) fn handler(op: Op) -> Handler {
    match op {
        Op::ds_permute_b32 | Op::ds_bpermute_b32 | Op::ds_swizzle_b32 => exchange::exchange,
        Op::ds_nop => super::nothing,
        Op::ds_append | Op::ds_consume => addressed_by_m0::count,
        Op::ds_read_addtid_b32 | Op::ds_write_addtid_b32 => addressed_by_m0::by_lane,
        _ if op.name().starts_with("ds_gws") => unimplemented_step,
        _ => access,
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
