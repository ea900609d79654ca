//! The targets of calls and jumps through registers.
//!
//! The `s_setpc_b64` of a function is a return, unless its registers hold what scalar instructions loaded or
//! computed.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Families, Flow, LAST_BY_NUMBER, Op, Reg, RegSet, ScalarSet};

use super::{Block, Exit, Function, Located, Obstacle, ObstacleKind, Program};
use crate::analysis::masks::{computed_jumps, register_targets};

impl Program {
    /// Resolves calls and jumps through registers by the values that reach them.
    ///
    /// What a call leaves alone depends on its target, and so may the value that tells the target of the next. So
    /// what is still unknown in the end is resolved as if unknown calls wrote nothing, and then taken back until what is
    /// left holds together: each target is the value that arrives if the targets are what they are taken to be.
    pub(super) fn resolve_calls(&mut self, entries: &BTreeMap<u64, usize>) {
        self.doubt_returns();
        let mut wanted: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (index, function) in self.functions.iter().enumerate() {
            let unknown = |block: &&Block| block.exit == Exit::Unknown;
            for block in function.blocks.iter().filter(unknown) {
                let last = block.insts.end - 1;
                if matches!(self.insts[last].op, Op::s_swappc_b64 | Op::s_setpc_b64) {
                    wanted.entry(index).or_default().insert(last);
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        // Each target found tells what its call leaves alone, which may tell others.
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        loop {
            self.set_targets(&wanted, &taken);
            let before = taken.len();
            for (inst, callee) in self.targets(&wanted, RegSet::all(), entries) {
                taken.entry(inst).or_insert(callee);
            }
            if taken.len() == before {
                break;
            }
        }
        let certain = taken.clone();
        // Around loops they tell each other.
        for (inst, callee) in self.targets(&wanted, RegSet::EMPTY, entries) {
            taken.entry(inst).or_insert(callee);
        }
        loop {
            self.set_targets(&wanted, &taken);
            let confirmed = self.targets(&wanted, RegSet::all(), entries);
            let before = taken.len();
            taken.retain(|inst, callee| certain.contains_key(inst) || confirmed.get(inst) == Some(callee));
            if taken.len() == before {
                break;
            }
        }
        for (&index, insts) in &wanted {
            for inst in insts.iter().filter(|inst| taken.contains_key(inst)) {
                let pc = self.insts[*inst].pc;
                self.functions[index].obstacles.retain(|obstacle| obstacle.pc != pc);
            }
        }
        for (index, mut insts) in wanted {
            insts.retain(|inst| !taken.contains_key(inst));
            self.doubt_sums(index, &insts);
        }
    }

    /// What is unknown and the sum of two may come from a table of distances between places in code. Unlike addresses, which a
    /// relocation names, distances cannot be told from other numbers, and no instruction may change its place.
    fn doubt_sums(&mut self, index: usize, unknown: &BTreeSet<usize>) {
        let function = &self.functions[index];
        if unknown.is_empty() || !unknown.iter().any(|inst| self.is_written(function, *inst)) {
            return;
        }
        for inst in computed_jumps(self, function, unknown, adds) {
            let detail = format!(
                "`{}` to a sum, perhaps by a table of distances between places in code",
                self.insts[inst].op
            );
            let obstacle = Obstacle { pc: self.insts[inst].pc, kind: ObstacleKind::UnresolvedGetpc, detail };
            self.functions[index].obstacles.push(obstacle);
        }
    }

    /// A jump through registers that hold what a function was not called with, but loaded or computed, is no return.
    fn doubt_returns(&mut self) {
        let mut jumps: Vec<(usize, usize)> = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let returns = function.blocks.iter().filter(|block| block.exit == Exit::Return);
            let asked: BTreeSet<usize> = returns
                .map(|block| block.insts.end - 1)
                .filter(|&last| self.is_written(function, last))
                .collect();
            if !asked.is_empty() {
                let computed = computed_jumps(self, function, &asked, loads_or_computes);
                jumps.extend(computed.into_iter().map(|inst| (number, inst)));
            }
        }
        for (number, inst) in jumps {
            let pc = self.insts[inst].pc;
            let function = &mut self.functions[number];
            function
                .blocks
                .iter_mut()
                .filter(|block| block.insts.end == inst + 1)
                .for_each(|block| block.exit = Exit::Unknown);
            let detail = "jump through registers whose value is not known".to_owned();
            function.obstacles.push(Obstacle { pc, kind: ObstacleKind::IndirectTarget, detail });
        }
    }

    /// Whether a function writes the registers that an instruction reads, but by reading lanes or by what a call leaves.
    fn is_written(&self, function: &Function, inst: usize) -> bool {
        let wanted = self.scalars(&self.insts[inst]).reads.without(ScalarSet::EXEC);
        let mut insts = function.blocks.iter().flat_map(|block| block.insts.clone());
        insts.any(|index| {
            let located = &self.insts[index];
            let restores = matches!(
                located.op,
                Op::v_readlane_b32 | Op::v_readfirstlane_b32 | Op::s_swappc_b64 | Op::s_call_b64
            );
            !restores && self.scalars(located).writes.intersects(wanted)
        })
    }

    /// The functions that the values at `wanted` are the addresses of, by instruction.
    fn targets(
        &self,
        wanted: &BTreeMap<usize, BTreeSet<usize>>,
        unknown: RegSet,
        entries: &BTreeMap<u64, usize>,
    ) -> BTreeMap<usize, usize> {
        let written =
            self.with_callees(self.functions.iter().map(|function| self.written(function, unknown)));
        let clobbers = |callee: usize| written[callee];
        let mut targets = BTreeMap::new();
        for (&index, insts) in wanted {
            for (inst, target) in register_targets(self, &self.functions[index], &clobbers, unknown, insts) {
                targets.extend(entries.get(&target).map(|&callee| (inst, callee)));
            }
        }
        targets
    }

    fn set_targets(&mut self, wanted: &BTreeMap<usize, BTreeSet<usize>>, taken: &BTreeMap<usize, usize>) {
        for (&index, insts) in wanted {
            for &inst in insts {
                self.set_target(index, inst, taken.get(&inst).copied());
            }
        }
    }

    fn set_target(&mut self, index: usize, inst: usize, target: Option<usize>) {
        let calls = self.insts[inst].op == Op::s_swappc_b64;
        let function = &mut self.functions[index];
        for block in function.blocks.iter_mut().filter(|block| block.insts.end == inst + 1) {
            block.exit = match target {
                Some(callee) if calls => Exit::Call(callee),
                Some(callee) => Exit::TailCall(callee),
                None => Exit::Unknown,
            };
        }
        let callees = function.blocks.iter().filter_map(|block| match block.exit {
            Exit::Call(callee) | Exit::TailCall(callee) => Some(callee),
            _ => None,
        });
        function.callees = callees.collect::<BTreeSet<_>>().into_iter().collect();
    }

    /// Every register that a function itself writes. What it calls without our knowing whom writes `unknown`.
    fn written(&self, function: &Function, unknown: RegSet) -> RegSet {
        let mut all = RegSet::default();
        for block in &function.blocks {
            if block.exit == Exit::Unknown {
                all.union_with(&unknown);
            }
            for index in block.insts.clone() {
                all.union_with(&self.effects(index).changes());
                if self.insts[index].op.is_of(Families::SGPRS_BY_NUMBER) {
                    all.insert_run(Reg::scalar(0), u16::from(LAST_BY_NUMBER) + 1);
                }
            }
        }
        all
    }
}

/// Whether what this leaves in a scalar register is no return address: that may come out of vector registers, where it was put
/// by, or be left by a call.
fn loads_or_computes(located: &Located) -> bool {
    located.encoding.is_scalar() && !matches!(located.flow(), Flow::Call { .. })
}

/// Whether this adds or subtracts.
fn adds(located: &Located) -> bool {
    matches!(
        located.op,
        Op::s_add_u32
            | Op::s_addc_u32
            | Op::s_add_i32
            | Op::s_addk_i32
            | Op::s_sub_u32
            | Op::s_subb_u32
            | Op::s_sub_i32
            | Op::s_lshl1_add_u32
            | Op::s_lshl2_add_u32
            | Op::s_lshl3_add_u32
            | Op::s_lshl4_add_u32
    )
}
