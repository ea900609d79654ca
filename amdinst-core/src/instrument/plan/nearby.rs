//! Where in the source a branch stands, and where else its instructions do.
//!
//! LLVM gives a branch that it made of several their merged location, which may be a line without any (that before a loop, say), or none
//! at all. The condition of an `if` is what its compare was written for; a loop is where the instructions that go round in it stand. Where
//! the branch has no line and no compare is at hand, what stands before it and what it guards are near it. Only places in the same
//! function, or in what was inlined into it, are of the branch.

use std::collections::BTreeSet;
use std::rc::Rc;

use amdgpu_isa::Families;
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::{Location, is_library_file, location, own_frame};

use super::Planner;
use crate::analysis::dominators::Structure;
use crate::analysis::masks::{MaskSite, Narrowing};
use crate::instrument::find::sources::{SourcePlace, Sources};

/// Instructions of a loop that are looked at, at most.
const INSTRUCTIONS: usize = 512;
/// Places that are kept of a site, at most.
const PLACES: usize = 12;

fn is_library(frame: &SiteFrame) -> bool {
    frame.file.as_deref().is_some_and(is_library_file)
}

/// The function that a place is of: a closure that Rust's own library calls is of the function that called the library.
fn scope(frames: &[SiteFrame]) -> Option<&SiteFrame> {
    let mut at = 0;
    while frames.get(at + 1).is_some_and(is_library) {
        let Some(caller) = frames[at + 1..].iter().position(|frame| !is_library(frame)) else { break };
        at += 1 + caller;
    }
    frames.get(at)
}

/// Where a site stands, as [`Site`](amdinst_format::probes::Site) tells it.
pub(super) struct Place {
    pub(super) frames: Vec<SiteFrame>,
    pub(super) nearby: Vec<Vec<SiteFrame>>,
    pub(super) is_near: bool,
}

impl Planner<'_> {
    /// Where a site stands.
    pub(super) fn place(&self, function: usize, site: &MaskSite, sources: &Sources) -> Place {
        let own = sources.place(self.survey.program.insts[site.inst].pc);
        let mut nearby = self.nearby(function, site, &own, sources);
        if own.is_exact {
            return Place { frames: own.frames, nearby, is_near: false };
        }
        // The nearest that says more than a line of Rust's own library.
        let first = nearby.iter().position(|frames| own_frame(frames).is_some());
        let frames = first.map_or(own.frames, |first| nearby.remove(first));
        Place { frames, nearby, is_near: true }
    }

    /// The lines of a site's own instructions, the nearest first; none if its own line is known to be the branch's.
    fn nearby(
        &self,
        function: usize,
        site: &MaskSite,
        own: &SourcePlace,
        sources: &Sources,
    ) -> Vec<Vec<SiteFrame>> {
        let place = location(&own.frames);
        let Some((innermost, scope)) = own.frames.first().zip(scope(&own.frames)) else { return Vec::new() };
        // A branch of Rust's own library is told at the line that called it.
        if own.is_exact && Location::from(innermost) != place {
            return Vec::new();
        }
        let line = |place: &Location| (place.file.clone(), place.line);
        // A line that calls into a library holds what the library does there, too.
        let key = |frames: &[SiteFrame]| {
            let told = location(frames);
            (line(&told), frames.first().is_some_and(|inner| Location::from(inner) != told))
        };
        let mut known = BTreeSet::new();
        if own.is_exact {
            known.insert((key(&own.frames), false));
        }
        let mut found = Vec::new();
        for inst in self.instructions(function, site, own.is_exact) {
            let SourcePlace { frames, is_exact } = sources.place(self.survey.program.insts[inst].pc);
            let here = frames.iter().position(|frame| frame.function == scope.function);
            let Some(here) = here.filter(|_| is_exact) else { continue };
            // A closure goes round in the loop of the library that calls it.
            let own = frames[..here].iter().rposition(|frame| !is_library(frame));
            let caller = own.and_then(|own| frames.get(own + 1..)).filter(|rest| is_library(&rest[0]));
            let chains = [(Some(&*frames), false), (caller, true)];
            for (frames, calls) in chains.into_iter().filter_map(|(chain, calls)| Some((chain?, calls))) {
                if known.insert((key(frames), calls)) {
                    found.push(frames.to_vec());
                }
            }
            if found.len() >= PLACES {
                break;
            }
        }
        found
    }

    /// The instructions that are a site's branch, by index; with what it guards, if its own place is not known.
    fn instructions(&self, function: usize, site: &MaskSite, is_exact: bool) -> Vec<usize> {
        let found = &self.survey.program.functions[function];
        let blocks = &found.blocks;
        let own = blocks[site.block].insts.clone();
        match site.kind {
            Narrowing::If => {
                let is_compare = |&inst: &usize| {
                    let op = self.survey.program.insts[inst].op;
                    op.is_of(Families::COMPARE) || op.is_of(Families::COMPARE_EXEC)
                };
                // One that writes EXEC itself has its own line.
                let compare = (own.start..=site.inst).rev().find(is_compare);
                if is_exact {
                    return compare.into_iter().collect();
                }
                let is_guarded = |block: &&usize| found.predecessors(**block).len() == 1;
                let guarded = blocks[site.block].successors.iter().filter(is_guarded);
                let guarded = guarded.flat_map(|&block| blocks[block].insts.clone());
                compare
                    .into_iter()
                    .chain((own.start..site.inst).rev())
                    .chain(guarded)
                    .take(INSTRUCTIONS)
                    .collect()
            }
            Narrowing::LoopExit => {
                let structure = self.structure(function);
                let others = structure
                    .loop_span(site.block)
                    .filter(|&block| block != site.block && !structure.leaves_loop(site.block, block));
                let others = others.flat_map(|block| blocks[block].insts.clone());
                let here = (own.start..site.inst).rev().chain(site.inst..own.end);
                here.chain(others).take(INSTRUCTIONS).collect()
            }
        }
    }

    fn structure(&self, function: usize) -> Rc<Structure> {
        let found = &self.survey.program.functions[function];
        let new = || {
            let successors = |block: usize| &*found.blocks[block].successors;
            Rc::new(Structure::new(found.blocks.len(), successors, |block| found.predecessors(block)))
        };
        Rc::clone(self.structures.borrow_mut().entry(function).or_insert_with(new))
    }
}
