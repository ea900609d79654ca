//! The targets of calls and jumps through registers.
//!
//! The `s_setpc_b64` of a function is a return, unless its registers hold what scalar instructions loaded or
//! computed.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Families, Flow, LAST_BY_NUMBER, Op, Reg, RegSet, ScalarSet};

use super::{Block, Exit, Function, Located, Obstacle, ObstacleKind, Program};
use crate::analysis::masks::{Callee, Calls, computed_jumps, register_targets};

/// By function that has some: the calls and jumps through registers that are to be resolved, by instruction.
type Wanted = BTreeMap<usize, BTreeSet<usize>>;

/// What a function, without its callees, writes.
#[derive(Clone, Copy)]
struct Writes {
    /// Every register that it writes itself.
    registers: RegSet,
    /// It calls, or goes on into, what is not known.
    leads_elsewhere: bool,
}

impl Program {
    /// Resolves calls and jumps through registers by the values that reach them.
    ///
    /// What a call leaves alone depends on its target, and so may the value that tells the target of the
    /// next. Within a function the data flow sees to that; what it finds may tell targets in functions that
    /// call this one. What is still unknown in the end is resolved as if unknown calls wrote nothing, and
    /// then taken back until what is left holds together: each target is the value that arrives if the
    /// targets are what they are taken to be.
    pub(super) fn resolve_calls(&mut self, entries: &BTreeMap<u64, usize>) {
        self.doubt_returns();
        let wanted = self.wanted();
        if wanted.is_empty() {
            return;
        }
        let own: Vec<Writes> = self.functions.iter().map(|function| self.writes(function)).collect();
        let entry = |target: Option<u64>| entries.get(&target?).copied();
        let mut taken = BTreeMap::new();
        self.settle(&wanted, &own, |program, stale, clobbers| {
            let known = &taken;
            let callee = |inst: usize, target| known.get(&inst).copied().or_else(|| entry(target));
            let found = program.targets((&wanted, stale), (clobbers, RegSet::all()), Some(&callee), entries);
            for (inst, callee) in found {
                taken.entry(inst).or_insert(callee);
            }
            program.set_targets((&wanted, stale), &taken);
        });
        // Where functions call each other, they tell each other.
        let certain = taken.clone();
        let mut unknown = wanted.clone();
        unknown.retain(|_, insts| insts.iter().any(|inst| !certain.contains_key(inst)));
        let all = unknown.keys().copied().collect();
        let clobbers = self.clobbers(&own, RegSet::EMPTY);
        for (inst, callee) in self.targets((&unknown, &all), (&clobbers, RegSet::EMPTY), None, entries) {
            taken.entry(inst).or_insert(callee);
        }
        if taken.len() > certain.len() {
            self.set_targets((&unknown, &all), &taken);
            self.settle(&unknown, &own, |program, stale, clobbers| {
                let supposed = &taken;
                let callee = |inst: usize, target| {
                    let supposed = supposed.get(&inst).copied();
                    supposed.filter(|_| certain.contains_key(&inst) || entry(target) == supposed)
                };
                let found =
                    program.targets((&unknown, stale), (clobbers, RegSet::all()), Some(&callee), entries);
                for inst in stale.iter().flat_map(|index| &unknown[index]) {
                    if !certain.contains_key(inst) && found.get(inst) != taken.get(inst) {
                        taken.remove(inst);
                    }
                }
                program.set_targets((&unknown, stale), &taken);
            });
        }
        for (index, mut insts) in wanted {
            let resolved = insts.iter().filter(|inst| taken.contains_key(inst));
            let resolved: BTreeSet<u64> = resolved.map(|&inst| self.insts[inst].pc).collect();
            self.functions[index].obstacles.retain(|obstacle| !resolved.contains(&obstacle.pc));
            insts.retain(|inst| !taken.contains_key(inst));
            self.doubt_sums(index, &insts);
        }
    }

    /// The calls and jumps through registers whose targets are not known.
    fn wanted(&self) -> Wanted {
        let by_register = |block: &&Block| {
            let last = &self.insts[block.insts.end - 1];
            block.exit == Exit::Unknown && matches!(last.op, Op::s_swappc_b64 | Op::s_setpc_b64)
        };
        let of_function = |function: &Function| -> BTreeSet<usize> {
            function.blocks.iter().filter(by_register).map(|block| block.insts.end - 1).collect()
        };
        let all = self.functions.iter().map(of_function).enumerate();
        all.filter(|(_, insts)| !insts.is_empty()).collect()
    }

    /// Has `look` look at the functions that have something `wanted`, and again at those that call a function
    /// of which it then is known that it writes something else. What functions write themselves is `own`;
    /// `look` gets what each and all it calls write.
    fn settle(
        &mut self,
        wanted: &Wanted,
        own: &[Writes],
        mut look: impl FnMut(&mut Self, &BTreeSet<usize>, &[RegSet]),
    ) {
        let mut stale: BTreeSet<usize> = wanted.keys().copied().collect();
        let mut own = own.to_vec();
        let mut clobbers = self.clobbers(&own, RegSet::all());
        while !stale.is_empty() {
            look(self, &stale, &clobbers);
            stale
                .iter()
                .for_each(|&index| own[index].leads_elsewhere = leads_elsewhere(&self.functions[index]));
            let before = std::mem::replace(&mut clobbers, self.clobbers(&own, RegSet::all()));
            let is_stale = |index: &usize| {
                let mut callees = self.functions[*index].callees.iter();
                callees.any(|&callee| clobbers[callee] != before[callee])
            };
            stale = wanted.keys().copied().filter(is_stale).collect();
        }
    }

    /// What is unknown and the sum of two may come from a table of distances between places in code. Unlike
    /// addresses, which a relocation names, distances cannot be told from other numbers, and no instruction
    /// may change its place.
    fn doubt_sums(&mut self, index: usize, unknown: &BTreeSet<usize>) {
        let function = &self.functions[index];
        if unknown.is_empty() {
            return;
        }
        let written = self.made(function);
        if !unknown.iter().any(|inst| self.goes_by(*inst, written)) {
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

    /// A jump through registers that hold what a function was not called with, but loaded or computed, is no
    /// return.
    fn doubt_returns(&mut self) {
        let mut jumps: Vec<(usize, usize)> = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let mut returns = function.blocks.iter().filter(|block| block.exit == Exit::Return).peekable();
            if returns.peek().is_none() {
                continue;
            }
            let written = self.made(function);
            let asked: BTreeSet<usize> = returns
                .map(|block| block.insts.end - 1)
                .filter(|&last| self.goes_by(last, written))
                .collect();
            if !asked.is_empty() {
                let computed = computed_jumps(self, function, &asked, loads_or_computes);
                jumps.extend(computed.into_iter().map(|inst| (number, inst)));
            }
        }
        for (number, inst) in jumps {
            let pc = self.insts[inst].pc;
            let function = &mut self.functions[number];
            function.block_of_mut(inst).exit = Exit::Unknown;
            let detail = "jump through registers whose value is not known".to_owned();
            function.obstacles.push(Obstacle { pc, kind: ObstacleKind::IndirectTarget, detail });
        }
    }

    /// The scalar registers that a function writes, but by reading lanes or by what a call leaves.
    fn made(&self, function: &Function) -> ScalarSet {
        let insts =
            function.blocks.iter().flat_map(|block| block.insts.clone()).map(|inst| &self.insts[inst]);
        let makes = |located: &&Located| {
            !matches!(
                located.op,
                Op::v_readlane_b32 | Op::v_readfirstlane_b32 | Op::s_swappc_b64 | Op::s_call_b64
            )
        };
        let written = insts.filter(makes).map(|located| self.scalars(located).writes);
        written.fold(ScalarSet::EMPTY, ScalarSet::union)
    }

    /// Whether an instruction reads some of these registers.
    fn goes_by(&self, inst: usize, registers: ScalarSet) -> bool {
        self.scalars(&self.insts[inst]).reads.without(ScalarSet::EXEC).intersects(registers)
    }

    /// The functions that the values at what is wanted in some functions are the addresses of, by
    /// instruction. What calls write is `clobbers` by function, and `unknown` if the function is not known;
    /// `callee` tells it while the values are followed.
    fn targets(
        &self,
        (wanted, functions): (&Wanted, &BTreeSet<usize>),
        (clobbers, unknown): (&[RegSet], RegSet),
        callee: Option<&Callee<'_>>,
        entries: &BTreeMap<u64, usize>,
    ) -> BTreeMap<usize, usize> {
        let clobbers = |callee: usize| clobbers[callee];
        let mut targets = BTreeMap::new();
        for &index in functions {
            let calls = Calls { wanted: &wanted[&index], callee, unknown };
            let found = register_targets(self, &self.functions[index], &clobbers, calls);
            targets.extend(found.into_iter().filter_map(|(inst, to)| Some((inst, *entries.get(&to)?))));
        }
        targets
    }

    fn set_targets(
        &mut self,
        (wanted, functions): (&Wanted, &BTreeSet<usize>),
        taken: &BTreeMap<usize, usize>,
    ) {
        for &index in functions {
            let function = &mut self.functions[index];
            for &inst in &wanted[&index] {
                let calls = self.insts[inst].op == Op::s_swappc_b64;
                function.block_of_mut(inst).exit = match taken.get(&inst) {
                    Some(&callee) if calls => Exit::Call(callee),
                    Some(&callee) => Exit::TailCall(callee),
                    None => Exit::Unknown,
                };
            }
            let callees = function.blocks.iter().filter_map(|block| match block.exit {
                Exit::Call(callee) | Exit::TailCall(callee) => Some(callee),
                _ => None,
            });
            function.callees = callees.collect::<BTreeSet<_>>().into_iter().collect();
        }
    }

    /// By function: what it and all it calls write. What it calls without our knowing whom writes `unknown`.
    fn clobbers(&self, own: &[Writes], unknown: RegSet) -> Vec<RegSet> {
        let writes = own.iter().map(|own| {
            let mut all = own.registers;
            if own.leads_elsewhere {
                all.union_with(&unknown);
            }
            all
        });
        self.with_callees(writes)
    }

    fn writes(&self, function: &Function) -> Writes {
        let mut registers = RegSet::default();
        for index in function.blocks.iter().flat_map(|block| block.insts.clone()) {
            registers.union_with(&self.effects(index).changes());
            if self.insts[index].op.is_of(Families::SGPRS_BY_NUMBER) {
                registers.insert_run(Reg::scalar(0), u16::from(LAST_BY_NUMBER) + 1);
            }
        }
        Writes { registers, leads_elsewhere: leads_elsewhere(function) }
    }
}

/// Whether a function calls, or goes on into, what is not known.
fn leads_elsewhere(function: &Function) -> bool {
    function.blocks.iter().any(|block| block.exit == Exit::Unknown)
}

impl Function {
    /// The block that ends with an instruction.
    fn block_of_mut(&mut self, last: usize) -> &mut Block {
        let number = self.blocks.partition_point(|block| block.insts.end <= last);
        &mut self.blocks[number]
    }
}

/// Whether what this leaves in a scalar register is no return address: that may come out of vector registers,
/// where it was put by, or be left by a call.
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
