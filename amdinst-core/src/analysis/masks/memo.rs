//! Masks by what they depend on: a memo of the data flow.
//!
//! Masks depend on how control flows and on the few instructions that the data flow looks at. The key of a
//! function is both. A template is instantiated for several types of numbers, which the other instructions
//! tell apart. So of the kernels whose code is new, four in five have a key that was there before (rocSPARSE
//! for gfx90a), and so the masks that were found for it. The order in which values are numbered is the same,
//! too.

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hasher;

use amdgpu_isa::RegSet;
use rustc_hash::{FxHashMap, FxHasher};

use super::classes::Classes;
use super::flow::{Flowing, tells_of_lanes};
use super::slice::{Step, Steps};
use super::{Masks, uniform};
use crate::analysis::program::{Function, Program};

/// Masks of kernels of a processor, by their keys.
#[derive(Debug, Default)]
pub(crate) struct MaskMemo {
    entries: VecDeque<Entry>,
    classes: Classes,
    /// Numbers of entries by a hash of their keys. Of several with one hash, the last.
    numbers: FxHashMap<u64, u32>,
    /// Words of all keys.
    words: usize,
}

#[derive(Debug)]
struct Entry {
    key: Box<[u32]>,
    /// What was found, with numbers of steps in place of instructions.
    masks: Masks,
}

/// Classes that are remembered: several times as many as most libraries have.
const MOST_CLASSES: usize = 1 << 16;

impl MaskMemo {
    /// From now on, forms have other numbers.
    pub(crate) fn forget_forms(&mut self) {
        self.classes.forget_forms();
    }

    /// Forgets those that have been known for longest, until all have no more than so many words.
    pub(crate) fn forget(&mut self, most_words: usize) {
        if self.classes.len() > MOST_CLASSES {
            // Keys are made of the numbers of classes.
            self.classes.clear();
            self.entries.clear();
            self.numbers.clear();
            self.words = 0;
        }
        let mut count = 0;
        while self.words > most_words {
            self.words -= self.entries[count].key.len();
            count += 1;
        }
        if count == 0 {
            return;
        }
        self.entries.drain(..count);
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
        let key = self.key(program, function, &steps);
        let hash = hash(&key);
        let known = self.numbers.get(&hash).map(|&number| &self.entries[number as usize]);
        let masks = match known.filter(|known| *known.key == *key) {
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
                self.words += key.len();
                self.numbers.insert(hash, self.entries.len() as u32);
                self.entries.push_back(Entry { key: key.into(), masks: masks.shifted(step) });
                masks
            }
        };
        Masks { uniform: uniform(program, function), ..masks }
    }

    /// All that the masks of a kernel depend on that calls nothing and has no address in it: as many steps
    /// and ways on as each block has, and what these are.
    fn key(&mut self, program: &Program, function: &Function, steps: &Steps) -> Vec<u32> {
        let mut word = |step: &Step| {
            self.classes.number(program, step.inst) << 2
                | u32::from(step.matters) << 1
                | u32::from(step.is_vector)
        };
        let mut words = Vec::with_capacity(3 * function.blocks.len() + steps.all().len());
        for (number, block) in function.blocks.iter().enumerate() {
            let steps = &steps.all()[steps.of(number)];
            // No more than two: other ways on are of jumps by addresses.
            words.push((steps.len() << 2 | block.successors.len()) as u32);
            words.extend(block.successors.iter().map(|&next| {
                let lanes = tells_of_lanes(program, function, number, next);
                (next << 2) as u32 | lanes.map_or(2, u32::from)
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
