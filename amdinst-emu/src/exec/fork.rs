//! `s_cbranch_g_fork`, `s_cbranch_i_fork` and `s_cbranch_join`: both ways of a branch, the one of fewer lanes
//! first, with a stack in SGPRs (Vega ISA manual, "Arbitrary Divergent Control Flow").
//!
//! MODE.CSP counts the entries. One takes four SGPRs: EXEC in the lower two, the address in the upper two, as
//! the manual's pseudocode concatenates them.

use amdgpu_isa::Op;

use crate::check::{Outcome, Trap};
use crate::program::{Context, Handler, Step};
use crate::wave::EXEC;

/// First bit of MODE.CSP, the uppermost three.
const CSP: u32 = 29;

/// Whether it is one of these.
pub(crate) fn is_fork(op: Op) -> bool {
    handler(op).is_some()
}

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::s_cbranch_g_fork | Op::s_cbranch_i_fork => fork,
        Op::s_cbranch_join => join,
        _ => return None,
    })
}

fn fork(context: &mut Context<'_>, step: &Step) -> Outcome {
    let target = target(context, step);
    let behind = context.next_pc(step);
    let w = &mut *context.wave;
    let (condition, exec) = (w.scalar64(step.src[0]), w.exec);
    let (pass, fail) = (condition & exec, !condition & exec);
    if pass == exec {
        return context.jump(target);
    }
    if fail == exec {
        return Ok(());
    }
    let fail_first = fail.count_ones() < pass.count_ones();
    let (now, (address, later)) = if fail_first { (fail, (target, pass)) } else { (pass, (behind, fail)) };
    let depth = w.mode >> CSP;
    if depth == 7 {
        return Err(Trap::unimplemented(step.op, "deeper than the branch stack"));
    }
    let entry = 4 * depth as u8;
    w.set_s64(entry, later);
    w.set_s64(entry + 2, address);
    w.set_mode(w.mode + (1 << CSP));
    w.set_s64(EXEC, now);
    if fail_first { Ok(()) } else { context.jump(target) }
}

fn join(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let depth = w.mode >> CSP;
    if depth == w.scalar32(step.src[0]) {
        return Ok(());
    }
    let Some(entry) = depth.checked_sub(1).map(|depth| 4 * depth as u8) else {
        return Err(Trap::unimplemented(step.op, "with an empty branch stack"));
    };
    w.set_mode(w.mode - (1 << CSP));
    w.set_s64(EXEC, w.s64(entry));
    let address = w.s64(entry + 2);
    context.jump(address)
}

/// The device address that a fork goes to.
fn target(context: &Context<'_>, step: &Step) -> u64 {
    let program = context.program;
    if step.op == Op::s_cbranch_g_fork {
        return context.wave.scalar64(step.src[1]);
    }
    let address = match usize::try_from(step.imm) {
        Ok(index) => program.pc(&program.steps[index]),
        // No step is there: the offset is kept in the negative.
        Err(_) => program.text_address.wrapping_add_signed(-1 - step.imm),
    };
    program.device_address(address)
}
