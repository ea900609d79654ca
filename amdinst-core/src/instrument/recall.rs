//! What was found out, and planned, of kernels that stood in a code object before: more than a quarter of the code of a library does
//! (rocSPARSE for gfx90a).

use super::plan::Remembered;
use crate::analysis::masks::Masks;
use crate::analysis::program::Function;

/// Known kernels of a processor, by number.
#[derive(Debug, Default)]
pub(super) struct Recall {
    kernels: Vec<Recalled>,
}

#[derive(Debug)]
struct Recalled {
    /// As if the kernel's first instruction were the first of its program.
    masks: Masks,
    plan: Option<Remembered>,
}

impl Recall {
    /// Forgets everything, but not the room that it took.
    pub(super) fn clear(&mut self) {
        self.kernels.clear();
    }

    /// Forgets the first so many kernels.
    pub(super) fn forget_kernels(&mut self, count: usize) {
        self.kernels.drain(..count);
    }

    /// The masks of a function: those of the known kernel that it is, else what `find` finds. Those of new kernels have to be asked for in
    /// the order of their numbers.
    pub(super) fn masks(&mut self, function: &Function, find: impl FnOnce() -> Masks) -> Masks {
        let (Some(number), Some(block)) = (function.known, function.blocks.first()) else { return find() };
        let first = block.insts.start;
        if let Some(known) = self.kernels.get(number as usize) {
            return known.masks.shifted(|inst| inst + first);
        }
        debug_assert_eq!(self.kernels.len(), number as usize);
        let masks = find();
        self.kernels.push(Recalled { masks: masks.shifted(|inst| inst - first), plan: None });
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
