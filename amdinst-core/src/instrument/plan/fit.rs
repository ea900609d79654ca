//! What of a group is counted where not all can be.
//!
//! Kernels that share functions have one layout of counters for these. One kernel that runs much code would
//! cost all others theirs, and so would what is reached through pointers alone: calls through a pointer may
//! reach each function whose address is a value, such as the formatting of numbers behind each panic, which
//! seldom runs. So functions are left out, each with a refusal of its own:
//!
//! 1. what a kernel calls that cannot be instrumented even without its functions;
//! 2. what only pointers reach, if not all fits;
//! 3. if still not all fits, what has the most branches.
//!
//! `auto` counts what only pointers reach in memory, where that lets all other counters of the group be in
//! registers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::groups::KernelGroup;
use super::{Draft, DraftKernel, NoPlan, Planner};
use crate::instrument::options::Counters;
use crate::instrument::refusal::Reason;
use crate::names;

/// A group, and what it got.
pub(super) type Drafted = (KernelGroup, Result<Option<Draft>, NoPlan>);

impl Planner<'_> {
    /// Plans a group, as several smaller ones if something is left out; notes that in `draft` then.
    pub(super) fn draft_what_fits(&self, group: KernelGroup, draft: &mut Draft) -> Vec<Drafted> {
        // Where waves end, records are written: that is for all or none.
        let can_be_left = |function: &usize| !self.survey.ends_waves(*function);
        let removable: BTreeSet<usize> = group.shared.iter().copied().filter(can_be_left).collect();
        let has_points = |function: &usize| !self.points.of(*function).is_empty();
        let whole = self.draft_group(&group);
        if !removable.iter().any(has_points) {
            return vec![(group, whole)];
        }
        let direct = self.survey.program.called_directly(group.kernels.clone());
        let (direct, pointed): (Vec<usize>, Vec<usize>) =
            removable.iter().partition(|function| direct.contains(function));
        match &whole {
            Ok(_) if self.options.counters == Counters::Auto && pointed.iter().any(has_points) => {
                let whole = vec![(group, whole)];
                self.draft_apart_from(&whole, &pointed).unwrap_or(whole)
            }
            Ok(_) | Err(NoPlan::Internal { .. }) => vec![(group, whole)],
            Err(NoPlan::Refused(_, refusal)) => {
                let alone = self.draft_without(&group, &[&direct[..], &pointed].concat());
                let refused: BTreeSet<usize> =
                    refusals(&alone).flat_map(|(group, _)| group.kernels.iter().copied()).collect();
                if refused == group.kernels {
                    vec![(group, whole)]
                } else if refused.is_empty() {
                    self.draft_the_most(&group, (direct, &pointed), alone, refusal, draft)
                } else {
                    self.draft_beside_refused(&group, &refused, alone, draft)
                }
            }
        }
    }

    /// Plans a group with the counters of `pointed` functions in memory and all others in registers, if the
    /// plan of the `whole` costs other code more than none of these functions would.
    fn draft_apart_from(&self, whole: &[Drafted], pointed: &[usize]) -> Option<Vec<Drafted>> {
        let [(group, _)] = whole else { return None };
        let without = self.draft_without(group, pointed);
        if !is_dearer(whole, &without) {
            return None;
        }
        let far = pointed.iter().copied().collect();
        let apart = vec![(group.clone(), self.draft_apart(group, &far))];
        (refusals(&apart).next().is_none() && !is_dearer(&apart, &without)).then_some(apart)
    }

    /// Plans the kernels of a group that are not `refused`, without what those call: that runs as it did.
    fn draft_beside_refused(
        &self,
        group: &KernelGroup,
        refused: &BTreeSet<usize>,
        alone: Vec<Drafted>,
        draft: &mut Draft,
    ) -> Vec<Drafted> {
        let program = &self.survey.program;
        let mut shared = group.shared.clone();
        for &other in refused {
            let called: Vec<usize> =
                self.survey.reachable[other].intersection(&group.shared).copied().collect();
            shared.retain(|function| !called.contains(function));
            let caller = names::short(&program.functions[other].name);
            let why = format!("it is also called by `{caller}`, which is not instrumented");
            self.leave_out(&called, Reason::SharedFunction, &why, draft);
        }
        let mut drafted: Vec<Drafted> =
            alone.into_iter().filter(|(group, _)| group.kernels.is_subset(refused)).collect();
        let kernels = group.kernels.difference(refused).copied().collect();
        for group in self.groups(&kernels, &shared) {
            drafted.extend(self.draft_what_fits(group, draft));
        }
        drafted
    }

    /// Plans as many of the functions that are called directly as leave all kernels their plans; `alone` is
    /// without all.
    fn draft_the_most(
        &self,
        group: &KernelGroup,
        (mut direct, pointed): (Vec<usize>, &[usize]),
        alone: Vec<Drafted>,
        refusal: &str,
        draft: &mut Draft,
    ) -> Vec<Drafted> {
        direct.sort_by_key(|&function| {
            (self.points.of(function).len(), Reverse(self.callers(group, function)), function)
        });
        let without = |kept: usize| [&direct[kept..], pointed].concat();
        let (mut best, mut fits, mut beyond) = (alone, 0, direct.len() + 1);
        let mut why = format!("with it, {refusal}");
        while beyond - fits > 1 {
            // All that pointers do not reach is the first to be tried.
            let kept = if beyond > direct.len() { direct.len() } else { fits.midpoint(beyond) };
            let drafted = self.draft_without(group, &without(kept));
            match refusal_of_more(&drafted, &best) {
                Some(dearer) => (beyond, why) = (kept, dearer),
                None => (best, fits) = (drafted, kept),
            }
        }
        self.leave_out(&without(fits), Reason::CountersDoNotFit, &why, draft);
        best
    }

    /// Plans the kernels of a group without some functions.
    fn draft_without(&self, group: &KernelGroup, left_out: &[usize]) -> Vec<Drafted> {
        let left_out: BTreeSet<usize> = left_out.iter().copied().collect();
        let patchable = group.shared.difference(&left_out).copied().collect();
        let groups = self.groups(&group.kernels, &patchable).into_iter();
        let draft = |group: KernelGroup| {
            let drafted = self.draft_group(&group);
            (group, drafted)
        };
        groups.map(draft).collect()
    }

    fn leave_out(&self, functions: &[usize], reason: Reason, why: &str, draft: &mut Draft) {
        for &function in functions {
            let name = names::short(&self.survey.program.functions[function].name);
            let refused = self.refused(function, reason, &format!("in `{name}`: {why}"));
            draft.site_refusals.entry(function).or_insert(refused);
        }
    }
}

/// The kernels that have a plan, with that.
fn plans(drafted: &[Drafted]) -> impl Iterator<Item = (&usize, &DraftKernel)> {
    drafted.iter().filter_map(|(_, part)| part.as_ref().ok()?.as_ref()).flat_map(|part| &part.kernels)
}

/// The groups that are refused, with why.
fn refusals(drafted: &[Drafted]) -> impl Iterator<Item = (&KernelGroup, &str)> {
    drafted.iter().filter_map(|(group, part)| match part {
        Err(NoPlan::Refused(_, detail)) => Some((group, detail.as_str())),
        _ => None,
    })
}

/// Why kernels have no plan with more functions, which they have with fewer.
fn refusal_of_more(more: &[Drafted], fewer: &[Drafted]) -> Option<String> {
    let is_new = |(group, _): &(&KernelGroup, &str)| {
        !refusals(fewer).any(|(refused, _)| refused.kernels.is_superset(&group.kernels))
    };
    refusals(more).find(is_new).map(|(_, detail)| format!("with it, {detail}"))
}

/// Whether a plan with more functions costs a kernel the home or the occupancy that it has with fewer.
fn is_dearer(more: &[Drafted], fewer: &[Drafted]) -> bool {
    let with: BTreeMap<usize, &DraftKernel> = plans(more).map(|(&kernel, plan)| (kernel, plan)).collect();
    plans(fewer).any(|(kernel, without)| {
        with.get(kernel).is_some_and(|with| {
            with.scheme.home() != without.scheme.home()
                || with.cost.occupancy.after < without.cost.occupancy.after
        })
    })
}
