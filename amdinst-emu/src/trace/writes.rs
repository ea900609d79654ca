//! The instruction that a place in memory has its value from.

use std::collections::HashMap;

use amdgpu_isa::MemoryOperation;

use crate::check::{Fault, FaultKind, Trap};
use crate::dispatch::{self, Launch, Observer, Shared, StepCount, in_parts, run_slice};
use crate::exec::footprint::Footprint;
use crate::machine::Machine;
use crate::program::{Context, Program};
use crate::wave::LANES;

/// A lane of a wave, before one of the wave's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Index of the wave in the launch.
    pub wave: u64,
    /// The lane.
    pub lane: u8,
    /// How many instructions the wave had run before.
    pub number: u64,
}

/// A byte that work-items share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrittenPlace {
    /// In device memory, by its address.
    Device(u64),
    /// In the LDS of a workgroup, which has this number in the launch.
    Lds {
        /// The workgroup.
        group: u64,
        /// The byte's offset.
        offset: u64,
    },
}

/// The last store or atomic to a byte in a launch, or in the part of it that ran before a moment. Waves take
/// turns as those of [`Machine::launch`] do, on one thread, each workgroup to its end. `None`: nothing in the
/// launch has written it by then.
///
/// # Errors
/// A launch that cannot begin. One that ends with a fault has run up to that.
pub fn last_write(
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
    place: WrittenPlace,
    before: Option<Moment>,
) -> Result<Option<Moment>, Box<Fault>> {
    let found = machine.with_memory(|memory, config| {
        dispatch::prepare(memory, config, program, launch, |shared| {
            let in_group = u64::from(shared.waves_per_group);
            let last_group = match (place, before) {
                (WrittenPlace::Lds { group, .. }, _) => group,
                (WrittenPlace::Device(_), Some(moment)) => moment.wave / in_group,
                (WrittenPlace::Device(_), None) => shared.groups().saturating_sub(1),
            };
            let mut finder = Finder {
                place,
                before,
                in_group,
                stores: HashMap::new(),
                footprint: Footprint::default(),
                found: None,
            };
            // What ends it early is the moment, or a fault that the launch has anyway.
            let _ended = dispatch::run_groups(&shared, last_group.saturating_add(1), &mut finder);
            Ok(finder.found)
        })
    });
    found.map_err(Box::new)
}

struct Finder {
    place: WrittenPlace,
    before: Option<Moment>,
    /// Waves of a workgroup.
    in_group: u64,
    /// Whether steps write memory.
    stores: HashMap<u32, bool>,
    footprint: Footprint,
    found: Option<Moment>,
}

impl Finder {
    /// Whether stores of a wave may be to the place.
    fn looks_at(&self, wave: u64) -> bool {
        match self.place {
            WrittenPlace::Device(_) => true,
            WrittenPlace::Lds { group, .. } => wave / self.in_group == group,
        }
    }

    fn is_store(&mut self, shared: &Shared<'_>, number: u32) -> bool {
        let is_store = || {
            let step = shared.program.steps.get(number as usize)?;
            let inst = shared.program.inst_of(step)?;
            let memory = inst.effects(shared.program.target).memory?;
            Some(matches!(memory.operation, MemoryOperation::Store | MemoryOperation::Atomic { .. }))
        };
        *self.stores.entry(number).or_insert_with(|| is_store().unwrap_or(false))
    }

    /// The last lane that the wave's next step, a store, writes the place for.
    fn writing_lane(&mut self, shared: &Shared<'_>, context: &Context<'_>) -> Option<usize> {
        let wave = &*context.wave;
        let step = shared.program.steps.get(wave.next as usize)?;
        if let (WrittenPlace::Device(address), Some((first, bytes))) =
            (self.place, Footprint::scalar(wave, step).filter(|_| !step.flags.vector))
        {
            return (first..first + u64::from(bytes)).contains(&address).then_some(0);
        }
        self.footprint.vector(wave, step);
        let Footprint { global, address, local, offset, second, bytes } = &self.footprint;
        let covers = |first: u64, at: u64| (first..first.saturating_add(u64::from(*bytes))).contains(&at);
        (0..LANES).rev().find(|&lane| match self.place {
            WrittenPlace::Device(at) => {
                global >> lane & 1 != 0
                    && covers(address[lane], at)
                    && wave.scratch.offset_of(address[lane]).is_none()
            }
            WrittenPlace::Lds { offset: at, .. } => {
                let first = u64::from(offset[lane]);
                let other = second.map(|second| first.wrapping_add_signed(second.into()));
                local >> lane & 1 != 0 && (covers(first, at) || other.is_some_and(|other| covers(other, at)))
            }
        })
    }
}

impl Observer for Finder {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        let wave = context.wave.index;
        if !self.looks_at(wave) {
            return run_slice(context, shared.config, &shared.hot, slice, counts);
        }
        in_parts(context, slice, |context, _| {
            let number = context.wave.steps_run;
            if self.before.is_some_and(|moment| moment.wave == wave && moment.number == number) {
                return (0, Err(Trap::new(FaultKind::Stopped)));
            }
            let next = context.wave.next;
            let lane = if self.is_store(shared, next) { self.writing_lane(shared, context) } else { None };
            let (ran, outcome) = run_slice(context, shared.config, &shared.hot, 1, counts);
            if let (Some(lane), Ok(())) = (lane, &outcome) {
                self.found = Some(Moment { wave, lane: lane as u8, number });
            }
            (ran, outcome)
        })
    }
}
