//! Which sites run once a wave at most, so that their masks can be kept instead of counts.

use amdgpu_isa::Op;

use super::paths::{first_block, is_on_every_path, leave, repeats};
use super::{Planner, properties};
use crate::analysis::masks::writes_exec;
use crate::analysis::program::Exit;
use crate::counters::{SiteForm, SiteForms};

impl Planner<'_> {
    /// What can be kept for each site of a kernel, in order.
    pub(super) fn site_forms(&self, kernel: usize) -> Vec<SiteForm> {
        let (survey, program) = (self.survey, &self.survey.program);
        let function = &program.functions[kernel];
        let blocks = &function.blocks;
        let entry = properties::start(survey, self.object, kernel);
        let starts_here =
            |block: usize| function.predecessors(block).is_empty() && blocks[block].insts.contains(&entry);
        let first = first_block(blocks, entry);
        let changes_exec = |index: usize| writes_exec(program, index);
        // Whom a function that is called leaves with which lanes is not looked at.
        let calls = leave(blocks);
        let mut forms: Vec<SiteForm> = Vec::new();
        let mut previous: Option<(usize, usize)> = None;
        for point in self.points.of(kernel) {
            let Some(site) = point.site().filter(|_| forms.len() < SiteForms::MOST) else {
                forms.push(SiteForm::Counts);
                previous = None;
                continue;
            };
            let block = &blocks[point.block];
            let same_exec = |start: usize| !(start..point.inst).any(changes_exec);
            let follows = |&(before, inst): &(usize, usize)| {
                let branch = &blocks[before];
                let last = branch.insts.end - 1;
                function.predecessors(point.block) == [before]
                    && branch.successors.len() == 2
                    && branch.exit == Exit::Local
                    && program.insts[last].op == Op::s_cbranch_execz
                    && branch.insts.end == block.insts.start
                    && !(inst + 1..=last).any(changes_exec)
                    && same_exec(block.insts.start)
            };
            let found = &survey.masks[kernel].sites[site];
            let once = || !calls && !repeats(blocks, point.block);
            let is_passed = |first| is_on_every_path(blocks, first, point.block);
            let always = || found.old_is_start && once() && first.is_some_and(is_passed);
            let form = if starts_here(point.block) && same_exec(entry) || always() {
                SiteForm::Start
            } else if previous.as_ref().is_some_and(follows) {
                SiteForm::Next
            } else if found.old_is_nonzero && once() {
                SiteForm::Masks
            } else {
                SiteForm::Counts
            };
            previous = (form != SiteForm::Counts).then_some((point.block, point.inst));
            forms.push(form);
        }
        forms
    }
}
