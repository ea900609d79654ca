//! What the memory instructions of a launch ask for, summed up by instruction.
//!
//! An instruction is looked at before it runs, so that its addresses are those that it finds. In between,
//! waves run as they do without the sums: [`Tally::before`] says how far.

use std::collections::BTreeMap;
use std::sync::Arc;

use amdgpu_isa::LdsBanks;

use crate::check::{AccessKind, MemorySpace};
use crate::exec::footprint::{Footprint, SECTOR, TouchedLines, bank_cycles, most_at_one};
use crate::memory::is_scratch;
use crate::program::{Action, Program, Step, Tally};
use crate::record::{MemoryRecord, MemorySums};
use crate::wave::{Scratch, Wave, lanes_of};

/// For each step of a program the first memory instruction at it or behind it.
#[derive(Debug, Default)]
pub(super) struct MemorySteps(Box<[u32]>);

impl MemorySteps {
    pub(super) fn of(program: &Program) -> Self {
        let mut next = program.steps.len() as u32;
        let mut steps: Box<[u32]> = vec![next; program.steps.len() + 1].into();
        for (number, step) in program.steps.iter().enumerate().rev() {
            if action(step).is_some() {
                next = number as u32;
            }
            steps[number] = next;
        }
        Self(steps)
    }

    /// The number of the first one from a step on, or of no step.
    fn from(&self, step: u32) -> u32 {
        self.0.get(step as usize).copied().unwrap_or(u32::MAX)
    }
}

/// What a memory instruction does.
fn action(step: &Step) -> Option<Action> {
    Some(step.extra.as_ref()?.memory.as_ref()?.action)
}

/// The sums of some workgroups, by step and memory; and room to work them out.
#[derive(Debug, Default)]
pub(super) struct MemoryCounts {
    steps: Arc<MemorySteps>,
    by_step: BTreeMap<(u32, MemorySpace), MemorySums>,
    footprint: Footprint,
    lines: TouchedLines,
}

impl Tally for MemoryCounts {
    fn before(&mut self, wave: &Wave, program: &Program) -> u64 {
        let number = wave.next;
        let mut next = self.steps.from(number);
        if next == number {
            if let Some(step) = program.steps.get(number as usize)
                && !wave.skips_vectors
            {
                self.add(wave, number, step, &program.target.arch.limits().lds_banks);
            }
            next = self.steps.from(number + 1);
        }
        u64::from(next - number)
    }
}

impl MemoryCounts {
    /// Nothing yet, of a program with these memory instructions.
    pub(super) fn new(steps: Arc<MemorySteps>) -> Self {
        Self { steps, ..Self::default() }
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
