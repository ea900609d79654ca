//! What the memory instructions of a launch ask for, summed up by instruction.
//!
//! An instruction is looked at before it runs, so that its addresses are those that it finds. In between,
//! waves run as they do without the sums: [`Tally::before`] says how far.

use std::collections::BTreeMap;
use std::sync::Arc;

use amdgpu_isa::LdsBanks;

use super::stops::Stops;
use crate::check::{AccessKind, MemorySpace};
use crate::exec::footprint::{Footprint, SECTOR, TouchedLines, bank_cycles, most_at_one};
use crate::memory::is_scratch;
use crate::program::{Action, Program, Step, Tally};
use crate::record::{MemoryRecord, MemorySums};
use crate::wave::{Scratch, Wave, lanes_of};

/// Whether a step is a memory instruction.
pub(super) fn is_of_memory(step: &Step) -> bool {
    action(step).is_some()
}

/// What a memory instruction does.
fn action(step: &Step) -> Option<Action> {
    Some(step.extra.as_ref()?.memory.as_ref()?.action)
}

/// The sums of some workgroups, by step and memory; and room to work them out.
#[derive(Debug, Default)]
pub(super) struct MemoryCounts {
    stops: Arc<Stops>,
    by_step: BTreeMap<(u32, MemorySpace), MemorySums>,
    footprint: Footprint,
    lines: TouchedLines,
}

impl Tally for MemoryCounts {
    fn before(&mut self, wave: &Wave, program: &Program) -> u64 {
        let number = wave.next;
        match self.stops.steps_from(number) {
            0 => {
                if let Some(step) = program.steps.get(number as usize)
                    && !wave.skips_vectors
                {
                    self.add(wave, number, step, &program.target.arch.limits().lds_banks);
                }
                1 + self.stops.steps_from(number + 1)
            }
            steps => steps,
        }
    }
}

impl MemoryCounts {
    /// Nothing yet, of a program with memory instructions there.
    pub(super) fn new(stops: Arc<Stops>) -> Self {
        Self { stops, ..Self::default() }
    }

    /// Adds what a wave's next step asks for.
    fn add(&mut self, wave: &Wave, number: u32, step: &Step, banks: &LdsBanks) {
        let Some(action) = action(step) else { return };
        let Self { by_step, footprint, lines, .. } = self;
        footprint.vector(wave, step);
        let is_private = |lane: &usize| is_scratch(footprint.address[*lane]);
        let private = lanes_of(footprint.global).filter(is_private).fold(0, |lanes, lane| lanes | 1 << lane);
        let device = footprint.global & !private;
        let how = how(action);
        let bytes = u64::from(footprint.bytes);
        for (space, lanes) in [
            (MemorySpace::Global, device),
            (MemorySpace::Lds, footprint.local),
            (MemorySpace::Scratch, private),
        ] {
            if lanes == 0 {
                continue;
            }
            let mut sums =
                MemorySums { executions: 1, lanes: lanes.count_ones().into(), ..MemorySums::default() };
            sums.bytes = sums.lanes * bytes;
            if space == MemorySpace::Lds {
                sums.bytes *= 1 + u64::from(footprint.second.is_some());
                let cycles = bank_cycles(footprint, how, banks);
                (sums.bank_cycles, sums.least_bank_cycles) = (cycles.all, cycles.least);
            } else {
                lines.clear();
                for lane in lanes_of(lanes) {
                    let address = footprint.address[lane];
                    match space {
                        MemorySpace::Scratch => add_private(lines, address, bytes),
                        _ => lines.add(address, bytes),
                    }
                }
                sums.lines = [lines.short(), lines.long()];
                sums.least_lines = LINES.map(|line| lines.bytes().div_ceil(line));
            }
            if how == AccessKind::Atomic {
                let at = |lane: usize| match space {
                    MemorySpace::Lds => footprint.offset[lane].into(),
                    _ => footprint.address[lane],
                };
                sums.turns = most_at_one(lanes_of(lanes).map(at));
                sums.most_turns = sums.turns;
            }
            *by_step.entry((number, space)).or_default() += sums;
        }
    }

    /// Adds those of other workgroups.
    pub(super) fn extend(&mut self, others: &Self) {
        for (step, sums) in &others.by_step {
            *self.by_step.entry(*step).or_default() += *sums;
        }
    }

    /// In order of address.
    pub(super) fn records(&self, program: &Program) -> Vec<MemoryRecord> {
        let record = |(&(number, space), &sums): (&(u32, MemorySpace), &MemorySums)| {
            let step = program.steps.get(number as usize)?;
            Some(MemoryRecord { pc: program.pc(step), space, access: how(action(step)?), sums })
        };
        self.by_step.iter().filter_map(record).collect()
    }
}

/// The lines that are counted, in bytes.
const LINES: [u64; 2] = [SECTOR, 2 * SECTOR];

/// Adds an access to private memory, whose rows are a dword of each lane.
fn add_private(lines: &mut TouchedLines, first: u64, bytes: u64) {
    const DWORD: u64 = size_of::<u32>() as u64;
    let (mut at, mut left) = (first, bytes);
    while left > 0 {
        let here = left.min(DWORD - at % DWORD);
        lines.add(at, here);
        at = at - at % DWORD + Scratch::ROW;
        left -= here;
    }
}

fn how(action: Action) -> AccessKind {
    match action {
        Action::Load { .. } => AccessKind::Read,
        Action::Store { .. } => AccessKind::Write,
        Action::Atomic { .. } => AccessKind::Atomic,
    }
}
