//! Where in the source a branch stands, and where else its instructions do.
//!
//! LLVM gives a branch that it made of several their merged location, which may be a line without any (that
//! before a loop, say), or none at all. The condition of an `if` is what its compare was written for; a loop
//! is where the instructions that go round in it stand. Where the branch has no line and no compare is at
//! hand, what stands before it and what it guards are near it. Only places in the same function, or in what
//! was inlined into it, are of the branch.

use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::rc::Rc;

use amdgpu_isa::Families;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Planner;
use super::places::Chain;
use crate::analysis::dominators::Structure;
use crate::analysis::masks::{MaskSite, Narrowing};
use crate::instrument::find::sources::{CodeFrame, PlaceNumber, SourcePlace, Sources};

/// Instructions of a loop that are looked at, at most.
const INSTRUCTIONS: usize = 512;
/// Instructions of a block, at most, whose places are kept.
const KEPT: usize = 64;
/// Places that are kept of a site, at most.
const PLACES: usize = 12;

/// Where a site stands, as [`Site`](amdinst_format::probes::Site) tells it.
pub(super) struct Stands {
    pub(super) own: Chain,
    pub(super) nearby: Vec<Chain>,
    pub(super) is_near: bool,
}

/// The function that a place is of: a closure that Rust's own library calls is of the function that called
/// the library.
fn scope(place: &SourcePlace) -> Option<&CodeFrame> {
    let mut at = 0;
    while place.is_library(at + 1) {
        let Some(caller) = (at + 1..place.frames.len()).find(|&frame| !place.is_library(frame)) else {
            break;
        };
        at = caller;
    }
    place.frames.get(at)
}

/// A place of a site's instructions.
struct Near {
    chain: Chain,
    /// A loop in the site's has it, too.
    is_inner: bool,
}

/// Whether it is the place where a loop of the user's asks an iterator of Rust's own library for the next.
fn asks_for_the_next(chain: Chain, sources: &Sources) -> bool {
    let place = sources.numbered(chain.place);
    let frames = &place.frames[chain.first..];
    let called = frames.iter().rfind(|frame| frame.is_library()).and_then(|frame| frame.function);
    called.is_some_and(|function| sources.function(function).split('<').next() == Some("next"))
        && frames.iter().any(CodeFrame::is_own)
}

/// Whether it says more than a line of Rust's own library.
fn is_of_the_user(chain: Chain, sources: &Sources) -> bool {
    sources.numbered(chain.place).frames[chain.first..].iter().any(CodeFrame::is_own)
}

/// What is told of a chain's part from a frame on: a line, and whether it is a call of what the library does
/// there.
fn key(place: &SourcePlace, first: usize) -> (Option<u32>, Option<u32>, bool) {
    let told = place.told_from(first);
    let frame = place.frames.get(told);
    (frame.and_then(|frame| frame.file), frame.and_then(|frame| frame.line), told != first)
}

impl Planner<'_> {
    /// Where a site stands.
    pub(super) fn stands(&self, function: usize, site: &MaskSite, sources: &Sources) -> Stands {
        let (number, own) = sources.place(self.survey.program.insts[site.inst].pc);
        let mut nearby = self.nearby(function, site, &own, sources);
        let mut chain = Chain { place: number, first: 0 };
        if !own.is_exact {
            // A `for` goes round where it asks for the next, as no loop in it does; else it is the nearest
            // that says more than a line of Rust's own library.
            let is_loop = site.kind == Narrowing::LoopExit;
            let mut near = nearby.iter();
            let asks =
                near.position(|near| is_loop && !near.is_inner && asks_for_the_next(near.chain, sources));
            let first = asks.or_else(|| nearby.iter().position(|near| is_of_the_user(near.chain, sources)));
            if let Some(first) = first {
                chain = nearby.remove(first).chain;
            }
        }
        let nearby = nearby.into_iter().map(|near| near.chain).collect();
        Stands { own: chain, nearby, is_near: !own.is_exact }
    }

    /// The lines of a site's own instructions, the nearest first; none if its own line is known to be the
    /// branch's.
    fn nearby(&self, function: usize, site: &MaskSite, own: &SourcePlace, sources: &Sources) -> Vec<Near> {
        let Some(scope) = scope(own) else { return Vec::new() };
        // A branch of Rust's own library is told at the line that called it.
        if own.is_exact && own.told_from(0) != 0 {
            return Vec::new();
        }
        // Where in `found` a place is.
        let mut known = FxHashMap::default();
        if own.is_exact {
            known.insert((key(own, 0), false), None);
        }
        let (is_exact, mut found, mut seen) = (own.is_exact, Vec::<Near>::new(), FxHashSet::default());
        let _ = self.each_place(function, site, is_exact, sources, &mut |number, is_inner| {
            if !seen.insert((number, is_inner)) {
                return ControlFlow::Continue(());
            }
            let place = sources.numbered(number);
            let here = place.frames.iter().position(|frame| frame.function == scope.function);
            let Some(here) = here.filter(|_| place.is_exact) else { return ControlFlow::Continue(()) };
            // A closure goes round in the loop of the library that calls it.
            let own = (0..here).rfind(|&frame| !place.is_library(frame));
            let caller = own.map(|own| own + 1).filter(|&caller| place.is_library(caller));
            let chains = [(Some(0), false), (caller, true)];
            for (first, calls) in chains.into_iter().filter_map(|(first, calls)| Some((first?, calls))) {
                match known.entry((key(&place, first), calls)) {
                    Entry::Vacant(new) if found.len() < PLACES => {
                        new.insert(Some(found.len()));
                        found.push(Near { chain: Chain { place: number, first }, is_inner });
                    }
                    Entry::Occupied(old) => {
                        if let Some(near) = old.get().and_then(|at: usize| found.get_mut(at)) {
                            near.is_inner |= is_inner;
                        }
                    }
                    Entry::Vacant(_) => {}
                }
            }
            // What is not known is looked for to the end.
            if is_exact && found.len() >= PLACES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }

    /// The places of the instructions that are a site's branch, the nearest first, until one is the last;
    /// with what it guards, if its own place is not known.
    fn each_place(
        &self,
        function: usize,
        site: &MaskSite,
        is_exact: bool,
        sources: &Sources,
        see: &mut impl FnMut(PlaceNumber, bool) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut here = |number| see(number, false);
        let found = &self.survey.program.functions[function];
        let (insts, blocks) = (&self.survey.program.insts, &found.blocks);
        let own = blocks[site.block].insts.clone();
        let pc = |inst: usize| insts[inst].pc;
        match site.kind {
            Narrowing::If => {
                let is_compare = |&inst: &usize| {
                    let op = insts[inst].op;
                    op.is_of(Families::COMPARE) || op.is_of(Families::COMPARE_EXEC)
                };
                // One that writes EXEC itself has its own line.
                let compare = (own.start..=site.inst).rev().find(is_compare).into_iter();
                if is_exact {
                    return sources.each(compare.map(pc), &mut here);
                }
                let is_guarded = |block: &&usize| found.predecessors(**block).len() == 1;
                let guarded = blocks[site.block].successors.iter().filter(is_guarded);
                let guarded = guarded.flat_map(|&block| blocks[block].insts.clone());
                let all = compare.chain((own.start..site.inst).rev()).chain(guarded);
                sources.each(all.take(INSTRUCTIONS).map(pc), &mut here)
            }
            Narrowing::LoopExit => {
                let structure = self.structure(function);
                let nearest = (own.start..site.inst).rev().chain(site.inst..own.end);
                sources.each(nearest.take(INSTRUCTIONS).map(pc), &mut here)?;
                let mut left = INSTRUCTIONS.saturating_sub(own.len());
                let others = structure
                    .loop_span(site.block)
                    .filter(|&block| block != site.block && !structure.leaves_loop(site.block, block));
                // Where the site's own place is not known, the loops in it come last.
                let depth = structure.depth(site.block);
                let is_inner = |block: usize| structure.depth(block) > depth;
                let last = others.clone().filter(|&block| !is_exact && is_inner(block));
                for block in others.filter(|&block| is_exact || !is_inner(block)).chain(last) {
                    let is_inner = is_inner(block);
                    let mut see = |number| see(number, is_inner);
                    let inside = blocks[block].insts.clone();
                    if inside.len() > left.min(KEPT) {
                        sources.each(inside.clone().take(left).map(pc), &mut see)?;
                    } else {
                        // Loops stand in loops.
                        let known = sources.of_block((function, block), || inside.clone().map(pc));
                        known.iter().copied().try_for_each(&mut see)?;
                    }
                    left = left.saturating_sub(inside.len());
                    if left == 0 {
                        break;
                    }
                }
                ControlFlow::Continue(())
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
