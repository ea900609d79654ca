//! Which registers are live: may be read later before they are written again.
//!
//! Backward data flow over the whole program. A call passes on what its callee reads and everything that is live after it
//! (nothing is taken to be killed by a callee); a return passes on what is live after any call of its function. That is the
//! union over all callers, so one answer is right for each of them.
//!
//! A vector register written under EXEC keeps its inactive lanes, so such a write kills nothing: a VGPR or AGPR is live as
//! long as any read of it can follow.

use std::sync::OnceLock;

use super::program::{Exit, Program};
use crate::isa::RegSet;

/// The registers live at the boundaries of all basic blocks.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By function and block: live after its last instruction (after the callee's return, for a call).
    out: Vec<Vec<RegSet>>,
    /// By function and block: live before its first instruction.
    start: Vec<Vec<RegSet>>,
    /// By function and block: live before each of its instructions, worked out when it is first asked for.
    before: Vec<Vec<OnceLock<Box<[RegSet]>>>>,
    /// By function: live at its entry.
    entry: Vec<RegSet>,
    /// By function: live when it returns.
    returned: Vec<RegSet>,
}

/// What a block does to liveness.
struct Transfer {
    reads: RegSet,
    kills: RegSet,
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
            out: program.functions.iter().map(|f| vec![RegSet::default(); f.blocks.len()]).collect(),
            start: vec![Vec::new(); n],
            before: program.functions.iter().map(|f| vec![OnceLock::new(); f.blocks.len()]).collect(),
            entry: vec![RegSet::default(); n],
            returned: vec![RegSet::default(); n],
        };
        // Sets only grow, so this ends; callees come before callers in most code objects.
        let mut pending: Vec<bool> = vec![true; n];
        while let Some(function) = pending.iter().position(|&pending| pending) {
            pending[function] = false;
            let calls = !program.functions[function].callees.is_empty();
            let entry = this.entry[function];
            let returned = if calls { this.returned.clone() } else { Vec::new() };
            this.flow(program, &transfers[function], function);
            if this.entry[function] != entry {
                for (caller, other) in program.functions.iter().enumerate() {
                    pending[caller] |= other.callees.contains(&function);
                }
            }
            for (callee, before) in returned.iter().enumerate() {
                pending[callee] |= this.returned[callee] != *before;
            }
        }
        this
    }

    /// The registers live right before and right after instruction `index` of block `block` of `function`.
    pub fn around(&self, program: &Program, function: usize, block: usize, index: usize) -> (RegSet, RegSet) {
        let before = self.before[function][block].get_or_init(|| self.through(program, function, block));
        let at = index - program.functions[function].blocks[block].insts.start;
        (before[at], before.get(at + 1).copied().unwrap_or(self.out[function][block]))
    }

    /// The registers live before each instruction of a block.
    fn through(&self, program: &Program, function: usize, block: usize) -> Box<[RegSet]> {
        let range = program.functions[function].blocks[block].insts.clone();
        let mut live = self.out[function][block];
        let mut before: Box<[RegSet]> = vec![RegSet::EMPTY; range.len()].into();
        for index in range.clone().rev() {
            self.step(program, function, block, index, &mut live);
            before[index - range.start] = live;
        }
        before
    }

    /// The registers live at the entry of a function.
    pub fn at_entry(&self, function: usize) -> &RegSet {
        &self.entry[function]
    }

    /// The registers live at the start of a block.
    pub fn at_start(&self, function: usize, block: usize) -> &RegSet {
        &self.start[function][block]
    }

    fn step(&self, program: &Program, function: usize, block: usize, index: usize, live: &mut RegSet) {
        let block = &program.functions[function].blocks[block];
        if index + 1 == block.insts.end
            && let Exit::Call(callee) = block.exit
        {
            live.union_with(&self.entry[callee]);
        }
        let uses = program.insts[index].inst.uses(program.arch);
        live.subtract(&uses.writes);
        live.union_with(&uses.reads);
    }

    fn flow(&mut self, program: &Program, transfers: &[Transfer], index: usize) {
        let function = &program.functions[index];
        let mut inputs = vec![RegSet::default(); function.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in function.blocks.iter().enumerate().rev() {
                let mut out = match block.exit {
                    Exit::Return => self.returned[index],
                    Exit::TailCall(callee) => {
                        let returned = self.returned[index];
                        self.returned[callee].union_with(&returned);
                        let mut out = self.entry[callee];
                        out.union_with(&returned);
                        out
                    }
                    Exit::Unknown => RegSet::all(),
                    Exit::End | Exit::Local | Exit::Call(_) => RegSet::default(),
                };
                for &successor in &block.successors {
                    out.union_with(&inputs[successor]);
                }
                let mut input = out;
                if let Exit::Call(callee) = block.exit {
                    self.returned[callee].union_with(&out);
                    input.union_with(&self.entry[callee]);
                }
                input.subtract(&transfers[number].kills);
                input.union_with(&transfers[number].reads);
                self.out[index][number] = out;
                if inputs[number] != input {
                    inputs[number] = input;
                    changed = true;
                }
            }
        }
        if let Some(entry) = inputs.first() {
            self.entry[index] = *entry;
        }
        self.start[index] = inputs;
    }
}

fn transfer(program: &Program, insts: std::ops::Range<usize>) -> Transfer {
    let (mut reads, mut kills) = (RegSet::default(), RegSet::default());
    for index in insts.rev() {
        let uses = program.insts[index].inst.uses(program.arch);
        reads.subtract(&uses.writes);
        reads.union_with(&uses.reads);
        kills.union_with(&uses.writes);
    }
    Transfer { reads, kills }
}
