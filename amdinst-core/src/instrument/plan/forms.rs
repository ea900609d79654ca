//! Which sites run once a wave at most, so that their masks can be kept instead of counts.

use super::{Planner, properties};
use crate::analysis::masks::writes_exec;
use crate::analysis::program::{Block, Exit};
use crate::counters::{SiteForm, SiteForms};
use crate::isa::Op;

impl Planner<'_> {
    /// What can be kept for each site of a kernel, in order.
    pub(super) fn site_forms(&self, kernel: usize) -> Vec<SiteForm> {
        let (survey, program) = (self.survey, &self.survey.program);
        let blocks = &program.functions[kernel].blocks;
        let entry = properties::start(survey, self.object, kernel);
        let starts_here = |block: &Block| block.predecessors.is_empty() && block.insts.contains(&entry);
        let first = blocks.iter().position(|block| block.insts.contains(&entry)).unwrap_or_default();
        let changes_exec = |index: usize| writes_exec(program, index);
        // Whom a function that is called leaves with which lanes is not looked at.
        let calls = blocks.iter().any(|block| !matches!(block.exit, Exit::Local | Exit::End));
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
                block.predecessors == [before]
                    && branch.successors.len() == 2
                    && branch.exit == Exit::Local
                    && program.insts[last].op == Op::s_cbranch_execz
                    && branch.insts.end == block.insts.start
                    && !(inst + 1..=last).any(changes_exec)
                    && same_exec(block.insts.start)
            };
            let found = &survey.masks[kernel].sites[site];
            let once = || !calls && !repeats(blocks, point.block);
            let always = || found.old_is_start && once() && is_on_every_path(blocks, first, point.block);
            let form = if starts_here(block) && same_exec(entry) || always() {
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

/// Whether no wave ends without passing a block, from the first on.
pub(super) fn is_on_every_path(blocks: &[Block], first: usize, block: usize) -> bool {
    !reached_without(blocks, first, block)
        .iter()
        .zip(blocks)
        .any(|(&is, other)| is && other.exit == Exit::End)
}

/// Which blocks can be reached from the first without passing one.
pub(super) fn reached_without(blocks: &[Block], first: usize, without: usize) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut open = vec![first];
    while let Some(block) = open.pop() {
        if block != without && !std::mem::replace(&mut seen[block], true) {
            open.extend(&blocks[block].successors);
        }
    }
    seen
}

/// Whether a block can follow itself.
pub(super) fn repeats(blocks: &[Block], block: usize) -> bool {
    let mut seen = vec![false; blocks.len()];
    let mut open = blocks[block].successors.clone();
    while let Some(next) = open.pop() {
        if next == block {
            return true;
        }
        if !std::mem::replace(&mut seen[next], true) {
            open.extend(&blocks[next].successors);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 branches to 1 and 3, 1 to itself and 2, 2 to 3.
    /// 0 branches to 1 and 2, both lead to 3, where waves end.
    #[test]
    fn a_block_is_on_every_path_if_no_wave_ends_without_it() {
        let block = |successors: &[usize]| Block {
            insts: 0..0,
            successors: successors.to_vec(),
            predecessors: Vec::new(),
            exit: if successors.is_empty() { Exit::End } else { Exit::Local },
        };
        let blocks = [block(&[1, 2]), block(&[3]), block(&[3]), block(&[])];
        assert_eq!(
            [0, 1, 2, 3].map(|number| is_on_every_path(&blocks, 0, number)),
            [true, false, false, true]
        );
    }

    #[test]
    fn a_block_repeats_if_a_path_leads_back() {
        let block = |successors: &[usize]| Block {
            insts: 0..0,
            successors: successors.to_vec(),
            predecessors: Vec::new(),
            exit: Exit::Local,
        };
        let blocks = [block(&[1, 3]), block(&[1, 2]), block(&[3]), block(&[])];
        assert_eq!([0, 1, 2, 3].map(|number| repeats(&blocks, number)), [false, true, false, false]);
        assert_eq!(reached_without(&blocks, 0, 1), [true, false, false, true]);
        let blocks = [block(&[1]), block(&[2]), block(&[1])];
        assert_eq!([0, 1, 2].map(|number| repeats(&blocks, number)), [false, true, true]);
    }
}
