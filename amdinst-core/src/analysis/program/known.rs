//! Kernels that an earlier program had, byte for byte.
//!
//! What a kernel is found to be depends on nothing but its code, if that leads nowhere else and looks at no
//! address. So it need not be explored again.

use std::collections::{HashMap, VecDeque};
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use amdgpu_isa::Target;
use rustc_hash::{FxHashMap, FxHasher};

use super::forms::Forms;
use super::{Block, Function, Located, Predecessors, Program};

/// What programs of a processor had that may stand in further ones.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(super) forms: Forms,
    kernels: VecDeque<Kernel>,
    /// By a hash of their code, their numbers. Of those with the same hash, the last.
    numbers: FxHashMap<u64, u32>,
    /// Bytes of code of all of them.
    bytes: usize,
}

/// A kernel as if its first instruction were the first of its program.
#[derive(Clone, Debug)]
struct Kernel {
    code: Box<[u8]>,
    /// Places of its instructions in the code, in bytes, and their forms.
    insts: Box<[(u32, u32)]>,
    blocks: Box<[Block]>,
    predecessors: Arc<Predecessors>,
}

impl Seen {
    /// Nothing yet.
    pub(crate) fn new(target: Target) -> Self {
        Self { forms: Forms::new(target), kernels: VecDeque::new(), numbers: HashMap::default(), bytes: 0 }
    }

    /// How many distinct instructions there are.
    pub(crate) fn forms(&self) -> usize {
        self.forms.len()
    }

    /// Bytes of code of the kernels.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets everything, but not the room that it took.
    pub(crate) fn clear(&mut self) {
        self.forms.clear();
        self.kernels.clear();
        self.numbers.clear();
        self.bytes = 0;
    }

    /// Forgets the kernels that have been known for longest, until all have no more than so many bytes of
    /// code. How many these were: the numbers of the others become less by that.
    pub(crate) fn forget_kernels(&mut self, most_bytes: usize) -> usize {
        let mut count = 0;
        while self.bytes > most_bytes {
            self.bytes -= self.kernels[count].code.len();
            count += 1;
        }
        self.kernels.drain(..count);
        self.numbers.retain(|_, number| match number.checked_sub(count as u32) {
            Some(less) => {
                *number = less;
                true
            }
            None => false,
        });
        count
    }

    /// The number of the kernel with this code.
    pub(super) fn find(&self, code: &[u8]) -> Option<u32> {
        let number = *self.numbers.get(&hash(code))?;
        (*self.kernels[number as usize].code == *code).then_some(number)
    }

    /// Takes in the last function of a program, which has this code; the number that it has now.
    fn add(&mut self, code: &[u8], insts: &[Located], function: &Function) -> u32 {
        let first = function.blocks.first().map_or(0, |block| block.insts.start);
        let place = |located: &Located| ((located.pc - function.range.start) as u32, located.form);
        let number = self.kernels.len() as u32;
        self.kernels.push_back(Kernel {
            code: code.into(),
            insts: insts[first..].iter().map(place).collect(),
            blocks: function.blocks.iter().map(|block| block.shifted(|inst| inst - first)).collect(),
            predecessors: function.predecessors.clone(),
        });
        self.bytes += code.len();
        self.numbers.insert(hash(code), number);
        number
    }
}

impl Program {
    /// Adds a kernel that is known by this number.
    pub(super) fn add_known(
        &mut self,
        name: String,
        kernel: Option<usize>,
        range: Range<u64>,
        (seen, number): (&Seen, u32),
    ) {
        let first = self.insts.len();
        let known = &seen.kernels[number as usize];
        let located = |&(place, form): &(u32, u32)| Located {
            pc: range.start + u64::from(place),
            shape: *seen.forms.shape(form),
        };
        self.insts.extend(known.insts.iter().map(located));
        self.functions.push(Function {
            name: name.into(),
            range,
            kernel,
            blocks: known.blocks.iter().map(|block| block.shifted(|inst| inst + first)).collect(),
            predecessors: known.predecessors.clone(),
            callees: Vec::new(),
            obstacles: Vec::new(),
            is_amid: false,
            known: Some(number),
        });
    }

    /// Has the last function that was added remembered, if it is a kernel of which nothing but its code tells
    /// what it is: one that has no address in it. False if it is not.
    pub(super) fn teach(&mut self, seen: &mut Seen, code: &[u8]) -> bool {
        let Some(function) = self.functions.last_mut() else { return false };
        let depends = !function.callees.is_empty() || !function.obstacles.is_empty();
        if function.kernel.is_none() || function.blocks.is_empty() || depends {
            return false;
        }
        function.known = Some(seen.add(code, &self.insts, function));
        true
    }
}

impl Block {
    fn shifted(&self, shift: impl Fn(usize) -> usize) -> Self {
        Self { insts: shift(self.insts.start)..shift(self.insts.end), ..self.clone() }
    }
}

fn hash(code: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(code);
    hasher.write_usize(code.len());
    hasher.finish()
}
