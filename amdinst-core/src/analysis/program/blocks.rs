//! Explored instructions as basic blocks of a function.

use std::collections::BTreeSet;

use amdgpu_isa::{Flow, Op, ScalarSet};
use arrayvec::ArrayVec;

use super::explore::{Explorer, Next, next, skips_last_trap, through};
use super::{
    Block, Exit, Function, Located, Obstacle, ObstacleKind, Predecessors, Program, RawCounter, by_register,
    got_slot,
};
use crate::analysis::addresses::{Misuse, Pointer, Tracker};

impl Program {
    pub(super) fn add(&mut self, name: String, kernel: Option<usize>, mut explorer: Explorer<'_>) {
        let first = self.insts.len();
        let mut blocks: Vec<Block> = Vec::new();
        let (dwords, mut pc) = explorer.dwords();
        // Address of each block.
        let mut starts: Vec<u64> = Vec::with_capacity(dwords.len() / 8);
        let (mut end, mut overlap) = (0, None);
        // The instruction before goes on to what stands behind it.
        let mut goes_on = false;
        // Most functions have no use for values of the program counter.
        let mut is_tracked = false;
        for dword in dwords {
            let at = pc;
            pc += 4;
            let Some(form) = dword.form() else { continue };
            let shape = explorer.forms.shape(form);
            if at < end {
                overlap = Some(at);
            }
            if !goes_on || dword.leads || at != end {
                starts.push(at);
                let index = self.insts.len();
                if let Some(before) = blocks.last_mut() {
                    before.insts.end = index;
                }
                blocks.push(Block { insts: index..index, successors: ArrayVec::new(), exit: Exit::Local });
            }
            end = at + u64::from(shape.size);
            goes_on = shape.goes_on;
            is_tracked |= !shape.is_plain && by_register(shape.op);
            self.insts.push(Located { pc: at, shape: *shape });
        }
        if let Some(last) = blocks.last_mut() {
            last.insts.end = self.insts.len();
        }
        if let Some(pc) = overlap {
            let detail = "an instruction starts within another".to_owned();
            explorer.obstacle(pc, ObstacleKind::BrokenControlFlow, detail);
        }
        let Explorer { object, entries, range, is_kernel, forms, mut obstacles, .. } = explorer;
        let insts = &self.insts;
        let inst = |index: usize| forms.inst(insts[index].form);

        let mut found = Vec::new();
        let mut misuses: Vec<Misuse> = Vec::new();
        let mut callees = BTreeSet::new();
        let mut tracker = Tracker::default();
        let mut raw: Vec<RawCounter> = Vec::new();
        let joins = if is_tracked { explicit_targets(insts, first, &starts) } else { BTreeSet::new() };
        for (number, block) in blocks.iter_mut().enumerate() {
            let start = insts[block.insts.start].pc;
            let follows = block.insts.start > first && insts[block.insts.start - 1].end() == start;
            if !follows || joins.contains(&start) {
                tracker.clear();
            }
            let last = block.insts.end - 1;
            let load = |address| got_slot(object, address);
            let mut step = |index: usize, tracker: &mut Tracker| {
                let writes_scc = forms.scalars(insts[index].form).writes.intersects(ScalarSet::SCC);
                let inst = (inst(index), writes_scc);
                tracker.step(index, insts[index].pc, inst, &load, &mut found, &mut misuses);
            };
            if is_tracked {
                (block.insts.start..last).for_each(|index| step(index, &mut tracker));
            }
            let located = &insts[last];
            let next = next(located, located.end(), || through(inst(last), &tracker));
            if is_tracked {
                step(last, &mut tracker);
            }
            let obstacle = |kind, detail: String| Obstacle { pc: located.pc, kind, detail };
            let go =
                |to: u64, block: &mut Block, obstacles: &mut Vec<Obstacle>| match starts.binary_search(&to) {
                    Ok(index) => {
                        if !block.successors.contains(&index) {
                            block.successors.push(index);
                        }
                    }
                    Err(_) => {
                        block.exit = Exit::Unknown;
                        // A branch out of range or to nowhere was reported by the exploration.
                        if range.contains(&to) && obstacles.is_empty() {
                            let detail = format!("control goes on to {to:#x}, where no instruction starts");
                            obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                        }
                    }
                };
            let end = located.end();
            let mut call = |to: u64, block: &mut Block, obstacles: &mut Vec<Obstacle>| match entries.get(&to)
            {
                Some(&callee) => {
                    callees.insert(callee);
                    block.exit = Exit::Call(callee);
                    if range.contains(&end) {
                        go(end, block, obstacles);
                    }
                }
                None => {
                    block.exit = Exit::Unknown;
                    let detail = format!("calls {to:#x}, where no function starts");
                    obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                }
            };
            match next {
                Next::Fall => go(end, block, &mut obstacles),
                Next::Trap => {
                    if starts.binary_search(&end).is_ok() {
                        go(end, block, &mut obstacles);
                    }
                }
                Next::Jump(to) if !range.contains(&to) && entries.contains_key(&to) => {
                    callees.insert(entries[&to]);
                    block.exit = Exit::TailCall(entries[&to]);
                }
                Next::Jump(to) => go(to, block, &mut obstacles),
                Next::Split(to) => {
                    go(end, block, &mut obstacles);
                    if !skips_last_trap(object, &range, located, to) {
                        go(to, block, &mut obstacles);
                    }
                }
                Next::CallKnown(to) | Next::Call(Pointer::Known(to)) => call(to, block, &mut obstacles),
                Next::Call(_) => {
                    if range.contains(&end) {
                        go(end, block, &mut obstacles);
                    }
                    block.exit = Exit::Unknown;
                    let detail = "call through registers whose value is not known".to_owned();
                    obstacles.push(obstacle(ObstacleKind::IndirectTarget, detail));
                }
                Next::Through(Pointer::Known(to)) if range.contains(&to) => go(to, block, &mut obstacles),
                Next::Through(Pointer::Known(to)) if entries.contains_key(&to) => {
                    callees.insert(entries[&to]);
                    block.exit = Exit::TailCall(entries[&to]);
                }
                Next::Through(Pointer::Inherited) if !is_kernel => block.exit = Exit::Return,
                Next::Through(_) => {
                    block.exit = Exit::Unknown;
                    let detail = "jump through registers whose value is not known".to_owned();
                    obstacles.push(obstacle(ObstacleKind::IndirectTarget, detail));
                }
                Next::End => block.exit = Exit::End,
                Next::Unsupported => {
                    block.exit = Exit::Unknown;
                    let detail = format!("`{}` is not followed", located.op);
                    obstacles.push(obstacle(ObstacleKind::BrokenControlFlow, detail));
                }
            }
            let is_left = matches!(block.exit, Exit::Call(_) | Exit::Unknown);
            let followed = (!is_left && !joins.contains(&end)).then_some(number + 1);
            raw.extend(tracker.raw().map(|(getpc, register)| RawCounter {
                getpc,
                function: self.functions.len(),
                block: number,
                register,
                followed,
            }));
            if is_left {
                tracker.clear();
            }
        }
        let resolved: BTreeSet<usize> = found.iter().map(|address| address.getpc).collect();
        for (index, located) in insts.iter().enumerate().skip(if is_tracked { first } else { insts.len() }) {
            if located.op == Op::s_getpc_b64 && !resolved.contains(&index) {
                let detail = "its value is not turned into an address by s_add_u32 and s_addc_u32".to_owned();
                obstacles.push(Obstacle { pc: located.pc, kind: ObstacleKind::UnresolvedGetpc, detail });
            }
        }
        for misuse in misuses {
            let user = &insts[misuse.user];
            let detail = format!("the program counter itself is used by `{}` at {:#x}", user.op, user.pc);
            obstacles.push(Obstacle {
                pc: insts[misuse.getpc].pc,
                kind: ObstacleKind::UnresolvedGetpc,
                detail,
            });
        }
        self.addresses.extend(found);
        self.raw.extend(raw);
        self.functions.push(Function {
            name: name.into(),
            range,
            kernel,
            predecessors: Predecessors::new(&blocks).into(),
            blocks,
            callees: callees.into_iter().collect(),
            obstacles,
            known: None,
        });
    }
}

/// Block starts that some branch names: there the straight line is joined by another path.
fn explicit_targets(insts: &[Located], first: usize, starts: &[u64]) -> BTreeSet<u64> {
    let targets = insts[first..].iter().filter_map(|located| match located.flow() {
        Flow::Branch { offset } | Flow::CondBranch { offset, .. } => {
            Some(located.end().wrapping_add_signed(offset.into()))
        }
        _ => None,
    });
    targets.filter(|target| starts.binary_search(target).is_ok()).collect()
}
