//! Where else in the source the instructions of a branch stand.
//!
//! LLVM gives a branch that it made of several their merged location, which may be a line without any: that before a loop, say. The
//! condition of an `if` is what its compare was written for; a loop is where the instructions that go round in it stand. Only places
//! in the same function, or in what was inlined into it, are of the branch.

use std::collections::BTreeSet;
use std::rc::Rc;

use amdgpu_isa::Families;
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::{Location, location};

use super::Planner;
use crate::analysis::dominators::Structure;
use crate::analysis::masks::{MaskSite, Narrowing};
use crate::instrument::find::sources::Sources;

/// Instructions of a loop that are looked at, at most.
const INSTRUCTIONS: usize = 512;
/// Places that are kept of a site, at most.
const PLACES: usize = 12;

impl Planner<'_> {
    /// The lines of a site's own instructions, the nearest first; none if its own line is known to be the branch's.
    pub(super) fn nearby(&self, function: usize, site: &MaskSite, sources: &Sources) -> Vec<Vec<SiteFrame>> {
        let insts = &self.survey.program.insts;
        let own = sources.frames(insts[site.inst].pc);
        let place = location(&own);
        // A branch of Rust's own library is told at the line that called it.
        let Some(innermost) = own.first().filter(|&frame| Location::from(frame) == place) else {
            return Vec::new();
        };
        let line = |place: Location| (place.file, place.line);
        let mut known = BTreeSet::from([line(place.clone())]);
        let mut found = Vec::new();
        for inst in self.instructions(function, site) {
            let frames = sources.frames(insts[inst].pc);
            let is_here =
                |frame: &SiteFrame| frame.function == innermost.function && frame.file == innermost.file;
            if !frames.iter().any(is_here) {
                continue;
            }
            let (told, inner) = (location(&frames), frames.first().map(Location::from));
            if line(told.clone()) == line(place.clone()) && inner.is_some_and(|inner| inner != told) {
                return Vec::new();
            }
            if known.insert(line(told)) {
                found.push(frames);
            }
            if found.len() == PLACES {
                break;
            }
        }
        found
    }

    /// The instructions that are a site's branch, by index.
    fn instructions(&self, function: usize, site: &MaskSite) -> Vec<usize> {
        let blocks = &self.survey.program.functions[function].blocks;
        let own = blocks[site.block].insts.clone();
        match site.kind {
            Narrowing::If => {
                let is_compare = |&inst: &usize| {
                    let op = self.survey.program.insts[inst].op;
                    op.is_of(Families::COMPARE) || op.is_of(Families::COMPARE_EXEC)
                };
                // One that writes EXEC itself has its own line.
                (own.start..=site.inst).rev().find(is_compare).into_iter().collect()
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
