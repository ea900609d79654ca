//! The run loop: a wave's steps, until its time slice is over or it stops.

use crate::check::Trap;
use crate::config::Config;
use crate::fast::{self, STOP};
use crate::program::{Context, Hot, Step};
use crate::wave::Status;

/// What a step did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepCount {
    pub(crate) executions: u64,
    /// Active lanes, summed.
    pub(crate) lanes: u64,
}

impl StepCount {
    fn count(&mut self, lanes: u64) {
        self.executions += 1;
        self.lanes += lanes;
    }
}

/// Runs a wave for at most `slice` steps in parts, each of which is told how many are left, until the wave
/// waits or ends, or a part traps; returns how many steps ran.
pub(crate) fn in_parts(
    context: &mut Context<'_>,
    slice: u64,
    mut part: impl FnMut(&mut Context<'_>, u64) -> (u64, Result<(), Box<Trap>>),
) -> (u64, Result<(), Box<Trap>>) {
    let mut used = 0;
    while used < slice && context.wave.status == Status::Running {
        let (ran, outcome) = part(context, slice - used);
        used += ran;
        if outcome.is_err() {
            return (used, outcome);
        }
    }
    (used, Ok(()))
}

/// Run a wave for at most `slice` steps, or until it waits or ends; returns how many it ran. `hot` is the
/// program's code for the configuration's level. `counts` has what each step did added, if it is not empty.
pub(crate) fn run_slice(
    context: &mut Context<'_>,
    config: &Config,
    hot: &[Hot],
    slice: u64,
    counts: &mut [StepCount],
) -> (u64, Result<(), Box<Trap>>) {
    let watched = !counts.is_empty() || context.program.reads_clock;
    let mut used = 0;
    let mut outcome = Ok(());
    while outcome.is_ok() && used < slice && context.wave.status == Status::Running {
        let left = match &mut context.tally {
            Some(tally) => tally.before(context.wave, context.program).clamp(1, slice - used),
            None => slice - used,
        };
        let (ran, how) = if !config.fast_layer || context.wave.needs_reference_path() {
            reference_path(context, config, hot, left, counts)
        } else if watched {
            by_handlers::<true>(context, hot, left, counts)
        } else {
            by_handlers::<false>(context, hot, left, counts)
        };
        used += ran;
        context.wave.steps_run += ran;
        outcome = how;
    }
    (used, outcome)
}

/// Compact steps, until one says to stop.
///
/// They go by straight runs (`Hot::end`): within one, EXEC stays as it is, so lanes are counted once a run. A
/// function of its own, so that what its loop needs stays in registers.
#[inline(never)]
fn by_handlers<const WATCHED: bool>(
    context: &mut Context<'_>,
    hot: &[Hot],
    slice: u64,
    counts: &mut [StepCount],
) -> (u64, Result<(), Box<Trap>>) {
    let mut used = 0;
    let mut lanes = 0;
    let mut next = context.wave.next;
    let mut at = next;
    while used < slice {
        let start = next;
        let Some(first) = hot.get(start as usize) else { break };
        let steps = u64::from(first.end - start).min(slice - used);
        let behind = start as usize + 1..start as usize + steps as usize;
        // SAFETY: a run ends inside the code (`Hot::end`), and has a step; so has the slice, which is not
        // over.
        let mut rest = unsafe { hot.get_unchecked(behind) }.iter();
        let active = context.wave.active;
        if WATCHED {
            context.wave.clock = context.wave.steps_run + used;
        }
        let mut step = first;
        loop {
            // SAFETY: the steps have been compiled for this program and a level that the host has
            // (`Code::steps`).
            next = unsafe { (step.run)(context, step) };
            if next != step.next {
                break;
            }
            let Some(following) = rest.next() else { break };
            step = following;
        }
        at = step.next - 1;
        used += u64::from(step.next - start);
        lanes += active * u64::from(step.vectors - first.vectors + u32::from(first.is_vector));
        if WATCHED {
            let done = at as usize + usize::from(context.trap.is_none());
            counts.get_mut(start as usize..done).into_iter().flatten().for_each(|count| count.count(active));
        }
    }
    let w = &mut *context.wave;
    w.lanes_run += lanes;
    w.current = at;
    if next != STOP {
        w.next = next;
    }
    (used, context.trap.take().map_or(Ok(()), Err))
}

/// The reference path: every step by its own function in `exec`. It is taken while registers are addressed by
/// an index or vector instructions skipped, or always if asked for.
#[inline(never)]
fn reference_path(
    context: &mut Context<'_>,
    config: &Config,
    hot: &[Hot],
    slice: u64,
    counts: &mut [StepCount],
) -> (u64, Result<(), Box<Trap>>) {
    let steps: &[Step] = &context.program.steps;
    let mut used = 0;
    let mut outcome = Ok(());
    while used < slice {
        let at = context.wave.next;
        let step = &steps[at as usize];
        let w = &mut *context.wave;
        w.current = at;
        w.next = at + 1;
        if w.skips_vectors && step.flags.vector {
            used += 1;
            continue;
        }
        if hot.get(at as usize).is_some_and(|hot| hot.is_beyond) {
            outcome = Err(fast::beyond_allotted(w, step));
            used += 1;
            break;
        }
        w.refresh_masks();
        w.clock = w.steps_run + used;
        let active = w.active;
        w.lanes_run += if step.flags.vector { w.active } else { 0 };
        used += 1;
        outcome = (step.run)(context, step);
        if outcome.is_err() {
            break;
        }
        if step.flags.writes_exec {
            let old = context.wave.exec;
            context.wave.sync_exec();
            context.counters.count(step.slot, old, context.wave.exec);
        }
        if let Some(count) = counts.get_mut(at as usize) {
            count.count(active);
        }
        let w = &*context.wave;
        let leaves = w.status != Status::Running || config.fast_layer && !w.needs_reference_path();
        if step.flags.control && leaves {
            break;
        }
    }
    (used, outcome)
}
