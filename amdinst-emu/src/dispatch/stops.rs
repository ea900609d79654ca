//! How far a wave may run before it is looked at again.

use amdgpu_isa::Flow;

use crate::program::{Program, Step};

/// For each step of a program the number of the first one from there on that is looked at before it runs, or
/// stands behind one that may go elsewhere.
#[derive(Debug, Default)]
pub(super) struct Stops(Box<[u32]>);

impl Stops {
    /// Those of a program, of which these steps are looked at.
    pub(super) fn of(program: &Program, is_looked_at: impl Fn(&Step) -> bool) -> Self {
        let mut next = program.steps.len() as u32;
        let mut stops: Box<[u32]> = vec![next; program.steps.len() + 1].into();
        for (number, step) in program.steps.iter().enumerate().rev() {
            if is_looked_at(step) {
                next = number as u32;
            } else if Flow::of(step.op, 0) != Flow::Next {
                next = number as u32 + 1;
            }
            stops[number] = next;
        }
        Self(stops)
    }

    /// How many steps a wave may run that is at this one: none, if that is looked at.
    pub(super) fn steps_from(&self, step: u32) -> u64 {
        let stop = self.0.get(step as usize).copied().unwrap_or(step);
        u64::from(stop.saturating_sub(step))
    }
}
