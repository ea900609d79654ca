//! Registers for the probes of one component: kernels that share functions, and these functions.
//!
//! What is reserved for the probes is used by nothing else in the whole component, so one choice is right for
//! a shared function whichever kernel calls it. SGPRs that a site needs for a moment are, in this order, dead
//! around the site, unused, or borrowed from the program: then lanes of an unused VGPR keep their values
//! meanwhile. The record's address is kept there too if no pair of SGPRs is left for it.
//!
//! If too few VGPRs are unused, sites borrow the lowest lanes of others. No load or matrix instruction of the
//! whole component touches these, so nothing writes to them meanwhile, and none of them arrives with
//! work-item ids. So saving and restoring is all there is to it.
//!
//! [`Options::spare_vgprs`](crate::instrument::Options::spare_vgprs) and
//! [`spare_sgprs`](crate::instrument::Options::spare_sgprs) instrument any kernel as if it left so few
//! registers; tests reach all of this by them.

use amdgpu_isa::{LAST_SGPR, Reg, RegSet};

use super::NoRegisters;
use super::component::{Component, UnusedVgprs};
use super::deferred::Deferred;
use super::layout::{
    BeginPlace, BorrowedVgprs, CounterPlace, RecordPlace, Reserved, ScratchSlots, SgprCounters, Temps,
    points_per_vgpr,
};
use super::needs::Needs;
use super::pool::{Sgprs, take_pair};
use super::scheme::{Borrow, Scheme};
use super::stores::Stores;
use crate::counters::SiteForm;
use crate::instrument::options::{Level, Probe};
use crate::instrument::refusal::Reason;

/// What is handed out.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) reserved: Reserved,
    /// Where the counters of the shared functions' sites are, then those of the kernel's own sites (the same
    /// for each kernel).
    pub(crate) places: Vec<CounterPlace>,
    /// By point.
    pub(crate) temps: Vec<Temps>,
}

/// What counters in SGPRs can make use of that leave working out the record's address for later.
#[derive(Clone, Debug)]
pub(crate) struct Deferring {
    /// SGPRs that have the ids of the workgroup at entry: they should stay as they are.
    pub(crate) workgroup_ids: Vec<u8>,
    /// What could be written for each site instead of counts.
    pub(crate) forms: Vec<SiteForm>,
}

/// How registers are to be used.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) scheme: Scheme,
    /// What sites may use of what is in use.
    pub(crate) borrow: Borrow,
    pub(crate) probe: Probe,
    pub(crate) level: Level,
    /// How many counted sites there are.
    pub(crate) sites: usize,
    /// How many of them, the first, have counters in memory whatever the scheme.
    pub(crate) far: usize,
    /// Counters in SGPRs may leave working out the record's address for later. Asked only where there are
    /// enough SGPRs.
    pub(crate) may_defer: Option<&'a dyn Fn() -> Option<Deferring>>,
    /// Private memory for the spill VGPR; used if sites are to borrow that.
    pub(crate) scratch: Option<ScratchSlots>,
}

/// Registers for one scheme, while they are handed out.
pub(crate) struct Allocator<'a> {
    component: &'a Component<'a>,
    request: Request<'a>,
    /// What each point needs for a moment.
    needs: Vec<Needs>,
    /// What was handed out.
    reserved: Reserved,
    /// What each point has for a moment, if some of that is borrowed.
    borrowed: Option<Vec<Temps>>,
    /// SGPRs that are left, ascending.
    sgprs: Vec<u8>,
    /// Unused VGPRs that are left.
    vgprs: UnusedVgprs<'a>,
    /// VGPRs in use that are left to be borrowed.
    borrowable_vgprs: std::vec::IntoIter<u8>,
}

impl Component<'_> {
    /// Registers for a scheme in which each point needs so much. Not for those of 2022.
    pub(crate) fn allocate(
        &self,
        request: Request<'_>,
        needs: Vec<Needs>,
    ) -> Result<Allocation, NoRegisters> {
        debug_assert!(!request.scheme.is_seed());
        if (request.probe, request.scheme) == (Probe::Time, Scheme::Lds) {
            let detail = "times are kept in registers or in memory, not in LDS".to_owned();
            return Err((Reason::CountersDoNotFit, detail));
        }
        let mut allocator = Allocator::begin(self, request, needs)?;
        let places = allocator.counters()?;
        // One lane writes a packed record, from VGPRs of its own.
        if !allocator.reserved.packed {
            allocator.times()?;
            allocator.vgprs_at_end()?;
        }
        allocator.finish(places)
    }
}

impl<'a> Allocator<'a> {
    /// Takes what every scheme has: a place for the record's address, and what sites hold for a moment.
    pub(crate) fn begin(
        component: &'a Component<'a>,
        request: Request<'a>,
        needs: Vec<Needs>,
    ) -> Result<Self, NoRegisters> {
        let borrowed_vgprs = request.borrow.borrowed_vgprs();
        let borrowable_vgprs = match borrowed_vgprs {
            BorrowedVgprs::Neither => Vec::new(),
            BorrowedVgprs::One | BorrowedVgprs::Both => component.borrowable_vgprs(),
        };
        let scratch = request.scratch.filter(|_| request.borrow == Borrow::Scratch);
        let mut allocator = Self {
            component,
            request,
            needs,
            reserved: Reserved {
                borrowed_vgprs,
                scratch,
                lane_masks: component.lane_masks,
                ..Reserved::default()
            },
            borrowed: None,
            sgprs: component.sgprs.clone(),
            vgprs: component.unused_vgprs(),
            borrowable_vgprs: borrowable_vgprs.into_iter(),
        };
        allocator.record()?;
        allocator.more_needs();
        allocator.temps()?;
        Ok(allocator)
    }

    /// The SGPRs that are left, ascending, and the unused VGPRs.
    pub(crate) fn left(&mut self) -> (&mut Vec<u8>, impl Iterator<Item = u8>) {
        (&mut self.sgprs, &mut self.vgprs)
    }

    /// What was handed out, with counters in these places.
    pub(crate) fn finish(self, places: Vec<CounterPlace>) -> Result<Allocation, NoRegisters> {
        // There are enough, so they are handed out only when there are registers for the counters, too.
        let temps = match self.borrowed {
            Some(borrowed) => borrowed,
            None => self.component.free_temps(&self.needs, spare(&self.reserved))?,
        };
        Ok(Allocation { reserved: self.reserved, places, temps })
    }

    /// An unused VGPR.
    fn vgpr(&mut self) -> Result<u8, NoRegisters> {
        self.vgprs.next().ok_or_else(|| (Reason::NoFreeVgpr, "every VGPR is in use".to_owned()))
    }

    /// A VGPR in use.
    fn borrow_vgpr(&mut self) -> Result<u8, NoRegisters> {
        self.borrowable_vgprs.next().ok_or_else(|| {
            let detail = "every VGPR is in use, and by operations that go on beside others";
            (Reason::NoFreeVgpr, detail.to_owned())
        })
    }

    /// The VGPR that keeps what has no SGPR.
    fn spill_vgpr(&mut self) -> Result<u8, NoRegisters> {
        if self.reserved.scratch.is_some() { self.borrow_vgpr() } else { self.vgpr() }
    }

    /// Finds a place for the record's address.
    fn record(&mut self) -> Result<(), NoRegisters> {
        let Request { scheme, borrow, .. } = self.request;
        if scheme == Scheme::Lds {
            // Sites do not need the record's address, and there is room for it beside those of the counters.
            self.reserved.offsets = self.spill_vgpr()?;
            self.reserved.spill = Some(self.reserved.offsets);
            self.reserved.record = RecordPlace::Spilled;
            return Ok(());
        }
        if borrow.sgprs() {
            self.reserved.spill = Some(self.spill_vgpr()?);
        }
        self.reserved.record = match (take_pair(&mut self.sgprs), borrow.sgprs()) {
            (Some(pair), _) => RecordPlace::Sgprs(pair),
            (None, true) if !scheme.is_seed() => RecordPlace::Spilled,
            (None, _) => {
                let detail = "no even pair of SGPRs is unused in the kernel and its functions";
                return Err((Reason::NoFreeSgpr, detail.to_owned()));
            }
        };
        Ok(())
    }

    /// Adds to what points need what depends on where the record's address is, and on what is borrowed.
    fn more_needs(&mut self) {
        let Request { scheme, probe, level, .. } = self.request;
        let Reserved { record, borrowed_vgprs, scratch, .. } = self.reserved;
        let spilled = record == RecordPlace::Spilled;
        let far = if scheme == Scheme::Memory { self.needs.len() } else { self.request.far };
        // One by one, increments are worked out in registers.
        let (lanes, increments) = match (borrowed_vgprs, probe, level) {
            (BorrowedVgprs::Both, Probe::Branches, Level::Basic) => (2, 2),
            (BorrowedVgprs::Both, Probe::Branches, Level::Lanes) => (2, 1),
            (BorrowedVgprs::Both, ..) => (2, 0),
            _ => (0, 0),
        };
        for (number, needs) in self.needs.iter_mut().enumerate() {
            needs.record = spilled && number < far;
            needs.lanes = lanes;
            needs.singles += increments;
            needs.pair_at_once = scratch.is_some();
            needs.address = scratch.is_some_and(|slots| slots.by_register);
        }
    }

    /// Sees to it that there are registers for what points need.
    fn temps(&mut self) -> Result<(), NoRegisters> {
        let borrows = self.request.borrow.sgprs();
        self.reserved.spare = self.component.reserve_spare(&self.needs, &mut self.sgprs, borrows)?;
        if borrows {
            self.borrowed = Some(self.component.borrowed_temps(&self.needs, spare(&self.reserved))?);
        }
        Ok(())
    }

    /// The places of the counters.
    fn counters(&mut self) -> Result<Vec<CounterPlace>, NoRegisters> {
        let Request { sites, far, .. } = self.request;
        if far > 0 {
            self.reserved.adds_to_memory = true;
            (self.reserved.data, self.reserved.offsets) = (self.vgpr()?, self.vgpr()?);
        }
        let mut places = vec![CounterPlace::Memory; far];
        places.extend(self.near_counters(sites - far)?);
        Ok(places)
    }

    /// The places of the counters that are where the scheme has them.
    fn near_counters(&mut self, sites: usize) -> Result<Vec<CounterPlace>, NoRegisters> {
        match self.request.scheme {
            Scheme::Sgprs => self.in_sgprs(sites),
            Scheme::VgprLanes => self.in_vgpr_lanes(sites),
            Scheme::Lds => {
                let is_borrowed = self.reserved.borrowed_vgprs != BorrowedVgprs::Neither;
                self.reserved.data = if is_borrowed { self.borrow_vgpr()? } else { self.vgpr()? };
                Ok(vec![CounterPlace::Lds; sites])
            }
            Scheme::Memory | Scheme::Seed(_) => {
                self.reserved.adds_to_memory = true;
                (self.reserved.data, self.reserved.offsets) =
                    match (self.reserved.borrowed_vgprs, self.reserved.spill) {
                        (BorrowedVgprs::One, Some(spill)) => (spill, self.borrow_vgpr()?),
                        (BorrowedVgprs::Both, _) => (self.borrow_vgpr()?, self.borrow_vgpr()?),
                        _ => (self.vgpr()?, self.vgpr()?),
                    };
                Ok(vec![CounterPlace::Memory; sites])
            }
        }
    }

    fn in_sgprs(&mut self, sites: usize) -> Result<Vec<CounterPlace>, NoRegisters> {
        let Request { probe, level, may_defer, .. } = self.request;
        let each = match probe {
            Probe::Branches | Probe::Time => SgprCounters::count(level),
            Probe::Blocks => 1 + usize::from(level == Level::Lanes),
        };
        let wanted = each * sites;
        if self.sgprs.len() < wanted {
            let detail = format!(
                "{sites} {} need {wanted} SGPRs for their counters, {} are unused",
                probe.things(),
                self.sgprs.len()
            );
            return Err((Reason::CountersDoNotFit, detail));
        }
        if let Some(deferring) = may_defer.and_then(|ask| ask())
            && let Some(places) = self.defer(each, &deferring)
        {
            return Ok(places);
        }
        if self.reserved.deferred.is_none() {
            self.reserved.counters = self.sgprs.drain(..wanted).collect();
        }
        let place = |chunk: &[u8]| match probe {
            Probe::Blocks => CounterPlace::BlockSgprs { executions: chunk[0], lanes: chunk.get(1).copied() },
            Probe::Branches | Probe::Time => CounterPlace::Sgprs(SgprCounters::new(chunk)),
        };
        Ok(self.reserved.counters.chunks(each).map(place).collect())
    }

    /// Leaves working out the record's address for later, if there are registers for that. The places of the
    /// counters, if the record is packed; else there are counters for each site.
    fn defer(&mut self, each: usize, deferring: &Deferring) -> Option<Vec<CounterPlace>> {
        let Deferring { workgroup_ids, forms } = deferring;
        let sites = self.request.sites;
        self.reserved.free_vgprs = self.component.free_at_end(self.reserved.spill);
        let has_masks = forms.len() == sites && forms.iter().any(|&form| form != SiteForm::Counts);
        let counts = vec![SiteForm::Counts; sites];
        let mut sgprs = for_counters(workgroup_ids, &self.sgprs, self.reserved.record);
        // A kernel of several may have the first of its sites alone.
        let any_count = forms.is_empty();
        for forms in has_masks.then_some(forms).into_iter().chain([&counts]) {
            if let Some((places, zeroed, deferred)) = self.packed(sgprs.clone(), (each, forms), any_count) {
                self.reserved.counters = zeroed;
                self.reserved.deferred = Some(deferred);
                self.reserved.packed = true;
                if forms != &counts {
                    self.reserved.site_forms.clone_from(forms);
                }
                return Some(places);
            }
        }
        let wanted = each * sites;
        if sgprs.len() >= wanted {
            let counters = sgprs.drain(..wanted).collect();
            if let Some(deferred) = Deferred::take(self.component.arch(), &mut sgprs) {
                (self.reserved.counters, self.reserved.deferred) = (counters, Some(deferred));
            }
        }
        None
    }

    /// Places for records that one lane writes, packed; sites may have masks instead of counters. Returns the
    /// places, and the registers that are zero at first. Records may hold the first of these sites alone, if
    /// there is no telling how many.
    fn packed(
        &self,
        mut sgprs: Vec<u8>,
        (each, forms): (usize, &[SiteForm]),
        any_count: bool,
    ) -> Option<(Vec<CounterPlace>, Vec<u8>, Deferred)> {
        let mut zeroed = Vec::new();
        // Pairs first, as long as there are any.
        let mut masks: Vec<Option<CounterPlace>> = Vec::with_capacity(forms.len());
        for &form in forms {
            masks.push(if form == SiteForm::Counts {
                None
            } else {
                let new = take_pair(&mut sgprs)?;
                let old = if form == SiteForm::Masks { Some(take_pair(&mut sgprs)?) } else { None };
                // NEW means something where a wave has been alone, which OLD tells.
                zeroed.extend(old.into_iter().flat_map(|old| [old, old + 1]));
                Some(CounterPlace::Masks { new, old })
            });
        }
        // Two words that are stored next to each other are moved at once from a pair.
        let wanted = each * masks.iter().filter(|masks| masks.is_none()).count();
        let mut counters: Vec<u8> = Vec::new();
        while wanted - counters.len() >= 2
            && let Some(pair) = take_pair(&mut sgprs)
        {
            counters.extend([pair, pair + 1]);
        }
        let rest = wanted - counters.len();
        counters.extend((sgprs.len() >= rest).then(|| sgprs.drain(..rest))?);
        zeroed.extend(&counters);
        let mut counted =
            counters.chunks(each).map(|counters| CounterPlace::Sgprs(SgprCounters::new(counters)));
        let places = masks.into_iter().map(|masks| masks.or_else(|| counted.next()));
        let places: Vec<CounterPlace> = places.collect::<Option<_>>()?;
        let written = if any_count { 0..=places.len() } else { places.len()..=places.len() };
        let mut stored = written.map(|count| {
            Stores::plan(&places[..count], |vgpr| self.reserved.free_vgprs.contains(Reg::vgpr(vgpr)))
        });
        if stored.any(|plan| plan.is_none()) {
            return None;
        }
        let deferred = Deferred::take(self.component.arch(), &mut sgprs)?;
        Some((places, zeroed, deferred))
    }

    fn in_vgpr_lanes(&mut self, sites: usize) -> Result<Vec<CounterPlace>, NoRegisters> {
        let Request { probe, far, .. } = self.request;
        let each = points_per_vgpr(probe, self.component.wave_size());
        let counter_vgprs = sites.div_ceil(each);
        let of_memory = usize::from(far > 0);
        let wanted = 1 + of_memory + counter_vgprs + usize::from(self.reserved.spill.is_some());
        let unused = self.component.unused_vgprs().take(wanted).count();
        if counter_vgprs > 0 && unused < wanted {
            let what = probe.things();
            let detail = format!("{wanted} VGPRs are needed to count {sites} {what}; unused: {unused}");
            return Err((Reason::NoFreeVgpr, detail));
        }
        if far == 0 {
            self.reserved.data = self.vgpr()?;
        }
        self.reserved.counter_vgprs = (0..counter_vgprs).map(|_| self.vgpr()).collect::<Result<_, _>>()?;
        let lane = |site: usize| CounterPlace::Lanes {
            vgpr: self.reserved.counter_vgprs[site / each],
            first: probe.words() * (site % each) as u32,
        };
        Ok((0..sites).map(lane).collect())
    }

    /// Finds places for the times at entry and at the end, if they are what is measured.
    fn times(&mut self) -> Result<(), NoRegisters> {
        if self.request.probe != Probe::Time {
            return Ok(());
        }
        self.reserved.begin = Some(match self.request.scheme {
            Scheme::Sgprs => BeginPlace::Sgprs(take_pair(&mut self.sgprs).ok_or_else(|| {
                let detail = "no even pair of SGPRs is unused, to hold the time of entry".to_owned();
                (Reason::CountersDoNotFit, detail)
            })?),
            Scheme::VgprLanes => BeginPlace::DataLanes,
            Scheme::Lds | Scheme::Memory | Scheme::Seed(_) => BeginPlace::Memory,
        });
        self.reserved.end = end_pair(&self.reserved, &self.component.late).ok_or_else(|| {
            let detail = "no even pair of SGPRs is left for the time of the end".to_owned();
            (Reason::CountersDoNotFit, detail)
        })?;
        Ok(())
    }

    /// Finds the VGPRs that counters in registers go through at the end of a wave. Every VGPR is dead there:
    /// such as are allotted anyway are taken.
    fn vgprs_at_end(&mut self) -> Result<(), NoRegisters> {
        if self.reserved.adds_to_memory {
            return Ok(());
        }
        let Reserved { data, spill, ref counter_vgprs, .. } = self.reserved;
        let may = |&register: &u8| {
            !self.component.late.contains(Reg::vgpr(register))
                && register != data
                && Some(register) != spill
                && !counter_vgprs.contains(&register)
        };
        let at_end = || self.component.limits.allotted().filter(may);
        let (first, second) = (at_end().next(), at_end().nth(1));
        match self.request.scheme {
            Scheme::Sgprs => {
                self.reserved.data = first.map_or_else(|| self.vgpr(), Ok)?;
                self.reserved.offsets = second.map_or_else(|| self.vgpr(), Ok)?;
                // An unused register that is allotted comes from either source.
                if self.reserved.offsets == self.reserved.data {
                    self.reserved.offsets = self.vgpr()?;
                }
            }
            Scheme::VgprLanes => self.reserved.offsets = first.map_or_else(|| self.vgpr(), Ok)?,
            Scheme::Lds | Scheme::Memory | Scheme::Seed(_) => {}
        }
        Ok(())
    }
}

/// The SGPRs that are reserved for what sites hold for a moment.
fn spare(reserved: &Reserved) -> Sgprs {
    reserved.spare.iter().fold(Sgprs::default(), |all, &register| all.with(register))
}

/// The SGPRs for counters where the record's address is worked out late, in the order in which they should be
/// taken: those last that have ids of the workgroup. The pair for that address is not needed then.
fn for_counters(workgroup_ids: &[u8], sgprs: &[u8], record: RecordPlace) -> Vec<u8> {
    let mut sgprs = sgprs.to_vec();
    if let RecordPlace::Sgprs(pair) = record {
        sgprs.extend([pair, pair + 1]);
    }
    sgprs.sort_unstable();
    let (ids, mut others): (Vec<u8>, Vec<u8>) =
        sgprs.into_iter().partition(|register| workgroup_ids.contains(register));
    others.extend(ids);
    others
}

/// A pair for the time at the end, where all is dead but what is reserved for the probes, and whether a
/// scalar load may still write to it.
fn end_pair(reserved: &Reserved, late: &RegSet) -> Option<(u8, bool)> {
    let is_owned = |pair: u8| {
        reserved.record == RecordPlace::Sgprs(pair) || reserved.begin == Some(BeginPlace::Sgprs(pair))
    };
    let pairs = || (0..LAST_SGPR).step_by(2).filter(|&pair| !is_owned(pair) && reserved.may_end_with(pair));
    let is_late = |pair: u8| late.contains(Reg::scalar(pair)) || late.contains(Reg::scalar(pair + 1));
    let quiet = pairs().find(|&pair| !is_late(pair)).map(|pair| (pair, false));
    quiet.or_else(|| pairs().next().map(|pair| (pair, true)))
}
