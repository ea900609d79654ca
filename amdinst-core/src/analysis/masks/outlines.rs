//! Functions that are alike in all that masks depend on.
//!
//! That is how control flows, and the few instructions that the data flow looks at. A template is instantiated for several types of
//! numbers, which the other instructions tell apart: of the kernels whose code is new, four in five have an outline that was there
//! before (rocSPARSE for gfx90a), and so the masks that were found for it. The order in which values are numbered is the same, too.

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hasher;

use amdgpu_isa::RegSet;
use rustc_hash::{FxHashMap, FxHasher};

use super::aspects::Aspects;
use super::flow::{Flowing, enters_with_lanes};
use super::slice::{Step, Steps};
use super::{Masks, uniform};
use crate::analysis::program::{Function, Program};

/// Outlines of kernels of a processor, with their masks.
#[derive(Debug, Default)]
pub(crate) struct Outlines {
    known: VecDeque<Known>,
    aspects: Aspects,
    /// By a hash of their words, their numbers. Of those with the same hash, the last.
    numbers: FxHashMap<u64, u32>,
    /// Words of all of them.
    words: usize,
}

#[derive(Debug)]
struct Known {
    words: Box<[u32]>,
    /// What was found, with numbers of steps in place of instructions.
    masks: Masks,
}

/// Aspects that are remembered: several times as many as most libraries have.
const MOST_ASPECTS: usize = 1 << 16;

impl Outlines {
    /// From now on, forms have other numbers.
    pub(crate) fn forget_forms(&mut self) {
        self.aspects.forget_forms();
    }

    /// Forgets those that have been known for longest, until all have no more than so many words.
    pub(crate) fn forget(&mut self, most_words: usize) {
        if self.aspects.len() > MOST_ASPECTS {
            // Numbers of these are what others are told by.
            self.aspects.clear();
            self.known.clear();
            self.numbers.clear();
            self.words = 0;
        }
        let mut count = 0;
        while self.words > most_words {
            self.words -= self.known[count].words.len();
            count += 1;
        }
        if count == 0 {
            return;
        }
        self.known.drain(..count);
        self.numbers.retain(|_, number| match number.checked_sub(count as u32) {
            Some(less) => {
                *number = less;
                true
            }
            None => false,
        });
    }

    /// What [`Masks::new`] finds.
    pub(crate) fn masks(
        &mut self,
        program: &Program,
        function: &Function,
        clobbers: &dyn Fn(usize) -> RegSet,
    ) -> Masks {
        // Of others, addresses and what they call matter, too.
        if function.known.is_none() {
            return Masks::new(program, function, clobbers);
        }
        let steps = Steps::new(program, function, &BTreeSet::new());
        let words = self.outline(program, function, &steps);
        let hash = hash(&words);
        let known = self.numbers.get(&hash).map(|&number| &self.known[number as usize]);
        let masks = match known.filter(|known| *known.words == *words) {
            Some(known) => {
                let masks = known.masks.shifted(|step| steps.all()[step].inst);
                debug_assert_eq!(
                    masks,
                    Masks::of_writes(&mut Flowing::new(program, function, clobbers, steps))
                );
                masks
            }
            None => {
                let mut flowing = Flowing::new(program, function, clobbers, steps);
                let masks = Masks::of_writes(&mut flowing);
                let steps = flowing.slice.steps();
                // Only of these is anything found, and they are in order.
                let step = |inst: usize| steps.partition_point(|step| step.inst < inst);
                self.words += words.len();
                self.numbers.insert(hash, self.known.len() as u32);
                self.known.push_back(Known { words: words.into(), masks: masks.shifted(step) });
                masks
            }
        };
        Masks { uniform: uniform(program, function), ..masks }
    }

    /// All that the masks of a kernel depend on that calls nothing and has no address in it: as many steps and ways on as each block has,
    /// and what these are.
    fn outline(&mut self, program: &Program, function: &Function, steps: &Steps) -> Vec<u32> {
        let mut word = |step: &Step| {
            self.aspects.number(program, step.inst) << 2
                | u32::from(step.matters) << 1
                | u32::from(step.is_vector)
        };
        let mut words = Vec::with_capacity(3 * function.blocks.len() + steps.all().len());
        for (number, block) in function.blocks.iter().enumerate() {
            let steps = &steps.all()[steps.of(number)];
            words.push((steps.len() << 2 | block.successors.len()) as u32);
            words.extend(block.successors.iter().map(|&next| {
                let with_lanes = enters_with_lanes(program, function, number, next);
                (next << 1) as u32 | u32::from(with_lanes)
            }));
            words.extend(steps.iter().map(&mut word));
        }
        words
    }
}

fn hash(words: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    words.iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}
