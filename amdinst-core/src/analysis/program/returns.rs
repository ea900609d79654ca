//! What return addresses are used for.

use super::{Exit, Function, Located, Obstacle, ObstacleKind, Program, Scalars};
use crate::analysis::rounds::Rounds;
use crate::isa::{Op, ScalarSet};

impl Program {
    /// A call leaves a value of the program counter. Whoever loads or computes by that, and does not just return, finds something else
    /// when code moves.
    pub(super) fn doubt_return_addresses(&mut self) {
        let calls =
            self.functions.iter().any(|function| function.blocks.iter().any(|block| is_call(block.exit)));
        if !calls {
            return;
        }
        let mut at_entry = vec![ScalarSet::EMPTY; self.functions.len()];
        let mut rounds = Rounds::new(self.functions.len());
        let mut used: Vec<(usize, usize)> = Vec::new();
        while let Some((number, _)) = rounds.next() {
            let function = &self.functions[number];
            let starts = self.return_addresses(function, at_entry[number]);
            used.retain(|&(of, _)| of != number);
            for (block, &start) in function.blocks.iter().zip(&starts) {
                let mut held = start;
                for inst in block.insts.clone() {
                    let located = &self.insts[inst];
                    if held.intersects(self.scalars(located).reads) && !passes_on(located.op) {
                        used.push((number, inst));
                    }
                    held = self.after(located, held);
                }
                let (Exit::Call(callee) | Exit::TailCall(callee)) = block.exit else { continue };
                let known = at_entry[callee].union(held);
                if known != at_entry[callee] {
                    at_entry[callee] = known;
                    rounds.mark(callee);
                }
            }
        }
        for (number, inst) in used {
            let located = &self.insts[inst];
            let detail = format!("`{}` uses a return address, but not to return there", located.op);
            let obstacle = Obstacle { pc: located.pc, kind: ObstacleKind::UnresolvedGetpc, detail };
            self.functions[number].obstacles.push(obstacle);
        }
    }

    /// By block: the scalar registers that may have a half of a return address at its start.
    fn return_addresses(&self, function: &Function, at_entry: ScalarSet) -> Vec<ScalarSet> {
        let mut starts = vec![ScalarSet::EMPTY; function.blocks.len()];
        if let Some(entry) = starts.first_mut() {
            *entry = at_entry;
        }
        let mut rounds = Rounds::new(function.blocks.len());
        while let Some((number, _)) = rounds.next() {
            let block = &function.blocks[number];
            let insts = &self.insts[block.insts.clone()];
            let held = insts.iter().fold(starts[number], |held, located| self.after(located, held));
            for &next in &block.successors {
                let known = starts[next].union(held);
                if known != starts[next] {
                    starts[next] = known;
                    rounds.mark(next);
                }
            }
        }
        starts
    }

    /// The registers that may have a half of a return address after an instruction, if `held` may before it.
    fn after(&self, located: &Located, held: ScalarSet) -> ScalarSet {
        let &Scalars { reads, writes } = self.scalars(located);
        let copies = matches!(located.op, Op::s_mov_b32 | Op::s_mov_b64) && held.intersects(reads);
        if copies || matches!(located.op, Op::s_swappc_b64 | Op::s_call_b64) {
            held.union(writes)
        } else {
            held.without(writes)
        }
    }
}

const fn is_call(exit: Exit) -> bool {
    matches!(exit, Exit::Call(_))
}

/// What returns, or puts by for that.
const fn passes_on(op: Op) -> bool {
    matches!(op, Op::s_mov_b32 | Op::s_mov_b64 | Op::s_setpc_b64 | Op::s_swappc_b64 | Op::v_writelane_b32)
}
