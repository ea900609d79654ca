//! Which scheme a group of kernels gets: where its counters are, and what its sites may borrow.
//!
//! `auto` takes counters in LDS only if the kernel itself reaches no LDS: then no launch that worked can ask
//! for too much. It lowers the occupancy rather than let sites borrow two VGPRs or scratch memory. Modelled,
//! a loop of six sites takes 1.2 to 1.8 times as long with one wave less, and 4.8 to 7.6 times as long with
//! five atomic operations a site.

use std::collections::BTreeSet;

use super::groups::KernelGroup;
use super::{Draft, DraftKernel, NoPlan, Planner};
use crate::instrument::options::{Counters, Probe};
use crate::instrument::refusal::Reason;
use crate::instrument::registers::scheme::{Borrow, Scheme, SeedPlace};

impl Planner<'_> {
    /// Tries the schemes that the options allow, cheapest first: those that borrow SGPRs after those that do
    /// not, then those that borrow lanes of a VGPR; those that lower occupancy only when none of these keeps
    /// it. With several memory operations a site or by way of scratch memory, a loop takes several times as
    /// long as with a wave less: when there is nothing else.
    pub(super) fn draft_group(&self, group: &KernelGroup) -> Result<Option<Draft>, NoPlan> {
        self.draft_apart(group, &BTreeSet::new())
    }

    /// The same, with counters of `far` functions in memory, if there are any, while those of all others are
    /// in registers.
    pub(super) fn draft_apart(
        &self,
        group: &KernelGroup,
        far: &BTreeSet<usize>,
    ) -> Result<Option<Draft>, NoPlan> {
        let schemes: &[Scheme] = match self.options.counters {
            _ if !far.is_empty() => &[Scheme::Sgprs, Scheme::VgprLanes],
            Counters::Auto if self.reaches_lds(group) || self.options.probe == Probe::Time => {
                // A launch may ask for all that is left of LDS; times are not kept there.
                &[Scheme::Sgprs, Scheme::VgprLanes, Scheme::Memory]
            }
            Counters::Auto => &[Scheme::Sgprs, Scheme::VgprLanes, Scheme::Lds, Scheme::Memory],
            Counters::Register => &[Scheme::Sgprs, Scheme::VgprLanes],
            Counters::Lds => &[Scheme::Lds],
            Counters::Global => &[Scheme::Memory],
            Counters::SeedClock => &[Scheme::Seed(SeedPlace::Nowhere)],
            Counters::SeedLds => &[Scheme::Seed(SeedPlace::Lds)],
            Counters::SeedGlobal => &[Scheme::Seed(SeedPlace::Memory)],
        };
        let probe = self.options.probe;
        let prepared = self.prepare(group, far);
        let mut failures: Vec<(Scheme, (Reason, String))> = Vec::new();
        let mut lowering: Option<Draft> = None;
        let mut passed: Vec<String> = Vec::new();
        for (scheme, borrow) in ways(schemes, probe) {
            // More registers help where they are what was missing at last.
            let lacks = || {
                let failed = failures.iter().rfind(|(failed, _)| *failed == scheme);
                failed.is_some_and(|(_, (reason, _))| lacks_registers(*reason))
            };
            let may_help = match borrow {
                Borrow::Nothing | Borrow::Sgprs => true,
                Borrow::OneVgpr => lowering.is_some() || lacks(),
                Borrow::TwoVgprs | Borrow::Scratch => lowering.is_none() && lacks(),
            };
            if !may_help {
                continue;
            }
            match self.attempt(group, &prepared, scheme, borrow) {
                Ok(mut draft) => {
                    let keeps_all = draft.kernels.values().all(DraftKernel::keeps_occupancy);
                    for kernel in draft.kernels.values_mut() {
                        let mut what = described(probe, scheme, borrow);
                        if !far.is_empty() {
                            what.push_str(", those of functions that only pointers reach in memory");
                        }
                        kernel.why = why(&what, keeps_all, &passed, schemes.len() == 1);
                        kernel.is_first_choice = keeps_all && lowering.is_none();
                    }
                    if keeps_all {
                        return Ok(Some(draft));
                    }
                    passed.push(format!("{} would lower occupancy", described(probe, scheme, borrow)));
                    lowering.get_or_insert(draft);
                }
                Err(NoPlan::Refused(reason, detail)) => {
                    passed.push(format!("{}: {detail}", described(probe, scheme, borrow)));
                    failures.push((scheme, (reason, detail)));
                }
                Err(internal) => return Err(internal),
            }
        }
        match (lowering, failures.pop()) {
            (Some(draft), _) => Ok(Some(draft)),
            (None, Some((_, failure))) => Err(failure.into()),
            (None, None) => Ok(None),
        }
    }

    /// Whether a kernel of the group may read or write LDS.
    fn reaches_lds(&self, group: &KernelGroup) -> bool {
        group.kernels.iter().any(|&kernel| self.survey.lds_use(kernel).accesses)
    }
}

/// The schemes with what sites may borrow in them, in the order in which they are tried.
fn ways(schemes: &[Scheme], probe: Probe) -> Vec<(Scheme, Borrow)> {
    let all = |borrow| schemes.iter().map(move |&scheme| (scheme, borrow));
    let is_shared = |(scheme, _): &(Scheme, Borrow)| matches!(scheme, Scheme::Lds | Scheme::Memory);
    let with_vgprs = all(Borrow::OneVgpr)
        .filter(is_shared)
        .chain(all(Borrow::TwoVgprs).filter(|&(scheme, _)| scheme == Scheme::Memory))
        .chain(all(Borrow::Scratch).filter(is_shared))
        // A time needs no VGPR before the end.
        .filter(|_| probe != Probe::Time);
    all(Borrow::Nothing).chain(all(Borrow::Sgprs)).chain(with_vgprs).collect()
}

/// Whether borrowing helps against a refusal.
const fn lacks_registers(reason: Reason) -> bool {
    matches!(reason, Reason::NoFreeVgpr | Reason::NoFreeSgpr)
}

fn described(probe: Probe, scheme: Scheme, borrow: Borrow) -> String {
    if probe == Probe::Time && !scheme.is_seed() {
        let what = match (scheme, borrow) {
            (Scheme::Sgprs, Borrow::Nothing) => "the time of entry in SGPRs",
            (Scheme::Sgprs, _) => "the time of entry in SGPRs, the record's address in lanes of a VGPR",
            (Scheme::VgprLanes, Borrow::Nothing) => "the time of entry in lanes of a VGPR",
            (Scheme::VgprLanes, _) => "the time of entry and the record's address in lanes of VGPRs",
            (_, Borrow::Nothing) => "the time of entry in memory",
            _ => "the time of entry in memory, the record's address in lanes of a VGPR",
        };
        return what.to_owned();
    }
    let place = match scheme {
        Scheme::Sgprs => "counters in SGPRs",
        Scheme::VgprLanes => "counters in lanes of VGPRs",
        Scheme::Lds => "counters in LDS",
        Scheme::Memory => "counters in memory",
        Scheme::Seed(SeedPlace::Nowhere) => "the clock of 2022",
        Scheme::Seed(SeedPlace::Lds) => "the counters of 2022 in LDS",
        Scheme::Seed(SeedPlace::Memory) => "the counters of 2022 in memory",
    };
    let borrowed = match borrow {
        Borrow::Nothing => "",
        Borrow::Sgprs => ", with SGPRs borrowed at sites",
        Borrow::OneVgpr => ", with SGPRs and lanes of a VGPR borrowed at sites",
        Borrow::TwoVgprs => ", with lanes of two VGPRs borrowed at sites",
        Borrow::Scratch => {
            ", with SGPRs and lanes of two VGPRs borrowed at sites, one by way of scratch memory"
        }
    };
    format!("{place}{borrowed}")
}

fn why(what: &str, keeps_occupancy: bool, passed: &[String], asked_for: bool) -> String {
    let mut text = what.to_owned();
    text.push_str(match (asked_for, keeps_occupancy) {
        (true, true) => ", as asked for",
        (true, false) => ", as asked for; this lowers occupancy",
        (false, true) => ", which does not lower occupancy",
        (false, false) => ": none of the ways that were tried keeps occupancy",
    });
    for reason in passed {
        text.push_str("; ");
        text.push_str(reason);
    }
    text
}
