//! Branches that would have to span more than their 16 bits of dwords go by islands: `s_branch` instructions
//! on the way, each as far from the last as it may be. That takes no register and leaves SCC alone, and any
//! branch can do it, conditional ones and `s_call_b64` as well.
//!
//! Islands stand where control does not fall through, or else behind a branch over them.
//!
//! RDNA 1 has an erratum: a branch whose offset is 63 dwords goes elsewhere (LLVM's `FeatureOffset3fBug`). An
//! `s_nop` on the way makes that 64.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::Flow;
use amdgpu_object::CodeObject;

use super::RelocateError;
use super::layout::Layout;
use super::stays::Stays;
use crate::analysis::program::{Exit, Program};
use crate::instrument::emit::stub::stub_bytes;

/// Bytes that a hop is planned to span at most. What is left to the 128 KiB that it can span is for islands
/// that are placed in between later.
const REACH: u64 = 120_000;

/// Where a branch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// Old address.
    pub(super) old: u64,
    /// The target is entered as from outside: through its prologue.
    pub(super) enters: bool,
}

/// The islands of a text, and who goes by which.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// By old address: the islands that stand before what stands there.
    zones: BTreeMap<u64, Zone>,
    /// By old address of a branch: the zone it goes to first.
    first: BTreeMap<u64, u64>,
    /// By zone and target: the zone that the island for it goes to; none if it reaches the target.
    next: BTreeMap<(u64, Target), u64>,
    /// By old address: `s_nop` before what stands there, behind the islands.
    pads: BTreeMap<u64, usize>,
}

#[derive(Clone, Debug, Default)]
struct Zone {
    /// Control falls into it and must be led over it.
    is_passed: bool,
    targets: Vec<Target>,
}

/// What branches: an instruction, or the island for a target in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Branch(u64),
    Island(u64, Target),
}

impl Islands {
    /// How many instructions stand before old addresses.
    pub(super) fn sizes(&self) -> BTreeMap<u64, usize> {
        let mut sizes = self.pads.clone();
        for (&pc, zone) in &self.zones {
            *sizes.entry(pc).or_default() += usize::from(zone.is_passed) + zone.targets.len();
        }
        sizes
    }

    /// Puts one more `s_nop` before what stands at an old address.
    pub(super) fn pad(&mut self, pc: u64) {
        *self.pads.entry(pc).or_default() += 1;
    }

    /// Every island, and the zones that need a branch over them with the bytes it spans.
    pub(super) fn islands(&self) -> impl Iterator<Item = Source> {
        self.zones
            .iter()
            .flat_map(|(&pc, zone)| zone.targets.iter().map(move |&target| Source::Island(pc, target)))
    }

    /// Zones that control must be led over: old address, and number of islands and `s_nop`.
    pub(super) fn passed(&self) -> impl Iterator<Item = (u64, usize)> {
        // Most have none.
        let pads = |pc| self.pads.get(pc).copied().unwrap_or_default();
        let passed = self.zones.iter().filter(|(_, zone)| zone.is_passed);
        passed.map(move |(pc, zone)| (*pc, zone.targets.len() + pads(pc)))
    }

    /// The new address of an island.
    pub(super) fn address(&self, layout: &Layout, zone: u64, target: Target) -> Option<u64> {
        let found = self.zones.get(&zone)?;
        let at = found.targets.iter().position(|&other| other == target)?;
        Some(layout.zones.get(&zone)? + 4 * (usize::from(found.is_passed) + at) as u64)
    }

    /// The zone a source goes to, if it does not go to its target.
    pub(super) fn hop(&self, source: Source) -> Option<u64> {
        match source {
            Source::Branch(pc) => self.first.get(&pc).copied(),
            Source::Island(zone, target) => self.next.get(&(zone, target)).copied(),
        }
    }

    /// Leads `source` at new address `from` to `target` at `to` by islands. False if there is no place for
    /// one.
    ///
    /// # Errors
    /// Code where an island could stand is not carried over.
    pub(super) fn lead(
        &mut self,
        slots: &Slots,
        layout: &Layout,
        source: Source,
        target: Target,
        (from, to): (u64, u64),
    ) -> Result<bool, RelocateError> {
        let (mut source, mut at) = (source, from);
        while at.abs_diff(to) > REACH {
            let Some((zone, is_passed, address)) = slots.farthest(layout, at, to)? else { return Ok(false) };
            let islands = self.zones.entry(zone).or_insert(Zone { is_passed, targets: Vec::new() });
            if !islands.targets.contains(&target) {
                islands.targets.push(target);
            }
            match source {
                Source::Branch(pc) => self.first.insert(pc, zone),
                Source::Island(from, target) => self.next.insert((from, target), zone),
            };
            source = Source::Island(zone, target);
            at = address;
        }
        if let Source::Island(zone, target) = source {
            self.next.remove(&(zone, target));
        }
        Ok(true)
    }
}

/// Old addresses before which islands can stand, ascending.
pub(super) struct Slots {
    /// Where control does not fall through from what stands before.
    unpassed: Vec<u64>,
    /// Everywhere between instructions.
    all: Vec<u64>,
}

impl Slots {
    pub(super) fn new(object: &CodeObject, program: &Program, stays: &Stays) -> Self {
        let mut unpassed = BTreeSet::new();
        for block in program.functions.iter().flat_map(|function| &function.blocks) {
            let last = &program.insts[block.insts.end - 1];
            let leaves = matches!(block.exit, Exit::End | Exit::Return | Exit::TailCall(_))
                || matches!(last.flow(), Flow::Branch { .. } | Flow::Jump);
            if leaves {
                unpassed.insert(last.end());
            }
        }
        // Nothing may stand within a kernel's stub: hardware counts its bytes. Other functions have none.
        let mut stubs = program.functions.iter().map(|function| {
            let stub = function
                .kernel
                .map_or(0, |kernel| stub_bytes(&object.kernels[kernel].descriptor, program.arch));
            (function.range.start, function.range.end.min(function.range.start + stub + 1))
        });
        let (mut stub, mut next) = ((0, 0), stubs.next());
        let mut in_stub = |pc: u64| {
            while let Some(of_next) = next.filter(|&(start, _)| start <= pc) {
                (stub, next) = (of_next, stubs.next());
            }
            stub.0 < pc && pc < stub.1
        };
        // Both are in order of address.
        let all: Vec<u64> = program
            .insts
            .iter()
            .map(|located| located.pc)
            .filter(|&pc| !in_stub(pc) && stays.left_out(pc).is_none())
            .collect();
        // Only where code follows: elsewhere the address may be that of data.
        let unpassed = unpassed.into_iter().filter(|pc| all.binary_search(pc).is_ok()).collect();
        Self { unpassed, all }
    }

    /// The slot farthest from `at` on the way to `to`, but within reach: old address, whether control falls
    /// into it, new address.
    fn farthest(&self, layout: &Layout, at: u64, to: u64) -> Result<Option<(u64, bool, u64)>, RelocateError> {
        let farthest = |slots: &[u64], least: u64| -> Result<Option<(u64, u64)>, RelocateError> {
            let found = if to > at {
                count_while(slots, |pc| Ok(new_address(layout, pc)? <= at + REACH))?.checked_sub(1)
            } else {
                Some(count_while(slots, |pc| Ok(new_address(layout, pc)? + REACH < at))?)
            };
            let Some(&found) = found.and_then(|found| slots.get(found)) else { return Ok(None) };
            let address = new_address(layout, found)?;
            let nearer = address.abs_diff(at) >= least && address.abs_diff(to) < at.abs_diff(to);
            Ok(nearer.then_some((found, address)))
        };
        // A branch over islands costs every pass: rather hop half as far.
        match farthest(&self.unpassed, REACH / 2)? {
            Some((pc, address)) => Ok(Some((pc, false, address))),
            None => Ok(farthest(&self.all, 1)?.map(|(pc, address)| (pc, true, address))),
        }
    }
}

/// The new address of a slot.
fn new_address(layout: &Layout, slot: u64) -> Result<u64, RelocateError> {
    layout.copied(slot).ok_or_else(|| RelocateError::NotRelocatable {
        pc: slot,
        detail: format!("the code at {slot:#x}, where an island could stand, is not carried over"),
    })
}

/// How many of the slots, which are in order, come before the first that `holds` is not true of.
fn count_while(
    slots: &[u64],
    holds: impl Fn(u64) -> Result<bool, RelocateError>,
) -> Result<usize, RelocateError> {
    let (mut start, mut end) = (0, slots.len());
    while start < end {
        let middle = start.midpoint(end);
        if holds(slots[middle])? {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(start)
}
