//! What kernels reach through pointers alone: much code that seldom runs, such as the formatting of numbers behind each panic.
//!
//! Calls through a pointer may reach each function whose address is a value, and so do all kernels that have such a call. Counters
//! for these functions must not cost what kernels run themselves its own: they are counted where that changes neither scheme nor
//! occupancy of any kernel, and else refused, each by itself.

use std::collections::BTreeSet;

use super::groups::KernelGroup;
use super::{Draft, DraftKernel, NoPlan, Planner};
use crate::instrument::refusal::Reason;

/// A group, and what it got.
pub(super) type Drafted = (KernelGroup, Result<Option<Draft>, NoPlan>);

impl Planner<'_> {
    /// Plans a group, as several smaller ones if what only pointers reach is not counted; notes that in `draft` then.
    pub(super) fn draft_with_pointed(&self, group: KernelGroup, draft: &mut Draft) -> Vec<Drafted> {
        let whole = self.draft_group(&group);
        let pointed = self.only_pointed(&group);
        let has_points = |function: &usize| !self.points.of(*function).is_empty();
        if !pointed.iter().any(has_points) || matches!(whole, Err(NoPlan::Internal { .. })) {
            return vec![(group, whole)];
        }
        let patchable = group.shared.difference(&pointed).copied().collect();
        let smaller: Vec<Drafted> = self
            .groups(&group.kernels, &patchable)
            .into_iter()
            .map(|smaller| {
                let part = self.draft_group(&smaller);
                (smaller, part)
            })
            .collect();
        let Some(why) = dearer(&whole, &smaller) else { return vec![(group, whole)] };
        for function in pointed {
            let name = &self.survey.program.functions[function].name;
            let detail = format!("`{name}` is called through pointers alone, and {why}");
            draft.site_refusals.insert(function, self.refused(function, Reason::CountersDoNotFit, &detail));
        }
        smaller
    }

    /// The functions of a group that its kernels reach through pointers alone. Those that end waves are none: records are written there.
    fn only_pointed(&self, group: &KernelGroup) -> BTreeSet<usize> {
        let program = &self.survey.program;
        let mut direct = group.kernels.clone();
        let mut open: Vec<usize> = group.kernels.iter().copied().collect();
        while let Some(function) = open.pop() {
            let blocks = &program.functions[function].blocks;
            let entered = blocks.iter().flat_map(|block| block.exit.entered(&[]));
            open.extend(entered.copied().filter(|&callee| direct.insert(callee)));
        }
        let others = group.shared.difference(&direct).copied();
        others.filter(|&function| !self.survey.ends_waves(function)).collect()
    }
}

/// What it costs to count in all functions of a group, if some kernel is better off in a smaller one.
fn dearer(whole: &Result<Option<Draft>, NoPlan>, smaller: &[Drafted]) -> Option<String> {
    let mut kernels =
        smaller.iter().filter_map(|(_, part)| part.as_ref().ok()?.as_ref()).flat_map(|part| &part.kernels);
    match whole {
        Err(NoPlan::Refused(_, detail)) => kernels.next().map(|_| format!("with it, {detail}")),
        Ok(Some(whole)) => {
            let is_dearer = |(function, alone): &(&usize, &DraftKernel)| {
                whole.kernels.get(function).is_some_and(|kernel| {
                    kernel.scheme != alone.scheme || kernel.cost.occupancy.after < alone.cost.occupancy.after
                })
            };
            let (function, alone) = kernels.find(is_dearer)?;
            let home = whole.kernels.get(function)?.scheme.home();
            Some(match home == alone.scheme.home() {
                true => "counters for it would cost registers that its callers have for theirs".to_owned(),
                false => format!(
                    "with it, counters of its callers would be `{}`, not `{}`",
                    home.name(),
                    alone.scheme.home().name()
                ),
            })
        }
        Ok(None) | Err(NoPlan::Internal { .. }) => None,
    }
}
