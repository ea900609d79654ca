//! LDS instructions whose address comes from M0: append, consume, and the ones addressed by lane.

use amdgpu_isa::{AtomicOp, Op};

use super::memory::{check, load, store};
use super::{access_of, no_gds};
use crate::check::{AccessKind, Outcome, Trap};
use crate::exec::atomic;
use crate::exec::atomic_float::FloatRules;
use crate::program::{Context, Step};
use crate::wave::{LANES, M0, Src};

/// `ds_append` and `ds_consume`: add or subtract the number of active lanes at M0's base, once for the wave.
pub(super) fn count(context: &mut Context<'_>, step: &Step) -> Outcome {
    no_gds(step)?;
    let offset = step.extra.as_ref().map_or(0, |extra| extra.inst.mods.offset);
    let Context { wave: w, lds, .. } = context;
    let base = u64::from(w.s[usize::from(M0)] & 0xffff).wrapping_add_signed(i64::from(offset));
    let at = check(lds, w, AccessKind::Atomic, base, 4, 4, w.first_lane())?;
    let old = load(lds, at, 4);
    let lanes = u64::from(w.exec.count_ones());
    let op = if step.op == Op::ds_append { AtomicOp::Add } else { AtomicOp::Sub };
    store(lds, at, 4, atomic::apply(op, 4, old, lanes, 0, FloatRules::default()));
    for lane in (0..LANES).filter(|lane| w.exec >> lane & 1 != 0) {
        w.rows[usize::from(step.dst)][lane] = old as u32;
    }
    Ok(())
}

/// `ds_read_addtid_b32` and `ds_write_addtid_b32`: the address is M0's base plus four bytes a lane.
pub(super) fn by_lane(context: &mut Context<'_>, step: &Step) -> Outcome {
    no_gds(step)?;
    let access = access_of(step);
    let Some(extra) = &step.extra else { return Err(Trap::unimplemented(step.op, "")) };
    let Context { wave: w, lds, .. } = context;
    let base =
        u64::from(w.s[usize::from(M0)] & 0xffff).wrapping_add_signed(i64::from(extra.inst.mods.offset));
    let write = step.op == Op::ds_write_addtid_b32;
    let data = match (access, step.src[0]) {
        (_, Src::Row(row)) if write => row,
        (Ok(access), _) if write => access.data[0],
        _ => step.dst,
    };
    for lane in (0..LANES).filter({
        let exec = w.exec;
        move |lane| exec >> lane & 1 != 0
    }) {
        let at = check(lds, w, AccessKind::plain(write), base + 4 * lane as u64, 4, 1, lane)?;
        if write {
            store(lds, at, 4, u64::from(w.rows[usize::from(data)][lane]));
        } else {
            w.rows[usize::from(data)][lane] = load(lds, at, 4) as u32;
        }
    }
    lds.settle()
}
