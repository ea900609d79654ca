//! Whether the order of workgroups can show in a kernel's result.
//!
//! The rule: workgroups run on several threads unless code that the kernel can reach
//!
//! * returns the old value of an atomic on device memory, or of a GWS operation,
//! * does an atomic on device memory that does not commute (exchange, compare-and-swap, increment or
//!   decrement with wrap-around, anything on floats),
//! * does atomics on device memory of several kinds, which commute with their own kind alone (additions and
//!   maxima; 32 and 64 bits),
//! * reads a clock, or
//! * writes device memory through scalar stores or scalar atomics.
//!
//! Then they run in order on one thread. What is left is plain loads and stores, and integer atomics without
//! a result. Integer atomics of one kind give the same final values in every order. Plain accesses of
//! different workgroups to one address, one of them a write, are a data race in the programming model, and
//! only a kernel that has one can see a difference.
//!
//! Launches that must give one result whatever the number of threads, though their workgroups may race, are
//! scanned for such accesses ([`crate::Config::deterministic`], `dispatch::checked`). The few that no scan
//! sees are looked for here.

use amdgpu_isa::Families;

use crate::program::{Action, Space, Step};

/// Whether a kernel that can reach these steps must have its workgroups run in order.
pub(super) fn matters(steps: &[&Step]) -> bool {
    let mut kinds = steps.iter().filter_map(|step| match atomic(step)? {
        Action::Atomic { op, bytes, .. } => Some((op.commuting()?, bytes)),
        _ => None,
    });
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first) || steps.iter().any(|step| is_sensitive(step))
}

/// Whether there are steps at which waves of different workgroups wait for each other.
pub(super) fn synchronise(steps: &[&Step]) -> bool {
    steps.iter().any(|step| step.op.is_of(Families::GLOBAL_SYNC))
}

/// The atomic that a step does on device memory.
fn atomic(step: &Step) -> Option<Action> {
    let access = step.extra.as_ref().and_then(|extra| extra.memory)?;
    let is_one = access.space != Space::Lds && matches!(access.action, Action::Atomic { .. });
    is_one.then_some(access.action)
}

/// Whether there are accesses to device memory that a scan does not see: those that convert.
pub(super) fn has_unseen(steps: &[&Step]) -> bool {
    steps.iter().any(|step| converts(step))
}

/// Whether a step's access to memory converts.
pub(super) fn converts(step: &Step) -> bool {
    let access = step.extra.as_ref().and_then(|extra| extra.memory);
    access.is_some_and(|access| access.typed.is_some())
}

fn is_sensitive(step: &Step) -> bool {
    let vector = matches!(
        atomic(step),
        Some(Action::Atomic { op, returns, .. }) if returns || op.commuting().is_none()
    );
    vector || is_sensitive_scalar(step)
}

/// Whether a step writes device memory through the scalar cache, reads a clock, or does a GWS operation.
pub(super) fn is_sensitive_scalar(step: &Step) -> bool {
    let scalar = step.extra.as_ref().and_then(|extra| extra.scalar);
    scalar.is_some_and(|access| !matches!(access.action, Action::Load { .. }))
        || step.op.is_of(Families::GLOBAL_SYNC)
        || step.flags.reads_clock
}
