//! What registers one component leaves: kernels that share functions, and these functions.
//!
//! `s_movreld_b32` and `s_movrels_b32` may touch every SGPR from the named one on. A kernel with one of them
//! has no counter in an SGPR that it is allotted.

use std::collections::BTreeSet;

use amdgpu_isa::{Arch, Feature, LAST_SGPR, Reg, RegSet, ScalarSet, WaveSize, scalar};

use super::needs::Needs;
use super::pool::{Beside, Pool, Sgprs, serves, take_pair, temps};
use super::{NoRegisters, layout::Temps};
use crate::instrument::find::points::Point;
use crate::instrument::find::survey::Survey;
use crate::instrument::refusal::Reason;

/// The first VGPR that may be borrowed: those below arrive with work-item ids, and prologues use borrowed
/// ones.
const FIRST_BORROWED: u32 = 3;

/// The limits of a component, whatever the scheme.
pub(crate) struct Component<'a> {
    survey: &'a Survey,
    pub(super) limits: Limits,
    /// What all its functions use.
    used: RegSet,
    /// Used registers that operations write later, on their own, or use for long.
    pub(super) late: RegSet,
    /// SGPRs that vector instructions read as masks, where writing these is a hazard.
    pub(super) lane_masks: ScalarSet,
    /// The SGPRs that may be taken, ascending.
    pub(super) sgprs: Vec<u8>,
    /// The lowest VGPR that may be taken.
    first_vgpr: u32,
    /// The instruction of each point, and what may be taken there for a moment.
    points: Vec<(usize, Candidates)>,
}

/// Registers that a component's kernels have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// VGPRs that each of them is allotted at least.
    pub(crate) allotted_vgprs: u32,
    /// VGPRs that any of them is allotted at most.
    pub(crate) most_vgprs: u32,
    /// SGPRs that any of them is allotted at most.
    pub(crate) most_sgprs: u32,
    /// How many unused VGPRs may be taken.
    pub(crate) spare_vgprs: Option<u8>,
    /// How many unused SGPRs may be taken.
    pub(crate) spare_sgprs: Option<u8>,
}

impl Limits {
    /// The VGPRs that each of its kernels is allotted.
    pub(super) fn allotted(&self) -> impl Iterator<Item = u8> {
        (0..self.allotted_vgprs.min(256)).map(|register| register as u8)
    }
}

impl<'a> Component<'a> {
    /// Of these functions, kernels among them, in which something is counted at these points.
    pub(crate) fn new(
        survey: &'a Survey,
        limits: Limits,
        functions: &BTreeSet<usize>,
        points: &[(usize, Point)],
    ) -> Self {
        let (mut used, mut late) = (RegSet::default(), RegSet::default());
        let (mut indexed, mut by_number) = (false, false);
        let (mut lane_masks, mut read_by_vectors) = (ScalarSet::EMPTY, ScalarSet::EMPTY);
        for &function in functions {
            let summary = survey.summary(function);
            used.union_with(&summary.used);
            late.union_with(&summary.late);
            lane_masks = lane_masks.union(summary.lane_masks());
            read_by_vectors = read_by_vectors.union(summary.read_by_vectors());
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
        // What vector instructions read as masks is left alone.
        let scalars = (ScalarSet::of(&used).without(lane_masks), ScalarSet::of(&late).without(lane_masks));
        let points = points
            .iter()
            .map(|&(function, point)| {
                let candidates = Candidates::at(survey, function, point, scalars);
                (point.inst, candidates.rather_not(read_by_vectors))
            })
            .collect();
        Self { survey, limits, used, late, lane_masks, sgprs, first_vgpr, points }
    }

    pub(super) fn arch(&self) -> Arch {
        self.survey.program.arch
    }

    pub(super) fn wave_size(&self) -> WaveSize {
        self.survey.program.wave_size()
    }

    /// The VGPRs that nothing uses, as many as may be taken.
    pub(super) fn unused_vgprs(&self) -> UnusedVgprs<'_> {
        let most = self.limits.spare_vgprs.map_or(usize::MAX, usize::from);
        UnusedVgprs { used: &self.used, from: self.first_vgpr, most }
    }

    /// The VGPRs that sites may borrow.
    pub(super) fn borrowable_vgprs(&self) -> Vec<u8> {
        let at_sites = self.touched_by_sites();
        let vgprs = (FIRST_BORROWED..self.limits.allotted_vgprs.min(256)).map(|register| register as u8);
        let may = |v: Reg| self.used.contains(v) && !self.late.contains(v) && !at_sites.contains(v);
        vgprs.filter(|&register| may(Reg::vgpr(register))).collect()
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

    /// VGPRs below this number cost no occupancy: 8 waves or 10 of a SIMD take an even share. Those of a
    /// kernel with accumulation registers behind them stay as they are.
    fn vgprs_that_cost_nothing(&self) -> u8 {
        let arch = self.arch();
        let in_one_file = arch.has(Feature::UnifiedRegisterFile);
        if in_one_file && self.used.iter().any(|register| register.as_agpr().is_some()) {
            return 0;
        }
        let (limits, wave) = (arch.limits(), self.wave_size());
        let share = limits.vgprs_for(wave) / limits.waves_per_simd;
        let granule = limits.vgpr_granule_for(wave);
        (share / granule * granule) as u8
    }

    /// VGPRs that cost no occupancy, and that no load may still write to when a wave ends, but for the spill
    /// VGPR.
    pub(super) fn free_at_end(&self, spill: Option<u8>) -> RegSet {
        let most = self.vgprs_that_cost_nothing();
        let mut free: RegSet =
            self.unused_vgprs().take_while(|&register| register < most).map(Reg::vgpr).collect();
        free.insert_run(Reg::vgpr(0), self.limits.allotted_vgprs.min(256) as u16);
        free.subtract(&self.late);
        if let Some(spill) = spill {
            free.remove(Reg::vgpr(spill));
        }
        free
    }

    /// What may be taken at each point.
    fn candidates(&self) -> impl Iterator<Item = &Candidates> {
        self.points.iter().map(|(_, candidates)| candidates)
    }

    /// Reserves as many unused SGPRs as the neediest point lacks; with borrowing, as many of them as there
    /// are.
    pub(super) fn reserve_spare(
        &self,
        needs: &[Needs],
        sgprs: &mut Vec<u8>,
        borrow: bool,
    ) -> Result<Vec<u8>, NoRegisters> {
        let mut spare = Vec::new();
        let mut both = Sgprs::default();
        for (&needs, candidates) in needs.iter().zip(self.candidates()) {
            while !serves(needs, candidates.free.or(both)) {
                // A pair serves any need, singles too.
                match take_pair(sgprs) {
                    Some(pair) => {
                        spare.extend([pair, pair + 1]);
                        both = both.with(pair).with(pair + 1);
                    }
                    None if serves(needs, candidates.all_free().or(both)) => break,
                    None if borrow => return Ok(spare),
                    None => return Err(no_temps()),
                }
            }
        }
        Ok(spare)
    }

    /// What each point needs for a moment, of what is dead there or `spare`, or borrowed.
    pub(super) fn borrowed_temps(&self, needs: &[Needs], spare: Sgprs) -> Result<Vec<Temps>, NoRegisters> {
        let borrowed = |(&needs, candidates): (&Needs, &Candidates)| {
            let first = || temps(needs, Pool::of_free(candidates.free.or(spare)));
            let free = candidates.all_free().or(spare);
            let pool = || {
                let (borrowable, beside) = (candidates.borrowable, candidates.beside);
                Pool { borrowable, beside, ..Pool::of_free(free) }
            };
            // Registers that loads write to, once these loads are done.
            let with_late = || Pool { late: candidates.late, ..pool() };
            let late = || temps(needs, with_late()).map(|temps| Temps { wait: true, ..temps });
            first().or_else(|| temps(needs, pool())).or_else(late).ok_or_else(no_temps)
        };
        needs.iter().zip(self.candidates()).map(borrowed).collect()
    }

    /// What each point needs for a moment, of what is dead there or `spare`.
    pub(super) fn free_temps(&self, needs: &[Needs], spare: Sgprs) -> Result<Vec<Temps>, NoRegisters> {
        let free = |(&needs, candidates): (&Needs, &Candidates)| {
            let of = |free: Sgprs| temps(needs, Pool::of_free(free.or(spare)));
            of(candidates.free).or_else(|| of(candidates.all_free())).ok_or_else(no_temps)
        };
        needs.iter().zip(self.candidates()).map(free).collect()
    }
}

fn no_temps() -> NoRegisters {
    (
        Reason::NoFreeSgpr,
        "too few SGPRs are dead at a site or unused in the kernel and its functions".to_owned(),
    )
}

/// VGPRs that nothing uses, ascending.
#[derive(Clone)]
pub(crate) struct UnusedVgprs<'a> {
    used: &'a RegSet,
    from: u32,
    /// So many of them may still be taken.
    most: usize,
}

impl Iterator for UnusedVgprs<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.most = self.most.checked_sub(1)?;
        let is_unused = |&register: &u32| !self.used.contains(Reg::vgpr(register as u8));
        let found = (self.from..256).find(is_unused)?;
        self.from = found + 1;
        Some(found as u8)
    }
}

/// SGPRs that are used elsewhere and not named by a site's instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    /// Dead right before and right after the site.
    free: Sgprs,
    /// Dead as well, but each of their values must be waited for.
    slow: Sgprs,
    /// In use.
    borrowable: Sgprs,
    /// Destinations of scalar loads somewhere, perhaps of one that is under way.
    late: Sgprs,
    /// What else is dead right before and right after the site.
    beside: Beside,
}

impl Candidates {
    /// At a point of a function, where the component uses these registers and those late.
    fn at(survey: &Survey, function: usize, point: Point, (used, late): (ScalarSet, ScalarSet)) -> Self {
        let program = &survey.program;
        let Point { inst, block, .. } = point;
        let (before, after) = survey.liveness.around(program, function, block, inst);
        let named = ScalarSet::named_by(&program.inst(inst).operands);
        let used_at_all = used;
        let used = Sgprs::of(used.without(named));
        let late = Sgprs::of(late);
        let live = Sgprs::of(before.union(after));
        let vcc = ScalarSet::register(scalar::VCC).union(ScalarSet::register(scalar::VCC + 1));
        let is_live = |register: Reg| before.contains(register) || after.contains(register);
        let names = |set: ScalarSet| named.intersects(set);
        // Kernels that do not use VCC may have none.
        let beside = Beside {
            vcc: used_at_all.intersects(vcc) && !names(vcc) && !is_live(Reg::VCC_LO) && !is_live(Reg::VCC_HI),
            m0: !names(ScalarSet::register(scalar::M0)) && !is_live(Reg::M0),
        };
        Self {
            beside,
            free: used.without(late).without(live),
            slow: Sgprs::default(),
            borrowable: used.without(late).and(live),
            late: used.and(late),
        }
    }

    /// Takes some registers for those whose values must be waited for.
    fn rather_not(self, slow: ScalarSet) -> Self {
        let slow = self.free.and(Sgprs::of(slow));
        Self { free: self.free.without(slow), slow, ..self }
    }

    /// All that are dead.
    fn all_free(&self) -> Sgprs {
        self.free.or(self.slow)
    }
}
