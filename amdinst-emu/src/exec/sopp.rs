//! Program control: SOPP.

use amdgpu_isa::Op;

use crate::check::{FaultKind, Outcome, Trap};
use crate::lds::Arrivals;
use crate::program::{Context, Step};
use crate::wave::{EXEC, M0, Signal, Src, Status, VCC, Wave};

/// The trap that debuggers set: without one it has no effect.
const DEBUG_TRAP: i64 = 3;

/// Branches, barriers, ends and hints.
pub(super) fn sopp(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let taken = match step.op {
        Op::s_waitcnt | Op::s_nop => return Ok(()),
        Op::s_branch => true,
        Op::s_cbranch_scc0 => !w.scc,
        Op::s_cbranch_scc1 => w.scc,
        Op::s_cbranch_vccz => w.mask(VCC) == 0,
        Op::s_cbranch_vccnz => w.mask(VCC) != 0,
        Op::s_cbranch_execz => w.mask(EXEC) == 0,
        Op::s_cbranch_execnz => w.mask(EXEC) != 0,
        // There is no debugger.
        Op::s_cbranch_cdbgsys
        | Op::s_cbranch_cdbguser
        | Op::s_cbranch_cdbgsys_or_user
        | Op::s_cbranch_cdbgsys_and_user => false,
        _ => return other(context, step),
    };
    if taken { branch(context, step) } else { Ok(()) }
}

/// Take a branch to an immediate target.
pub(super) fn branch(context: &mut Context<'_>, step: &Step) -> Outcome {
    if step.imm >= 0 {
        context.wave.next = step.imm as u32;
        return Ok(());
    }
    let target = context.program.text_address.wrapping_add_signed(-1 - step.imm);
    let target = context.program.device_address(target);
    Err(Trap::new(FaultKind::JumpOutside { target }))
}

/// The barriers that a wave can name (RDNA4 ISA, section 5.6).
mod barrier {
    /// The workgroup's.
    pub(super) const WORKGROUP: i32 = -1;
    /// The trap handler's: kernels that name it do nothing.
    pub(super) const TRAP: i32 = -2;
    /// None.
    pub(super) const NONE: i32 = 0;
}

/// The number of the barrier that SOP1 names.
fn named_barrier(w: &Wave, step: &Step) -> Outcome<i32> {
    let number = match step.src[0] {
        Src::Const(number) => number as i32,
        _ => return Err(Trap::unimplemented(step.op, "with the number of a barrier in a register")),
    };
    match number {
        barrier::WORKGROUP if !w.place.in_group => Ok(barrier::NONE),
        barrier::WORKGROUP | barrier::TRAP | barrier::NONE => Ok(number),
        _ => Err(Trap::unimplemented(step.op, "of a named barrier")),
    }
}

/// `s_barrier_signal` and `s_barrier_signal_isfirst`.
pub(super) fn signal_barrier(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let number = named_barrier(w, step)?;
    let arrivals = &mut context.lds.barrier;
    let counts = number == barrier::WORKGROUP;
    if step.op == Op::s_barrier_signal_isfirst {
        w.scc = counts && arrivals.signals == 0;
    }
    if counts {
        if w.signal != Signal::None {
            return Err(Trap::unimplemented(step.op, "for a second time, without waiting in between"));
        }
        w.signal = Signal::Given(w.exec);
        arrivals.signals += 1;
    }
    Ok(())
}

/// `s_get_barrier_state`: whether there is a barrier, how many waves must signal it, and how many have.
pub(super) fn barrier_state(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    named_barrier(w, step)?;
    let Arrivals { members, signals } = context.lds.barrier;
    // The last signal resets the count.
    let signals = if signals >= members { 0 } else { signals };
    w.set_s32(step.sdst, signals << 16 | members << 4 | 1);
    Ok(())
}

/// `s_barrier_wait`.
fn wait_at_barrier(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    match i32::from(step.imm as i16) {
        // A wave alone is its own barrier: what is looked for at one is looked for here, too.
        barrier::WORKGROUP => {
            if !w.place.in_group {
                w.signal = Signal::Given(w.exec);
            }
            w.status = Status::AtBarrier;
            Ok(())
        }
        barrier::TRAP | barrier::NONE => Ok(()),
        _ => Err(Trap::unimplemented(step.op, "at a named barrier")),
    }
}

fn other(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    match step.op {
        Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => w.status = Status::Ended,
        Op::s_barrier => w.status = Status::AtBarrier,
        // A wave that waits for another one must let it run.
        Op::s_sleep => w.status = Status::Yielded,
        Op::s_sethalt => {
            if step.imm & 1 != 0 {
                w.status = Status::Halted;
            }
        }
        Op::s_sendmsghalt => w.status = Status::Halted,
        Op::s_trap => {
            if step.imm != DEBUG_TRAP {
                let kind = FaultKind::Trap(step.imm as u8);
                // A branch that not all lanes took: the first of those that did.
                let some = w.exec != 0 && w.exec.count_ones() as usize != w.lanes();
                return Err(if some { Trap::at_lane(kind, w.first_lane()) } else { Trap::new(kind) });
            }
        }
        Op::s_set_gpr_idx_off => w.set_gpr_index(false),
        Op::s_set_gpr_idx_mode => {
            let m0 = &mut w.s[usize::from(M0)];
            *m0 = *m0 & !0xf000 | (step.imm as u32 & 15) << 12;
        }
        Op::s_round_mode => w.set_mode(w.mode & !0xf | step.imm as u32 & 0xf),
        Op::s_denorm_mode => w.set_mode(w.mode & !0xf0 | (step.imm as u32 & 0xf) << 4),
        // Nothing is ever outstanding.
        Op::s_wait_loadcnt
        | Op::s_wait_storecnt
        | Op::s_wait_samplecnt
        | Op::s_wait_bvhcnt
        | Op::s_wait_expcnt
        | Op::s_wait_dscnt
        | Op::s_wait_kmcnt
        | Op::s_wait_loadcnt_dscnt
        | Op::s_wait_storecnt_dscnt => {}
        Op::s_barrier_wait => return wait_at_barrier(context, step),
        // Hints, caches, messages to the host and profiling: nothing to do.
        Op::s_clause
        | Op::s_delay_alu
        | Op::s_waitcnt_depctr
        | Op::s_wait_idle
        | Op::s_wait_event
        | Op::s_set_inst_prefetch_distance
        | Op::s_ttracedata_imm
        | Op::s_setprio
        | Op::s_wakeup
        | Op::s_icache_inv
        | Op::s_incperflevel
        | Op::s_decperflevel
        | Op::s_ttracedata
        | Op::s_sendmsg
        | Op::s_setkill => {}
        _ => return Err(super::not_executed(step.op)),
    }
    Ok(())
}
