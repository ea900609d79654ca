//! Which scheme a group of kernels gets.

use super::groups::Group;
use super::{Draft, DraftKernel, Planner};
use crate::instrument::allocate::Scheme;
use crate::instrument::options::{Counters, Probe};
use crate::instrument::refusal::Reason;

impl Planner<'_> {
    /// Tries the schemes that the options allow, cheapest first; those that borrow registers
    /// after those that do not, and those that lower occupancy only when no other is left.
    pub(super) fn draft_group(&self, group: &Group) -> Result<Option<Draft>, (Reason, String)> {
        let schemes: &[Scheme] = match self.options.counters {
            Counters::Auto if self.reaches_lds(group) || self.options.probe == Probe::Time => {
                // A launch may ask for all that is left of LDS; times are not kept there.
                &[Scheme::Sgprs, Scheme::VgprLanes, Scheme::Memory]
            }
            Counters::Auto => &[Scheme::Sgprs, Scheme::VgprLanes, Scheme::Lds, Scheme::Memory],
            Counters::Register => &[Scheme::Sgprs, Scheme::VgprLanes],
            Counters::Lds => &[Scheme::Lds],
            Counters::Global => &[Scheme::Memory],
        };
        let probe = self.options.probe;
        let mut failures: Vec<(Reason, String)> = Vec::new();
        let mut lowering: Option<Draft> = None;
        let mut passed: Vec<String> = Vec::new();
        let ways =
            [false, true].into_iter().flat_map(|borrow| schemes.iter().map(move |&scheme| (scheme, borrow)));
        for (scheme, borrow) in ways {
            match self.attempt(group, scheme, borrow) {
                Ok(mut draft) => {
                    let keeps =
                        |kernel: &DraftKernel| kernel.cost.occupancy.after >= kernel.cost.occupancy.before;
                    let keeps_all = draft.kernels.values().all(keeps);
                    for kernel in draft.kernels.values_mut() {
                        kernel.why =
                            why(described(probe, scheme, borrow), keeps_all, &passed, schemes.len() == 1);
                    }
                    if keeps_all {
                        return Ok(Some(draft));
                    }
                    passed.push(format!("{} would lower occupancy", described(probe, scheme, borrow)));
                    lowering.get_or_insert(draft);
                }
                Err(failure) => {
                    passed.push(format!("{}: {}", described(probe, scheme, borrow), failure.1));
                    failures.push(failure);
                }
            }
        }
        match (lowering, failures.pop()) {
            (Some(draft), _) => Ok(Some(draft)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        }
    }

    /// Whether a kernel of the group may read or write LDS.
    fn reaches_lds(&self, group: &Group) -> bool {
        group.kernels.iter().any(|&kernel| self.survey.lds_use(kernel).accesses)
    }
}

const fn described(probe: Probe, scheme: Scheme, borrow: bool) -> &'static str {
    match (scheme, borrow) {
        (Scheme::Sgprs, false) if matches!(probe, Probe::Time) => "the time of entry in SGPRs",
        (Scheme::VgprLanes, false) if matches!(probe, Probe::Time) => "the time of entry in lanes of a VGPR",
        (Scheme::Memory, false) if matches!(probe, Probe::Time) => "the time of entry in memory",
        (Scheme::Sgprs, true) if matches!(probe, Probe::Time) => {
            "the time of entry in SGPRs, the record's address in lanes of a VGPR"
        }
        (Scheme::VgprLanes, true) if matches!(probe, Probe::Time) => {
            "the time of entry and the record's address in lanes of VGPRs"
        }
        (Scheme::Memory, true) if matches!(probe, Probe::Time) => {
            "the time of entry in memory, the record's address in lanes of a VGPR"
        }
        (Scheme::Sgprs, false) => "counters in SGPRs",
        (Scheme::VgprLanes, false) => "counters in lanes of VGPRs",
        (Scheme::Lds, false) => "counters in LDS",
        (Scheme::Memory, false) => "counters in memory",
        (Scheme::Sgprs, true) => "counters in SGPRs, with SGPRs borrowed at sites",
        (Scheme::VgprLanes, true) => "counters in lanes of VGPRs, with SGPRs borrowed at sites",
        (Scheme::Lds, true) => "counters in LDS, with SGPRs borrowed at sites",
        (Scheme::Memory, true) => "counters in memory, with SGPRs borrowed at sites",
    }
}

fn why(what: &str, keeps_occupancy: bool, passed: &[String], asked_for: bool) -> String {
    let mut text = what.to_owned();
    text.push_str(match (asked_for, keeps_occupancy) {
        (true, true) => ", as asked for",
        (true, false) => ", as asked for; this lowers occupancy",
        (false, true) => ", which does not lower occupancy",
        (false, false) => ": no other way keeps occupancy either",
    });
    for reason in passed {
        text.push_str("; ");
        text.push_str(reason);
    }
    text
}
