//! The masks of kernels that stood in a code object before: more than a quarter of the code of a library does
//! (rocSPARSE for gfx90a).

use std::collections::VecDeque;

use amdgpu_isa::RegSet;

use crate::analysis::masks::{MaskMemo, Masks};
use crate::analysis::program::{Function, Program};

/// Masks of known kernels of a processor, by number.
#[derive(Debug, Default)]
pub(crate) struct KnownMasks {
    /// As if the kernel's first instruction were the first of its program.
    kernels: VecDeque<Masks>,
    /// Masks that kernels with different code may share.
    memo: MaskMemo,
}

/// Words of the keys of masks that are remembered.
const MOST_WORDS: usize = 1 << 18;

impl KnownMasks {
    /// Forgets the kernels, but not the room that they took. From now on, forms have other numbers.
    pub(crate) fn clear(&mut self) {
        self.kernels.clear();
        self.memo.forget_forms();
    }

    /// Forgets the first so many kernels, and the masks of which there are too many.
    pub(crate) fn forget_kernels(&mut self, count: usize) {
        self.kernels.drain(..count);
        self.memo.forget(MOST_WORDS);
    }

    /// The masks of a function: those of the known kernel that it is, or what [`Masks::new`] finds. Those of
    /// new kernels have to be asked for in the order of their numbers.
    pub(crate) fn masks(
        &mut self,
        program: &Program,
        function: &Function,
        clobbers: &dyn Fn(usize) -> RegSet,
    ) -> Masks {
        let mut find = || self.memo.masks(program, function, clobbers);
        let (Some(number), Some(block)) = (function.known, function.blocks.first()) else { return find() };
        let first = block.insts.start;
        if let Some(known) = self.kernels.get(number as usize) {
            return known.shifted(|inst| inst + first);
        }
        debug_assert_eq!(self.kernels.len(), number as usize);
        let masks = find();
        self.kernels.push_back(masks.shifted(|inst| inst - first));
        masks
    }
}
