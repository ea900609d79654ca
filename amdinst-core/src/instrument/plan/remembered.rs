//! What was planned for a kernel that shares no code, for another one whose code is the same.

use std::collections::VecDeque;

use amdgpu_object::{KernelDescriptor, KernelMetadata};

use super::{DraftKernel, Planner};
use crate::analysis::program::Function;
use crate::instrument::find::points::{Point, Stretch, What};
use crate::instrument::options::{Abi, Counters, Level, Probe};
use crate::instrument::place::relocate::Insertions;

/// The plan of a kernel, as if its first instruction were the first of its program.
#[derive(Debug)]
struct Remembered {
    metadata: KernelMetadata,
    /// Whether loads may be issued again, which seldom matters.
    may_replay: bool,
    of: Subject,
    inserted: Insertions,
    kernel: DraftKernel,
}

/// The plans of known kernels of a processor, by number.
#[derive(Debug, Default)]
pub(super) struct KnownPlans(VecDeque<Option<Remembered>>);

impl KnownPlans {
    /// Forgets everything, but not the room that it took.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the first so many kernels.
    pub(super) fn forget_kernels(&mut self, count: usize) {
        self.0.drain(..count.min(self.0.len()));
    }

    /// What was planned for the known kernel that a function is.
    fn get(&self, function: &Function) -> Option<&Remembered> {
        self.0.get(function.known? as usize)?.as_ref()
    }

    /// Where that goes; nowhere if it is none.
    fn place(&mut self, function: &Function) -> Option<&mut Option<Remembered>> {
        let number = function.known? as usize;
        if self.0.len() <= number {
            self.0.resize_with(number + 1, || None);
        }
        self.0.get_mut(number)
    }
}

/// What the plan of a kernel depends on beside its processor, its code and its metadata.
#[derive(Debug, PartialEq)]
struct Subject {
    version: u8,
    /// With no place of its entry.
    descriptor: KernelDescriptor,
    options: (Probe, Counters, Abi, Level),
    spare: (Option<u8>, Option<u8>),
}

impl Planner<'_> {
    /// What a plan for `function` depends on, if that is nothing else: not if a part of the points is chosen.
    fn subject(&self, function: usize) -> Option<Subject> {
        let options = self.options;
        let mut descriptor = self.kernel(function).descriptor;
        descriptor.set_entry_offset(0);
        options.only.is_empty().then_some(Subject {
            version: self.object.version,
            descriptor,
            options: (options.probe, options.counters, options.abi, options.level),
            spare: (options.spare_vgprs, options.spare_sgprs),
        })
    }

    /// The plan that was made for another kernel like this one; what it inserts goes to the rest.
    pub(super) fn remembered(&self, function: usize, inserted: &mut Insertions) -> Option<DraftKernel> {
        let block = self.survey.program.functions[function].blocks.first()?;
        let remembered = self.known.get(&self.survey.program.functions[function])?;
        let kernel = self.kernel(function);
        // With XNACK, kernels of the same code have more SGPRs.
        let sgpr_count = remembered.metadata.sgpr_count;
        let is_alike = KernelMetadata { sgpr_count, ..kernel.metadata.clone() } == remembered.metadata
            && Some(&remembered.of) == self.subject(function).as_ref();
        if !is_alike || remembered.kernel.makes_clause && remembered.may_replay != self.may_replay() {
            return None;
        }
        let shift = |inst: usize| inst + block.insts.start;
        let mut draft = remembered.kernel.shifted(function, shift);
        if kernel.metadata.sgpr_count != sgpr_count {
            draft.count_sgprs(self.object.target.arch, &kernel.metadata);
            if !draft.is_first_choice || !draft.keeps_occupancy() {
                return None;
            }
        }
        inserted.extend(&remembered.inserted, shift);
        draft.edit.kernel.clone_from(&kernel.name);
        draft.edit.descriptor.set_entry_offset(kernel.descriptor.entry_offset());
        Some(draft)
    }

    /// Remembers the plan of a kernel that shares no code: it inserts what was taken in from the place of
    /// this number on.
    pub(super) fn remember(
        &mut self,
        function: usize,
        (inserted, from): (&Insertions, usize),
        draft: &DraftKernel,
    ) {
        let this = &self.survey.program.functions[function];
        let (Some(of), Some(block)) = (self.subject(function), this.blocks.first()) else { return };
        let (metadata, may_replay) = (self.kernel(function).metadata.clone(), self.may_replay());
        if let Some(place) = self.known.place(this) {
            let shift = |inst: usize| inst - block.insts.start;
            let inserted = inserted.since(from, shift);
            *place = Some(Remembered { metadata, may_replay, of, inserted, kernel: draft.shifted(0, shift) });
        }
    }
}

impl DraftKernel {
    /// The draft for a kernel whose function has another number, and whose instructions have other indices.
    fn shifted(&self, function: usize, shift: impl Fn(usize) -> usize) -> Self {
        let both = |(from, to): (usize, usize)| (shift(from), shift(to));
        let point = |point: &Point| Point {
            inst: shift(point.inst),
            block: point.block,
            what: match point.what {
                What::Site(site) => What::Site(site),
                What::Block(Stretch { insts, lanes }) => {
                    What::Block(Stretch { insts: both(insts), lanes: both(lanes) })
                }
            },
        };
        Self {
            points: self.points.iter().map(|(_, at)| (function, point(at))).collect(),
            entry: shift(self.entry),
            ..self.clone()
        }
    }
}
