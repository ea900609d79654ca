//! Which functions may be patched, and which kernels are planned together because they share some.

use std::collections::BTreeSet;

use super::{Draft, Planner};
use crate::instrument::find::points::{Point, Stretch, What};
use crate::instrument::options::Probe;
use crate::instrument::refusal::{Reason, Refusal};

/// A component and what is counted in it.
#[derive(Clone)]
pub(super) struct KernelGroup {
    /// Functions that are kernels.
    pub(super) kernels: BTreeSet<usize>,
    /// Functions that kernels share or call, and that may be patched.
    pub(super) shared: BTreeSet<usize>,
    /// All functions that any of its kernels reaches.
    pub(super) functions: BTreeSet<usize>,
}

impl KernelGroup {
    /// Its kernel, if it is one that reaches no other function.
    pub(super) fn lone_kernel(&self) -> Option<usize> {
        self.kernels.first().copied().filter(|_| self.functions.len() == 1)
    }

    /// The functions in which code is inserted: its kernels, then the others.
    pub(super) fn patched(&self) -> impl Iterator<Item = usize> {
        self.kernels.iter().chain(&self.shared).copied()
    }
}

impl Planner<'_> {
    /// How many kernels of a group may call a function.
    pub(super) fn callers(&self, group: &KernelGroup, function: usize) -> usize {
        let reachable = &self.survey.reachable;
        group.kernels.iter().filter(|&&kernel| reachable[kernel].contains(&function)).count()
    }

    /// Functions (not kernels) in which code may be inserted: only instrumented kernels reach them.
    pub(super) fn patchable(&self, accepted: &BTreeSet<usize>, draft: &mut Draft) -> BTreeSet<usize> {
        let survey = self.survey;
        let kernels: Vec<usize> = survey.kernels().map(|(function, _)| function).collect();
        // A kernel that calls through pointers may call any function.
        let wild = kernels.iter().any(|kernel| !accepted.contains(kernel) && survey.calls_any(*kernel));
        let reached: BTreeSet<usize> =
            accepted.iter().flat_map(|&kernel| survey.reachable[kernel].iter().copied()).collect();
        let mut patchable = BTreeSet::new();
        for function in reached {
            if survey.program.functions[function].kernel.is_some() {
                continue;
            }
            let foreign = kernels
                .iter()
                .filter(|&&kernel| !self.stays.are_apart(kernel, function))
                .find(|kernel| !accepted.contains(kernel) && survey.reachable[**kernel].contains(&function));
            if foreign.is_none() && !wild {
                patchable.insert(function);
                continue;
            }
            let other = foreign.map_or("a kernel that calls through pointers", |&kernel| {
                &*survey.program.functions[kernel].name
            });
            let name = &survey.program.functions[function].name;
            let detail = format!("`{name}` is also called by `{other}`, which is not instrumented");
            draft.site_refusals.insert(function, self.refused(function, Reason::SharedFunction, &detail));
        }
        patchable
    }

    /// Refusals of all that a function could count.
    pub(super) fn refused(&self, function: usize, reason: Reason, detail: &str) -> Vec<Refusal> {
        let insts = &self.survey.program.insts;
        let refuse = |point: &Point| match point.what {
            What::Site(_) => Refusal::at(insts[point.inst].pc, reason, detail.to_owned()),
            What::Block(Stretch { insts: (first, end), .. }) => {
                Refusal::of_block(insts[first].pc..insts[end - 1].end(), reason, detail.to_owned())
            }
        };
        self.points.of(function).iter().map(refuse).collect()
    }

    /// Accepted kernels whose waves may end in a function that may not be patched: nobody would write their
    /// records there.
    pub(super) fn lose_records(
        &self,
        accepted: &BTreeSet<usize>,
        patchable: &BTreeSet<usize>,
    ) -> Vec<(usize, Refusal)> {
        let survey = self.survey;
        let loses = |&kernel: &usize| {
            let mut others = survey.reachable[kernel].iter().filter(|&function| *function != kernel);
            let end =
                others.find(|&function| survey.ends_waves(*function) && !patchable.contains(function))?;
            let detail = format!(
                "waves end in `{}`, which a kernel that is not instrumented calls, too",
                survey.program.functions[*end].name
            );
            Some((kernel, Refusal::of_kernel(Reason::SharedFunction, detail)))
        };
        accepted.iter().filter_map(loses).collect()
    }

    /// Accepted kernels with something to count, joined where they share a patchable function.
    pub(super) fn groups(&self, accepted: &BTreeSet<usize>, patchable: &BTreeSet<usize>) -> Vec<KernelGroup> {
        let survey = self.survey;
        let mut groups: Vec<KernelGroup> = Vec::new();
        for &kernel in accepted {
            let shared: BTreeSet<usize> = survey.reachable[kernel].intersection(patchable).copied().collect();
            let has_points = |function: &usize| !self.points.of(*function).is_empty();
            let needs_points = self.options.probe != Probe::Time;
            if needs_points && !has_points(&kernel) && !shared.iter().any(has_points) {
                continue;
            }
            let mut group = KernelGroup {
                kernels: BTreeSet::from([kernel]),
                shared,
                functions: survey.reachable[kernel].clone(),
            };
            // Most kernels call nothing.
            if group.shared.is_empty() {
                groups.push(group);
                continue;
            }
            let (joined, apart): (Vec<KernelGroup>, Vec<KernelGroup>) =
                groups.into_iter().partition(|other| !other.shared.is_disjoint(&group.shared));
            for other in joined {
                group.kernels.extend(other.kernels);
                group.shared.extend(other.shared);
                group.functions.extend(other.functions);
            }
            groups = apart;
            groups.push(group);
        }
        groups
    }
}
