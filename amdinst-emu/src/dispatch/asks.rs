//! Whether a workgroup that runs for long may wait for others: only one that reads what they can write does.
//!
//! One that does not runs on before others begin. So a loop that never ends uses up what one workgroup may
//! run, not what all may that the processor holds.

use super::Shared;
use super::group::Observer;
use super::slice::{StepCount, run_slice};
use crate::check::Trap;
use crate::program::{Action, Context, Program, Space, Step};

/// Watches turns for reads of device memory.
pub(super) struct Asks {
    /// The steps that are such reads, ascending.
    reads: Vec<usize>,
    /// What each step did, in launches that do not record it.
    counts: Vec<StepCount>,
    /// Such a read was executed.
    has_asked: bool,
}

impl Asks {
    pub(super) fn new(program: &Program) -> Self {
        let steps = program.steps.iter().enumerate();
        Self {
            reads: steps.filter(|(_, step)| asks(step)).map(|(number, _)| number).collect(),
            counts: vec![StepCount::default(); program.steps.len()],
            has_asked: false,
        }
    }

    /// Whether there was such a read since the last time that this was asked.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.has_asked)
    }
}

impl Observer for Asks {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        if self.has_asked {
            return run_slice(context, shared.config, &shared.hot, slice, counts);
        }
        let counts = if counts.is_empty() { &mut self.counts } else { counts };
        let reads = |counts: &[StepCount]| -> u64 {
            self.reads.iter().filter_map(|&step| counts.get(step)).map(|count| count.executions).sum()
        };
        let before = reads(counts);
        let ran = run_slice(context, shared.config, &shared.hot, slice, counts);
        self.has_asked = reads(counts) > before;
        ran
    }
}

/// Whether a step brings into registers, or into LDS, what other workgroups can write.
fn asks(step: &Step) -> bool {
    let Some(extra) = &step.extra else { return false };
    let reads = |action| match action {
        Action::Load { .. } => true,
        Action::Atomic { returns, .. } => returns,
        Action::Store { .. } => false,
    };
    let is_shared = |space| !matches!(space, Space::Lds | Space::Scratch);
    extra.scalar.is_some()
        || extra.memory.is_some_and(|access| is_shared(access.space) && reads(access.action))
}
