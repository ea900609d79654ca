//! Registers for the probes of one component: kernels that share functions, and these functions.
//!
//! What is reserved for the probes is used by nothing else in the whole component, so one choice is right for a shared
//! function whichever kernel calls it. SGPRs that a site needs for a moment are, in this order, dead around
//! the site, unused, or borrowed from the program: then lanes of an unused VGPR keep their values meanwhile.
//! The record's address is kept there too if no pair of SGPRs is left for it.
//!
//! If too few VGPRs are unused, sites borrow the lowest lanes of others. No load or matrix instruction of the
//! whole component touches these, so nothing writes to them meanwhile, and none of them arrives with
//! work-item ids. So saving and restoring is all there is to it.
//!
//! `s_movreld_b32` and `s_movrels_b32` may touch every SGPR from the named one on. A kernel with one of them
//! has no counter in an SGPR that it is allotted.
//!
//! [`Options::spare_vgprs`](super::Options::spare_vgprs) and [`spare_sgprs`](super::Options::spare_sgprs)
//! instrument any kernel as if it left so few registers; tests reach all of this by them.

use std::collections::BTreeSet;

use amdgpu_isa::{Access, Feature, Inst, LAST_SGPR, Logic, MaskOp, Reg, RegSet, ScalarSet, Value, WaveSize};
use arrayvec::ArrayVec;

use super::deferred::Deferred;
use super::layout::{
    BeginPlace, BorrowedVgprs, CounterPlace, RecordPlace, Reserved, ScratchSlots, SgprCounters, Temps,
    points_per_vgpr,
};
use super::options::{Home, Level, Probe};
use super::points::Point;
use super::pool::{Pool, Sgprs, serves, temps};
use super::refusal::Reason;
use super::seed::{SeedPlace, SeedRegisters};
use super::site_code::Needs;
use super::stores::Stores;
use super::survey::Survey;
use crate::counters::SiteForm;

/// Where counters are, one step finer than the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Sgprs,
    VgprLanes,
    Lds,
    Memory,
    /// Of 2022.
    Seed(SeedPlace),
}

impl Scheme {
    pub(super) const fn home(self) -> Home {
        match self {
            Self::Sgprs | Self::VgprLanes | Self::Seed(SeedPlace::Nowhere) => Home::Register,
            Self::Lds | Self::Seed(SeedPlace::Lds) => Home::Lds,
            Self::Memory | Self::Seed(SeedPlace::Memory) => Home::Global,
        }
    }

    /// Whether this is one of the schemes of 2022.
    pub(super) const fn is_seed(self) -> bool {
        matches!(self, Self::Seed(_))
    }
}

/// What sites may take of the registers that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Borrow {
    /// Nothing.
    Nothing,
    /// SGPRs.
    Sgprs,
    /// SGPRs, and lanes of a VGPR; in LDS and memory.
    OneVgpr,
    /// A lane each of two VGPRs, and no SGPR; in memory.
    TwoVgprs,
    /// SGPRs, and lanes of two VGPRs, one of which changes places with its contents in scratch memory; in LDS and memory.
    Scratch,
}

impl Borrow {
    const fn sgprs(self) -> bool {
        matches!(self, Self::Sgprs | Self::OneVgpr | Self::Scratch)
    }

    const fn borrowed_vgprs(self) -> BorrowedVgprs {
        match self {
            Self::Nothing | Self::Sgprs => BorrowedVgprs::Neither,
            Self::OneVgpr | Self::Scratch => BorrowedVgprs::One,
            Self::TwoVgprs => BorrowedVgprs::Both,
        }
    }
}

/// The first VGPR that may be borrowed: those below arrive with work-item ids, and prologues use borrowed ones.
const FIRST_BORROWED: u32 = 3;

/// What is handed out.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) reserved: Reserved,
    /// Where the counters of the shared functions' sites are, then those of the kernel's own sites (the same for each kernel).
    pub(super) places: Vec<CounterPlace>,
    /// By point.
    pub(super) temps: Vec<Temps>,
}

/// No registers: why, and how many were missing.
pub(super) type NoRegisters = (Reason, String);

/// What counters in SGPRs can make use of that leave working out the record's address for later.
#[derive(Clone, Debug)]
pub(super) struct Deferring {
    /// SGPRs that have the ids of the workgroup at entry: they should stay as they are.
    pub(super) workgroup_ids: Vec<u8>,
    /// What could be written for each site instead of counts.
    pub(super) forms: Vec<SiteForm>,
}

/// The limits of a component, whatever the scheme.
pub(super) struct Component<'a> {
    survey: &'a Survey,
    limits: Limits,
    /// What all its functions use.
    used: RegSet,
    /// Used registers that operations write later, on their own, or use for long.
    late: RegSet,
    /// The SGPRs that may be taken, ascending.
    sgprs: Vec<u8>,
    /// The lowest VGPR that may be taken.
    first_vgpr: u32,
    /// The instruction of each point, and what may be taken there for a moment.
    points: Vec<(usize, Candidates)>,
}

/// Registers that a component's kernels have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// VGPRs that each of them is allotted at least.
    pub(super) allotted_vgprs: u32,
    /// VGPRs that any of them is allotted at most.
    pub(super) most_vgprs: u32,
    /// SGPRs that any of them is allotted at most.
    pub(super) most_sgprs: u32,
    /// How many unused VGPRs may be taken.
    pub(super) spare_vgprs: Option<u8>,
    /// How many unused SGPRs may be taken.
    pub(super) spare_sgprs: Option<u8>,
}

/// How registers are to be used.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) scheme: Scheme,
    /// What sites may use of what is in use.
    pub(super) borrow: Borrow,
    pub(super) probe: Probe,
    pub(super) level: Level,
    /// How many counted sites there are.
    pub(super) sites: usize,
    /// Counters in SGPRs may leave working out the record's address for later. Asked only where there are enough SGPRs.
    pub(super) may_defer: Option<&'a dyn Fn() -> Option<Deferring>>,
    /// Private memory for the spill VGPR; used if sites are to borrow that.
    pub(super) scratch: Option<ScratchSlots>,
}

impl<'a> Component<'a> {
    /// Of these functions, kernels among them, in which something is counted at these points.
    pub(super) fn new(
        survey: &'a Survey,
        limits: Limits,
        functions: &BTreeSet<usize>,
        points: &[(usize, Point)],
    ) -> Self {
        let (mut used, mut late) = (RegSet::default(), RegSet::default());
        let (mut indexed, mut by_number) = (false, false);
        for &function in functions {
            let summary = survey.summary(function);
            used.union_with(&summary.used);
            late.union_with(&summary.late);
            indexed |= summary.indexed;
            by_number |= summary.sgprs_by_number;
        }
        // With registers addressed by number, what no operand names may still be in use.
        let first_vgpr = if indexed { limits.most_vgprs } else { 0 };
        let first_sgpr = if by_number { limits.most_sgprs } else { 0 };
        let unused = |&register: &u8| !used.contains(Reg::scalar(register));
        let mut sgprs: Vec<u8> =
            (0..=LAST_SGPR).filter(|&register| u32::from(register) >= first_sgpr).filter(unused).collect();
        sgprs.truncate(limits.spare_sgprs.map_or(usize::MAX, usize::from));
        let scalars = (ScalarSet::of(&used), ScalarSet::of(&late));
        let points = points
            .iter()
            .map(|&(function, point)| (point.inst, Candidates::at(survey, function, point, scalars)))
            .collect();
        Self { survey, limits, used, late, sgprs, first_vgpr, points }
    }

    /// Registers for a scheme in which each point needs so much.
    pub(super) fn allocate(
        &self,
        request: Request<'_>,
        mut needs: Vec<Needs>,
    ) -> Result<Allocation, NoRegisters> {
        let Request { scheme, borrow, probe, level, sites, may_defer, .. } = request;
        if let Scheme::Seed(place) = scheme {
            let wanted = if place == SeedPlace::Nowhere { Probe::Time } else { Probe::Branches };
            if probe != wanted {
                let detail = format!("that scheme of 2022 is one of probe `{}`", wanted.name());
                return Err((Reason::CountersDoNotFit, detail));
            }
        }
        if (probe, scheme) == (Probe::Time, Scheme::Lds) {
            let detail = "times are kept in registers or in memory, not in LDS".to_owned();
            return Err((Reason::CountersDoNotFit, detail));
        }
        let Self { limits, used, late, .. } = self;
        let mut sgprs = self.sgprs.clone();
        let vgprs = (self.first_vgpr..256)
            .map(|register| register as u8)
            .filter(|&v| !used.contains(Reg::vgpr(v)))
            .take(limits.spare_vgprs.map_or(usize::MAX, usize::from));
        let mut left = vgprs.clone();
        let mut vgpr = || left.next().ok_or((Reason::NoFreeVgpr, "every VGPR is in use".to_owned()));
        let at_sites = if borrow.borrowed_vgprs() == BorrowedVgprs::Neither {
            RegSet::EMPTY
        } else {
            self.touched_by_sites()
        };
        let mut borrowed_vgprs = (FIRST_BORROWED..limits.allotted_vgprs.min(256))
            .map(|register| Reg::vgpr(register as u8))
            .filter(|&v| used.contains(v) && !late.contains(v) && !at_sites.contains(v))
            .filter_map(Reg::as_vgpr);
        let mut borrow_vgpr = || {
            borrowed_vgprs.next().ok_or_else(|| {
                let detail = "every VGPR is in use, and by operations that go on beside others";
                (Reason::NoFreeVgpr, detail.to_owned())
            })
        };
        let scratch = request.scratch.filter(|_| borrow == Borrow::Scratch);
        let mut reserved =
            Reserved { borrowed_vgprs: borrow.borrowed_vgprs(), scratch, ..Reserved::default() };
        let borrows_sgprs = borrow.sgprs();
        let mut spill = || if scratch.is_some() { borrow_vgpr() } else { vgpr() };
        if scheme == Scheme::Lds {
            // Sites do not need the record's address, and there is room for it beside those of the counters.
            reserved.offsets = spill()?;
            reserved.spill = Some(reserved.offsets);
            reserved.record = RecordPlace::Spilled;
        } else {
            if borrows_sgprs {
                reserved.spill = Some(spill()?);
            }
            reserved.record = match (take_pair(&mut sgprs), borrows_sgprs) {
                (Some(pair), _) => RecordPlace::Sgprs(pair),
                (None, true) if !scheme.is_seed() => RecordPlace::Spilled,
                (None, _) => {
                    let detail = "no even pair of SGPRs is unused in the kernel and its functions";
                    return Err((Reason::NoFreeSgpr, detail.to_owned()));
                }
            };
        }
        let spilled = reserved.record == RecordPlace::Spilled && scheme == Scheme::Memory;
        // One by one, increments are worked out in registers.
        let (lanes, increments) = match (reserved.borrowed_vgprs, probe, level) {
            (BorrowedVgprs::Both, Probe::Branches, Level::Basic) => (2, 2),
            (BorrowedVgprs::Both, Probe::Branches, Level::Lanes) => (2, 1),
            (BorrowedVgprs::Both, ..) => (2, 0),
            _ => (0, 0),
        };
        for needs in &mut needs {
            needs.record = spilled;
            needs.lanes = lanes;
            needs.singles += increments;
            needs.pair_at_once = scratch.is_some();
            needs.address = scratch.is_some_and(|slots| slots.by_register);
        }
        let points = || needs.iter().zip(self.points.iter().map(|(_, candidates)| candidates));
        reserved.spare = reserve_spare(points(), &mut sgprs, borrows_sgprs)?;
        let spare = reserved.spare.iter().fold(Sgprs::default(), |all, &register| all.with(register));
        let borrowed = if borrows_sgprs {
            let borrowed = |(&needs, candidates): (&Needs, &Candidates)| {
                let mut pool = Pool::of_free(candidates.free.or(spare));
                pool.borrowable = candidates.borrowable;
                // Registers that loads write to, once these loads are done.
                let with_late = Pool { late: candidates.late, borrowed: ArrayVec::new(), ..pool };
                let late = || temps(needs, with_late).map(|temps| Temps { wait: true, ..temps });
                temps(needs, pool).or_else(late).ok_or_else(no_temps)
            };
            Some(points().map(borrowed).collect::<Result<Vec<_>, _>>()?)
        } else {
            None
        };
        // There are enough, so they are handed out only when there are registers for the counters, too.
        let free = |(&needs, candidates): (&Needs, &Candidates)| {
            temps(needs, Pool::of_free(candidates.free.or(spare))).ok_or_else(no_temps)
        };
        let temps = || borrowed.map_or_else(|| points().map(free).collect(), Ok);

        let places = match scheme {
            Scheme::Sgprs => {
                let each = match probe {
                    Probe::Branches | Probe::Time => SgprCounters::count(level),
                    Probe::Blocks => 1 + usize::from(level == Level::Lanes),
                };
                if sgprs.len() < each * sites {
                    let detail = format!(
                        "{sites} {} need {} SGPRs for their counters, {} are unused",
                        probe.things(),
                        each * sites,
                        sgprs.len()
                    );
                    return Err((Reason::CountersDoNotFit, detail));
                }
                let deferring = may_defer.and_then(|ask| ask());
                if let Some(Deferring { workgroup_ids, forms }) = &deferring {
                    let most = self.vgprs_that_cost_nothing();
                    let free = &mut reserved.free_vgprs;
                    *free = vgprs.clone().take_while(|&register| register < most).map(Reg::vgpr).collect();
                    free.insert_run(Reg::vgpr(0), limits.allotted_vgprs.min(256) as u16);
                    free.subtract(late);
                    reserved.spill.map(|spill| free.remove(Reg::vgpr(spill)));
                    let has_masks =
                        forms.len() == sites && forms.iter().any(|&form| form != SiteForm::Counts);
                    let counts = vec![SiteForm::Counts; sites];
                    let sgprs = for_counters(workgroup_ids, &sgprs, reserved.record);
                    // A kernel of several may have the first of its sites alone.
                    let any_count = forms.is_empty();
                    for forms in has_masks.then_some(forms).into_iter().chain([&counts]) {
                        if let Some((places, zeroed, deferred)) =
                            self.packed(sgprs.clone(), (each, forms), any_count, &reserved.free_vgprs)
                        {
                            (reserved.counters, reserved.deferred, reserved.packed) =
                                (zeroed, Some(deferred), true);
                            if forms != &counts {
                                reserved.site_forms.clone_from(forms);
                            }
                            return Ok(Allocation { reserved, places, temps: temps()? });
                        }
                    }
                    if let Some((counters, deferred)) = self.deferred(sgprs, each * sites) {
                        (reserved.counters, reserved.deferred) = (counters, Some(deferred));
                    }
                }
                if reserved.deferred.is_none() {
                    reserved.counters = sgprs.drain(..each * sites).collect();
                }
                let chunks = reserved.counters.chunks(each);
                chunks
                    .map(|chunk| match probe {
                        Probe::Blocks => {
                            CounterPlace::BlockSgprs { executions: chunk[0], lanes: chunk.get(1).copied() }
                        }
                        Probe::Branches | Probe::Time => CounterPlace::Sgprs(SgprCounters::new(chunk)),
                    })
                    .collect()
            }
            Scheme::VgprLanes => {
                let counter_vgprs = sites.div_ceil(points_per_vgpr(probe));
                let wanted = 1 + counter_vgprs + usize::from(reserved.spill.is_some());
                let unused = vgprs.clone().take(wanted).count();
                if counter_vgprs > 0 && unused < wanted {
                    let what = probe.things();
                    let detail =
                        format!("{wanted} VGPRs are needed to count {sites} {what}; unused: {unused}");
                    return Err((Reason::NoFreeVgpr, detail));
                }
                reserved.data = vgpr()?;
                reserved.counter_vgprs = (0..counter_vgprs).map(|_| vgpr()).collect::<Result<_, _>>()?;
                let lane = |site: usize| CounterPlace::Lanes {
                    vgpr: reserved.counter_vgprs[site / points_per_vgpr(probe)],
                    first: probe.words() * (site % points_per_vgpr(probe)) as u32,
                };
                (0..sites).map(lane).collect()
            }
            Scheme::Lds => {
                reserved.data =
                    if reserved.borrowed_vgprs == BorrowedVgprs::Neither { vgpr()? } else { borrow_vgpr()? };
                vec![CounterPlace::Lds; sites]
            }
            Scheme::Memory => {
                (reserved.data, reserved.offsets) = match (reserved.borrowed_vgprs, reserved.spill) {
                    (BorrowedVgprs::One, Some(spill)) => (spill, borrow_vgpr()?),
                    (BorrowedVgprs::Both, _) => (borrow_vgpr()?, borrow_vgpr()?),
                    _ => (vgpr()?, vgpr()?),
                };
                vec![CounterPlace::Memory; sites]
            }
            Scheme::Seed(place) => {
                let unused = std::iter::from_fn(|| vgpr().ok());
                reserved.seed = Some(SeedRegisters::take(place, sites as u32, &mut sgprs, unused)?);
                vec![CounterPlace::Seed; sites]
            }
        };
        if probe == Probe::Time && !scheme.is_seed() {
            reserved.begin = Some(match scheme {
                Scheme::Sgprs => BeginPlace::Sgprs(take_pair(&mut sgprs).ok_or_else(|| {
                    let detail = "no even pair of SGPRs is unused, to hold the time of entry".to_owned();
                    (Reason::CountersDoNotFit, detail)
                })?),
                Scheme::VgprLanes => BeginPlace::DataLanes,
                Scheme::Lds | Scheme::Memory | Scheme::Seed(_) => BeginPlace::Memory,
            });
            reserved.end = end_pair(&reserved, late);
        }
        // At the end of a wave every VGPR is dead: take such as are allotted anyway.
        let mut at_end =
            (0..limits.allotted_vgprs.min(256)).map(|register| register as u8).filter(|&register| {
                !late.contains(Reg::vgpr(register))
                    && register != reserved.data
                    && Some(register) != reserved.spill
                    && !reserved.counter_vgprs.contains(&register)
            });
        match scheme {
            Scheme::Sgprs => {
                let (first, second) = (at_end.next(), at_end.next());
                reserved.data = first.map_or_else(&mut vgpr, Ok)?;
                reserved.offsets = second.map_or_else(&mut vgpr, Ok)?;
                // An unused register that is allotted comes from either source.
                if reserved.offsets == reserved.data {
                    reserved.offsets = vgpr()?;
                }
            }
            Scheme::VgprLanes => reserved.offsets = at_end.next().map_or_else(&mut vgpr, Ok)?,
            Scheme::Lds | Scheme::Memory | Scheme::Seed(_) => {}
        }
        Ok(Allocation { reserved, places, temps: temps()? })
    }

    /// Registers for so many counters whose record's address is worked out late; none where there are too few.
    fn deferred(&self, mut sgprs: Vec<u8>, counters: usize) -> Option<(Vec<u8>, Deferred)> {
        let counters: Vec<u8> = (sgprs.len() >= counters).then(|| sgprs.drain(..counters).collect())?;
        let deferred = Deferred::take(self.survey.program.arch, &mut sgprs)?;
        Some((counters, deferred))
    }

    /// VGPRs below this number cost no occupancy: 8 waves or 10 of a SIMD take an even share. Those of a kernel with accumulation
    /// registers behind them stay as they are.
    fn vgprs_that_cost_nothing(&self) -> u8 {
        let arch = self.survey.program.arch;
        let in_one_file = arch.has(Feature::UnifiedRegisterFile);
        if in_one_file && self.used.iter().any(|register| register.as_agpr().is_some()) {
            return 0;
        }
        let limits = arch.limits();
        let share = limits.vgprs_per_simd / limits.waves_per_simd;
        (share / limits.vgpr_granule * limits.vgpr_granule) as u8
    }

    /// Places for records that one lane writes, packed; sites may have masks instead of counters. Returns the places, and
    /// the registers that are zero at first. Records may hold the first of these sites alone, if there is no telling how
    /// many.
    fn packed(
        &self,
        mut sgprs: Vec<u8>,
        (each, forms): (usize, &[SiteForm]),
        any_count: bool,
        free_vgprs: &RegSet,
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
        let mut stored =
            written.map(|count| Stores::plan(&places[..count], |vgpr| free_vgprs.contains(Reg::vgpr(vgpr))));
        if stored.any(|plan| plan.is_none()) {
            return None;
        }
        let deferred = Deferred::take(self.survey.program.arch, &mut sgprs)?;
        Some((places, zeroed, deferred))
    }

    /// The registers that the instructions of points name.
    fn touched_by_sites(&self) -> RegSet {
        let program = &self.survey.program;
        let mut all = RegSet::default();
        for &(inst, _) in &self.points {
            let effects = program.effects(inst);
            all.union_with(&effects.reads);
            all.union_with(&effects.changes());
        }
        all
    }
}

/// The SGPRs for counters where the record's address is worked out late, in the order in which they should be taken: those last that
/// have ids of the workgroup. The pair for that address is not needed then.
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

/// A pair for the time at the end, where all is dead but what is reserved for the probes, and whether a scalar load may still write
/// to it.
fn end_pair(reserved: &Reserved, late: &RegSet) -> (u8, bool) {
    let is_owned = |pair: u8| {
        reserved.record == RecordPlace::Sgprs(pair) || reserved.begin == Some(BeginPlace::Sgprs(pair))
    };
    let pairs = || (0..LAST_SGPR).step_by(2).filter(|&pair| !is_owned(pair));
    let is_late = |pair: u8| late.contains(Reg::scalar(pair)) || late.contains(Reg::scalar(pair + 1));
    let quiet = pairs().find(|&pair| !is_late(pair)).map(|pair| (pair, false));
    quiet.or_else(|| pairs().next().map(|pair| (pair, true))).unwrap_or_default()
}

/// SGPRs that are used elsewhere and not named by a site's instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    /// Dead right before and right after the site.
    free: Sgprs,
    /// In use.
    borrowable: Sgprs,
    /// Destinations of scalar loads somewhere, perhaps of one that is under way.
    late: Sgprs,
}

impl Candidates {
    /// At a point of a function, where the component uses these registers and those late.
    fn at(survey: &Survey, function: usize, point: Point, (used, late): (ScalarSet, ScalarSet)) -> Self {
        let program = &survey.program;
        let Point { inst, block, .. } = point;
        let (before, after) = survey.liveness.around(program, function, block, inst);
        let named = ScalarSet::named_by(&program.inst(inst).operands);
        let used = Sgprs::of(used.without(named));
        let late = Sgprs::of(late);
        let live = Sgprs::of(before.union(after));
        Self {
            free: used.without(late).without(live),
            borrowable: used.without(late).and(live),
            late: used.and(late),
        }
    }
}

/// Reserves as many unused SGPRs as the neediest site lacks; with borrowing, as many of them as there are.
fn reserve_spare<'c>(
    points: impl Iterator<Item = (&'c Needs, &'c Candidates)>,
    sgprs: &mut Vec<u8>,
    borrow: bool,
) -> Result<Vec<u8>, NoRegisters> {
    let mut spare = Vec::new();
    let mut both = Sgprs::default();
    for (&needs, candidates) in points {
        while !serves(needs, candidates.free.or(both)) {
            // A pair serves any need, singles too.
            match take_pair(sgprs) {
                Some(pair) => {
                    spare.extend([pair, pair + 1]);
                    both = both.with(pair).with(pair + 1);
                }
                None if borrow => return Ok(spare),
                None => return Err(no_temps()),
            }
        }
    }
    Ok(spare)
}

fn no_temps() -> NoRegisters {
    (
        Reason::NoFreeSgpr,
        "too few SGPRs are dead at a site or unused in the kernel and its functions".to_owned(),
    )
}

/// Takes the lowest even pair out of an ascending list.
pub(super) fn take_pair(free: &mut Vec<u8>) -> Option<u8> {
    let at = free.windows(2).position(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1)?;
    let first = free[at];
    free.drain(at..at + 2);
    Some(first)
}

/// Whether an instruction leaves SCC = (NEW ≠ 0).
pub(super) fn scc_tells_new(inst: &Inst, wave: WaveSize) -> bool {
    let writes_exec_itself =
        inst.operands.first().is_some_and(|o| o.value == Value::EXEC && o.access != Access::Read);
    match inst.op.mask_op(wave) {
        Some(MaskOp::Saveexec(Logic::And | Logic::NotAnd) | MaskOp::Wrexec(Logic::NotAnd)) => true,
        Some(MaskOp::Combine(Logic::And | Logic::AndNot | Logic::Or | Logic::Xor)) => writes_exec_itself,
        _ => false,
    }
}
