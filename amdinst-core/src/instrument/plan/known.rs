//! What is known of a processor's code from one code object to the next: what each room has learnt of it.

use amdgpu_isa::Target;

use super::remembered::KnownPlans;
use crate::analysis::program::Seen;
use crate::instrument::emit::assembler::Assembler;
use crate::instrument::find::known_masks::KnownMasks;
use crate::instrument::find::summary::Touches;
use crate::instrument::place::hazards::FormFacts;

/// What is known of a processor's code.
#[derive(Debug)]
pub(crate) struct ProcessorCache {
    /// Distinct instructions and kernels.
    pub(super) seen: Seen,
    /// What these do.
    pub(super) touches: Touches,
    /// The masks of the kernels.
    pub(super) masks: KnownMasks,
    /// What was planned for the kernels.
    pub(super) plans: KnownPlans,
    /// What rules of wait states ask about the instructions.
    pub(super) facts: FormFacts,
    /// Instructions that were inserted.
    pub(super) assembler: Assembler,
}

impl ProcessorCache {
    /// Of a processor of which nothing is known.
    pub(crate) fn new(target: Target) -> Self {
        Self {
            seen: Seen::new(target),
            touches: Touches::default(),
            masks: KnownMasks::default(),
            plans: KnownPlans::default(),
            facts: FormFacts::default(),
            assembler: Assembler::new(target),
        }
    }

    /// How many distinct instructions are known.
    pub(crate) fn forms(&self) -> usize {
        self.seen.forms()
    }

    /// Bytes of code of the kernels that are known.
    pub(crate) fn bytes(&self) -> usize {
        self.seen.bytes()
    }

    /// Forgets everything. The room that it took stays: it is soon filled again, and fresh memory takes time.
    pub(crate) fn clear(&mut self, target: Target) {
        let Self { seen, touches, masks, plans, facts, assembler } = self;
        seen.clear();
        touches.clear();
        masks.clear();
        plans.clear();
        facts.clear();
        *assembler = Assembler::new(target);
    }

    /// Keeps so many bytes of code of kernels at most. They come again soon, if at all: those that have been
    /// known for longest go.
    pub(crate) fn forget_kernels(&mut self, most_bytes: usize) {
        let count = self.seen.forget_kernels(most_bytes);
        self.touches.forget_kernels(count);
        self.masks.forget_kernels(count);
        self.plans.forget_kernels(count);
    }
}
