//! What was planned for a kernel that shares no code, for another one whose code is the same.

use super::{DraftKernel, Planner};
use crate::TargetId;
use crate::instrument::options::{Abi, Counters, Level, Probe};
use crate::instrument::points::{Point, Stretch, What};
use crate::instrument::relocate::Inserted;
use crate::object::{KernelDescriptor, KernelMetadata};

/// What a kernel's plan inserts, by instruction.
pub(super) type Code = Vec<(usize, Inserted)>;

/// The plan of a kernel, as if its first instruction were the first of its program.
#[derive(Debug)]
pub(in crate::instrument) struct Remembered {
    metadata: KernelMetadata,
    of: Subject,
    code: Code,
    kernel: DraftKernel,
}

/// What the plan of a kernel depends on beside its code and its metadata.
#[derive(Debug, PartialEq)]
struct Subject {
    target: TargetId,
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
            target: self.object.target,
            version: self.object.version,
            descriptor,
            options: (options.probe, options.counters, options.abi, options.level),
            spare: (options.spare_vgprs, options.spare_sgprs),
        })
    }

    /// The plan that was made for another kernel like this one.
    pub(super) fn remembered(&self, function: usize) -> Option<(Code, DraftKernel)> {
        let program = &self.survey.program;
        let remembered = self.recall.plan(self.object, program, function)?;
        let kernel = self.kernel(function);
        if remembered.metadata != kernel.metadata || Some(&remembered.of) != self.subject(function).as_ref() {
            return None;
        }
        let first = program.functions[function].blocks.first()?.insts.start;
        let shift = |inst: usize| inst + first;
        let code = remembered.code.iter().map(|(inst, inserted)| (shift(*inst), inserted.clone())).collect();
        let mut draft = remembered.kernel.shifted(function, shift);
        draft.edit.kernel.clone_from(&kernel.name);
        draft.edit.descriptor.set_entry_offset(kernel.descriptor.entry_offset());
        Some((code, draft))
    }

    /// Remembers the plan of a kernel that shares no code.
    pub(super) fn remember(&mut self, function: usize, code: &Code, draft: &DraftKernel) {
        let program = &self.survey.program;
        let (Some(of), Some(block)) = (self.subject(function), program.functions[function].blocks.first())
        else {
            return;
        };
        let first = block.insts.start;
        let metadata = self.kernel(function).metadata.clone();
        if let Some(place) = self.recall.plan_place(self.object, program, function) {
            let shift = |inst: usize| inst - first;
            let code = code.iter().map(|(inst, inserted)| (shift(*inst), inserted.clone())).collect();
            *place = Some(Remembered { metadata, of, code, kernel: draft.shifted(0, shift) });
        }
    }
}

impl DraftKernel {
    /// The same for a kernel whose function has another number, and whose instructions have other indices.
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
