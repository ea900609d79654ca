//! What was found out, and planned, of kernels that stood in a code object before: more than a quarter of the code of a library does
//! (rocSPARSE for gfx90a).

use std::collections::VecDeque;

use amdgpu_isa::RegSet;

use super::plan::Remembered;
use crate::analysis::masks::{MaskMemo, Masks};
use crate::analysis::program::{Function, Program};

/// Known kernels of a processor, by number.
#[derive(Debug, Default)]
pub(super) struct Recall {
    kernels: VecDeque<Recalled>,
    /// Masks that kernels with different code may share.
    memo: MaskMemo,
}

#[derive(Debug)]
struct Recalled {
    /// Its masks, as if the kernel's first instruction were the first of its program.
    masks: Masks,
    plan: Option<Remembered>,
}

/// Words of the keys of masks that are remembered.
const MOST_WORDS: usize = 1 << 18;

impl Recall {
    /// Forgets the kernels, but not the room that they took. From now on, forms have other numbers.
    pub(super) fn clear(&mut self) {
        self.kernels.clear();
        self.memo.forget_forms();
    }

    /// Forgets the first so many kernels, and the masks of which there are too many.
    pub(super) fn forget_kernels(&mut self, count: usize) {
        self.kernels.drain(..count);
        self.memo.forget(MOST_WORDS);
    }

    /// The masks of a function: those of the known kernel that it is, or what [`Masks::new`] finds. Those of new kernels have to be asked
    /// for in the order of their numbers.
    pub(super) fn masks(
        &mut self,
        program: &Program,
        function: &Function,
        clobbers: &dyn Fn(usize) -> RegSet,
    ) -> Masks {
        let mut find = || self.memo.masks(program, function, clobbers);
        let (Some(number), Some(block)) = (function.known, function.blocks.first()) else { return find() };
        let first = block.insts.start;
        if let Some(known) = self.kernels.get(number as usize) {
            return known.masks.shifted(|inst| inst + first);
        }
        debug_assert_eq!(self.kernels.len(), number as usize);
        let masks = find();
        self.kernels.push_back(Recalled { masks: masks.shifted(|inst| inst - first), plan: None });
        masks
    }

    /// What was planned for the known kernel that a function is.
    pub(super) fn plan(&self, function: &Function) -> Option<&Remembered> {
        self.kernels.get(function.known? as usize)?.plan.as_ref()
    }

    /// Where that goes; nowhere if it is none.
    pub(super) fn plan_place(&mut self, function: &Function) -> Option<&mut Option<Remembered>> {
        self.kernels.get_mut(function.known? as usize).map(|known| &mut known.plan)
    }
}
