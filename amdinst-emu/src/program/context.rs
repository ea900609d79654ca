//! The surroundings of a step that is executed.

use std::sync::MutexGuard;

use super::{Program, Step};
use crate::check::{FaultKind, Outcome, Trap};
use crate::lds::Lds;
use crate::memory::Memory;
use crate::races::{DeviceRaces, Races};
use crate::record::MaskCounters;
use crate::watch::{Round, Watch};
use crate::wave::Wave;

/// What a step can reach.
pub(crate) struct Context<'a> {
    pub(crate) wave: &'a mut Wave,
    pub(crate) lds: &'a mut Lds,
    pub(crate) memory: &'a Memory,
    /// Who looks at accesses to it.
    pub(crate) watch: Watch<'a>,
    /// What a round of a loop does to memory, while that is looked for.
    pub(crate) round: Option<&'a mut Round>,
    pub(crate) program: &'a Program,
    /// Mask counters of the wave.
    pub(crate) counters: MaskCounters<'a>,
    /// Who sums up what memory instructions ask for, if somebody does.
    pub(crate) tally: Option<&'a mut dyn Tally>,
    /// What stopped the wave, when a handler of the fast layer met it.
    pub(crate) trap: Option<Box<Trap>>,
}

/// Who is told of each memory instruction before it runs.
pub(crate) trait Tally {
    /// A wave is about to run a step; returns how many steps it may run before this is to be asked again: up
    /// to the next memory instruction.
    fn before(&mut self, wave: &Wave, program: &Program) -> u64;
}

impl<'a> Context<'a> {
    /// Who has accessed device memory, if that is asked for.
    pub(crate) fn device_races(&self) -> Option<MutexGuard<'a, DeviceRaces>> {
        self.watch.races().map(Races::lock)
    }

    /// Go on at a device address.
    pub(crate) fn jump(&mut self, device_address: u64) -> Outcome {
        match self.program.step_of(device_address) {
            Some(step) => {
                self.wave.next = step;
                Ok(())
            }
            None => Err(Trap::new(FaultKind::JumpOutside { target: device_address })),
        }
    }

    /// Go on at a device address, from where a jump to the step behind this one returns.
    pub(crate) fn call(&mut self, device_address: u64) -> Outcome {
        self.jump(device_address)?;
        self.note_call();
        Ok(())
    }

    /// The step that runs has called a function.
    pub(crate) fn note_call(&mut self) {
        let (step, first_site) = (self.wave.current, self.wave.calls.first_site());
        let enter = |mut races: MutexGuard<'_, DeviceRaces>| {
            races.contexts.enter(first_site, step, self.program.steps.len())
        };
        let first_site = self.device_races().map_or(0, enter);
        self.wave.calls.enter(step, first_site);
    }

    /// Device address of the step after this one.
    pub(crate) fn next_pc(&self, step: &Step) -> u64 {
        self.program.device_address(self.program.pc(step) + u64::from(step.size))
    }
}
