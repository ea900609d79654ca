//! Global wave sync (`ds_gws_*`): once for the wave, with the datum of its first active lane.

use amdgpu_isa::Op;

use crate::check::{Outcome, Trap};
use crate::program::{Context, Step};
use crate::wave::{M0, Status, register_row};

/// The counter is that of the offset and of M0's upper half.
pub(super) fn sync(context: &mut Context<'_>, step: &Step) -> Outcome {
    let Some(extra) = &step.extra else { return Err(Trap::unimplemented(step.op, "")) };
    let w = &mut context.wave;
    let row = extra.inst.operands.iter().find_map(|operand| register_row(operand.value));
    let value = row.map_or(0, |row| w.rows[usize::from(row)][w.first_lane()]);
    let resource = (w.s[usize::from(M0)] >> 16).wrapping_add(extra.inst.mods.offset as u32);
    let sync = context.memory.sync();
    w.ticket = match step.op {
        Op::ds_gws_barrier => sync.arrive(resource, value),
        Op::ds_gws_sema_p => sync.wait(resource),
        other => {
            match other {
                Op::ds_gws_init => sync.set(resource, value),
                Op::ds_gws_sema_v => sync.post(resource, 1),
                Op::ds_gws_sema_br => sync.post(resource, value),
                _ => sync.post_all(resource),
            }
            None
        }
    };
    if w.ticket.is_some() {
        w.status = Status::AtSync;
    }
    Ok(())
}
