//! Registers for the probes of one component: kernels that share functions, and these functions.
//!
//! What the probes own is used by nothing else in the whole component, so one choice is right for a shared function
//! whichever kernel calls it. What a site needs for a moment is taken from SGPRs that are dead around it.

use std::collections::BTreeSet;

use super::layout::{CounterPlace, Owned, SITES_PER_VGPR, SgprCounters, Temps};
use super::options::{Home, Level};
use super::refusal::Reason;
use super::site_code::Needs;
use super::survey::Survey;
use crate::isa::{Access, Reg, RegSet, Value};

/// Highest SGPR a program may use (102 and above are FLAT_SCRATCH, XNACK_MASK, VCC).
const LAST_SGPR: u8 = 101;

/// Where counters are, one step finer than the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Sgprs,
    VgprLanes,
    Memory,
}

impl Scheme {
    pub(super) const fn home(self) -> Home {
        match self {
            Self::Sgprs | Self::VgprLanes => Home::Register,
            Self::Memory => Home::Global,
        }
    }
}

/// A site to be given registers.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) function: usize,
    /// Index among the function's sites.
    pub(super) site: usize,
    pub(super) needs: Needs,
}

/// What is handed out.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) owned: Owned,
    /// Where the counters of the shared functions' sites are, then those of the kernel's own sites (the same for each kernel).
    pub(super) places: Vec<CounterPlace>,
    /// By wanted site.
    pub(super) temps: Vec<Temps>,
}

/// No registers: why, and how many were missing.
pub(super) type NoRegisters = (Reason, String);

/// The limits of a component.
#[derive(Clone, Debug)]
pub(super) struct Component<'a> {
    pub(super) survey: &'a Survey,
    /// Every function in it, kernels among them.
    pub(super) functions: &'a BTreeSet<usize>,
    /// VGPRs that each of its kernels is allotted at least.
    pub(super) allotted_vgprs: u32,
    /// VGPRs that any of its kernels is allotted at most.
    pub(super) most_vgprs: u32,
}

impl Component<'_> {
    /// Registers for `sites` counted sites in the given scheme.
    pub(super) fn allocate(
        &self,
        scheme: Scheme,
        level: Level,
        sites: usize,
        wanted: &[Wanted],
    ) -> Result<Allocation, NoRegisters> {
        let (mut used, mut late) = (RegSet::default(), RegSet::default());
        for &function in self.functions {
            used.union_with(&self.survey.used[function]);
            late.union_with(&self.survey.late[function]);
        }
        let indexed = self.functions.iter().any(|&function| self.survey.indexed[function]);
        // With registers addressed by number, what no operand names may still be in use.
        let first_vgpr = if indexed { self.most_vgprs } else { 0 };
        let mut sgprs: Vec<u8> = (0..=LAST_SGPR).filter(|&s| !used.contains(Reg::scalar(s))).collect();
        if indexed {
            sgprs.retain(|&register| u32::from(register) >= 32);
        }
        let mut vgprs =
            (first_vgpr..256).map(|register| register as u8).filter(|&v| !used.contains(Reg::vgpr(v)));

        let no_pair = || {
            (Reason::NoFreeSgpr, "no even pair of SGPRs is unused in the kernel and its functions".to_owned())
        };
        let record = take_pair(&mut sgprs).ok_or_else(no_pair)?;
        let mut owned = Owned { record, ..Owned::default() };

        let candidates: Vec<Vec<u8>> =
            wanted.iter().map(|wanted| self.dead_around(wanted, &used, &late)).collect();
        owned.spare = self.reserve_spare(wanted, &candidates, &mut sgprs)?;
        let temps = wanted
            .iter()
            .zip(candidates)
            .map(|(wanted, mut free)| {
                free.extend(&owned.spare);
                free.sort_unstable();
                free.dedup();
                temps(wanted.needs, free).ok_or_else(no_temps)
            })
            .collect::<Result<Vec<_>, _>>()?;

        let mut vgpr = || vgprs.next().ok_or((Reason::NoFreeVgpr, "every VGPR is in use".to_owned()));
        let places = match scheme {
            Scheme::Sgprs => {
                let each = SgprCounters::count(level);
                if sgprs.len() < each * sites {
                    let detail = format!(
                        "{sites} sites need {} SGPRs for their counters, {} are unused",
                        each * sites,
                        sgprs.len()
                    );
                    return Err((Reason::CountersDoNotFit, detail));
                }
                owned.counters = sgprs[..each * sites].to_vec();
                owned
                    .counters
                    .chunks(each)
                    .map(|chunk| CounterPlace::Sgprs(SgprCounters::new(chunk)))
                    .collect()
            }
            Scheme::VgprLanes => {
                owned.data = vgpr()?;
                owned.counter_vgprs =
                    (0..sites.div_ceil(SITES_PER_VGPR)).map(|_| vgpr()).collect::<Result<_, _>>()?;
                let lane = |site: usize| CounterPlace::Lanes {
                    vgpr: owned.counter_vgprs[site / SITES_PER_VGPR],
                    first: 5 * (site % SITES_PER_VGPR) as u32,
                };
                (0..sites).map(lane).collect()
            }
            Scheme::Memory => {
                owned.data = vgpr()?;
                owned.offsets = vgpr()?;
                vec![CounterPlace::Memory; sites]
            }
        };
        // At the end of a wave every VGPR is dead: take such as are allotted anyway.
        let mut at_end =
            (0..self.allotted_vgprs.min(256)).map(|register| register as u8).filter(|&register| {
                !late.contains(Reg::vgpr(register))
                    && register != owned.data
                    && !owned.counter_vgprs.contains(&register)
            });
        match scheme {
            Scheme::Sgprs => {
                let (first, second) = (at_end.next(), at_end.next());
                owned.data = first.map_or_else(&mut vgpr, Ok)?;
                owned.offsets = second.map_or_else(&mut vgpr, Ok)?;
                // An unused register that is allotted comes from either source.
                if owned.offsets == owned.data {
                    owned.offsets = vgpr()?;
                }
            }
            Scheme::VgprLanes => owned.offsets = at_end.next().map_or_else(&mut vgpr, Ok)?,
            Scheme::Memory => {}
        }
        Ok(Allocation { owned, places, temps })
    }

    /// SGPRs used elsewhere that are dead right before and right after a site, and not touched by it.
    fn dead_around(&self, wanted: &Wanted, used: &RegSet, late: &RegSet) -> Vec<u8> {
        let program = &self.survey.program;
        let site = &self.survey.masks[wanted.function].sites[wanted.site];
        let (before, after) = self.survey.liveness.around(program, wanted.function, site.block, site.inst);
        let operands = &program.insts[site.inst].inst.operands;
        let touched = |register: u8| {
            operands.iter().any(|operand| match operand.value {
                Value::Scalar(first) => (first..first.saturating_add(operand.dwords)).contains(&register),
                _ => false,
            })
        };
        let free = |&register: &u8| {
            let reg = Reg::scalar(register);
            used.contains(reg)
                && !late.contains(reg)
                && !before.contains(reg)
                && !after.contains(reg)
                && !touched(register)
        };
        (0..=LAST_SGPR).filter(free).collect()
    }

    /// As many unused SGPRs as the neediest site lacks.
    fn reserve_spare(
        &self,
        wanted: &[Wanted],
        candidates: &[Vec<u8>],
        sgprs: &mut Vec<u8>,
    ) -> Result<Vec<u8>, NoRegisters> {
        let mut spare = Vec::new();
        for (wanted, free) in wanted.iter().zip(candidates) {
            loop {
                let mut all: Vec<u8> = free.iter().chain(&spare).copied().collect();
                all.sort_unstable();
                if temps(wanted.needs, all).is_some() {
                    break;
                }
                // A pair serves any need, singles too.
                let pair = take_pair(sgprs).ok_or_else(no_temps)?;
                spare.extend([pair, pair + 1]);
            }
        }
        Ok(spare)
    }
}

fn no_temps() -> NoRegisters {
    (
        Reason::NoFreeSgpr,
        "too few SGPRs are dead at a site or unused in the kernel and its functions".to_owned(),
    )
}

/// Takes the lowest even pair out of an ascending list.
fn take_pair(free: &mut Vec<u8>) -> Option<u8> {
    let at = free.windows(2).position(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1)?;
    let first = free[at];
    free.drain(at..at + 2);
    Some(first)
}

/// Takes a register, if possible one that leaves no pair broken.
fn take_single(free: &mut Vec<u8>) -> Option<u8> {
    let lonely = |&at: &usize| !free.contains(&(free[at] ^ 1));
    let at = (0..free.len()).find(lonely).or(if free.is_empty() { None } else { Some(0) })?;
    Some(free.remove(at))
}

/// Serves a site's needs from an ascending list.
fn temps(needs: Needs, mut free: Vec<u8>) -> Option<Temps> {
    let mut temps = Temps::default();
    if needs.old {
        temps.old = Some(take_pair(&mut free)?);
    }
    if needs.pair {
        temps.pair = Some(take_pair(&mut free)?);
    }
    for single in temps.singles.iter_mut().take(needs.singles) {
        *single = Some(take_single(&mut free)?);
    }
    if needs.scc {
        temps.scc = Some(take_single(&mut free)?);
    }
    Some(temps)
}

/// Whether an instruction leaves SCC = (NEW ≠ 0).
pub(super) fn scc_tells_new(inst: &crate::isa::Inst) -> bool {
    use crate::isa::Op;
    let writes_exec_itself =
        inst.operands.first().is_some_and(|o| o.value == Value::EXEC && o.access != Access::Read);
    match inst.op {
        Op::s_and_saveexec_b64 | Op::s_andn1_saveexec_b64 | Op::s_andn1_wrexec_b64 => true,
        Op::s_and_b64 | Op::s_andn2_b64 | Op::s_or_b64 | Op::s_xor_b64 => writes_exec_itself,
        _ => false,
    }
}
