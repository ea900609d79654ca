//! Which scalar registers are live: may be read later before they are written again.
//!
//! Backward data flow over the whole program. A call passes on what its callee reads and everything that is live after it
//! (nothing is taken to be killed by a callee); a return passes on what is live after any call of its function. That is the
//! union over all callers, so one answer is right for each of them.
//!
//! Only scalar registers and SCC have an answer. A vector register written under EXEC keeps its inactive lanes, so such a write
//! kills nothing: a VGPR or AGPR is live as long as any read of it can follow, which nobody asks for.

use std::sync::OnceLock;

use super::program::{Exit, Program};
use super::rounds::Rounds;
use crate::isa::ScalarSet;

/// The registers live at the boundaries of all basic blocks.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By function and block: live after its last instruction (after the callee's return, for a call).
    out: Vec<Vec<ScalarSet>>,
    /// By function and block: live before its first instruction.
    start: Vec<Vec<ScalarSet>>,
    /// By function and block: live before each of its instructions, worked out when one is first asked for that is not [`NEAR`] its end.
    before: Vec<Vec<OnceLock<Box<[ScalarSet]>>>>,
    /// By function: live at its entry.
    entry: Vec<ScalarSet>,
    /// By function: live when it returns.
    returned: Vec<ScalarSet>,
}

/// So near to the end of its block most is that is asked for: it is worked out each time.
const NEAR: usize = 16;

/// What a block does to liveness.
struct Transfer {
    reads: ScalarSet,
    kills: ScalarSet,
}

impl Liveness {
    /// Analyses the whole program.
    pub fn new(program: &Program) -> Self {
        let transfers: Vec<Vec<Transfer>> = program
            .functions
            .iter()
            .map(|function| {
                function.blocks.iter().map(|block| transfer(program, block.insts.clone())).collect()
            })
            .collect();
        let n = program.functions.len();
        let mut this = Self {
            out: program.functions.iter().map(|f| vec![ScalarSet::EMPTY; f.blocks.len()]).collect(),
            start: vec![Vec::new(); n],
            before: program.functions.iter().map(|f| vec![OnceLock::new(); f.blocks.len()]).collect(),
            entry: vec![ScalarSet::EMPTY; n],
            returned: vec![ScalarSet::EMPTY; n],
        };
        let callers = program.callers();
        // Sets only grow, so this ends; callees come before callers in most code objects.
        let mut rounds = Rounds::new(n);
        while let Some((function, _)) = rounds.next() {
            let callees = program.functions[function].callees.iter();
            let returned: Vec<_> = callees.map(|&callee| (callee, this.returned[callee])).collect();
            let entry = this.entry[function];
            this.flow(program, &transfers[function], function);
            if this.entry[function] != entry {
                callers[function].iter().for_each(|&caller| rounds.mark(caller));
            }
            for (callee, before) in returned {
                if this.returned[callee] != before {
                    rounds.mark(callee);
                }
            }
        }
        this
    }

    /// The registers live right before and right after instruction `index` of block `block` of `function`.
    pub fn around(
        &self,
        program: &Program,
        function: usize,
        block: usize,
        index: usize,
    ) -> (ScalarSet, ScalarSet) {
        let insts = &program.functions[function].blocks[block].insts;
        if insts.end - index > NEAR {
            let before = self.before[function][block].get_or_init(|| self.through(program, function, block));
            return (before[index - insts.start], before[index + 1 - insts.start]);
        }
        let (mut before, mut after) = (self.out[function][block], ScalarSet::EMPTY);
        for index in (index..insts.end).rev() {
            after = before;
            self.step(program, function, block, index, &mut before);
        }
        (before, after)
    }

    /// The registers live before each instruction of a block.
    fn through(&self, program: &Program, function: usize, block: usize) -> Box<[ScalarSet]> {
        let range = program.functions[function].blocks[block].insts.clone();
        let mut live = self.out[function][block];
        let mut before: Box<[ScalarSet]> = vec![ScalarSet::EMPTY; range.len()].into();
        for index in range.clone().rev() {
            self.step(program, function, block, index, &mut live);
            before[index - range.start] = live;
        }
        before
    }

    /// The registers live at the entry of a function.
    pub fn at_entry(&self, function: usize) -> ScalarSet {
        self.entry[function]
    }

    /// The registers live at the start of a block.
    pub fn at_start(&self, function: usize, block: usize) -> ScalarSet {
        self.start[function][block]
    }

    fn step(&self, program: &Program, function: usize, block: usize, index: usize, live: &mut ScalarSet) {
        let block = &program.functions[function].blocks[block];
        if index + 1 == block.insts.end
            && let Exit::Call(callee) = block.exit
        {
            *live = live.union(self.entry[callee]);
        }
        let scalars = program.scalars(&program.insts[index]);
        *live = live.without(scalars.writes).union(scalars.reads);
    }

    fn flow(&mut self, program: &Program, transfers: &[Transfer], index: usize) {
        let function = &program.functions[index];
        let mut inputs = vec![ScalarSet::EMPTY; function.blocks.len()];
        let last = function.blocks.len().saturating_sub(1);
        let mut rounds = Rounds::new(function.blocks.len());
        while let Some((place, _)) = rounds.next() {
            let number = last - place;
            let block = &function.blocks[number];
            let mut out = match block.exit {
                Exit::Return => self.returned[index],
                Exit::TailCall(callee) => {
                    let returned = self.returned[index];
                    self.returned[callee] = self.returned[callee].union(returned);
                    self.entry[callee].union(returned)
                }
                Exit::Unknown => ScalarSet::ALL,
                Exit::End | Exit::Local | Exit::Call(_) => ScalarSet::EMPTY,
            };
            for &successor in &block.successors {
                out = out.union(inputs[successor]);
            }
            let mut input = out;
            if let Exit::Call(callee) = block.exit {
                self.returned[callee] = self.returned[callee].union(out);
                input = input.union(self.entry[callee]);
            }
            input = input.without(transfers[number].kills).union(transfers[number].reads);
            self.out[index][number] = out;
            if inputs[number] != input {
                inputs[number] = input;
                function.predecessors(number).iter().for_each(|&before| rounds.mark(last - before));
            }
        }
        if let Some(entry) = inputs.first() {
            self.entry[index] = *entry;
        }
        self.start[index] = inputs;
    }
}

fn transfer(program: &Program, insts: std::ops::Range<usize>) -> Transfer {
    let (mut reads, mut kills) = (ScalarSet::EMPTY, ScalarSet::EMPTY);
    for located in program.insts[insts].iter().rev() {
        let scalars = program.scalars(located);
        reads = reads.without(scalars.writes).union(scalars.reads);
        kills = kills.union(scalars.writes);
    }
    Transfer { reads, kills }
}
