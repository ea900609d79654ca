//! Whether the order of workgroups can show in a kernel's result.
//!
//! The rule: workgroups run on several threads unless code that the kernel can reach
//!
//! * returns the old value of an atomic on device memory, or of a GWS operation,
//! * does an atomic on device memory that does not commute (exchange, compare-and-swap, increment or decrement with
//!   wrap-around, anything on floats),
//! * reads a clock, or
//! * writes device memory through scalar stores or scalar atomics.
//!
//! Then they run in order on one thread. What is left is plain loads and stores, and integer atomics without a result.
//! Integer atomics give the same final values in every order. Plain accesses of different workgroups to one address, one
//! of them a write, are a data race in the programming model, and only a kernel that has one can see a difference.

use amdinst_core::isa::Op;

use crate::exec;
use crate::program::{Action, Program, Space, Step};

/// Whether the kernel at this step must have its workgroups run in order.
pub(super) fn matters(program: &Program, entry: u32) -> bool {
    let mut seen = vec![false; program.steps.len()];
    let mut open = vec![entry];
    let mut everything = false;
    while let Some(start) = open.pop() {
        let mut at = start as usize;
        while let Some(step) = program.steps.get(at).filter(|_| !seen[at]) {
            seen[at] = true;
            if is_sensitive(step) {
                return true;
            }
            // A computed jump may go to any function of the code object.
            everything |= matches!(step.op, Op::s_swappc_b64 | Op::s_setpc_b64);
            if exec::is_direct_branch(step.op) && step.imm >= 0 {
                open.push(step.imm as u32);
            }
            if matches!(step.op, Op::s_endpgm | Op::s_branch | Op::s_setpc_b64) {
                break;
            }
            at += 1;
        }
    }
    everything && program.steps.iter().any(is_sensitive)
}

fn is_sensitive(step: &Step) -> bool {
    let name = step.op.name();
    let scalar = name.starts_with("s_atomic")
        || name.starts_with("s_buffer_atomic")
        || name.starts_with("s_store")
        || name.starts_with("s_buffer_store")
        || name.starts_with("s_scratch_store")
        || matches!(step.op, Op::s_memtime | Op::s_memrealtime);
    let memory = step.extra.as_ref().and_then(|extra| extra.memory);
    let vector = memory.is_some_and(|access| match access.action {
        Action::Atomic { op, returns, .. } => access.space != Space::Lds && (returns || !op.commutes()),
        _ => false,
    });
    scalar || vector || name.starts_with("ds_gws")
}
